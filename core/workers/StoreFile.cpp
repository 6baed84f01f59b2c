#include "core/workers/StoreFile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

namespace stepscope {
namespace {

// c10d's file begins with the length of a key, four bytes, and the key under which whoever opens it is counted.
constexpr std::string_view kStoreBegins("\x09\0\0\0refcount/", 13);
constexpr int kAttempts = 100;

// Whether it lies there still: the one who held it last may have taken it away since it was opened.
bool liesAt(const std::string& path, int file) {
    struct stat opened {
    }, there{};
    return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

// Torn where its worker was killed while it wrote, it may be shorter. What cannot be read is none of ours.
bool looksLikeStore(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return false;
    std::array<char, kStoreBegins.size()> begins{};
    file.read(begins.data(), static_cast<std::streamsize>(begins.size()));
    return kStoreBegins.starts_with(std::string_view(begins.data(), static_cast<std::size_t>(file.gcount())));
}

Status removeLeftOver(const std::string& path) {
    struct stat there {};
    if (::stat(path.c_str(), &there) != 0) return {};
    if (!S_ISREG(there.st_mode) || !looksLikeStore(path))
        return makeError(
            ErrorCode::BadInput,
            fmt::format("\"{}\" is there already, and no workers have met at it; let STEPSCOPE_WORKERS_FILE name a file that is not there.", path));
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
    return makeError(ErrorCode::Io,
                     fmt::format("\"{}\" is left of workers that have ended, and cannot be removed; let STEPSCOPE_WORKERS_FILE name "
                                 "another file.",
                                 path),
                     std::strerror(errno));
}

bool lock(int file, int how) {
    while (::flock(file, how) != 0)
        if (errno != EINTR) return false;
    return true;
}

}  // namespace

Result<std::unique_ptr<StoreFile>> StoreFile::hold(const std::string& path) {
    const std::string beside = path + ".lock";
    int problem = 0;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const int file = ::open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        problem = errno;
        if (file < 0) break;
        std::unique_ptr<StoreFile> held(new StoreFile(beside, file));
        const bool alone = lock(file, LOCK_EX | LOCK_NB);
        problem = errno;
        if (!alone && problem != EWOULDBLOCK) break;
        // Between this lock and the next another may come and find the same, which is nothing yet.
        if (alone && liesAt(beside, file))
            if (const Status removed = removeLeftOver(path); !removed) return removed.error();
        const bool shared = lock(file, LOCK_SH);
        problem = errno;
        if (!shared) break;
        if (liesAt(beside, file)) return held;
    }
    return makeError(ErrorCode::Io, fmt::format("Workers cannot meet at \"{}\": nothing can be made or locked in that folder.", path),
                     std::strerror(problem));
}

StoreFile::~StoreFile() {
    // There is nothing in ours; another program may keep its own under that name.
    struct stat opened {};
    const bool ours = ::fstat(m_file, &opened) == 0 && opened.st_size == 0;
    if (ours && lock(m_file, LOCK_EX | LOCK_NB) && liesAt(m_lock, m_file)) ::unlink(m_lock.c_str());
    ::close(m_file);
}

}  // namespace stepscope
