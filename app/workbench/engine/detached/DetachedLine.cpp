#include "app/workbench/engine/detached/DetachedLine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "app/workbench/engine/detached/EngineFolder.h"
#include "app/workbench/engine/detached/LeftJournal.h"
#include "app/workbench/process/ArgumentPointers.h"
#include "app/workbench/workers/LocalWorkers.h"

extern char** environ;

namespace stepscope {
namespace {

constexpr std::size_t kCopiedAtOnce = 1 << 16;
constexpr std::size_t kNeverWaits = 4096;  // bytes that a pipe which has room takes at once (PIPE_BUF)

// One direction: what was read and has not been written.
class Copied {
public:
    bool waiting() const { return m_written < m_count; }
    // False: nothing more will come.
    bool read(int from) {
        const ssize_t count = ::read(from, m_bytes.data(), m_bytes.size());
        if (count > 0) {
            m_count = static_cast<std::size_t>(count);
            m_written = 0;
        }
        return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK));
    }
    // False: nobody takes it.
    bool write(int to) {
        const ssize_t count = ::write(to, m_bytes.data() + m_written, std::min(m_count - m_written, kNeverWaits));
        if (count > 0) m_written += static_cast<std::size_t>(count);
        return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK));
    }

private:
    std::array<char, kCopiedAtOnce> m_bytes;
    std::size_t m_count = 0, m_written = 0;
};

// Until the engine has said all, or nobody hears it. Whether it has said anything.
bool copyBothWays(int in, int out, int engine) {
    Copied there, here;
    bool more = true, heard = false;  // may come in; has come back
    while (true) {
        // What has ended and is not read now must not wake anybody.
        const auto wanted = [](int descriptor, bool reads, bool writes) {
            return pollfd{reads || writes ? descriptor : -1, static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0};
        };
        std::array<pollfd, 3> all{wanted(in, more && !there.waiting(), false), wanted(engine, !here.waiting(), there.waiting()),
                                  pollfd{out, static_cast<short>(here.waiting() ? POLLOUT : 0), 0}};
        if (::poll(all.data(), all.size(), -1) < 0) {
            if (errno == EINTR) continue;
            return heard;
        }
        constexpr short kGone = POLLERR | POLLHUP | POLLNVAL;
        if ((all[2].revents & kGone) != 0) return heard;
        if ((all[2].revents & POLLOUT) != 0 && !here.write(out)) return heard;
        if ((all[1].revents & POLLOUT) != 0 && !there.write(engine)) return heard;
        if (!here.waiting() && (all[1].revents & (POLLIN | kGone)) != 0) {
            if (!here.read(engine)) return heard;
            heard = heard || here.waiting();
        }
        if (!there.waiting() && (all[0].revents & (POLLIN | kGone)) != 0 && !there.read(in)) {
            more = false;
            ::shutdown(engine, SHUT_WR);  // it hears that the line has ended, and may still answer
        }
    }
}

Status spawn(const std::vector<std::string>& ownEngine, const EngineFolder& folder, int listening) {
    std::vector<std::string> words{ownProgram()};
    words.insert(words.end(), ownEngine.begin(), ownEngine.end());
    words.push_back(folder.id());
    const std::vector<char*> pointers = argumentPointers(words);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    constexpr int kItsIn = 0, kItsOut = 1, kItsErr = 2;
    // Nothing of the line's may stay open there: ssh waits for whoever has it.
    posix_spawn_file_actions_adddup2(&files, listening, kEngineSocket);
    posix_spawn_file_actions_addopen(&files, kItsIn, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, kItsOut, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, kItsErr, folder.file(kEngineLog).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_addclosefrom_np(&files, kEngineSocket + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    pid_t process = 0;
    const int problem = ::posix_spawn(&process, words.front().c_str(), &files, &attributes, pointers.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (problem == 0) return {};
    return makeError(ErrorCode::Io, fmt::format("The engine cannot be started as a process of its own: {}.", std::strerror(problem)));
}

}  // namespace

Status serveNewLine(const std::vector<std::string>& ownEngine, int in, int out) {
    removeOldEngines();
    const auto folder = EngineFolder::make();
    if (!folder) return folder.error();
    auto listening = folder->listen();
    Status started = listening ? spawn(ownEngine, *folder, listening->number()) : listening.error();
    std::optional<Descriptor> engine = started ? folder->connect() : std::nullopt;
    if (started && !engine)
        started = makeError(ErrorCode::Io, fmt::format("The engine that was started cannot be reached in \"{}\".", folder->path()));
    if (!started) {
        folder->remove();
        return started;
    }
    listening->close();
    if (copyBothWays(in, out, engine->number()) || folder->engine()) return {};
    const std::string said = folder->lastWords();
    folder->remove();
    return makeError(ErrorCode::Io, "The engine ended before it had said who it is" + (said.empty() ? std::string(".") : ": " + said));
}

Status serveOldLine(const std::string& id, int in, int out) {
    const auto folder = EngineFolder::open(id);
    if (!folder) return refuseLine(folder.error(), out);
    if (const auto engine = folder->connect()) {
        copyBothWays(in, out, engine->number());
        return {};
    }
    auto lock = folder->lock();
    if (!lock) return refuseLine(lock.error(), out);
    return serveLeftJournal(*folder, in, out);
}

}  // namespace stepscope
