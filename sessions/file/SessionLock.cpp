// Locks as in fcntl(2), "Open file description locks". The lock file is never removed: removing it while another
// process opens it would leave the two locking different files.
#include "sessions/file/SessionLock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace stepscope {
namespace {

// SQLite follows symbolic links before it names its side files; so must we, or two spellings would be two locks.
std::string lockPath(const std::string& database) {
    std::error_code ignored;
    const auto real = std::filesystem::weakly_canonical(database, ignored);
    return (real.empty() ? database : real.string()) + ".lock";
}

struct flock byteOf(std::int64_t session) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = session;
    range.l_len = 1;
    return range;
}

}  // namespace

Result<SessionLock> SessionLock::take(const std::string& database, std::int64_t session) {
    const std::string path = lockPath(database);
    // Made with O_EXCL, so that a link which somebody left here leads nowhere.
    int file = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    SessionLock lock(file);
    struct flock range = byteOf(session);
    if (lock.m_file >= 0 && ::fcntl(lock.m_file, F_OFD_SETLK, &range) == 0) return lock;
    return makeError(ErrorCode::Io, fmt::format("The lock file \"{}\" cannot be used ({}); check the folder's permissions or choose another "
                                                "database (--db).",
                                                path, std::strerror(errno)))
        .about(Subject::Kind::Database, database);
}

bool SessionLock::held(const std::string& database, std::int64_t session) {
    const SessionLock probe(::open(lockPath(database).c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));  // a pipe there would be waited for
    if (probe.m_file < 0) return false;
    struct flock range = byteOf(session);
    return ::fcntl(probe.m_file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

void SessionLock::release() {
    if (m_file >= 0) ::close(std::exchange(m_file, -1));
}

}  // namespace stepscope
