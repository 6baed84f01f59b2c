// The words that start an engine on another machine: over the user's own ssh, or a command of his. Nothing is read by a shell here. Pure functions;
// any thread.
#pragma once
#include <string>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

// host: as ssh takes it, a name, user@name or one of its own configuration. ssh asks nothing: who would have to answer is not there when a run
// begins. Errors: BadInput, of what ssh would take for an option or for several words.
Result<std::vector<std::string>> sshWords(const std::string& host);
// Words as a shell would part them, quoted by ' and " and \; nothing is put in their place. Errors: BadInput.
Result<std::vector<std::string>> wordsOf(const std::string& line);
// The same for a process that is asked and trains nothing: it ends with its line.
std::vector<std::string> questionWords(std::vector<std::string> words);

// The same with the one engine that is meant in the place of a new one; empty where they start none that outlives its line.
std::vector<std::string> attachWords(std::vector<std::string> words, const std::string& engine);

}  // namespace stepscope
