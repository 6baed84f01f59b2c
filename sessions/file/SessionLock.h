// SessionLock: the sign that a process is recording a session, gone with that process however it ends.
// One byte of "<database>.lock", at the offset of the session's number, under an open-file-description lock: unlike SQLite's
// POSIX locks it is seen by other connections of the same process too, and no stray close() drops it. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/Result.h"

namespace stepscope {

class SessionLock {
public:
    static Result<SessionLock> take(const std::string& database, std::int64_t session);
    // Whether anybody, this process included, holds it. Never writes; a lock file that is not there is held by nobody.
    static bool held(const std::string& database, std::int64_t session);

    SessionLock(SessionLock&& other) noexcept : m_file(std::exchange(other.m_file, -1)) {}
    SessionLock& operator=(SessionLock&& other) noexcept {
        std::swap(m_file, other.m_file);
        return *this;
    }
    ~SessionLock() { release(); }
    void release();

private:
    explicit SessionLock(int file) : m_file(file) {}
    int m_file = -1;
};

}  // namespace stepscope
