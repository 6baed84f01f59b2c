#include "core/data/tokens/UnfinishedTokens.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/data/tokens/TokenFileHeader.h"

namespace stepscope {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPart = ".part";
constexpr const char* kState = ".state";
constexpr const char* kNewState = ".new";  // behind kState, until it is whole
constexpr auto kTemporaryStays = std::chrono::hours(1);
constexpr auto kUnfinishedStays = std::chrono::hours(7 * 24);
constexpr std::size_t kUnfinishedAtMost = 3;

std::string statePath(const std::string& part) {
    return part + kState;
}

bool isOlderThan(const fs::path& path, std::chrono::hours age) {
    std::error_code problem;
    const auto written = fs::last_write_time(path, problem);
    return !problem && fs::file_time_type::clock::now() - written > age;
}

void removeUnlocked(const fs::path& part) {
    const int file = ::open(part.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
        removeUnfinishedState(part.string());
        ::unlink(part.c_str());
    }
    ::close(file);
}

bool writeAll(int file, const void* bytes, std::size_t count) {
    return ::write(file, bytes, count) == static_cast<ssize_t>(count) && ::fsync(file) == 0;
}

}  // namespace

int lockUnfinished(const std::string& part) {
    return tryLockUnfinished(part).file;
}

LockTried tryLockUnfinished(const std::string& part) {
    LockTried tried;
    const int file = ::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR);
    if (file < 0) return tried;
    struct stat opened {
    }, named{};
    if (::fstat(file, &opened) == 0 && S_ISREG(opened.st_mode)) {
        const bool locked = ::flock(file, LOCK_EX | LOCK_NB) == 0, others = !locked && errno == EWOULDBLOCK;
        // Whoever had it may have given it its name for good, or removed it, before the lock was ours: then there is another file to lock by now.
        const bool isNamed = ::lstat(part.c_str(), &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
        if (locked && isNamed) {
            tried.file = file;
            return tried;
        }
        tried.isTaken = locked || others;
    }
    ::close(file);
    return tried;
}

std::optional<UnfinishedTokens> parseUnfinished(std::string_view bytes, const TokenFileKey& key) {
    UnfinishedTokens state;
    if (bytes.size() != sizeof state) return std::nullopt;
    std::memcpy(&state, bytes.data(), sizeof state);
    const bool whole = state.magic == UnfinishedTokens::kMagic && state.version == UnfinishedTokens::kVersion && state.own == state.ownHash();
    const bool ofKey = state.text == key.text && state.tokenizer == key.tokenizer && state.vocabulary == static_cast<std::uint64_t>(key.vocabulary) &&
                       state.bytesPerId == bytesPerIdOf(key.vocabulary);
    // No tokenizer makes more ids than bytes.
    return whole && ofKey && state.count <= state.textBytes ? std::optional(state) : std::nullopt;
}

std::optional<UnfinishedTokens> readUnfinished(const std::string& part, const TokenFileKey& key) {
    std::error_code ignored;
    if (!fs::is_regular_file(fs::symlink_status(statePath(part), ignored))) return std::nullopt;
    std::ifstream file(statePath(part), std::ios::binary);
    std::array<char, sizeof(UnfinishedTokens) + 1> bytes{};
    file.read(bytes.data(), bytes.size());
    return parseUnfinished({bytes.data(), static_cast<std::size_t>(file.gcount())}, key);
}

bool writeUnfinished(const std::string& part, UnfinishedTokens state) {
    state.own = state.ownHash();
    const std::string path = statePath(part), beside = path + kNewState;
    ::unlink(beside.c_str());  // only who holds the lock of PATH.part writes it
    const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) return false;
    const bool written = writeAll(file, &state, sizeof state);
    ::close(file);
    if (!written || ::rename(beside.c_str(), path.c_str()) != 0) {
        ::unlink(beside.c_str());
        return false;
    }
    syncFolder(fs::path(part).parent_path().string());
    return true;
}

void removeUnfinishedState(const std::string& part) {
    ::unlink(statePath(part).c_str());
    ::unlink((statePath(part) + kNewState).c_str());
}

bool hasUnfinishedState(const std::string& part) {
    std::error_code ignored;
    return fs::exists(statePath(part), ignored);
}

void removeLeftovers(const std::string& folder) {
    std::vector<fs::path> unfinished;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const fs::path& path = entry.path();
        const bool isPart = path.extension() == kPart;
        if (isPart && hasUnfinishedState(path.string())) unfinished.push_back(path);
        if (isPart && !hasUnfinishedState(path.string()) && isOlderThan(path, kTemporaryStays)) removeUnlocked(path);
        // A state whose file has gone, and one that was never whole.
        const bool isState = path.extension() == kState && path.stem().extension() == kPart, isNew = path.extension() == kNewState;
        if ((isState && !fs::exists(path.parent_path() / path.stem(), ignored)) || (isNew && path.stem().extension() == kState))
            if (isOlderThan(path, kTemporaryStays)) ::unlink(path.c_str());
    }
    std::ranges::sort(unfinished, std::greater{}, [](const fs::path& path) {
        std::error_code problem;
        return fs::last_write_time(path, problem);
    });
    for (std::size_t i = 0; i < unfinished.size(); ++i)
        if (i >= kUnfinishedAtMost || isOlderThan(unfinished[i], kUnfinishedStays)) removeUnlocked(unfinished[i]);
}

void syncFolder(const std::string& folder) {
    const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // of a bare name
    if (opened < 0) return;
    ::fsync(opened);
    ::close(opened);
}

}  // namespace stepscope
