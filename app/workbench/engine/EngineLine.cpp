#include "app/workbench/engine/EngineLine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "app/workbench/process/ArgumentPointers.h"
#include "core/base/Utf8.h"

extern char** environ;

namespace stepscope {
namespace {

constexpr int kPiecesAtOnce = 64;  // of what is only drained: one that never stops writing must not keep whoever waits for its end

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kMayTakeToEnd{10'000}, kMayTakeToBeHeard{2'000}, kLookForEnd{5};
constexpr std::size_t kMostSaidKept = 4096, kMostSaidTold = 400;  // bytes
constexpr std::size_t kReadAtOnce = 1 << 16;

void shut(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
}

// Our end and the other one's.
bool openPipe(std::array<int, 2>& ends) {
    return ::pipe2(ends.data(), O_CLOEXEC) == 0;
}

void neverWait(int descriptor) {
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

bool again(int problem) {
    return problem == EAGAIN || problem == EWOULDBLOCK || problem == EINTR;
}

}  // namespace

BrokenPipesAreTold::BrokenPipesAreTold() {
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken, &m_before);
}

// One that waits is of a pipe that is known to be broken.
BrokenPipesAreTold::~BrokenPipesAreTold() {
    if (sigismember(&m_before, SIGPIPE) == 1) return;
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    const timespec now{};
    ::sigtimedwait(&broken, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
}

Result<std::unique_ptr<EngineLine>> EngineLine::start(const std::vector<std::string>& command) {
    std::array<int, 2> in{-1, -1}, out{-1, -1}, err{-1, -1};
    std::unique_ptr<EngineLine> line(new EngineLine);
    line->m_wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int problem = line->m_wake >= 0 && openPipe(in) && openPipe(out) && openPipe(err) ? 0 : errno;
    if (problem == 0) {
        std::vector<std::string> words = command;
        const std::vector<char*> pointers = argumentPointers(words);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        constexpr int kItsIn = 0, kItsOut = 1, kItsErr = 2;
        posix_spawn_file_actions_adddup2(&files, in[0], kItsIn);
        posix_spawn_file_actions_adddup2(&files, out[1], kItsOut);
        posix_spawn_file_actions_adddup2(&files, err[1], kItsErr);
        // Of a signal that this thread blocks (BrokenPipesAreTold) or this process ignores (workers have met in it) a shell could not get rid, and
        // what it starts may rely on being ended by it.
        sigset_t blocked, usual;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        sigdelset(&blocked, SIGPIPE);
        sigemptyset(&usual);
        sigaddset(&usual, SIGPIPE);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, &blocked);
        posix_spawnattr_setsigdefault(&attributes, &usual);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        problem = ::posix_spawnp(&line->m_process, words.front().c_str(), &files, &attributes, pointers.data(), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
        if (problem != 0) line->m_process = -1;
    }
    for (int* its : {&in[0], &out[1], &err[1]}) shut(*its);
    line->m_in = in[1];
    line->m_out = out[0];
    line->m_err = err[0];
    if (problem != 0)
        return makeError(problem == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                         fmt::format("The engine cannot be started: \"{}\": {}.", printable(command.front()), std::strerror(problem)));
    for (const int own : {line->m_in, line->m_out, line->m_err}) neverWait(own);
    return line;
}

EngineLine::~EngineLine() {
    end();
    shut(m_wake);
}

void EngineLine::send(FrameType type, const FrameBytes& payload) {
    {
        Status fits = fitsFrame(payload, "What the engine is to hear");
        const FrameBytes frame = fits ? frameOf(type, payload) : FrameBytes();
        const std::lock_guard lock(m_mutex);
        m_unsent.insert(m_unsent.end(), frame.begin(), frame.end());
        if (!fits) m_unsendable = std::move(fits);
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto count = ::write(m_wake, &one, sizeof(one));
}

Result<std::optional<Frame>> EngineLine::next(milliseconds patience) {
    const auto until = Clock::now() + patience;
    while (true) {
        if (const Status sent = unsendable(); !sent) return sent.error();
        auto frame = m_frames.next();
        if (!frame || *frame) return frame;
        if (m_over) return gone();
        const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
        if (left.count() < 0) return std::optional<Frame>();
        exchange(left);
    }
}

Status EngineLine::unsendable() {
    const std::lock_guard lock(m_mutex);
    return m_unsendable;
}

// Whether there is anything to write, and somebody who reads.
bool EngineLine::takeUnsent() {
    if (m_written == m_writing.size()) {
        m_writing.clear();
        m_written = 0;
        const std::lock_guard lock(m_mutex);
        m_writing.swap(m_unsent);
    }
    return m_in >= 0 && m_written < m_writing.size();
}

// One look at all descriptors: writes what waits, reads what has come.
void EngineLine::exchange(milliseconds patience) {
    const bool writes = takeUnsent();
    std::array<pollfd, 4> wanted{pollfd{m_out, POLLIN, 0}, pollfd{m_err, POLLIN, 0}, pollfd{m_wake, POLLIN, 0},
                                 pollfd{writes ? m_in : -1, POLLOUT, 0}};
    if (::poll(wanted.data(), wanted.size(), static_cast<int>(patience.count()) + 1) <= 0) return;
    if (wanted[2].revents != 0) {
        std::uint64_t asked = 0;
        [[maybe_unused]] const auto count = ::read(m_wake, &asked, sizeof(asked));
    }
    if (wanted[1].revents != 0) readSaid();
    if (wanted[3].revents != 0) write();
    if (wanted[0].revents == 0) return;
    std::array<std::byte, kReadAtOnce> piece;
    const ssize_t count = ::read(m_out, piece.data(), piece.size());
    if (count > 0)
        m_frames.add(piece.data(), static_cast<std::size_t>(count));
    else if (count == 0 || !again(errno))
        m_over = true;
}

void EngineLine::write() {
    const ssize_t count = ::write(m_in, m_writing.data() + m_written, m_writing.size() - m_written);
    if (count > 0)
        m_written += static_cast<std::size_t>(count);
    else if (count < 0 && !again(errno))
        shut(m_in);  // it reads no more; what it still says is heard
}

void EngineLine::sayRest() {
    const auto until = Clock::now() + kMayTakeToBeHeard;
    while (takeUnsent() && Clock::now() < until) {
        pollfd room{m_in, POLLOUT, 0};
        if (::poll(&room, 1, static_cast<int>(kLookForEnd.count())) > 0) write();
    }
}

// One that is told to end and still speaks must not wait for its reader.
void EngineLine::readUnheard() {
    std::array<char, 4096> piece;
    for (int i = 0; i < kPiecesAtOnce && m_out >= 0; ++i) {
        const ssize_t count = ::read(m_out, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && again(errno)) return;
        if (count <= 0) shut(m_out);
    }
}

void EngineLine::readSaid() {
    std::array<char, 1024> piece;
    for (int i = 0; i < kPiecesAtOnce && m_err >= 0; ++i) {
        const ssize_t count = ::read(m_err, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && again(errno)) return;
        if (count <= 0) return shut(m_err);
        m_said.append(piece.data(), static_cast<std::size_t>(count));
        if (m_said.size() > 2 * kMostSaidKept) m_said.erase(0, m_said.size() - kMostSaidKept);
    }
}

// The last line, which is where a shell, ssh and our own program say why.
std::string EngineLine::lastSaid() const {
    std::string said = m_said;
    while (!said.empty() && (said.back() == '\n' || said.back() == '\r' || said.back() == ' ')) said.pop_back();
    if (const auto before = said.find_last_of('\n'); before != std::string::npos) said.erase(0, before + 1);
    constexpr std::string_view kName = "stepscope-cli: ";
    if (said.starts_with(kName)) said.erase(0, kName.size());
    said = printable(firstBytes(said, kMostSaidTold));
    while (!said.empty() && said.back() == '.') said.pop_back();
    return said;
}

std::string EngineLine::end() {
    sayRest();
    shut(m_in);
    if (m_process > 0) {
        const auto until = Clock::now() + kMayTakeToEnd;
        pid_t ended = 0;
        while ((ended = ::waitpid(m_process, &m_status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
            if (Clock::now() > until) ::kill(m_process, SIGKILL);
            readUnheard();
            readSaid();
            std::this_thread::sleep_for(kLookForEnd);
        }
        m_process = -1;
    }
    shut(m_out);
    readSaid();
    shut(m_err);
    if (WIFSIGNALED(m_status)) return fmt::format("was ended by signal {} ({})", WTERMSIG(m_status), ::strsignal(WTERMSIG(m_status)));
    return fmt::format("ended with status {}", WEXITSTATUS(m_status));
}

Error EngineLine::gone() {
    const std::string how = end(), said = lastSaid();
    return makeError(ErrorCode::Io, fmt::format("The engine {}{}{}.", how, m_frames.withinFrame() ? " in the middle of what it said" : "",
                                                said.empty() ? std::string() : ": " + said));
}

}  // namespace stepscope
