#include "app/workbench/engine/EngineRun.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "app/workbench/PlannedCheckpoints.h"
#include "app/workbench/RunName.h"
#include "app/workbench/RunRecorder.h"
#include "app/workbench/Starts.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/engine/EngineElsewhere.h"
#include "app/workbench/engine/SessionOfEngine.h"
#include "app/workbench/engine/StartWords.h"
#include "core/base/Utf8.h"
#include "core/events/Event.h"
#include "sessions/EventTime.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/LineWords.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostLinkTimes = 100;                      // a session has a handful
constexpr std::int64_t kMostParameters = 1'000'000'000'000'000;  // more are a stranger's, and their bytes would be no number

// A run's settings name every switch: what is left to a default here may have been another there.
bool whole(const Registry& registry, const SessionInfo& info) {
    if (!info.config || !info.machine) return false;
    const auto complete = registry.complete(*info.config);
    return complete && complete->switches.size() == info.config->switches.size();
}

using std::chrono::milliseconds;

constexpr milliseconds kLookAround{200};  // how often a stop that was asked for and a full disk are looked at

Error strayFrame() {
    return makeError(ErrorCode::Damaged, "The engine sent what only this side says; is it this program's command?");
}

}  // namespace

EngineRun::EngineRun(RunRequest request, RunPlan plan, std::shared_ptr<const Registry> registry, std::unique_ptr<EngineLine> line, EventSink& sink)
    : m_request(std::move(request)),
      m_plan(std::move(plan)),
      m_registry(std::move(registry)),
      m_tee(sink, /*hasLastWords=*/false),
      m_line(std::move(line)),
      m_thread([this] { work(); }) {}

EngineRun::~EngineRun() {
    send(Stop{});
    if (m_thread.joinable()) m_thread.join();
}

void EngineRun::send(Command command) {
    if (std::holds_alternative<Stop>(command)) m_cancelled = true;
    const std::lock_guard lock(m_mutex);
    // Left out, before it has a number: the engine would miss it, and the run goes on.
    if (Status fits = fitsFrame(commandToBytes(m_commands + 1, command), "What the run was asked for"); !fits) {
        m_unsendable = std::move(fits);
        return;
    }
    const NumberedCommand& one = m_unheard.emplace_back(++m_commands, std::move(command));
    if (m_up) m_line->send(FrameType::Command, commandToBytes(one.number, one.command));
    if (m_up && !detached()) m_unheard.clear();
    m_asked.notify_all();
}

RunSummary EngineRun::wait() {
    {
        const std::lock_guard joining(m_joining);
        if (m_thread.joinable()) m_thread.join();
    }
    RunSummary summary = m_tee.summary();
    if (m_summary) {
        summary.peakMemoryBytes = m_summary->peakMemoryBytes;
        summary.peakAllocatedBytes = m_summary->peakAllocatedBytes;
        summary.predictedMemoryBytes = m_summary->predictedMemoryBytes;
        summary.lostCheckpoints = m_summary->lostCheckpoints;
    }
    sayWhy(summary, m_error, m_finished);
    return summary;
}

TimeNs EngineRun::now() const {
    return std::max(m_clock.now(), m_newest);
}

void EngineRun::fail(const Error& error) {
    m_error = error;
    if (m_ended) return;  // it was over, and only its last words are missing
    const std::int64_t step = m_tee.lastStep();
    m_tee.publish(LogLine{now(), step, LogLevel::Error, error.sentence, error.code, error.subject});
    m_tee.publish(StateChanged{now(), step, error.code == ErrorCode::Cancelled ? RunState::Stopped : RunState::Failed, error.sentence, error.code,
                               error.subject});
}

void EngineRun::work() {
    const BrokenPipesAreTold told;
    const RunTurn turn;
    m_tee.publish(StateChanged{m_clock.now(), 0, RunState::Preparing, {}});
    m_tee.publish(Preparing{m_clock.now(), "starting the engine", kUnknown});
    try {
        Status spoken = isTakenUp() ? goOnWithSession() : greet();
        if (spoken) spoken = listen();
        while (!spoken && takesUp()) {
            if (spoken = takeUp(spoken.error()); !spoken) break;
            spoken = listen();
        }
        if (!spoken) fail(spoken.error());
    } catch (const std::exception& thrown) {
        fail(makeError(ErrorCode::Internal, fmt::format("What the engine sent could not be used: {}", thrown.what())));
    }
    if (!detached()) m_line->end();
    tellForecast();
    if (m_recorder) {
        m_finished = m_recorder->finish();
        if (!m_finished) m_tee.tellUnstored(m_finished.error(), now());
    }
    // Its end was heard, and all is stored: there is no need to keep it there, too.
    if (detached() && m_finished && m_heardAll) m_line->send(FrameType::Safe, safeToBytes({.number = m_number, .all = true}));
    m_line->end();
    m_done = true;
}

// Who answers, and what to train.
Status EngineRun::greet() {
    const auto until = std::chrono::steady_clock::now() + m_request.engineGreeting;
    while (true) {
        if (m_cancelled) return makeError(ErrorCode::Cancelled, "The run was stopped before its first step.");
        const auto frame = m_line->next(kLookAround);
        if (!frame) return frame.error();
        if (*frame) {
            auto hello = engineHelloFrom(**frame);
            if (!hello) return hello.error();
            m_hello = std::move(*hello);
            if (m_request.engineElsewhere) m_where = "It is trained on " + machineWords(m_hello.host, m_hello.machine) + ".";
            break;
        }
        if (std::chrono::steady_clock::now() > until)
            return makeError(ErrorCode::Io,
                             fmt::format("The engine has not said who it is within {} seconds; does \"{}\" wait for somebody?",
                                         m_request.engineGreeting.count(), printable(fmt::format("{}", fmt::join(m_request.engine, " ")))));
    }
    const std::lock_guard lock(m_mutex);
    m_line->send(FrameType::Start, startToBytes(m_request));
    for (const NumberedCommand& one : m_unheard) m_line->send(FrameType::Command, commandToBytes(one.number, one.command));
    if (!detached()) m_unheard.clear();
    m_up = true;
    return {};
}

Status EngineRun::listen() {
    while (!m_summary) {
        tellStored();
        tellSafe();
        tellUnsendable();
        const auto frame = m_line->next(kLookAround);
        if (!frame) return frame.error();
        if (*frame) {
            if (Status taken = take(**frame); !taken) return taken;
            m_heard = std::chrono::steady_clock::now();
        } else if (Status answers = expectAnswer(); !answers) {
            return answers;
        }
    }
    m_error = {m_summary->code, m_summary->why};
    return {};
}

// One that hangs must not keep who wants it to end.
Status EngineRun::expectAnswer() {
    if (!m_cancelled) return {};
    if (!std::exchange(m_waits, true)) m_heard = std::chrono::steady_clock::now();
    const auto silence = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - m_heard);
    const milliseconds patience = m_request.engineSilence;
    const auto seconds = [](milliseconds span) { return static_cast<double>(span.count()) / 1e3; };
    if (silence >= patience)
        return makeError(ErrorCode::Io,
                         fmt::format("The engine did not stop: nothing has come from it for {:.0f} s. {}", seconds(silence),
                                     detached() ? "Its run may go on there."
                                                : "It was ended; what had come from it until then is stored, and Run starts a new one."));
    if (silence < patience / 6 || std::exchange(m_silent, true)) return {};
    tell(LogLevel::Warning, fmt::format("The engine has not answered to Stop for {:.0f} s; if nothing comes from it for {:.0f} s more, {}.",
                                        seconds(silence), seconds(patience - silence), detached() ? "its line is given up" : "it is ended"));
    return {};
}

Status EngineRun::take(const Frame& frame) {
    switch (frame.type) {
        case FrameType::Event: {
            auto one = eventFromBytes(frame.payload);
            if (!one) return one.error();
            const auto due = expectNumber(one->number);
            if (!due) return due.error();
            return *due && !isStored(one->event) ? takeEvent(std::move(one->event)) : Status();
        }
        case FrameType::Chunk: {
            auto one = chunkFromBytes(frame.payload);
            if (!one) return one.error();
            const auto due = expectNumber(one->number);
            if (!due) return due.error();
            if (m_began && *due && !isStored(one->chunk)) m_tee.publishChunk(std::make_shared<const Chunk>(std::move(one->chunk)));
            return {};
        }
        case FrameType::Keep:
            return keep(frame);
        case FrameType::Refused:
            m_heardAll = true;
            return errorFromBytes(frame.payload);
        case FrameType::Summary: {
            auto summary = summaryFromBytes(frame.payload);
            if (!summary) return summary.error();
            m_summary = std::move(*summary);
            m_heardAll = true;
            return {};
        }
        default:
            return strayFrame();
    }
}

Result<bool> EngineRun::expectNumber(std::uint64_t number) {
    if (number == m_number + 1) {
        m_number = number;
        return true;
    }
    if (detached() && number <= m_number) return false;
    return makeError(ErrorCode::Damaged,
                     fmt::format("The engine sent event {} where {} was due; something of the run is missing.", number, m_number + 1));
}

// What those who listen rely on, no stranger breaks: first the session, then what happens in it.
Status EngineRun::takeEvent(Event event) {
    if (auto* started = std::get_if<SessionStarted>(&event)) return begin(std::move(*started));
    m_newest = std::max(m_newest, timeOf(event));
    if (const auto* changed = std::get_if<StateChanged>(&event)) {
        if (changed->state == RunState::Preparing) return {};  // said when the engine was started
        m_ended = m_ended || ended(changed->state);
    } else if (const auto* applied = std::get_if<SwitchApplied>(&event)) {
        RunConfig changed = m_config;
        changed.switches[applied->id] = applied->to;
        if (!m_began || !m_config.has(applied->id) || !m_registry->complete(changed))
            return makeError(ErrorCode::Damaged, "The engine set a switch to what the run cannot have.");
        m_config = std::move(changed);
    } else if (!m_began && !std::holds_alternative<Preparing>(event) && !std::holds_alternative<LogLine>(event)) {
        return makeError(ErrorCode::Damaged, "The engine told of steps before its session began.");
    }
    m_tee.publish(std::move(event));
    return {};
}

Status EngineRun::begin(SessionStarted started) {
    if (!m_kept) return m_kept;  // one that has not waited for the answer began all the same
    if (m_began || (m_request.record && !m_info)) return makeError(ErrorCode::Damaged, "The engine began a session that was not asked for.");
    if (!whole(*m_registry, *started.info)) return makeError(ErrorCode::Damaged, "The engine began a session without settings that can be.");
    if (m_info) started.info = m_info;
    const std::int64_t there = started.session;
    started.session = m_recorder ? m_recorder->session() : 0;
    started.replay = false;
    m_config = *started.info->config;
    m_began = true;
    const std::shared_ptr<const SessionInfo> info = started.info;
    m_tee.publish(std::move(started));
    if (detached())
        tell(LogLevel::Info,
             fmt::format("The run is trained on {} {} which goes on when the line to it breaks{}.", m_hello.host, byEngine(m_hello.engine),
                         there > 0 ? fmt::format("; it is recorded there, too, as session {}, and its checkpoints lie there", there) : ""));
    else if (!m_where.empty())
        tell(LogLevel::Info, m_where);
    if (m_recorder && m_request.localWorkers == 1) {
        m_foretold.emplace(database(), m_recorder->session());
        if (const auto said = m_foretold->begin(m_plan, *info->machine, info->trainTokens, info->firstStep))
            m_tee.publish(LogLine{stamp(), info->firstStep, LogLevel::Info, *said});
    }
    return {};
}

// All is ready there: from here on what happens is stored here.
Status EngineRun::keep(const Frame& frame) {
    auto asked = askedFromBytes(frame.payload);
    if (!asked) return asked.error();
    if (!m_request.record || (m_recorder && !detached())) return strayFrame();
    if (m_recorder) {  // said again, as nobody knew whether it had come
        m_line->send(FrameType::Kept, placeToBytes({.session = m_recorder->session(), .checkpointFolder = {}}));
        return {};
    }
    const SessionInfo& info = asked->info;
    const bool linked =
        std::ranges::all_of(info.link, [](const LinkTime& one) { return one.bytes >= 0 && std::isfinite(one.seconds) && one.seconds >= 0; });
    if (!whole(*m_registry, info) || info.workers < 1 || info.link.size() > kMostLinkTimes || !linked)
        return makeError(ErrorCode::Damaged, "The engine asked to keep a session without settings that can be.");
    m_clock.set(asked->now);
    asked->info.startedUnixMs = unixMillisecondsNow() - asked->now.ns / 1'000'000;
    if (m_request.engineElsewhere && asked->info.machine) asked->info.machine->host = m_hello.host;
    // The engine does not see the database.
    if (m_request.name.empty()) asked->info.name = toldApart(asked->info.name, *asked->info.config, database());
    const auto notKept = [this](const Error& why) {
        m_kept = why;
        m_line->send(FrameType::NotKept, errorToBytes(why));
        return Status();
    };
    // Before there is a session, which would have no step.
    if (!m_request.engineElsewhere && !detached()) {
        const std::int64_t parameters = std::min(info.parameters, kMostParameters);
        const Status room = checkPlannedCheckpoints(*info.config, parameters, info.firstStep, checkpointsBeside(database()));
        if (!room) return notKept(room.error());
    }
    auto recorder = openRecorder(m_request.database, asked->info, m_tee, m_clock, m_cancelled);
    if (!recorder) return notKept(recorder.error());
    m_recorder = std::move(*recorder);
    m_info = std::make_shared<const SessionInfo>(std::move(asked->info));
    m_tee.record(m_recorder);
    const SessionPlace place{m_recorder->session(), m_recorder->checkpointFolder()};
    m_line->send(FrameType::Kept, placeToBytes(m_request.engineElsewhere ? placeElsewhere(place) : place));
    return {};
}

void EngineRun::tellStored() {
    if (!m_recorder || detached()) return;  // its captures and its disk are those there
    const StoredSoFar stored{m_recorder->chunkBytes(), m_recorder->blocked()};
    if (stored == m_stored) return;
    m_stored = stored;
    m_line->send(FrameType::Stored, storedToBytes(stored));
}

// What is stored here need not be kept there.
void EngineRun::tellSafe() {
    if (!detached()) return;
    if (m_safe.published < 0 && m_number > m_safe.told && std::chrono::steady_clock::now() > m_safe.next) {
        m_safe.next = std::chrono::steady_clock::now() + kLookAround;
        m_safe.number = m_number;
        m_safe.published = m_recorder ? m_recorder->published() : 0;
    }
    if (m_safe.published < 0 || (m_recorder && m_recorder->committed() < m_safe.published)) return;
    m_safe.told = m_safe.number;
    m_safe.published = -1;
    m_line->send(FrameType::Safe, safeToBytes({.number = m_safe.told}));
}

void EngineRun::tellUnsendable() {
    Status told;
    {
        const std::lock_guard lock(m_mutex);
        std::swap(told, m_unsendable);
    }
    if (!told) tell(LogLevel::Warning, told.error().sentence);
}

// While there is no line the run goes on there: what is heard of that later must not lie before what is said here meanwhile, or who follows the
// stored session would have read past it.
TimeNs EngineRun::stamp() {
    m_stamped = std::max(m_stamped, m_lineDown ? m_newest : now());
    return m_stamped;
}

void EngineRun::tell(LogLevel level, std::string text) {
    m_tee.publish(LogLine{stamp(), m_tee.lastStep(), level, std::move(text)});
}

void EngineRun::tellForecast() {
    if (!m_foretold) return;
    if (const auto said = m_foretold->end(m_tee.took(), m_tee.summary(), *m_info->config, *m_info->machine))
        m_tee.publish(LogLine{now(), m_tee.lastStep(), LogLevel::Info, *said});
}

Result<std::unique_ptr<Run>> startEngineRun(RunRequest request, std::shared_ptr<const Registry> registry, EventSink& sink) {
    auto plan = registry->plan(request.config, knownVocabulary(request.config));
    if (!plan) return plan.error();
    auto line = EngineLine::start(request.engine);
    if (!line) return line.error();
    return std::unique_ptr<Run>(std::make_unique<EngineRun>(std::move(request), std::move(*plan), std::move(registry), std::move(*line), sink));
}

}  // namespace stepscope
