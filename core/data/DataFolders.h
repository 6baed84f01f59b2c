// Where the program finds what set-up and the build put there (GPT-2's vocabulary, the texts) and where token
// caches go. Environment first, then beside the executable, then the place known to the build.
#pragma once
#include <string>

namespace stepscope {

// Folder with encoder.json or vocab.json: $STEPSCOPE_GPT2_VOCABULARY, <executable>/../share/stepscope/gpt2, set-up's. Empty: none.
std::string gpt2VocabularyFolder();
// The King James text: $STEPSCOPE_KJV, <executable>/../share/stepscope/kjv.txt, the build's. Empty when there is none.
std::string kingJamesPath();

// Shakespeare's plays: $STEPSCOPE_SHAKESPEARE, <executable>/../share/stepscope/shakespeare.txt, the build's. Empty when there are none.
std::string shakespearePath();
// The program that reads parquet: $STEPSCOPE_PARQUET_READER, <executable>/../lib/stepscope/stepscope-parquet, the build's. Empty when there is none.
std::string parquetReaderPath();
// $XDG_CACHE_HOME/stepscope/tokens or ~/.cache/stepscope/tokens; empty when neither variable is set.
std::string tokenCacheFolder();

}  // namespace stepscope
