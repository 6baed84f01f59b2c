// See Columns.h: the words of the enumerations, back and forth.
#include "sessions/Columns.h"

#include <stdexcept>

namespace stepscope {

const char* wordOf(LogLevel level) {
    switch (level) {
        case LogLevel::Info:
            return "info";
        case LogLevel::Warning:
            return "warning";
        case LogLevel::Error:
            return "error";
    }
    throw std::invalid_argument("a log level that is none");
}

RunState runStateFrom(const std::string& word) {
    for (int i = 0; i <= static_cast<int>(RunState::Interrupted); ++i)
        if (word == toString(static_cast<RunState>(i))) return static_cast<RunState>(i);
    throw std::invalid_argument("unknown state \"" + word + "\"");
}

LogLevel logLevelFrom(const std::string& word) {
    for (const auto level : {LogLevel::Info, LogLevel::Warning, LogLevel::Error})
        if (word == wordOf(level)) return level;
    throw std::invalid_argument("unknown log level \"" + word + "\"");
}

}  // namespace stepscope
