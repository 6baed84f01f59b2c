#include "app/workbench/engine/ServedRun.h"

#include <fmt/format.h>

#include <utility>

#include "app/workbench/engine/StartWords.h"
#include "app/workbench/workers/LocalWorkers.h"
#include "sessions/wire/EventWire.h"

namespace stepscope {

ServedRun::~ServedRun() {
    m_keeper.close();
    if (m_run && !m_ended) stop();
    if (m_waiting.joinable()) m_waiting.join();
}

void ServedRun::stop() {
    m_stopped = true;
    m_outlet.stopping();
    if (Run* run = m_running.load()) run->send(Stop{});
}

Status ServedRun::take(const Frame& frame) {
    switch (frame.type) {
        case FrameType::Start:
            return start(frame);
        case FrameType::Command:
            return command(frame);
        case FrameType::Kept: {
            auto place = placeFromBytes(frame.payload);
            if (place) place = placeHere(std::move(*place), defaultDatabasePath());
            if (!place) return place.error();
            m_keeper.answer(std::move(place));
            return {};
        }
        case FrameType::NotKept:
            // Too late to say that it cannot begin: nobody wants what nobody keeps.
            if (!m_keeper.answer(errorFromBytes(frame.payload))) stop();
            return {};
        case FrameType::Stored: {
            const auto stored = storedFromBytes(frame.payload);
            if (!stored) return stored.error();
            m_keeper.tell(*stored);
            return {};
        }
        default:
            return makeError(ErrorCode::Damaged, "The other side sent what only an engine says.");
    }
}

Status ServedRun::command(const Frame& frame) {
    auto one = commandFromBytes(frame.payload);
    if (!one) return one.error();
    if (one->number <= m_commands) return {};  // said again, as nobody knew whether it had come
    if (one->number != m_commands + 1)
        return makeError(ErrorCode::Damaged,
                         fmt::format("The other side sent command {} where {} was due; one is missing.", one->number, m_commands + 1));
    m_commands = one->number;
    if (std::holds_alternative<Stop>(one->command)) m_outlet.stopping();
    if (m_run) m_run->send(std::move(one->command));
    return {};
}

Status ServedRun::start(const Frame& frame) {
    if (m_run) return makeError(ErrorCode::BadInput, "This engine trains a run already; each has an engine of its own.");
    auto request = startFromBytes(frame.payload);
    if (!request) return request.error();
    if (request->record) request->keeper = &m_keeper;
    request->workerProgram = ownProgram();
    auto started = m_workbench.start(std::move(*request), m_outlet);
    if (!started) {
        m_outlet.refuse(started.error());
        return {};
    }
    m_run = std::move(*started);
    m_running = m_run.get();
    if (m_stopped) m_run->send(Stop{});
    m_waiting = std::thread([this] {
        if (const Status said = m_outlet.send(FrameType::Summary, summaryToBytes(m_run->wait())); !said) m_outlet.refuse(said.error());
        m_ended = true;
        m_onEnded();
    });
    return {};
}

}  // namespace stepscope
