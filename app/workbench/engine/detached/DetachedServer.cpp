#include "app/workbench/engine/detached/DetachedServer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <utility>
#include <vector>

#include "app/workbench/engine/StartWords.h"
#include "core/events/Event.h"
#include "sessions/EventTime.h"
#include "sessions/wire/Hello.h"
#include "sessions/wire/LineWords.h"

namespace stepscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMayTakeToCall{60};  // who started it
constexpr std::chrono::seconds kMayTakeToHear{5};   // a line that is ended, what it was told last
constexpr int kLookAroundMs = 1000;
constexpr std::size_t kSentAhead = 1 << 16;  // bytes

void append(FrameBytes& to, const FrameBytes& more) {
    to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

// A connection to the socket.
struct DetachedServer::Caller {
    Descriptor socket;
    FrameReader said;
    FrameBytes out;                          // whole frames,
    std::size_t sent = 0;                    //   and how much of them has gone
    std::optional<Journal::Reader> reader;   // of what it is told
    std::optional<Clock::time_point> until;  // it is told no more than that, and no longer

    bool pending() const { return sent < out.size(); }
};

// What belongs to the run goes into the journal; what answers a question is for who asked.
class DetachedServer::Outlet final : public EngineOutlet {
public:
    Outlet(Journal& journal, const EngineFolder& folder, std::function<void()> wake)
        : m_journal(journal), m_folder(folder), m_wake(std::move(wake)) {}

    void publish(Event event) override {
        if (const auto* started = std::get_if<SessionStarted>(&event))
            m_folder.describe(started->session > 0 ? fmt::format("session {}, {}", started->session, started->info->name) : started->info->name);
        const TimeNs at = timeOf(event);
        EngineOutlet::publish(std::move(event));
        tellRefusal(at);
    }
    Status send(FrameType type, const FrameBytes& payload) override {
        if (type == FrameType::Keep || type == FrameType::Refused || type == FrameType::Summary) return EngineOutlet::send(type, payload);
        if (Status fits = fitsFrame(payload, "What the engine has to say"); !fits) return fits;
        {
            const std::lock_guard lock(m_mutex);
            append(m_answers, frameOf(type, payload));
        }
        m_wake();
        return {};
    }
    void stopping() override { m_journal.giveUp(); }
    bool saidAll() const { return m_saidAll; }
    FrameBytes answers() {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_answers, {});
    }

private:
    void write(FrameType type, const FrameBytes& payload, std::uint64_t number) override {
        if (type == FrameType::Summary || type == FrameType::Refused) m_saidAll = true;
        m_journal.append(type, payload, number);
        m_wake();
    }
    void tellRefusal(TimeNs at) {
        const std::string refusal = m_journal.refusal();
        if (m_refused.exchange(!refusal.empty()) == !refusal.empty()) return;
        if (refusal.empty())
            EngineOutlet::publish(LogLine{at, 0, LogLevel::Info, "What the engine says can be kept on its disk again."});
        else
            EngineOutlet::publish(
                LogLine{at,
                        0,
                        LogLevel::Error,
                        fmt::format("What the engine says cannot be kept in \"{}\" on {}: {}. It waits in memory, and when that is full "
                                    "the run waits, until there is room.",
                                    m_folder.path(), hostName(), refusal),
                        ErrorCode::Io,
                        {Subject::Kind::File, m_folder.path()}});
    }

    Journal& m_journal;
    const EngineFolder& m_folder;
    const std::function<void()> m_wake;
    std::atomic<bool> m_refused{false}, m_saidAll{false};
    std::mutex m_mutex;
    FrameBytes m_answers;  // under m_mutex
};

Result<std::unique_ptr<DetachedServer>> DetachedServer::make(Workbench& workbench, EngineFolder folder, Descriptor listening, Descriptor lock) {
    auto journal = Journal::create(folder.path());
    if (!journal) return journal.error();
    return std::unique_ptr<DetachedServer>(
        new DetachedServer(workbench, std::move(folder), std::move(listening), std::move(lock), std::move(*journal)));
}

DetachedServer::DetachedServer(Workbench& workbench, EngineFolder folder, Descriptor listening, Descriptor lock, std::unique_ptr<Journal> journal)
    : m_folder(std::move(folder)),
      m_listening(std::move(listening)),
      m_lock(std::move(lock)),
      m_wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      m_journal(std::move(journal)),
      m_outlet(std::make_unique<Outlet>(*m_journal, m_folder, [this] { wake(); })),
      m_served(workbench, *m_outlet, AskingKeeper::Kind::Beside, [this] { wake(); }) {
    Hello hello = engineHello(workbench.machine());
    hello.engine = m_folder.id();
    m_hello = frameOf(FrameType::Hello, helloToBytes(hello));
    // For who reads its journal when it has gone.
    std::ofstream(m_folder.file(kEngineHello), std::ios::binary)
        .write(reinterpret_cast<const char*>(m_hello.data()), static_cast<std::streamsize>(m_hello.size()));
}

DetachedServer::~DetachedServer() = default;

void DetachedServer::wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto count = ::write(m_wake.number(), &one, sizeof(one));
}

void DetachedServer::stop() {
    m_stopped = true;
    m_served.stop();
    wake();
}

void DetachedServer::serve() {
    while (!over()) exchange();
    if (m_heard || !m_served.began()) m_folder.remove();
}

bool DetachedServer::over() {
    if (m_heard && (m_served.ended() || !m_served.began())) return true;
    if (!m_served.began() && m_stopped) return true;
    if (!m_callers.empty()) return false;
    if (m_served.began()) return m_served.ended() && m_journal->settle();
    return m_called || Clock::now() > m_began + kMayTakeToCall;
}

void DetachedServer::exchange() {
    if (m_line != nullptr) append(m_line->out, m_outlet->answers());
    std::vector<pollfd> wanted{{m_listening.number(), POLLIN, 0}, {m_wake.number(), POLLIN, 0}};
    for (Caller& caller : m_callers) {
        fill(caller);
        const auto events = static_cast<short>((caller.until ? 0 : POLLIN) | (caller.pending() ? POLLOUT : 0));
        wanted.push_back({caller.socket.number(), events, 0});
    }
    if (::poll(wanted.data(), wanted.size(), kLookAroundMs) < 0) return;
    if (wanted[1].revents != 0) {
        std::uint64_t asked = 0;
        [[maybe_unused]] const auto count = ::read(m_wake.number(), &asked, sizeof(asked));
    }
    std::size_t place = 2;
    for (Caller& caller : m_callers) {
        const short happened = wanted[place++].revents;
        if ((happened & POLLOUT) != 0) flush(caller);
        if ((happened & POLLIN) != 0 && !caller.until)
            read(caller);
        else if ((happened & (POLLERR | POLLHUP | POLLNVAL)) != 0)
            hangUp(caller);
    }
    std::erase_if(m_callers,
                  [](const Caller& caller) { return !caller.socket || (caller.until && (!caller.pending() || Clock::now() > *caller.until)); });
    if (wanted[0].revents != 0) accept();
}

void DetachedServer::accept() {
    Descriptor socket(::accept4(m_listening.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    m_called = true;
    Caller& caller = m_callers.emplace_back();
    caller.socket = std::move(socket);
    caller.out = m_hello;
}

// Nothing more is heard of it, and what it was told last has a moment to go.
void DetachedServer::refuse(Caller& caller, const Error& why) {
    append(caller.out, frameOf(FrameType::Refused, errorToBytes(why)));
    caller.until = Clock::now() + kMayTakeToHear;
    caller.reader.reset();
    if (m_line == &caller) m_line = nullptr;
}

void DetachedServer::hangUp(Caller& caller) {
    caller.socket.close();
    if (m_line == &caller) m_line = nullptr;
}

void DetachedServer::read(Caller& caller) {
    std::array<std::byte, 4096> piece;
    const ssize_t count = ::recv(caller.socket.number(), piece.data(), piece.size(), 0);
    if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count < 0) return hangUp(caller);
    if (count == 0) {
        caller.until = Clock::now() + kMayTakeToHear;
        caller.reader.reset();
        if (m_line == &caller) {
            append(caller.out, m_outlet->answers());
            m_line = nullptr;
        }
        return;
    }
    caller.said.add(piece.data(), static_cast<std::size_t>(count));
    while (!caller.until) {
        const auto frame = caller.said.next();
        if (!frame) return refuse(caller, frame.error());
        if (!*frame) return;
        if (const Status taken = take(caller, **frame); !taken) return refuse(caller, taken.error());
    }
}

// The next of what it has not heard.
void DetachedServer::fill(Caller& caller) {
    if (!caller.pending()) {
        caller.out.clear();
        caller.sent = 0;
    }
    while (caller.reader && caller.out.size() - caller.sent < kSentAhead) {
        const auto frame = caller.reader->next();
        if (!frame) return refuse(caller, frame.error());
        if (!*frame) return;
        append(caller.out, frameOf((*frame)->type, (*frame)->payload));
    }
}

void DetachedServer::flush(Caller& caller) {
    const ssize_t count = ::send(caller.socket.number(), caller.out.data() + caller.sent, caller.out.size() - caller.sent, MSG_NOSIGNAL);
    if (count > 0)
        caller.sent += static_cast<std::size_t>(count);
    else if (count < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
        hangUp(caller);
}

Status DetachedServer::take(Caller& caller, const Frame& frame) {
    if (frame.type == FrameType::Attach) return attach(caller, frame);
    if (m_line != &caller) {
        if (m_line != nullptr || m_served.began())
            return makeError(ErrorCode::BadInput, "This engine has its run already; its line is taken up by stepscope-cli engine --attach.");
        if (Status first = becomeLine(caller, 0); !first) return first;
    }
    return frame.type == FrameType::Safe ? letGo(frame) : m_served.take(frame);
}

Status DetachedServer::becomeLine(Caller& caller, std::uint64_t number) {
    auto reader = m_journal->behind(number);
    if (!reader) return reader.error();
    // The one before it may have broken without anybody here knowing.
    if (m_line != nullptr && m_line != &caller)
        refuse(*m_line, makeError(ErrorCode::Io, fmt::format("Another program has taken up the line to engine {} on {}; the run goes on there.",
                                                             m_folder.id(), hostName())));
    caller.reader = std::move(*reader);
    m_line = &caller;
    return {};
}

Status DetachedServer::attach(Caller& caller, const Frame& frame) {
    const auto attach = attachFromBytes(frame.payload);
    if (!attach) return attach.error();
    if (m_line == &caller) return makeError(ErrorCode::Damaged, "The other side took up a line that it has.");
    if (!m_served.began() && m_journal->newest() == 0)
        return makeError(ErrorCode::NotFound, fmt::format("Engine {} on {} has heard of no run.", m_folder.id(), hostName()));
    const std::uint64_t behind = attach->anew ? m_journal->heard() : attach->number;
    if (Status line = becomeLine(caller, behind); !line) return line;
    append(caller.out, frameOf(FrameType::Attached, attachedToBytes({.commands = m_served.commands(), .behind = behind})));
    return {};
}

Status DetachedServer::letGo(const Frame& frame) {
    const auto safe = safeFromBytes(frame.payload);
    if (!safe) return safe.error();
    if (safe->number > m_journal->newest())
        return makeError(ErrorCode::Damaged,
                         fmt::format("The other side has stored event {} of this engine, which has said {}.", safe->number, m_journal->newest()));
    if (safe->all && !m_outlet->saidAll()) return makeError(ErrorCode::Damaged, "The other side has stored the end of a run that goes on.");
    m_journal->letGo(safe->number);
    m_heard = m_heard || safe->all;
    return {};
}

}  // namespace stepscope
