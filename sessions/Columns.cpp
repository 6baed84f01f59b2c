// The words of the enumerations, back and forth.
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

namespace {

// The value of an enumeration, first to last, whose word this is.
template <class E>
E valueOf(const std::string& word, E last, const char* what) {
    for (int i = 0; i <= static_cast<int>(last); ++i)
        if (word == toString(static_cast<E>(i))) return static_cast<E>(i);
    throw std::invalid_argument(std::string("unknown ") + what + " \"" + word + "\"");
}

}  // namespace

RunState runStateFrom(const std::string& word) {
    return valueOf(word, RunState::Interrupted, "state");
}

SessionKind sessionKindFrom(const std::string& word) {
    if (word == "trace") return SessionKind::Trace;  // as sessions had it before anything could be imported
    return valueOf(word, SessionKind::Tune, "kind of session");
}

ErrorCode errorCodeFrom(const std::string& word) {
    return valueOf(word, ErrorCode::Internal, "error code");
}

Arm armFrom(const std::string& word) {
    return valueOf(word, Arm::B, "arm");
}

Subject::Kind subjectKindFrom(const std::string& word) {
    return valueOf(word, Subject::Kind::Capture, "subject");
}

LogLevel logLevelFrom(const std::string& word) {
    for (const auto level : {LogLevel::Info, LogLevel::Warning, LogLevel::Error})
        if (word == wordOf(level)) return level;
    throw std::invalid_argument("unknown log level \"" + word + "\"");
}

}  // namespace stepscope
