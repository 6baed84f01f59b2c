#include "app/workbench/process/StandardError.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace stepscope::standard_error {
namespace {

constexpr std::size_t kRecent = 4096;               // bytes that a crash shows once more, though they were read
constexpr std::int64_t kRecentFor = 1'000'000'000;  // ns
constexpr std::size_t kMostPassedOn = 1 << 18;      // bytes; a thread that writes without end must not keep the process from ending
constexpr const char* kSays = "stepscope: A library says: ";
constexpr std::array kCrashes{SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSEGV};

// Handlers of signals read these.
std::atomic<bool> g_taken{false}, g_isRead{false}, g_ended{false}, g_passedOn{false};
std::atomic<bool> g_reading{false};  // between asking the pipe and keeping what it gave
std::atomic<int> g_real{-1}, g_read{-1}, g_write{-1};
std::array<char, kRecent> g_recent;  // a ring
std::atomic<std::uint64_t> g_total{0}, g_recentFrom{0};
std::atomic<std::int64_t> g_lastRead{0};
std::array<struct sigaction, kCrashes.size()> g_former{};
std::array<std::atomic<bool>, kCrashes.size()> g_caught{};

static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

std::int64_t nowNs() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void sleepOneMs() {
    const timespec one{0, 1'000'000};
    ::nanosleep(&one, nullptr);
}

// To the real stream, without what a terminal would obey. Nothing here needs memory or a lock.
class LastWords {
public:
    explicit LastWords(const char* before) : m_before(before) {}
    ~LastWords() {
        if (!m_atBegin) put('\n');
        flush();
    }
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;

    void write(const char* text, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const char c = text[i];
            if (c == '\n' && m_atBegin) continue;
            if (m_atBegin)
                for (const char* at = m_before; *at != '\0'; ++at) put(*at);
            m_atBegin = c == '\n';
            const auto byte = static_cast<unsigned char>(c);
            put((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F ? '?' : c);
        }
    }

private:
    void put(char c) {
        m_text[m_size++] = c;
        if (m_size == m_text.size()) flush();
    }
    void flush() {
        for (std::size_t at = 0; at < m_size;) {
            const ssize_t written = ::write(g_real, m_text.data() + at, m_size - at);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) break;
            at += static_cast<std::size_t>(written);
        }
        m_size = 0;
    }

    const char* m_before;
    std::array<char, 512> m_text;
    std::size_t m_size = 0;
    bool m_atBegin = true;
};

// What nobody will tell any more. Called in a handler of a signal, or at the very end of exit(). withRecent: what was read a moment ago, too; it may
// not have been told, or only to a log that dies with the process.
void passOn(const char* before, bool withRecent) {
    if (!g_taken) return;
    if (g_ended.exchange(true)) {  // another thread crashes as well: it must not end the process before the first has written
        for (int i = 0; i < 1000 && !g_passedOn; ++i) sleepOneMs();
        return;
    }
    // The reader takes nothing from here on; what it has in its hands is kept in a moment, unless it is this thread that crashed.
    for (int i = 0; i < 100 && g_reading; ++i) sleepOneMs();
    {
        LastWords words(before);
        const std::uint64_t total = g_total;
        if (withRecent && nowNs() - g_lastRead < kRecentFor)
            for (std::uint64_t at = std::max<std::uint64_t>(g_recentFrom, total - std::min<std::uint64_t>(total, kRecent)); at < total; ++at)
                words.write(&g_recent[at % kRecent], 1);
        std::array<char, 1024> piece;
        for (std::size_t passed = 0; passed < kMostPassedOn;) {
            const ssize_t count = ::read(g_read, piece.data(), piece.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) break;
            words.write(piece.data(), static_cast<std::size_t>(count));
            passed += static_cast<std::size_t>(count);
        }
    }
    ::dup2(g_real, STDERR_FILENO);  // what comes now has no other way
    g_passedOn = true;
}

void onCrash(int signal, siginfo_t* info, void*) {
    const int saved = errno;
    passOn("", true);
    for (std::size_t i = 0; i < kCrashes.size(); ++i)
        if (kCrashes[i] == signal) ::sigaction(signal, &g_former[i], nullptr);
    errno = saved;
    // A faulty instruction is met again, by the former handler or by none; a signal that was sent is sent again.
    if (info == nullptr || info->si_code <= 0) ::raise(signal);
}

void catchCrash(int signal) {
    for (std::size_t i = 0; i < kCrashes.size(); ++i) {
        if (kCrashes[i] != signal || g_caught[i].exchange(true)) continue;
        struct sigaction action {};
        action.sa_sigaction = &onCrash;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        ::sigaction(signal, &action, &g_former[i]);
    }
}

// After every destructor of every library: they say things, too. Where somebody called exit() while we were at work, what was told may have been told
// to a log that nobody sees any more.
[[maybe_unused]] void onExit(int, void*) {
    passOn(kSays, g_isRead);
}

// A child that goes on without our threads speaks for itself.
void inChild() {
    if (!g_taken.exchange(false)) return;
    ::dup2(g_real, STDERR_FILENO);
}

void setWaiting(bool waits) {
    const int flags = ::fcntl(g_write, F_GETFL);
    if (flags >= 0) ::fcntl(g_write, F_SETFL, waits ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

[[maybe_unused]] bool wantsRaw(char** environment) {
    constexpr const char* kName = "STEPSCOPE_RAW_STDERR=";
    const std::size_t length = std::strlen(kName);
    for (; environment != nullptr && *environment != nullptr; ++environment)
        if (std::strncmp(*environment, kName, length) == 0) return (*environment)[length] != '\0';
    return false;
}

}  // namespace

void take([[maybe_unused]] char** environment) {
#ifndef STEPSCOPE_SANITIZED
    if (g_taken || wantsRaw(environment)) return;
    const int real = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (real < 0) return;
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) {
        for (const int one : {real, ends[0], ends[1]})
            if (one >= 0) ::close(one);
        return;
    }
    g_real = real;
    g_read = ends[0];
    g_write = ends[1];
    g_taken = true;
    ::on_exit(&onExit, nullptr);  // the first to be asked for is the last to be called
    for (const int signal : kCrashes)
        if (signal != SIGSEGV) catchCrash(signal);  // catchFaults()
#endif
}

bool taken() {
    return g_taken;
}

void catchFaults() {
    if (g_taken) catchCrash(SIGSEGV);
}

std::FILE* own() {
    if (!g_taken) return stderr;
    static std::FILE* const stream = [] {
        std::FILE* opened = ::fdopen(g_real, "w");
        // It was closed, and cannot be written to.
        if (opened == nullptr) opened = std::fopen("/dev/null", "we");
        if (opened == nullptr) return stderr;
        std::setvbuf(opened, nullptr, _IONBF, 0);
        return opened;
    }();
    return stream;
}

int descriptor() {
    return g_taken ? g_real.load() : STDERR_FILENO;
}

void giveBack() {
    if (g_taken) ::dup2(g_real, STDERR_FILENO);
}

void takeAgain() {
    if (g_taken) ::dup2(g_write, STDERR_FILENO);
}

void passOnRest() {
    passOn(kSays, true);
}

int pipeEnd() {
    return g_taken ? g_read.load() : -1;
}

ssize_t readSome(char* into, std::size_t most) {
    g_reading = true;
    ssize_t count = -1;
    if (!g_ended) {
        count = ::read(g_read, into, most);
        if (count > 0) {
            const std::int64_t now = nowNs();
            const std::uint64_t total = g_total;
            if (now - g_lastRead > kRecentFor) g_recentFrom = total;
            for (ssize_t i = 0; i < count; ++i) g_recent[(total + static_cast<std::uint64_t>(i)) % kRecent] = into[i];
            g_lastRead = now;
            g_total = total + static_cast<std::uint64_t>(count);
        }
    }
    g_reading = false;
    return count;
}

bool ended() {
    return g_ended;
}

void setRead(bool isRead) {
    if (!g_taken) return;
    g_isRead = isRead;
    setWaiting(isRead);
    if (!isRead) return;
    static const int once = ::pthread_atfork(nullptr, nullptr, &inChild);
    (void)once;
}

}  // namespace stepscope::standard_error
