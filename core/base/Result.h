// Result<T>: the outcome of anything that can go wrong in use (files, input, memory, devices).
// An Error carries one sentence for the person at the screen (what, where, what to do), the cause for the log, and as data, for
// whoever acts on it, its code and its subject: nobody searches a sentence.
// Exceptions stay where LibTorch throws them; our own bugs are SS_CHECK (Check.h).
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace stepscope {

// What kind of thing went wrong. The command line maps each to an exit code (app/cli/ExitCode.h).
enum class ErrorCode {
    BadInput,     // a file, key or value of the user's
    NotFound,     // a session, preset, file that is not there
    Unsupported,  // this machine or build cannot do it
    OutOfMemory,  // predicted or real
    Io,           // disk, permission, full, locked
    Damaged,      // a database, cache or checkpoint that does not hold together
    Training,     // NaN loss, a LibTorch exception
    Cancelled,
    Internal,
};

const char* toString(ErrorCode code);  // "bad-input", "io", ...: stored with events, never renamed

// What an error or an event is about.
struct Subject {
    enum class Kind {
        None,
        Database,    // the file of sessions; name = its path as it was given
        Session,     // its number
        Checkpoint,  // its folder
        Data,        // the text to train on: the value of the key `data`
        Key,         // of the configuration
        Switch,      // its id
        Text,        // that was asked of the model; no name
        File,        // any other; its path
        Loss,        // that may move, which the person has not agreed to
        Capture,     // of steps that were asked for and do not come; no name
    };
    Kind kind = Kind::None;
    std::string name;

    bool operator==(const Subject&) const = default;
};
const char* toString(Subject::Kind kind);  // "", "database", ...: stored with events, never renamed

struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string sentence;  // for the user: what, where, what to do; one sentence, ends with a full stop
    std::string cause;     // for the log: the original message, may be empty
    Subject subject{};

    // The same with its subject, where nobody nearer to it has named one.
    Error about(Subject::Kind kind, std::string name = {}) && {
        if (subject.kind == Subject::Kind::None) subject = {kind, std::move(name)};
        return std::move(*this);
    }
};

template <class T>
class Result;

namespace detail {
template <class T>
inline constexpr bool isResult = false;
template <class T>
inline constexpr bool isResult<Result<T>> = true;
}  // namespace detail

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return std::get<0>(m_state); }
    const T& value() const& { return std::get<0>(m_state); }
    T&& value() && { return std::get<0>(std::move(m_state)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const { return std::get<1>(m_state); }

    // next(value), which itself returns a Result; an error is handed on and `next` not called.
    template <class Next>
    auto andThen(Next&& next) && -> std::invoke_result_t<Next, T&&> {
        static_assert(detail::isResult<std::invoke_result_t<Next, T&&>>, "andThen takes what returns a Result; map what returns a value");
        if (!ok()) return error();
        return std::invoke(std::forward<Next>(next), std::move(*this).value());
    }
    template <class Next>
    auto andThen(Next&& next) const& -> std::invoke_result_t<Next, const T&> {
        static_assert(detail::isResult<std::invoke_result_t<Next, const T&>>, "andThen takes what returns a Result; map what returns a value");
        if (!ok()) return error();
        return std::invoke(std::forward<Next>(next), value());
    }
    // The value as change(value).
    template <class Change>
    auto map(Change&& change) && -> Result<std::invoke_result_t<Change, T&&>> {
        if (!ok()) return error();
        return std::invoke(std::forward<Change>(change), std::move(*this).value());
    }
    template <class Change>
    auto map(Change&& change) const& -> Result<std::invoke_result_t<Change, const T&>> {
        if (!ok()) return error();
        return std::invoke(std::forward<Change>(change), value());
    }
    // Names the subject of an error that has none.
    Result about(Subject::Kind kind, std::string name = {}) && {
        if (ok()) return std::move(*this);
        return std::move(std::get<1>(m_state)).about(kind, std::move(name));
    }
    // Whether it is good, the value left out.
    Result<void> status() const;

private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) {}

    bool ok() const { return !m_error; }
    explicit operator bool() const { return ok(); }
    const Error& error() const { return *m_error; }

    template <class Next>
    auto andThen(Next&& next) const -> std::invoke_result_t<Next> {
        static_assert(detail::isResult<std::invoke_result_t<Next>>, "andThen takes what returns a Result");
        if (!ok()) return error();
        return std::invoke(std::forward<Next>(next));
    }
    Result about(Subject::Kind kind, std::string name = {}) && {
        if (ok()) return {};
        return std::move(*m_error).about(kind, std::move(name));
    }

private:
    std::optional<Error> m_error;
};

using Status = Result<void>;

template <class T>
Status Result<T>::status() const {
    if (ok()) return {};
    return error();
}

inline Error makeError(ErrorCode code, std::string sentence, std::string cause = {}) {
    return Error{code, std::move(sentence), std::move(cause), {}};
}

}  // namespace stepscope
