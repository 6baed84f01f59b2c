// Preloaded into a process (LD_PRELOAD) whose files in the folder POWER_CUT_FOLDER are to be seen as a power cut would leave them: of every file
// only what fsync or fdatasync had made durable is kept; at every second cut, of the writes behind that, any part besides, as disks and page
// caches write in whatever order they like. At random moments a cut is laid out as a folder POWER_CUT_INTO/cut, with a file `moment` in it; the
// next comes when that folder is gone. What is mapped (-shm) is never durable. Each fsync is made slower by up to POWER_CUT_SLOWER_MS.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

struct Change {  // not yet durable
    std::uint64_t number = 0;
    bool truncates = false;
    std::size_t at = 0;
    std::string bytes;
};

struct File {
    bool exists = false;   // durably
    bool removed = false;  // but not durably
    std::string durable;
    std::vector<Change> pending;
    std::uint64_t changes = 0;  // so far

    void add(bool truncates, std::size_t at, std::string bytes) { pending.push_back({++changes, truncates, at, std::move(bytes)}); }
};

struct Disk {
    std::mutex mutex;
    std::map<std::string, File> files;
    std::multiset<Clock::time_point> running;  // fsyncs
    std::chrono::nanoseconds slowest{0};
    // When a thread that slept ran again and how much too late that was: this machine kept it from running so long.
    std::deque<std::pair<Clock::time_point, std::chrono::nanoseconds>> late;
    Clock::time_point napEnds = Clock::time_point::max();
};

// Never destroyed: threads of the process write until its last moment.
Disk& disk() {
    static Disk& made = *new Disk;
    return made;
}

const std::string& watched() {
    static const std::string& folder = *new std::string(std::getenv("POWER_CUT_FOLDER") != nullptr ? std::getenv("POWER_CUT_FOLDER") : "");
    return folder;
}

template <class F>
F next(const char* name) {
    return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

// Of a file in the watched folder that a power cut may leave; empty for others.
std::string pathOf(int file) {
    if (watched().empty()) return {};
    char link[64], path[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = ::readlink(link, path, sizeof path);
    if (length <= 0) return {};
    std::string found(path, static_cast<std::size_t>(length));
    if (!found.starts_with(watched()) || found.ends_with("-shm")) return {};
    return found;
}

bool isFolder(int file) {
    struct stat status {};
    return ::fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
}

void change(std::string& content, const Change& by) {
    if (by.truncates) return content.resize(by.at);
    if (content.size() < by.at + by.bytes.size()) content.resize(by.at + by.bytes.size());
    content.replace(by.at, by.bytes.size(), by.bytes);
}

template <class Write>
ssize_t noted(int file, const void* bytes, std::size_t at, Write write) {
    const std::string path = pathOf(file);
    if (path.empty()) return write();
    std::lock_guard lock(disk().mutex);
    const ssize_t done = write();
    if (done > 0) disk().files[path].add(false, at, std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(done)));
    return done;
}

int syncFile(int file, const char* name) {
    const auto real = next<int (*)(int)>(name);
    const std::string path = pathOf(file);
    if (path.empty()) return real(file);
    const bool folder = isFolder(file);
    std::uint64_t before = 0;  // the last change that was made when it began: several may run at a time
    std::multiset<Clock::time_point>::iterator running;
    {
        std::lock_guard lock(disk().mutex);
        running = disk().running.insert(Clock::now());
        if (!folder) before = disk().files[path].changes;
    }
    static thread_local std::mt19937 random(std::random_device{}());
    const char* slower = std::getenv("POWER_CUT_SLOWER_MS");
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::uniform_int_distribution(0, 1000 * (slower != nullptr ? std::atoi(slower) : 0))(random)));
    const int result = real(file);
    std::lock_guard lock(disk().mutex);
    disk().slowest = std::max<std::chrono::nanoseconds>(disk().slowest, Clock::now() - *running);
    disk().running.erase(running);
    if (result != 0) return result;
    if (folder) {
        for (auto& [other, held] : disk().files)
            if (held.removed && fs::path(other).parent_path() == path) held = File{};
        return result;
    }
    File& held = disk().files[path];
    std::size_t done = 0;
    while (done < held.pending.size() && held.pending[done].number <= before) change(held.durable, held.pending[done++]);
    held.pending.erase(held.pending.begin(), held.pending.begin() + static_cast<std::ptrdiff_t>(done));
    held.exists = true;
    return result;
}

// What the disk holds after a cut now: with `more`, any part of what was under way besides.
std::map<std::string, std::string> left(bool more, std::mt19937& random) {
    const auto half = [&] { return std::uniform_int_distribution(0, 1)(random) == 1; };
    std::map<std::string, std::string> contents;
    for (const auto& [path, held] : disk().files) {
        if (!held.exists || (held.removed && more && half())) continue;
        std::string content = held.durable;
        if (more)
            for (Change one : held.pending) {
                if (!half()) continue;
                if (!one.truncates && half()) one.bytes.resize(one.bytes.size() / 2 / 512 * 512);  // torn between two sectors
                change(content, one);
            }
        contents[path] = std::move(content);
    }
    return contents;
}

// How long this machine kept a thread from running in the second before this moment: the sum, because a step goes through several threads until it
// is durable. What lies further back excuses nothing.
std::chrono::nanoseconds stalledBefore(Clock::time_point moment) {
    auto sum = std::max<std::chrono::nanoseconds>(moment - disk().napEnds, std::chrono::nanoseconds{0});  // it should be running already
    while (!disk().late.empty() && disk().late.front().first < moment - std::chrono::seconds(1)) disk().late.pop_front();
    for (const auto& [at, late] : disk().late) sum += late;
    return sum;
}

void put(const fs::path& path, const std::string& content) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) std::abort();
    (void)!std::fwrite(content.data(), 1, content.size(), file);
    std::fclose(file);
}

[[noreturn]] void cutAgainAndAgain(const fs::path& into) {
    std::mt19937 random(std::random_device{}());
    for (int number = 0;; ++number) {
        std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution(5, 120)(random)));
        std::map<std::string, std::string> contents;
        std::chrono::nanoseconds slowest{}, stall{};
        Clock::time_point moment;
        {
            std::lock_guard lock(disk().mutex);
            moment = Clock::now();
            contents = left(number % 2 == 1, random);
            slowest = disk().slowest;
            for (const auto begin : disk().running) slowest = std::max<std::chrono::nanoseconds>(slowest, moment - begin);
            stall = stalledBefore(moment);
        }
        fs::create_directories(into / "laying");
        for (const auto& [path, content] : contents) put(into / "laying" / fs::path(path).filename(), content);
        put(into / "laying" / "moment",
            std::to_string(moment.time_since_epoch().count()) + " " + std::to_string(slowest.count()) + " " + std::to_string(stall.count()) + "\n");
        fs::rename(into / "laying", into / "cut");
        while (fs::exists(into / "cut")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

[[noreturn]] void watchForStalls() {
    constexpr std::chrono::milliseconds kNap{5}, kUsual{1};  // what a timer takes on a quiet machine is no stall
    for (;;) {
        const auto ends = Clock::now() + kNap;
        {
            std::lock_guard lock(disk().mutex);
            disk().napEnds = ends;
        }
        std::this_thread::sleep_until(ends);
        const auto now = Clock::now();
        std::lock_guard lock(disk().mutex);
        disk().napEnds = Clock::time_point::max();
        if (now - ends > kUsual) disk().late.emplace_back(now, now - ends);
    }
}

__attribute__((constructor)) void begin() {
    if (watched().empty() || std::getenv("POWER_CUT_INTO") == nullptr) return;
    std::thread(cutAgainAndAgain, fs::path(std::getenv("POWER_CUT_INTO"))).detach();
    std::thread(watchForStalls).detach();
}

}  // namespace

extern "C" {

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
    return noted(file, bytes, static_cast<std::size_t>(at), [&] { return real(file, bytes, count, at); });
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
    return pwrite64(file, bytes, count, at);
}
ssize_t write(int file, const void* bytes, size_t count) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
    const off_t at = ::lseek(file, 0, SEEK_CUR);
    return noted(file, bytes, at > 0 ? static_cast<std::size_t>(at) : 0, [&] { return real(file, bytes, count); });
}
int ftruncate64(int file, off64_t length) {
    static const auto real = next<int (*)(int, off64_t)>("ftruncate64");
    const std::string path = pathOf(file);
    if (path.empty()) return real(file, length);
    std::lock_guard lock(disk().mutex);
    const int result = real(file, length);
    if (result == 0) disk().files[path].add(true, static_cast<std::size_t>(length), {});
    return result;
}
int ftruncate(int file, off_t length) {
    return ftruncate64(file, length);
}
int fsync(int file) {
    return syncFile(file, "fsync");
}
int fdatasync(int file) {
    return syncFile(file, "fdatasync");
}
int unlink(const char* path) {
    static const auto real = next<int (*)(const char*)>("unlink");
    std::lock_guard lock(disk().mutex);
    const int result = real(path);
    if (result == 0)
        if (const auto held = disk().files.find(path); held != disk().files.end()) {
            held->second.pending.clear();
            held->second.removed = held->second.exists;
            if (!held->second.exists) disk().files.erase(held);
        }
    return result;
}

}  // extern "C"
