#include "app/workbench/LiveRun.h"

#include <ATen/Parallel.h>
#include <c10/core/Device.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/Gpus.h"
#include "app/workbench/PlannedCheckpoints.h"
#include "app/workbench/RunName.h"
#include "app/workbench/RunRecorder.h"
#include "app/workbench/StartingState.h"
#include "app/workbench/Starts.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/engine/SessionKeeper.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/process/LibraryWarnings.h"
#include "core/events/Event.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/HostAllocator.h"
#include "core/memory/SystemMemory.h"
#include "core/profile/DeviceSampler.h"
#include "core/profile/OperationStream.h"
#include "core/state/UnfinishedCheckpoints.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

// Whose numbers are sampled: the run's, or the first one for a run that may be flipped to it.
std::int32_t gpuOf(const RunPlan& plan) {
    return plan.gpu.value_or(0);
}

// What the data may take: what tensors hold, or will once the run is under way, stays theirs.
Bytes besides(Bytes tensors) {
    const Bytes budget = host_memory::affordable();
    return {std::max<std::int64_t>(budget.count - std::max(tensors, host_memory::usage().live).count, 0)};
}

}  // namespace

LiveRun::LiveRun(RunRequest request, RunPlan plan, std::shared_ptr<const Registry> registry, EventSink& sink, RunForecast forecast)
    : m_request(std::move(request)),
      m_plan(std::move(plan)),
      m_registry(std::move(registry)),
      m_forecast(std::move(forecast)),
      m_scheduled(m_request.scheduled, m_commands, sink),
      m_tee(m_scheduled),
      m_generator(m_tee, m_clock),
      m_thread([this] { work(); }) {}

LiveRun::~LiveRun() {
    send(Stop{});
    if (m_thread.joinable()) m_thread.join();
}

void LiveRun::send(Command command) {
    if (std::holds_alternative<Stop>(command)) {
        m_cancelled = true;
        m_generator.cancel();
    }
    if (std::holds_alternative<StopCapture>(command)) {
        // What is asked for from the begin is not asked yet.
        const std::lock_guard lock(m_mutex);
        m_captureEnded = true;
        if (m_preparing) return;
    }
    // And once more behind those that are not taken yet.
    if (const auto* text = std::get_if<GenerateText>(&command); text != nullptr && text->tokens == 0) m_generator.cutOff();
    m_commands.push(std::move(command));
}

RunSummary LiveRun::wait() {
    {
        const std::lock_guard joining(m_joining);
        if (m_thread.joinable()) m_thread.join();
    }
    RunSummary summary = m_tee.summary();
    std::lock_guard lock(m_mutex);
    summary.lostCheckpoints = m_lostCheckpoints;
    sayWhy(summary, m_error, m_stored);
    summary.peakMemoryBytes = peakResidentMemory().count;
    summary.peakAllocatedBytes = device_memory::peak(at::Device(m_plan.device())).count;
    summary.predictedMemoryBytes = m_forecast.peakMemory.count;
    return summary;
}

void LiveRun::fail(const Error& error) {
    {
        std::lock_guard lock(m_mutex);
        m_error = error;
    }
    m_tee.publish(LogLine{m_clock.now(), 0, LogLevel::Error, error.sentence, error.code, error.subject});
    m_tee.publish(StateChanged{m_clock.now(), 0, error.code == ErrorCode::Cancelled ? RunState::Stopped : RunState::Failed, error.sentence,
                               error.code, error.subject});
}

void LiveRun::work() {
    const RunTurn turn;
    m_tee.publish(StateChanged{m_clock.now(), 0, RunState::Preparing, {}});
    try {
        const LibraryWarningListener warnings([this](const std::string& sentence) {
            m_tee.publish(LogLine{m_clock.now(), m_tee.lastStep(), LogLevel::Warning, sentence});
        });
        auto setup = prepare();
        if (!setup) {
            tellOthers(setup.error());
            // One that was stopped while it waited hears that the others were, too.
            fail(m_workers && m_cancelled ? makeError(ErrorCode::Cancelled, "The run was stopped before its first step.") : setup.error());
        } else {
            const DeviceSampler sampler(m_tee, m_clock, m_registry->machine().cores, gpuSampler(gpuOf(m_plan), cudaPlugin()));
            Trainer trainer(std::move(*setup));
            {
                const std::lock_guard lock(m_mutex);
                m_preparing = false;
                if (m_captureEnded) m_commands.push(StopCapture{});
            }
            const TrainerOutcome outcome = trainer.run();
            if (outcome.state == RunState::Failed)
                tellOthers(outcome.error);
            else
                tellWaits();
            if (outcome.state == RunState::Finished) m_generator.finish();  // the last sample is the one that people wait for
            // Of several workers another one may have been asked to: what cannot be stored is waited for no more here, too.
            if (outcome.state == RunState::Stopped) m_cancelled = true;
            std::lock_guard lock(m_mutex);
            m_error = outcome.error;
            m_lostCheckpoints = outcome.lostCheckpoints;
        }
    } catch (const std::exception& thrown) {
        const Error error = describeException(thrown);
        tellOthers(error);
        fail(error);
    }
    m_generator.cancel();
    m_generator.finish();
    tellForecast();
    if (m_recorder) {
        m_stored = m_recorder->finish();
        if (!m_stored) m_tee.tellUnstored(m_stored.error(), m_clock.now());
    }
    m_done = true;
}

// Where they do not know it yet.
void LiveRun::tellOthers(const Error& why) {
    if (m_workers) m_workers->giveUp(why);
}

void LiveRun::tellWaits() {
    if (!m_workers) return;
    const RunTook took = m_tee.took();
    if (const std::string said = m_workers->waits(took.steps, took.stepSeconds); !said.empty())
        m_tee.publish(LogLine{m_clock.now(), m_tee.lastStep(), LogLevel::Info, said});
}

// The run is over: what it took beside what was foretold, and what is known now of runs like it.
void LiveRun::tellForecast() {
    if (!m_foretold) return;
    if (const auto said = m_foretold->end(m_tee.took(), m_tee.summary(), m_request.config, m_registry->machine()))
        m_tee.publish(LogLine{m_clock.now(), m_tee.lastStep(), LogLevel::Info, *said});
}

Result<TrainerSetup> LiveRun::prepare() {
    if (!m_request.workers.alone()) {
        m_tee.publish(Preparing{m_clock.now(), "waiting for the other workers", kUnknown});
        auto joined = RunWorkers::join(m_request, m_plan, m_cancelled);
        if (!joined) return joined.error();
        m_workers = std::move(*joined);
        host_memory::shareAmong(m_workers->onThisMachine());
        auto restart = m_workers->restart(m_request);
        if (!restart) return restart.error();
        if (*restart)
            if (const Status taken = takeUp(std::move(**restart)); !taken) return taken.error();
    }
    host_memory::resetPeak();
    device_memory::resetPeak(at::Device(m_plan.device()));
    // OpenMP's thread count belongs to the thread that sets it.
    const int cores = m_registry->machine().cores;
    const std::int64_t threads = m_workers                      ? m_workers->threads(m_request.config, cores)
                                 : m_request.config.threads > 0 ? m_request.config.threads
                                                                : cores;
    at::set_num_threads(static_cast<int>(threads));
    auto batches = openDataTogether();
    if (!batches) return batches.error();
    host_memory::refreshBudget();  // the data took their part
    if (auto fits = forecast((*batches)->corpus()); !fits) return fits.error();
    m_tee.publish(Preparing{m_clock.now(), "building the model", kUnknown});
    const Corpus& corpus = (*batches)->corpus();
    auto start = beginTogether(corpus, threads);
    if (!start) return start.error();

    TrainerSetup setup;
    setup.config = m_request.config;
    setup.state = std::move(start->state);
    setup.batches = *batches;
    setup.origin = {corpus.identity, threads, m_request.workers.size};
    setup.factory = m_registry.get();
    setup.clock = &m_clock;
    setup.sink = &m_tee;
    setup.commands = &m_commands;
    if (m_request.capture) m_commands.push(*m_request.capture);
    setup.captureBytes = [this]() -> std::int64_t {
        if (m_recorder) return m_recorder->chunkBytes();
        return m_request.keeper != nullptr ? m_request.keeper->chunkBytes() : 0;
    };
    setup.captureCap = m_request.captureCap;
    setup.captureBytesInHand = [this] { return m_recorder ? m_recorder->bytesInHand() : std::int64_t{0}; };
    setup.disturbances = &m_generator.busy();
    setup.questionOf = [this](const RunConfig& a, const RunConfig& b) { return questionKey(a, b, false, m_registry->machine()); };
    setup.mustWait = [this] {
        if (m_recorder) return m_recorder->blocked();
        return m_request.keeper != nullptr && m_request.keeper->blocked();
    };
    const DataIds ids(setup.state.config.vocabulary, corpus.tokens->size());
    setup.fits = [this, ids](const RunPlan& from, const RunPlan& to) -> Status {
        if (const std::string why = m_workers ? m_workers->whyNotShared(to) : ""; !why.empty()) return makeError(ErrorCode::Unsupported, why);
        return checkMemoryOfFlip(*m_registry, from, to, ids);
    };
    setup.fitsBeside = [this, ids](const RunPlan& a, const RunPlan& b) { return checkMemoryOfTurns(*m_registry, a, b, ids); };
    if (m_workers) {
        setup.others = &m_workers->parallel();
        setup.beat = m_workers->beat();
    }
    setup.stopIsAsked = [this] { return m_cancelled.load(); };
    setup.commandsBefore = [this](std::int64_t step) { return m_scheduled.before(step); };
    setup.generate = [this, tokenizer = (*batches)->corpus().tokenizer](const GenerateText& request, const TrainState& from, bool asked) {
        if (m_workers && !m_workers->first()) return;
        if (request.tokens == 0) return m_generator.cutOffAsked();
        if (!tokenizer)
            return m_tee.publish(LogLine{m_clock.now(),
                                         from.updates,
                                         LogLevel::Warning,
                                         "No text: this run trains on ready token ids, so there is no tokenizer to write with.",
                                         ErrorCode::Unsupported,
                                         {Subject::Kind::Text, {}}});
        const at::Tensor weights = from.weights.detach().clone();
        device_memory::synchronise(weights.device());
        m_generator.post({request, {from.config, from.layout, weights}, from.updates, tokenizer, asked});
    };
    if (m_workers) {
        const std::string gpu = m_plan.gpu ? m_registry->machine().gpus.at(static_cast<std::size_t>(*m_plan.gpu)).name : "";
        if (const Status same = m_workers->compareStart(setup, gpu); !same) return same.error();
        auto link = m_workers->link();
        if (!link) return link.error();
        m_link = std::move(*link);
    }
    if (auto opened = openSessionTogether(setup, start->notes); !opened) return opened.error();
    setup.checkpointFolder = m_checkpointFolder;
    if (m_recorder && goesOn()) {
        setup.cameFrom = m_restart->checkpoint;
        setup.validated = validatedBefore();
    }
    return setup;
}

// From here on this is the run that died, as its checkpoint has it: with the settings that it had come to.
Status LiveRun::takeUp(Restart restart) {
    m_restart = std::move(restart);
    numberOperationsFrom(std::int64_t{m_restart->times} << 32);  // the driver's correlation ids have 32 bits
    const std::string& checkpoint = m_restart->checkpoint;
    if (checkpoint.empty()) return {};
    const auto info = inspectCheckpoint(checkpoint);
    if (!info) return info.error();
    auto config = m_registry->complete(info->config);
    if (!config) return config.error();
    auto plan = m_registry->plan(*config, knownVocabulary(*config));
    if (!plan) return plan.error();
    m_request.config = std::move(*config);
    m_request.init.clear();
    m_request.resume = checkpoint;
    m_request.mayBeDone = true;
    m_plan = std::move(*plan);
    m_scheduled.goOnFrom(m_restart->step);
    if (m_request.capture && !m_request.capture->slowest && m_request.capture->firstStep <= m_restart->step) m_request.capture.reset();
    return {};
}

// Where there are others, each in its turn.
Result<std::shared_ptr<const BatchSource>> LiveRun::openDataTogether() {
    const auto open = [this, sinceNs = nowForFilesNs()](const std::atomic<bool>& stop) {
        return openData(stop, sinceNs).about(Subject::Kind::Data, m_request.config.data);
    };
    if (!m_workers) return open(m_cancelled);
    m_tee.publish(Preparing{m_clock.now(), "preparing the data with the other workers", kUnknown});
    std::shared_ptr<const BatchSource> batches;
    const Status opened = m_workers->openInTurn(m_request.config, m_cancelled, [&](const std::atomic<bool>& stop) -> Status {
        auto own = open(stop);
        if (!own) return own.error();
        batches = std::move(*own);
        return {};
    });
    if (!opened) return opened.error();
    return batches;
}

Result<std::shared_ptr<const BatchSource>> LiveRun::openData(const std::atomic<bool>& stop, std::int64_t sinceNs) {
    const RunConfig& config = m_request.config;
    auto tokenizer = tokenizerOfStart(m_request);
    if (!tokenizer) return tokenizer.error();
    const CorpusRequest wanted{.data = config.data,
                               .tokenizer = config.tokenizer,
                               .vocabulary = config.vocabulary,
                               .validationFraction = config.validationFraction,
                               .validation = config.validation,
                               .separator = config.separator,
                               .with = std::move(*tokenizer),
                               .context = m_plan.context,
                               .seed = static_cast<std::uint64_t>(config.seed),
                               .cacheFolder = {},
                               .sinceNs = sinceNs,
                               .keepText = m_plan.feed.place == TokenPlace::Text,
                               .freeMemory = [this, onHost = !m_plan.onGpu()] { return besides(onHost ? m_forecast.tensors : Bytes{0}); }};
    auto corpus = openCorpus(
        wanted,
        [this](const std::string& what, double fraction) {
            m_tee.publish(Preparing{m_clock.now(), what, fraction});
        },
        stop);
    if (!corpus) return corpus.error();
    auto batches = std::make_shared<BatchSource>(std::move(*corpus));
    if (auto good = batches->accepts(m_plan); !good) return good.error();
    return std::shared_ptr<const BatchSource>(std::move(batches));
}

// Where there are others, beside them: a disk may be slow with one of them.
Result<StartingState> LiveRun::beginTogether(const Corpus& corpus, std::int64_t threads) {
    const auto begin = [&] { return startingState(m_request, m_registry->modelShape(m_plan, corpus.vocabulary), corpus, threads); };
    if (!m_workers) return begin();
    StartingState start;
    const Status begun = m_workers->beginSideBySide(m_cancelled, [&]() -> Status {
        auto own = begin();
        if (!own) return own.error();
        start = std::move(*own);
        return {};
    });
    if (!begun) return begun.error();
    return start;
}

// Once more, now that it is known which ids the data have, and how many.
Status LiveRun::forecast(const Corpus& corpus) {
    const Workbench::Estimate needed = estimateMemory(*m_registry, m_plan, {corpus.vocabulary, corpus.tokens->size()});
    m_forecast = forecastOf(needed);
    return checkMemory(m_plan, needed);
}

// By step, of the checkpoints that those before this one kept. Where it cannot be read nobody knows, and they stay.
std::map<std::int64_t, double> LiveRun::validatedBefore() const {
    std::map<std::int64_t, double> losses;
    if (!m_request.config.keepsBest()) return losses;
    const auto listed = listCheckpoints(database(), m_restart->session);
    if (!listed) return losses;
    for (const ListedCheckpoint& one : *listed) losses[one.step] = one.validationLoss;
    return losses;
}

// Of a session that goes on what it said when it began: what was changed since is among its events.
Result<SessionInfo> LiveRun::infoOf(const TrainerSetup& setup) const {
    if (goesOn() && m_request.record) {
        const auto reader = SessionReader::open(database());
        if (!reader) return reader.error();
        return (*reader)->info(m_restart->session);
    }
    SessionInfo info;
    info.name = m_request.name;
    if (info.name.empty()) {
        info.name = nameFor(m_request.config, *m_registry);
        if (m_workers) info.name += fmt::format(" · {} workers", m_request.workers.size);
        if (m_request.record && m_request.keeper == nullptr) info.name = toldApart(info.name, m_request.config, database());
    }
    info.notes = m_request.notes;
    info.tags = m_request.tags;
    info.startedUnixMs = unixMillisecondsNow() - m_clock.now().ns / 1'000'000;  // the clock has run since the beginning of its preparation
    info.config = m_request.config;
    info.machine = m_registry->machine();
    describeStart(info, setup.state, setup.batches->corpus());
    info.resumedFrom = m_request.resume;
    info.workers = m_request.workers.size;
    info.link = m_link;
    info.predictedBytes = m_forecast.tensors.count;
    return info;
}

// Where there are others, beside them: the disk of its database may be slow, or who keeps the session may take long to answer.
Status LiveRun::openSessionTogether(const TrainerSetup& setup, const std::vector<std::string>& notes) {
    if (!m_workers) return openSession(setup, notes);
    if (const Status opened = m_workers->beginSideBySide(m_cancelled, [&] { return openSession(setup, notes); }); !opened) return opened;
    if (m_recorder && !goesOn()) m_workers->leave(m_request, m_recorder->session());
    return {};
}

Status LiveRun::openSession(const TrainerSetup& setup, const std::vector<std::string>& notes) {
    // The first worker alone keeps checkpoints. What goes on was let begin, and part of its plan lies there already.
    const bool keepsThem = m_request.record && m_request.workers.rank == 0 && !goesOn();
    const bool storesHere = m_request.keeper == nullptr || m_request.keeper->beside();
    if (keepsThem && storesHere)
        if (Status room = checkPlannedCheckpoints(m_request.config, setup.state, checkpointsBeside(database())); !room) return room;
    const Corpus& corpus = setup.batches->corpus();
    auto told = infoOf(setup);
    if (!told) return told.error();
    SessionInfo info = std::move(*told);
    std::int64_t session = 0;
    if (m_request.record && m_request.keeper != nullptr) {
        const auto place = m_request.keeper->open(info, m_clock.now());
        if (!place) return place.error();
        session = place->session;
        m_checkpointFolder = place->checkpointFolder;
        if (keepsThem && !storesHere && !m_checkpointFolder.empty())
            if (Status room = checkPlannedCheckpoints(m_request.config, setup.state, m_checkpointFolder); !room) return room;
    }
    if (m_request.record && (m_request.keeper == nullptr || m_request.keeper->beside())) {
        std::optional<Recorder::GoneOn> before;
        if (goesOn()) before = Recorder::GoneOn{m_restart->session, m_restart->checkpoint};
        auto recorder = openRecorder(m_request.database, info, m_tee, m_clock, m_cancelled, std::move(before));
        if (!recorder) return recorder.error();
        m_recorder = std::move(*recorder);
        m_tee.record(m_recorder);
        session = m_recorder->session();
        m_checkpointFolder = m_recorder->checkpointFolder();
        // The time in which nobody ran is part of its time, as far as the two clocks agree.
        if (goesOn())
            m_clock.set(std::max(TimeNs{m_recorder->storedUntil().ns + 1}, TimeNs{1'000'000 * (unixMillisecondsNow() - info.startedUnixMs)}));
    }
    m_tee.publish(SessionStarted{session, std::make_shared<const SessionInfo>(std::move(info)), false});
    if (m_restart) m_tee.publish(LogLine{m_clock.now(), setup.state.updates, LogLevel::Warning, sentenceOf(*m_restart)});
    m_tee.publish(LogLine{m_clock.now(), setup.state.updates, LogLevel::Info, corpus.description});
    if (const std::string same = corpus.sameTextWords(); !same.empty())
        m_tee.publish(LogLine{m_clock.now(), setup.state.updates, LogLevel::Warning, same});
    m_tee.publish(LogLine{m_clock.now(), setup.state.updates, LogLevel::Info, m_forecast.sentence});
    if (m_workers) m_tee.publish(LogLine{m_clock.now(), setup.state.updates, LogLevel::Info, m_workers->description(m_plan, setup.origin.threads)});
    // What several workers take together says nothing of one that trains alone.
    if (m_recorder && !m_workers) {
        m_foretold.emplace(database(), session);
        if (const auto said = m_foretold->begin(m_plan, m_registry->machine(), corpus.trainTokens, setup.state.updates))
            m_tee.publish(LogLine{m_clock.now(), setup.state.updates, LogLevel::Info, *said});
    }
    for (const auto& note : notes) m_tee.publish(LogLine{m_clock.now(), setup.state.updates, LogLevel::Warning, note});
    if (!m_checkpointFolder.empty()) removeUnfinished(std::filesystem::path(m_checkpointFolder).parent_path().string());
    // The first worker alone keeps checkpoints.
    if (!m_checkpointFolder.empty() || (!m_request.record && m_request.workers.rank == 0)) {
        if (const auto planned = plannedCheckpoints(m_request.config, setup.state, m_checkpointFolder); !planned.sentence.empty())
            m_tee.publish(LogLine{m_clock.now(), setup.state.updates, planned.fits ? LogLevel::Info : LogLevel::Warning, planned.sentence});
    }
    return {};
}

}  // namespace stepscope
