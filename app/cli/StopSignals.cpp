// A self-pipe: LibTorch's and our own threads may take the signal, so blocking it per thread would not do.
#include "app/cli/StopSignals.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <limits>

#include "app/cli/ExitCode.h"
#include "core/base/Check.h"

namespace stepscope::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
constexpr char kStop = 's', kUser = 'u', kQuit = 'q';

std::array<int, 2> pipeEnds{-1, -1};
std::atomic<int> received{0};
// `timeout 60 stepscope-cli …` signals the process and then its whole group, a shell and the kernel both send SIGHUP: what comes so soon behind the
// first is the same request. Nobody presses Ctrl-C twice so fast.
constexpr std::int64_t kOneRequestMs = 150;
std::atomic<std::int64_t> firstAt{std::numeric_limits<std::int64_t>::max() / 2};  // until the first one has written it, another is none
std::array<struct sigaction, kSignals.size()> former{};
bool stays = false;  // a request came, and ours answer until the process ends: `former` is older than they are
struct sigaction formerUser {};

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free, "used in a signal handler");

// clock_gettime() may be called in a signal handler.
std::int64_t millisecondsNow() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void onSignal(int) {
    const int saved = errno;
    if (received.fetch_add(1) > 0) {
        if (millisecondsNow() - firstAt.load() > kOneRequestMs) _exit(static_cast<int>(ExitCode::Killed));
        errno = saved;
        return;
    }
    firstAt = millisecondsNow();
    [[maybe_unused]] const auto count = write(pipeEnds[1], &kStop, 1);
    errno = saved;
}

void onUserSignal(int) {
    const int saved = errno;
    [[maybe_unused]] const auto count = write(pipeEnds[1], &kUser, 1);
    errno = saved;
}

}  // namespace

StopSignals::StopSignals(std::function<void()> onFirst, std::function<void()> onUser) : m_onFirst(std::move(onFirst)), m_onUser(std::move(onUser)) {
    SS_CHECK(pipe2(pipeEnds.data(), O_CLOEXEC) == 0);
    received = 0;
    firstAt = std::numeric_limits<std::int64_t>::max() / 2;
    m_listener = std::thread([this] {
        char word = 0;
        while (true) {
            const auto count = read(pipeEnds[0], &word, 1);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0 || word == kQuit) return;
            (word == kUser ? m_onUser : m_onFirst)();
        }
    });
    struct sigaction action {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        if (!stays) sigaction(kSignals[i], nullptr, &former[i]);
        if (kSignals[i] == SIGHUP && former[i].sa_handler == SIG_IGN) continue;  // nohup means it
        sigaction(kSignals[i], &action, nullptr);
    }
    if (!m_onUser) return;
    action.sa_handler = onUserSignal;
    sigaction(SIGUSR1, &action, &formerUser);
}

StopSignals::~StopSignals() {
    // Who has asked once and asks again while the last words are written gets the code of a second request, and is not killed by the signal itself.
    stays = received > 0;
    for (std::size_t i = 0; !stays && i < kSignals.size(); ++i) sigaction(kSignals[i], &former[i], nullptr);
    if (m_onUser) sigaction(SIGUSR1, &formerUser, nullptr);
    while (write(pipeEnds[1], &kQuit, 1) < 0 && errno == EINTR) {
    }
    m_listener.join();
    close(pipeEnds[0]);
    close(pipeEnds[1]);
}

Result<RunSummary> waitOrStop(const std::function<Result<std::unique_ptr<Run>>()>& start) {
    std::atomic<Run*> running{nullptr};
    std::atomic<bool> stopAsked{false};
    std::unique_ptr<Run> run;  // outlives the signals' thread, which may still tell it
    const StopSignals signals([&] {
        stopAsked = true;
        if (Run* told = running.load()) told->send(Stop{});
    });
    auto started = start();
    if (!started) return started.error();
    run = std::move(*started);
    running = run.get();
    if (stopAsked) run->send(Stop{});
    return run->wait();
}

}  // namespace stepscope::cli
