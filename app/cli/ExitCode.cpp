#include "app/cli/ExitCode.h"

#include "core/base/Check.h"

namespace stepscope::cli {

ExitCode exitCode(ErrorCode code) {
    switch (code) {
        case ErrorCode::BadInput:
            return ExitCode::BadInput;
        case ErrorCode::NotFound:
            return ExitCode::NotFound;
        case ErrorCode::Unsupported:
            return ExitCode::Unsupported;
        case ErrorCode::OutOfMemory:
            return ExitCode::OutOfMemory;
        case ErrorCode::Io:
            return ExitCode::Io;
        case ErrorCode::Damaged:
            return ExitCode::Damaged;
        case ErrorCode::Training:
            return ExitCode::Training;
        case ErrorCode::Cancelled:
            return ExitCode::Stopped;
        case ErrorCode::Internal:
            return ExitCode::Internal;
    }
    SS_CHECK(false);
}

const char* wordOf(ExitCode code) {
    switch (code) {
        case ExitCode::Ok:
            return "";
        case ExitCode::Internal:
            return toString(ErrorCode::Internal);
        case ExitCode::Usage:
            return "usage";
        case ExitCode::BadInput:
            return toString(ErrorCode::BadInput);
        case ExitCode::NotFound:
            return toString(ErrorCode::NotFound);
        case ExitCode::Unsupported:
            return toString(ErrorCode::Unsupported);
        case ExitCode::OutOfMemory:
            return toString(ErrorCode::OutOfMemory);
        case ExitCode::Io:
            return toString(ErrorCode::Io);
        case ExitCode::Damaged:
            return toString(ErrorCode::Damaged);
        case ExitCode::Training:
            return toString(ErrorCode::Training);
        case ExitCode::Stopped:
        case ExitCode::Killed:
            return toString(ErrorCode::Cancelled);
        case ExitCode::Undecided:
            return "undecided";
        case ExitCode::Slower:
            return "slower";
    }
    SS_CHECK(false);
}

std::string exitCodeTable() {
    return "Exit codes:\n"
           "   0  done\n"
           "   1  a mistake inside Stepscope\n"
           "   2  wrong use: an unknown option, a missing value, a stray word\n"
           "   3  a file, key or value that cannot be used, or two that cannot be used together\n"
           "   4  no such session, preset or file\n"
           "   5  this machine or build cannot do it\n"
           "   6  not enough memory\n"
           "   7  the disk, a permission or a lock\n"
           "   8  a damaged database, token cache or checkpoint\n"
           "   9  the training failed\n"
           "  10  stopped by Ctrl-C or SIGTERM; the session is kept\n"
           "  11  ended at once by a second Ctrl-C\n"
           "  12  ab --fail-if-slower: whether B is slower is not known\n"
           "  13  ab --fail-if-slower: B is slower for sure";
}

}  // namespace stepscope::cli
