// Which checkpoint is meant: its folder, a file in it, or the number of a session whose newest one is taken; or weights of others. Used by train
// --resume, generate, eval and checkpoint, on the main thread. The answer is a folder, or llm.c's file; whether it holds a whole checkpoint is not
// looked at here.
#pragma once
#include <string>

#include "core/base/Result.h"

namespace stepscope::cli {

Result<std::string> chooseCheckpoint(const std::string& pathOrId, const std::string& database);

}  // namespace stepscope::cli
