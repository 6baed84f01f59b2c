// What the command line's exit code means: one number a kind of trouble, all within 1-99, so that scripts can tell them apart.
// Used by main() and by `train`; the table in --help is generated from here.
#pragma once
#include <string>

#include "core/base/Result.h"

namespace stepscope::cli {

enum class ExitCode : int {
    Ok = 0,
    Internal = 1,     // a mistake of ours
    Usage = 2,        // an unknown option, a missing value, a stray word
    BadInput = 3,     // a file, key or value that cannot be used, or two that cannot be used together
    NotFound = 4,     // no such session, preset or file
    Unsupported = 5,  // this machine or build cannot do it
    OutOfMemory = 6,
    Io = 7,          // disk, permission, lock
    Damaged = 8,     // a database, token cache or checkpoint that does not hold together
    Training = 9,    // the run failed: loss not finite, an operation refused
    Stopped = 10,    // Ctrl-C or SIGTERM: stopped cleanly, the session is kept
    Killed = 11,     // a second Ctrl-C: ended at once
    Undecided = 12,  // ab --fail-if-slower: nobody can tell
    Slower = 13,     // ab --fail-if-slower: it is, for sure
};

ExitCode exitCode(ErrorCode code);
const char* wordOf(ExitCode code);  // "usage", "bad-input", ...: of JSON, never renamed; the word of the ErrorCode where there is one
std::string exitCodeTable();        // for --help

}  // namespace stepscope::cli
