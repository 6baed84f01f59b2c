#include "app/workbench/engine/EngineServer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "app/workbench/engine/Descriptor.h"
#include "app/workbench/engine/EngineElsewhere.h"
#include "app/workbench/engine/EngineLooks.h"
#include "app/workbench/engine/ServedRun.h"
#include "app/workbench/engine/StartWords.h"
#include "app/workbench/engine/detached/EngineFolder.h"
#include "sessions/wire/Hello.h"

namespace stepscope {
namespace {

// Whoever publishes waits until its frame is in the pipe, so the run is never far ahead of who listens.
class PipeOutlet final : public EngineOutlet {
public:
    explicit PipeOutlet(int descriptor) : m_descriptor(descriptor) {}
    // An errno, where that is another one than that of a reader who has gone. Before a run begins alone.
    int problem() const { return m_problem; }

private:
    void write(FrameType type, const FrameBytes& payload, std::uint64_t) override {
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
                m_problem = count < 0 && errno != EPIPE ? errno : 0;
                m_broken = true;  // who reads it has gone; that is noticed where it is read from
                return;
            }
        }
    }

    const int m_descriptor;
    bool m_broken = false;
    int m_problem = 0;
};

class EngineServer {
public:
    EngineServer(Workbench& workbench, int in, int out)
        : m_machine(workbench.machine()),
          m_in(in),
          m_wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          m_outlet(out),
          m_served(workbench, m_outlet, AskingKeeper::Kind::Alone, [this] {
              const std::uint64_t one = 1;
              [[maybe_unused]] const auto count = ::write(m_wake.number(), &one, sizeof(one));
          }) {}
    ~EngineServer() = default;
    EngineServer(const EngineServer&) = delete;
    EngineServer& operator=(const EngineServer&) = delete;

    Status serve() {
        Hello hello = engineHello(m_machine);
        for (const ListedEngine& one : listEngines())
            if (!one.description.empty() && (one.lives || !one.heard))
                hello.going.push_back(one.id + (one.lives ? ": " : kHasEnded) + one.description);
        if (Status said = m_outlet.send(FrameType::Hello, helloToBytes(hello)); !said) return said;
        if (const int problem = m_outlet.problem(); problem != 0)
            return makeError(ErrorCode::Io, fmt::format("What the engine says cannot be written: {}.", std::strerror(problem)));
        std::array<std::byte, 4096> piece;
        while (!m_served.ended()) {
            std::array<pollfd, 2> wanted{pollfd{m_in, POLLIN, 0}, pollfd{m_wake.number(), POLLIN, 0}};
            if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) break;
            if (wanted[0].revents == 0) continue;
            const ssize_t count = ::read(m_in, piece.data(), piece.size());
            if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
            if (count <= 0) break;
            m_frames.add(piece.data(), static_cast<std::size_t>(count));
            while (true) {
                auto frame = m_frames.next();
                // Of bytes that begin no frame it is told what the window sees of such an engine; here the other side is the window.
                if (!frame && frame.error().code == ErrorCode::BadInput)
                    return makeError(ErrorCode::BadInput, "What came is not what a window of Stepscope sends; start stepscope --engine instead.");
                if (!frame) return frame.error();
                if (!*frame) break;
                Status taken = EngineLooks::isQuestion((*frame)->type) ? look(**frame) : m_served.take(**frame);
                if (!taken) return taken;
            }
        }
        return {};
    }

private:
    // Commands of a run would wait for the answer.
    Status look(const Frame& frame) {
        if (m_served.began()) return makeError(ErrorCode::BadInput, "This engine trains a run; what is asked beside it is asked of another one.");
        const auto answer = m_looks.answer(frame, [this] {
            if (m_frames.withinFrame()) return false;  // what is sent behind the question may have come with it
            pollfd more{m_in, POLLIN, 0};
            return ::poll(&more, 1, 0) == 0;
        });
        if (!answer) return answer.error();
        return *answer ? m_outlet.send((*answer)->type, (*answer)->payload) : Status();
    }

    const Machine m_machine;
    const int m_in;
    Descriptor m_wake;
    PipeOutlet m_outlet;
    FrameReader m_frames;
    EngineLooks m_looks;
    ServedRun m_served;  // last: it uses what is above
};

}  // namespace

Status serveEngine(Workbench& workbench, int in, int out) {
    return EngineServer(workbench, in, out).serve();
}

}  // namespace stepscope
