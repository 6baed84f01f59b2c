#include "core/state/UnfinishedCheckpoints.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/base/PrivateFolders.h"
#include "core/state/DurableFile.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = ".unfinished-";
constexpr const char* kLockFile = "owner.lock";
constexpr int kDeepest = 2;  // sessions' folders, and the checkpoints in them

// Whether a process with the number behind the mark runs at all: of folders without a lock, by older versions or just made.
bool processRuns(const std::string& name) {
    const std::size_t at = name.rfind(kMark) + std::strlen(kMark);
    long process = 0;
    const auto [end, problem] = std::from_chars(name.data() + at, name.data() + name.size(), process);
    if (problem != std::errc{} || process <= 0) return false;
    return ::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM;
}

bool ownerIsGone(const fs::path& folder) {
    const int lock = ::open((folder / kLockFile).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) return errno == ENOENT && !processRuns(folder.filename().string());
    const bool gone = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
    ::close(lock);
    return gone;
}

int removeBelow(const fs::path& folder, int depth) {
    std::error_code problem;
    std::vector<fs::path> inside;
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem))
        if (at->is_directory(problem) && !at->is_symlink(problem)) inside.push_back(at->path());
    int removed = 0;
    for (const auto& path : inside) {
        if (path.filename().string().find(kMark) == std::string::npos)
            removed += depth > 1 ? removeBelow(path, depth - 1) : 0;
        else if (ownerIsGone(path))
            removed += fs::remove_all(path, problem) != static_cast<std::uintmax_t>(-1) ? 1 : 0;
    }
    return removed;
}

}  // namespace

Result<UnfinishedFolder> UnfinishedFolder::make(const std::string& path) {
    const auto refused = [&](int problem) {
        return makeError(ErrorCode::Io, fmt::format("The folder of the checkpoint {} cannot be made: {}.", path, std::strerror(problem)));
    };
    if (const int problem = makeMissingFolders(fs::path(path).parent_path().string()); problem != 0) return refused(problem);
    // In a folder that others may write to, a name known beforehand could be somebody else's folder, full of links: mkdtemp makes a new one (0700).
    std::string folder = fmt::format("{}{}{}-XXXXXX", path, kMark, ::getpid());
    if (::mkdtemp(folder.data()) == nullptr) return refused(errno);
    const int lock = ::open((folder + "/" + kLockFile).c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock < 0) {
        const int problem = errno;
        ::rmdir(folder.c_str());
        return refused(problem);
    }
    // Where a file system knows no locks the folder is only kept by its process's number.
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) ::unlink((folder + "/" + kLockFile).c_str());
    return UnfinishedFolder(folder, lock);
}

UnfinishedFolder::UnfinishedFolder(UnfinishedFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {})), m_lock(std::exchange(other.m_lock, -1)) {}

UnfinishedFolder::~UnfinishedFolder() {
    std::error_code ignored;
    if (!m_path.empty()) fs::remove_all(m_path, ignored);
    if (m_lock >= 0) ::close(m_lock);
}

Status UnfinishedFolder::moveTo(const std::string& place) {
    ::unlink((m_path + "/" + kLockFile).c_str());
    if (auto moved = renameFolder(m_path, place); !moved) return moved;
    m_path.clear();
    return {};
}

Status UnfinishedFolder::replace(const std::string& place) {
    ::unlink((m_path + "/" + kLockFile).c_str());
    // The old one has this one's name then, and goes with it.
    return exchangeFolders(m_path, place);
}

int removeUnfinished(const std::string& root) {
    return removeBelow(root, kDeepest);
}

}  // namespace stepscope
