// EngineRun of an engine whose window was killed: the line to it is taken up by another window, and the session that was left behind here goes on.
// What the engine was told to be stored here it does not say again. Of what it does say again some is stored all the same: that is passed over, as
// what is stored is always a beginning of what was said.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/workbench/RunRecorder.h"
#include "app/workbench/Starts.h"
#include "app/workbench/engine/EngineRun.h"
#include "app/workbench/engine/EngineWords.h"
#include "app/workbench/engine/StartWords.h"
#include "core/base/Utf8.h"
#include "core/events/Event.h"
#include "sessions/EventTime.h"
#include "sessions/wire/LineWords.h"

namespace stepscope {
namespace {

constexpr std::int64_t kStoredAtOnce = 10'000;  // events

}  // namespace

// First the session, which nobody else may record then; then the engine, which has one line at a time.
Status EngineRun::goOnWithSession() {
    const auto until = std::chrono::steady_clock::now() + m_request.engineGreeting;
    const auto reader = SessionReader::open(database());
    if (!reader) return reader.error();
    auto info = (*reader)->info(m_request.sessionTakenUp);
    if (!info) return info.error();
    if (!info->config || !info->machine || !m_registry->complete(*info->config))
        return makeError(ErrorCode::Damaged,
                         fmt::format("Session {} cannot go on: its settings are not stored as they can be.", m_request.sessionTakenUp));
    m_hello.host = info->machine->host;
    if (Status called = callEngine(until); !called) return called;
    m_clock.set(TimeNs{1'000'000 * std::max<std::int64_t>(0, unixMillisecondsNow() - info->startedUnixMs)});
    auto recorder = openRecorder(m_request.database, *info, m_tee, m_clock, m_cancelled,
                                 Recorder::GoneOn{.session = m_request.sessionTakenUp, .checkpoint = {}, .all = true});
    if (!recorder) return recorder.error();
    m_recorder = std::move(*recorder);
    if (Status attached = attachAnew(until); !attached) return attached;
    const auto state = showStored(**reader, std::move(*info));
    if (!state) return state.error();
    m_tee.record(m_recorder);
    // What happened since then follows, and must not lie before what is said here.
    m_lineDown = true;
    m_newest = m_recorder->storedUntil();
    m_tee.publish(StateChanged{stamp(), m_tee.lastStep(), *state, {}});
    tell(LogLevel::Info,
         fmt::format("Another window has taken up the run, which engine {} trains on {}: what happened since the window before it ended "
                     "follows.",
                     m_hello.engine, m_hello.host));
    m_lineDown = false;
    return {};
}

Result<Frame> EngineRun::hearAnswer(std::chrono::steady_clock::time_point until) {
    auto frame = hear(until);
    if (!frame) return frame.error();
    if (!*frame && m_cancelled)
        return makeError(ErrorCode::Cancelled, fmt::format("The run of engine {} was not taken up; it goes on there.", m_request.engineTakenUp));
    if (!*frame) return makeError(ErrorCode::Io, m_tried);
    if ((*frame)->type == FrameType::Refused) return errorFromBytes((*frame)->payload);
    return std::move(**frame);
}

Status EngineRun::callEngine(std::chrono::steady_clock::time_point until) {
    const auto first = hearAnswer(until);
    if (!first) return first.error();
    auto hello = engineHelloFrom(*first);
    if (!hello) return hello.error();
    if (hello->engine == m_request.engineTakenUp) {
        m_hello = std::move(*hello);
        return {};
    }
    if (!hello->engine.empty())
        return makeError(ErrorCode::Damaged, fmt::format("Engine {} answered where {} was called.", hello->engine, m_request.engineTakenUp));
    // There is none of that name, for what comes next.
    const auto why = hearAnswer(until);
    return why ? makeError(ErrorCode::Damaged, "The engine does not say who it is.") : why.error();
}

Status EngineRun::attachAnew(std::chrono::steady_clock::time_point until) {
    m_line->send(FrameType::Attach, attachToBytes({.number = 0, .anew = true}));
    const auto answer = hearAnswer(until);
    if (!answer) return answer.error();
    if (answer->type != FrameType::Attached) return makeError(ErrorCode::Damaged, "The engine does not say what it has heard.");
    const auto attached = attachedFromBytes(answer->payload);
    if (!attached) return attached.error();
    m_number = m_safe.told = attached->behind;
    // What the window before gave it has been heard, or was lost with that window.
    const std::lock_guard lock(m_mutex);
    m_commands = attached->commands;
    for (NumberedCommand& one : m_unheard) {
        one.number = ++m_commands;
        m_line->send(FrameType::Command, commandToBytes(one.number, one.command));
    }
    m_up = true;
    return {};
}

// To who listens, as if it happened now; the recorder has it. In which state the run was.
Result<RunState> EngineRun::showStored(SessionReader& reader, SessionInfo info) {
    m_info = std::make_shared<const SessionInfo>(std::move(info));
    m_config = *m_info->config;
    m_began = true;
    m_tee.publish(SessionStarted{m_recorder->session(), m_info, false});
    RunState state = RunState::Running;
    for (std::int64_t from = 1;;) {
        auto page = reader.events(m_recorder->session(), from, kStoredAtOnce);
        if (!page) return page.error();
        if (page->empty()) break;
        from += static_cast<std::int64_t>(page->size());
        for (Event& event : *page) {
            m_mayComeAgain.emplace_back(timeOf(event).ns, event.index());
            if (const auto* applied = std::get_if<SwitchApplied>(&event)) m_config.switches[applied->id] = applied->to;
            if (const auto* changed = std::get_if<StateChanged>(&event)) {
                if (changed->state == RunState::Preparing || ended(changed->state)) continue;
                state = changed->state;
            }
            m_tee.publish(std::move(event));
        }
    }
    std::ranges::sort(m_mayComeAgain);
    return state;
}

bool EngineRun::isStored(const Event& event) {
    if (m_mayComeAgain.empty()) return false;
    if (std::holds_alternative<SessionStarted>(event)) return true;
    const std::pair<std::int64_t, std::size_t> one{timeOf(event).ns, event.index()};
    const auto found = std::ranges::lower_bound(m_mayComeAgain, one);
    if (found != m_mayComeAgain.end() && *found == one) {
        m_mayComeAgain.erase(found);
        return true;
    }
    const auto* done = std::get_if<StepDone>(&event);
    if (done == nullptr) return false;
    // Each step is stored: all that follows came later. What was told to be stored may have been lost with the power of this machine.
    m_mayComeAgain.clear();
    if (const std::int64_t last = std::max(m_tee.lastStep(), m_info->firstStep); done->step > last + 1)
        m_tee.publish(
            LogLine{done->at, done->step, LogLevel::Warning,
                    fmt::format("Steps {} to {} of the run are not stored here any more; {} has them.", last + 1, done->step - 1, m_hello.host)});
    return false;
}

bool EngineRun::isStored(const Chunk& chunk) const {
    if (m_mayComeAgain.empty()) return false;
    const auto reader = SessionReader::open(database());
    if (!reader) return false;
    ChunkPlace after;
    while (true) {
        const auto page = (*reader)->chunks(m_request.sessionTakenUp, {chunk.kind, chunk.lane, chunk.begin, TimeNs{chunk.begin.ns + 1}}, after);
        if (!page) return false;
        const auto same = [&chunk](const ChunkPtr& one) {
            return one->begin == chunk.begin && one->end == chunk.end && one->count == chunk.count && one->bytes == chunk.bytes;
        };
        if (std::ranges::any_of(page->chunks, same)) return true;
        if (!page->more) return false;
        after = page->next;
    }
}

Result<std::unique_ptr<Run>> startTakenUpRun(RunRequest request, std::shared_ptr<const Registry> registry, EventSink& sink) {
    auto config = registry->complete(request.config);
    if (!config) return config.error();
    request.config = std::move(*config);
    auto plan = registry->plan(request.config, knownVocabulary(request.config));
    if (!plan) return plan.error();
    const auto words = attachWords(request.engine, request.engineTakenUp);
    if (words.empty())
        return makeError(ErrorCode::BadInput,
                         fmt::format("The line to engine {} cannot be taken up: the command \"{}\" has no --detach.",
                                     printable(request.engineTakenUp), printable(fmt::format("{}", fmt::join(request.engine, " ")))));
    auto line = EngineLine::start(words);
    if (!line) return line.error();
    return std::unique_ptr<Run>(std::make_unique<EngineRun>(std::move(request), std::move(*plan), std::move(registry), std::move(*line), sink));
}

}  // namespace stepscope
