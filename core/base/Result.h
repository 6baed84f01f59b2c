// Result<T>: the outcome of anything that can go wrong in use (files, input, memory, devices).
// An Error carries one sentence for the person at the screen (what, where, what to do) and the cause for the log.
// Exceptions stay where LibTorch throws them; our own bugs are SS_CHECK (Check.h).
#pragma once
#include <optional>
#include <string>
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

struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string sentence;  // for the user: what, where, what to do; one sentence, ends with a full stop
    std::string cause;     // for the log: the original message, may be empty
};

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

private:
    std::optional<Error> m_error;
};

using Status = Result<void>;

inline Error makeError(ErrorCode code, std::string sentence, std::string cause = {}) {
    return Error{code, std::move(sentence), std::move(cause)};
}

}  // namespace stepscope
