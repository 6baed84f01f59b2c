#include "core/data/tokens/TokenCacheFolder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/data/tokens/KnownText.h"
#include "core/data/tokens/TokenFileHeader.h"

namespace stepscope {
namespace fs = std::filesystem;
namespace {

struct Cache {
    fs::path path;
    fs::file_time_type used;
    std::int64_t bytes = 0;
};

bool isTokenCache(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::array<char, TokenFileHeader::kMagic.size()> magic{};
    return file.read(magic.data(), magic.size()) && magic == TokenFileHeader::kMagic;
}

// False while a program has it mapped.
bool removeUnused(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool removed = ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::unlink(path.c_str()) == 0;
    ::close(file);
    if (removed) ::unlink(sourcesPath(path.string()).c_str());
    return removed;
}

std::vector<Cache> cachesIn(const std::string& folder) {
    std::vector<Cache> caches;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(folder, problem)) {
        std::error_code ignored;
        if (!entry.is_regular_file(ignored) || entry.path().extension() != ".bin" || !isTokenCache(entry.path())) continue;
        caches.push_back({entry.path(), entry.last_write_time(ignored), static_cast<std::int64_t>(entry.file_size(ignored))});
    }
    return caches;
}

}  // namespace

void markTokenCacheUsed(const std::string& path) {
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

TokenCacheLimits limitsOn(Bytes disk) {
    TokenCacheLimits limits;
    limits.bytes.count = std::max(limits.bytes.count, disk.count / 10);
    return limits;
}

void boundTokenCaches(const std::string& folder) {
    std::error_code unknown;
    const auto space = fs::space(folder, unknown);
    boundTokenCaches(folder, unknown ? TokenCacheLimits{} : limitsOn({static_cast<std::int64_t>(space.capacity)}));
}

void boundTokenCaches(const std::string& folder, const TokenCacheLimits& limits) {
    std::vector<Cache> caches = cachesIn(folder);
    std::ranges::sort(caches, {}, &Cache::used);
    std::size_t files = caches.size();
    std::int64_t bytes = 0;
    for (const Cache& cache : caches) bytes += cache.bytes;
    for (const Cache& cache : caches) {
        if (files <= limits.files && bytes <= limits.bytes.count) return;
        if (!removeUnused(cache.path)) continue;
        --files;
        bytes -= cache.bytes;
    }
}

}  // namespace stepscope
