// What `stepscope-cli engine --detach` and `--attach ID` are for who started them, by ssh as a rule: a line to an engine in a process of its own,
// which goes on when the line has gone. They copy bytes both ways between two descriptors and the engine's socket. Where that engine has gone its
// journal answers in its place. Main thread.
#pragma once
#include <string>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

// ownEngine: the words that start the engine itself, behind this program's path; its folder's name follows, and the socket on which it is called is
// descriptor kEngineSocket. Returns when either side has ended. Errors: it could not be started.
Status serveNewLine(const std::vector<std::string>& ownEngine, int in, int out);
// What is wrong is said as an engine says it, in frames: who takes up a line understands nothing else.
Status serveOldLine(const std::string& id, int in, int out);

constexpr int kEngineSocket = 3;

}  // namespace stepscope
