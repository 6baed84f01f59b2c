#include "core/data/tokens/OneMaker.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/base/PrivateFolders.h"
#include "core/base/Utf8.h"
#include "core/data/tokens/UnfinishedTokens.h"

namespace stepscope {
namespace {

using MakerClock = std::chrono::steady_clock;

// Always as long, so that whoever reads meanwhile sees no end of what was said before.
constexpr std::size_t kMakerSays = 512;
constexpr std::chrono::seconds kToldEvery{1};

// What changes while somebody works on a file.
struct FileLife {
    std::int64_t inode = 0, size = 0, seconds = 0, nanoseconds = 0;
    bool operator==(const FileLife&) const = default;
};

FileLife lifeOf(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return {};
    return {static_cast<std::int64_t>(facts.st_ino), static_cast<std::int64_t>(facts.st_size), static_cast<std::int64_t>(facts.st_mtim.tv_sec),
            static_cast<std::int64_t>(facts.st_mtim.tv_nsec)};
}

}  // namespace

MakerLock::~MakerLock() {
    if (m_file < 0) return;
    if (!hasUnfinishedState(m_path)) ::unlink(m_path.c_str());
    ::close(m_file);
}

void MakerLock::say(const std::string& what, double share) const {
    if (m_file < 0) return;
    std::string line = fmt::format("{:.4f} ", share);
    line += firstBytes(what, kMakerSays - line.size() - 1);
    line.resize(kMakerSays, '\n');
    [[maybe_unused]] const auto written = ::pwrite(m_file, line.data(), line.size(), 0);  // what is not heard is no reason to stop
}

std::optional<MakerSaid> heardOfMaker(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored))) return std::nullopt;
    std::array<char, kMakerSays> bytes{};
    std::ifstream file(path, std::ios::binary);
    file.read(bytes.data(), bytes.size());
    const std::string line(bytes.data(), static_cast<std::size_t>(file.gcount()));
    const std::size_t blank = line.find(' '), end = line.find('\n');
    if (end == std::string::npos || blank >= end) return std::nullopt;
    double share = 0;
    if (std::from_chars(line.data(), line.data() + blank, share).ec != std::errc() || !std::isfinite(share)) return std::nullopt;
    return MakerSaid{printable(std::string_view(line).substr(blank + 1, end - blank - 1)), std::clamp(share, 0.0, 1.0)};
}

MakerTurn takeTurn(const std::string& path, const std::atomic<bool>& cancelled, const std::function<void()>& waits, const MakerPatience& patience) {
    (void)makeMissingFolders(std::filesystem::path(path).parent_path().string());  // where that fails, nothing can be locked
    MakerTurn turn;
    FileLife life = lifeOf(path);
    auto heard = MakerClock::now();
    std::optional<MakerClock::time_point> told;
    while (true) {
        const LockTried tried = tryLockUnfinished(path);
        if (tried.file >= 0) {
            turn.lock = MakerLock(path, tried.file);
            return turn;
        }
        turn.cancelled = cancelled;
        if (!tried.isTaken || turn.cancelled) return turn;
        turn.waited = true;
        const auto now = MakerClock::now();
        if (const FileLife seen = lifeOf(path); seen != life) {
            life = seen;
            heard = now;
        }
        if (now - heard > patience.silence) return turn;
        if (!told || (heard > *told && now - *told >= kToldEvery)) {
            told = now;
            waits();
        }
        std::this_thread::sleep_for(patience.looks);
    }
}

}  // namespace stepscope
