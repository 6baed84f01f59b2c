// SameRun: what each worker says of its run before it begins, and the first thing in which one differs from the first worker: rounding, settings and
// data that are not alike would train several models as one. Pure; any thread.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/Workbench.h"
#include "core/data/Corpus.h"

namespace stepscope {

// Names and values in the order in which they are compared.
using RunFacts = std::vector<std::pair<std::string, std::string>>;

// The program's version and build, and the LibTorch that it has loaded.
RunFacts programFacts();
// Every key of the configuration, and what is to happen at which step.
RunFacts settingsOf(const RunRequest& request);
// What was read and made before the first step. threads: of each worker; state: a hash of what training begins with.
RunFacts startFacts(const Corpus& corpus, std::int64_t threads, const std::string& instructionSet, const std::string& state);

std::string sayFacts(const RunFacts& facts);
// said: by worker, from sayFacts(); but for the first one's own it is a stranger's. start: what all should be started with, for the sentence; where
// their programs are not alike, that is the program.
Status sameFacts(const std::vector<std::string>& said, const std::string& start);

}  // namespace stepscope
