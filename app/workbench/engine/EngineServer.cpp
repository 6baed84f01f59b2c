#include "app/workbench/engine/EngineServer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "app/workbench/engine/EngineLooks.h"
#include "app/workbench/engine/StartWords.h"
#include "app/workbench/workers/LocalWorkers.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/Hello.h"

namespace stepscope {
namespace {

// Where frames go out. Whoever publishes waits until its frame is in the pipe, so the run is never far ahead of who listens. Any thread.
class Outlet final : public EventSink {
public:
    explicit Outlet(int descriptor) : m_descriptor(descriptor) {}

    void publish(Event event) override {
        const std::lock_guard lock(m_mutex);
        sendNumbered(FrameType::Event, eventToBytes(m_number + 1, event));
    }
    void publishChunk(ChunkPtr chunk) override {
        if (!checkChunk(*chunk)) return;  // nobody could store it
        const std::lock_guard lock(m_mutex);
        sendNumbered(FrameType::Chunk, chunkToBytes(m_number + 1, *chunk));
    }
    void send(FrameType type, const FrameBytes& payload) {
        const std::lock_guard lock(m_mutex);
        write(type, payload);
    }

private:
    void sendNumbered(FrameType type, const FrameBytes& payload) {
        if (payload.size() > kMostFrameBytes) return;
        ++m_number;
        write(type, payload);
    }
    void write(FrameType type, const FrameBytes& payload) {
        if (m_broken) return;
        const FrameBytes frame = frameOf(type, payload);
        for (std::size_t written = 0; written < frame.size();) {
            const ssize_t count = ::write(m_descriptor, frame.data() + written, frame.size() - written);
            if (count > 0) {
                written += static_cast<std::size_t>(count);
            } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
                pollfd room{m_descriptor, POLLOUT, 0};
                ::poll(&room, 1, -1);
            } else if (count == 0 || errno != EINTR) {
                m_broken = true;  // who reads it has gone; that is noticed where it is read from
                return;
            }
        }
    }

    const int m_descriptor;
    std::mutex m_mutex;  // of all below
    std::uint64_t m_number = 0;
    bool m_broken = false;
};

// Asks the other side to keep the session.
class AskingKeeper final : public SessionKeeper {
public:
    explicit AskingKeeper(Outlet& outlet) : m_outlet(outlet) {}

    Result<SessionPlace> open(const SessionInfo& info, TimeNs now) override {
        m_outlet.send(FrameType::Keep, askedToBytes({info, now}));
        std::unique_lock lock(m_mutex);
        m_answered.wait(lock, [&] { return m_answer || m_closed; });
        if (m_answer) return *m_answer;
        return makeError(ErrorCode::Cancelled, "Who asked for the run has gone before it began.");
    }
    bool blocked() const override { return m_blocked; }
    std::int64_t chunkBytes() const override { return m_chunkBytes; }

    void answer(Result<SessionPlace> answer) {
        const std::lock_guard lock(m_mutex);
        m_answer = std::move(answer);
        m_answered.notify_all();
    }
    void close() {
        const std::lock_guard lock(m_mutex);
        m_closed = true;
        m_blocked = false;  // a run that waits for a disk there must not wait for ever
        m_answered.notify_all();
    }
    void tell(const StoredSoFar& stored) {
        m_chunkBytes = stored.chunkBytes;
        m_blocked = stored.blocked;
    }

private:
    Outlet& m_outlet;
    std::mutex m_mutex;
    std::condition_variable m_answered;
    std::optional<Result<SessionPlace>> m_answer;
    bool m_closed = false;
    std::atomic<bool> m_blocked{false};
    std::atomic<std::int64_t> m_chunkBytes{0};
};

class EngineServer {
public:
    EngineServer(Workbench& workbench, int in, int out)
        : m_workbench(workbench), m_in(in), m_wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), m_outlet(out), m_keeper(m_outlet) {}
    ~EngineServer() {
        m_keeper.close();
        if (m_run && !m_ended) m_run->send(Stop{});
        if (m_waiting.joinable()) m_waiting.join();
        if (m_wake >= 0) ::close(m_wake);
    }
    EngineServer(const EngineServer&) = delete;
    EngineServer& operator=(const EngineServer&) = delete;

    Status serve() {
        m_outlet.send(FrameType::Hello, helloToBytes(ownHello(m_workbench.machine())));
        std::array<std::byte, 4096> piece;
        while (!m_ended) {
            std::array<pollfd, 2> wanted{pollfd{m_in, POLLIN, 0}, pollfd{m_wake, POLLIN, 0}};
            if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) break;
            if (wanted[0].revents == 0) continue;
            const ssize_t count = ::read(m_in, piece.data(), piece.size());
            if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
            if (count <= 0) break;
            m_frames.add(piece.data(), static_cast<std::size_t>(count));
            while (true) {
                auto frame = m_frames.next();
                if (!frame) return frame.error();
                if (!*frame) break;
                if (Status taken = take(**frame); !taken) return taken;
            }
        }
        return {};
    }

private:
    Status take(const Frame& frame) {
        switch (frame.type) {
            case FrameType::Start:
                return start(frame);
            case FrameType::Command: {
                auto command = commandFromBytes(frame.payload);
                if (!command) return command.error();
                if (m_run) m_run->send(std::move(*command));
                return {};
            }
            case FrameType::Kept: {
                auto place = placeFromBytes(frame.payload);
                if (place) place = placeHere(std::move(*place), defaultDatabasePath());
                if (!place) return place.error();
                m_keeper.answer(std::move(place));
                return {};
            }
            case FrameType::NotKept:
                m_keeper.answer(errorFromBytes(frame.payload));
                return {};
            case FrameType::Stored: {
                const auto stored = storedFromBytes(frame.payload);
                if (!stored) return stored.error();
                m_keeper.tell(*stored);
                return {};
            }
            default:
                if (EngineLooks::isQuestion(frame.type)) return look(frame);
                return makeError(ErrorCode::Damaged, "The other side sent what only an engine says.");
        }
    }

    // Commands of a run would wait for the answer.
    Status look(const Frame& frame) {
        if (m_run) return makeError(ErrorCode::BadInput, "This engine trains a run; what is asked beside it is asked of another one.");
        const auto answer = m_looks.answer(frame, [this] {
            pollfd more{m_in, POLLIN, 0};
            return ::poll(&more, 1, 0) == 0;
        });
        if (!answer) return answer.error();
        if (*answer) m_outlet.send((*answer)->type, (*answer)->payload);
        return {};
    }

    Status start(const Frame& frame) {
        if (m_run) return makeError(ErrorCode::BadInput, "This engine trains a run already; each has an engine of its own.");
        auto request = startFromBytes(frame.payload);
        if (!request) return request.error();
        if (request->record) request->keeper = &m_keeper;
        request->workerProgram = ownCommand().front();
        auto started = m_workbench.start(std::move(*request), m_outlet);
        if (!started) {
            m_outlet.send(FrameType::Refused, errorToBytes(started.error()));
            return {};
        }
        m_run = std::move(*started);
        m_waiting = std::thread([this] {
            m_outlet.send(FrameType::Summary, summaryToBytes(m_run->wait()));
            m_ended = true;
            const std::uint64_t one = 1;
            [[maybe_unused]] const auto count = ::write(m_wake, &one, sizeof(one));
        });
        return {};
    }

    Workbench& m_workbench;
    const int m_in, m_wake;
    Outlet m_outlet;
    AskingKeeper m_keeper;
    FrameReader m_frames;
    EngineLooks m_looks;
    std::unique_ptr<Run> m_run;
    std::atomic<bool> m_ended{false};
    std::thread m_waiting;
};

}  // namespace

Status serveEngine(Workbench& workbench, int in, int out) {
    return EngineServer(workbench, in, out).serve();
}

}  // namespace stepscope
