// SS_CHECK: our own bugs, checked in release builds too. (CHECK is c10's macro.)
// Throws LogicError, which the trainer's catch site and main() turn into one sentence.
#pragma once
#include <stdexcept>
#include <string>

namespace stepscope {

class LogicError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

[[noreturn]] inline void checkFailed(const char* what, const char* file, int line) {
    throw LogicError(std::string("Stepscope made a mistake: ") + what + " does not hold (" + file + ":" + std::to_string(line) + ").");
}

}  // namespace stepscope

#define SS_CHECK(condition)                                           \
    do {                                                              \
        if (!(condition)) [[unlikely]]                                \
            ::stepscope::checkFailed(#condition, __FILE__, __LINE__); \
    } while (false)
