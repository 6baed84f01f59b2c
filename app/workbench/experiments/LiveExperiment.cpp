#include "app/workbench/experiments/LiveExperiment.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>

#include "app/workbench/Gpus.h"
#include "app/workbench/MemoryNeed.h"
#include "app/workbench/RunRecorder.h"
#include "app/workbench/StartingState.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/experiments/ExperimentRoom.h"
#include "app/workbench/process/LibraryWarnings.h"
#include "core/analysis/ExperimentHistory.h"
#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"
#include "core/events/ConfigNumbers.h"
#include "core/events/Event.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/DeviceSampler.h"
#include "core/state/Checkpoint.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

constexpr std::array kArms{Arm::A, Arm::B};

}  // namespace

LiveExperiment::LiveExperiment(ExperimentRequest request, std::array<RunPlan, 2> plans, std::shared_ptr<const Registry> registry, EventSink& sink)
    : m_request(std::move(request)), m_plans(std::move(plans)), m_registry(std::move(registry)), m_tee(sink), m_thread([this] { work(); }) {}

LiveExperiment::~LiveExperiment() {
    m_stop = true;
    if (m_thread.joinable()) m_thread.join();
}

void LiveExperiment::send(Command command) {
    if (std::holds_alternative<Stop>(command)) m_stop = true;
}

RunSummary LiveExperiment::wait() {
    {
        const std::lock_guard joining(m_joining);
        if (m_thread.joinable()) m_thread.join();
    }
    RunSummary summary = m_tee.summary();
    std::lock_guard lock(m_mutex);
    sayWhy(summary, m_error, m_stored);
    return summary;
}

void LiveExperiment::publishState(RunState state, const Error& why) {
    if (state == RunState::Failed) m_tee.publish(LogLine{m_clock.now(), 0, LogLevel::Error, why.sentence, why.code, why.subject});
    m_tee.publish(
        StateChanged{m_clock.now(), 0, state, why.sentence, state == RunState::Failed ? std::optional(why.code) : std::nullopt, why.subject});
}

void LiveExperiment::work() {
    const RunTurn turn;
    m_tee.publish(StateChanged{m_clock.now(), 0, RunState::Preparing, {}});
    ComparisonOutcome outcome;
    try {
        const LibraryWarningListener warnings([this](const std::string& sentence) {
            m_tee.publish(LogLine{m_clock.now(), 0, LogLevel::Warning, sentence});
        });
        auto setup = prepare();
        if (!setup) {
            outcome = {setup.error().code == ErrorCode::Cancelled ? RunState::Stopped : RunState::Failed, setup.error()};
        } else {
            m_tee.publish(StateChanged{m_clock.now(), 0, RunState::Running, {}});
            // Clocks, temperature and what others take are kept beside the blocks; nothing is left out for them but by the course's own rule.
            const std::int32_t gpu = m_plans[0].gpu.value_or(m_plans[1].gpu.value_or(0));
            const DeviceSampler sampler(m_tee, m_clock, m_registry->machine().cores, gpuSampler(gpu, cudaPlugin()));
            outcome = Comparison(std::move(*setup)).run();
        }
    } catch (const std::exception& thrown) {
        outcome = {RunState::Failed, describeException(thrown)};
    }
    {
        std::lock_guard lock(m_mutex);
        m_error = outcome.error;
    }
    publishState(outcome.state, outcome.error);
    if (m_recorder) m_stored = finishMeasured(*m_recorder, m_request.database, m_tee, m_clock, m_measured, m_stop);
    m_done = true;
}

Result<std::shared_ptr<const BatchSource>> LiveExperiment::openData() {
    const RunConfig& config = m_request.a;
    auto tokenizer = tokenizerOfStart({.config = config, .init = m_request.init, .resume = m_request.from});
    if (!tokenizer) return tokenizer.error();
    const bool keepsText = std::ranges::any_of(m_plans, [](const RunPlan& plan) { return plan.feed.place == TokenPlace::Text; });
    const CorpusRequest wanted{.data = config.data,
                               .tokenizer = config.tokenizer,
                               .vocabulary = config.vocabulary,
                               .validationFraction = config.validationFraction,
                               .validation = config.validation,
                               .separator = config.separator,
                               .with = std::move(*tokenizer),
                               .context = std::max(m_plans[0].context, m_plans[1].context),
                               .seed = static_cast<std::uint64_t>(config.seed),
                               .cacheFolder = {},
                               .keepText = keepsText,
                               .freeMemory = [] { return host_memory::affordable(); }};
    auto corpus = openCorpus(
        wanted,
        [this](const std::string& what, double fraction) {
            m_tee.publish(Preparing{m_clock.now(), what, fraction});
        },
        m_stop);
    if (!corpus) return corpus.error();
    auto batches = std::make_shared<BatchSource>(std::move(*corpus));
    for (const RunPlan& plan : m_plans)
        if (auto good = batches->accepts(plan); !good) return good.error();
    return std::shared_ptr<const BatchSource>(std::move(batches));
}

// Whether one State at a time must do: true; both have room: false; not even that: an error.
Result<bool> LiveExperiment::fits(const Corpus& corpus, const std::array<GptConfig, 2>& shapes) const {
    std::array<Workbench::Estimate, 2> needed;
    for (const Arm arm : kArms) {
        needed[armPlace(arm)] = estimateMemory(*m_registry, m_plans[armPlace(arm)], {corpus.vocabulary, corpus.tokens->size()});
        if (auto alone = checkMemory(m_plans[armPlace(arm)], needed[armPlace(arm)]); !alone)
            return makeError(alone.error().code, fmt::format("{}: {}", nameOfSide(m_request.a, m_request.b, arm), alone.error().sentence));
    }
    ExperimentNeed need{.sides = {}, .start = {}, .starts = oneStart(shapes) ? 1 : 2, .hostAvailable = host_memory::affordable()};
    for (const Arm arm : kArms) {
        const Workbench::Estimate& of = needed[armPlace(arm)];
        need.sides[armPlace(arm)] = {of.tensors, of.weights + of.moments, m_plans[armPlace(arm)].gpu, of.available};
        need.start = std::max(need.start, startBytes(ParameterLayout(shapes[armPlace(arm)]).size()));
    }
    return mustSwap(need);
}

// One State for both where one serves: an arm's instances are clones of it.
bool LiveExperiment::oneStart(const std::array<GptConfig, 2>& shapes) const {
    return shapes[0] == shapes[1] && m_request.a.seed == m_request.b.seed;
}

Result<ComparisonSetup> LiveExperiment::prepare() {
    for (const RunPlan& plan : m_plans) device_memory::resetPeak(at::Device(plan.device()));
    // A side that sets a number of threads has it in its Program's scope; one that does not (0) takes what it finds, and that must be the machine's,
    // whatever the other side sets.
    const std::int64_t threads = m_registry->machine().cores;
    at::set_num_threads(static_cast<int>(threads));
    auto batches = openData().about(Subject::Kind::Data, m_request.a.data);
    if (!batches) return batches.error();
    const Corpus& corpus = (*batches)->corpus();
    host_memory::refreshBudget();
    const std::array<GptConfig, 2> shapes{m_registry->modelShape(m_plans[0], corpus.vocabulary),
                                          m_registry->modelShape(m_plans[1], corpus.vocabulary)};
    const auto swap = fits(corpus, shapes);
    if (!swap) return swap.error();
    m_tee.publish(Preparing{m_clock.now(), "building both models", kUnknown});

    ComparisonSetup setup;
    setup.swapStates = *swap;
    setup.batches = *batches;
    setup.factory = m_registry.get();
    setup.clock = &m_clock;
    setup.sink = &m_tee;
    setup.stop = &m_stop;
    setup.rules.seed = static_cast<std::uint64_t>(m_request.seed);
    // Nobody waits longer than was asked for: what is captured behind the pairs has its part of the same time.
    setup.rules.budgetSeconds = secondsOfPairs(m_request.budgetSeconds, m_request.whyWindows > 0);
    setup.whySeconds = m_request.budgetSeconds - setup.rules.budgetSeconds;
    setup.rules.delta = m_request.delta;
    setup.rules.alpha = m_request.alpha;
    setup.rules.mostSeconds = m_request.mostSeconds;
    setup.whyWindows = m_request.whyWindows;
    setup.lossSeconds = m_request.lossSeconds;
    setup.lossSeeds = m_request.lossSeeds;
    setup.drawWeights = m_request.init.empty() && m_request.from.empty();
    std::vector<std::string> notes;
    for (const Arm arm : kArms) {
        ComparedSide& side = setup.sides[armPlace(arm)];
        side.config = arm == Arm::A ? m_request.a : m_request.b;
        side.plan = m_plans[armPlace(arm)];
        if (arm == Arm::B && oneStart(shapes)) {
            side.start = setup.sides[0].start;
            continue;
        }
        const std::int64_t ownThreads = side.config.threads > 0 ? side.config.threads : threads;
        auto start =
            startingState({.config = side.config, .init = m_request.init, .resume = m_request.from}, shapes[armPlace(arm)], corpus, ownThreads);
        if (!start)
            return makeError(start.error().code, fmt::format("{}: {}", nameOfSide(m_request.a, m_request.b, arm), start.error().sentence))
                .about(start.error().subject.kind, start.error().subject.name);
        if (arm == Arm::A) notes = std::move(start->notes);
        side.start = std::make_shared<const TrainState>(std::move(start->state));
    }
    const BatchShape ofA = batchShape(m_request.a), ofB = batchShape(m_request.b);
    setup.rules.equalSeconds = ofA.tokens() != ofB.tokens() || ofA.context != ofB.context;
    if (auto opened = openSession(setup, notes); !opened) return opened.error();
    return setup;
}

Status LiveExperiment::openSession(const ComparisonSetup& setup, const std::vector<std::string>& notes) {
    const Corpus& corpus = setup.batches->corpus();
    const std::string words = questionWords(m_request.a, m_request.b, m_request.same);
    SessionInfo info;
    info.kind = SessionKind::Experiment;
    info.name = m_request.name.empty() ? words : m_request.name;
    info.notes = m_request.notes;
    info.tags = m_request.tags;
    info.startedUnixMs = unixMillisecondsNow() - m_clock.now().ns / 1'000'000;
    info.config = m_request.a;
    info.machine = m_registry->machine();
    describeStart(info, *setup.sides[0].start, corpus);
    info.resumedFrom = m_request.from;
    std::int64_t session = 0;
    if (m_request.record) {
        auto recorder = openRecorder(m_request.database, info, m_tee, m_clock, m_stop, {}, &m_measured);
        if (!recorder) return recorder.error();
        m_recorder = std::move(*recorder);
        m_tee.record(m_recorder);
        session = m_recorder->session();
    }
    m_tee.publish(SessionStarted{session, std::make_shared<const SessionInfo>(std::move(info)), false});
    std::string comparison = comparisonNotes(m_request.a, m_request.b, m_request.lossSeconds > 0);
    if (setup.swapStates)
        comparison +=
            std::string(comparison.empty() ? "" : " ") + "Both States do not fit the device: one lies in the host's memory while the other one runs.";
    m_tee.publish(
        ExperimentBegan{.at = m_clock.now(),
                        .configA = configToJson(m_request.a),
                        .configB = configToJson(m_request.b),
                        .question = questionKey(m_request.a, m_request.b, m_request.same, m_registry->machine(), m_request.from, m_request.init),
                        .same = m_request.same,
                        .seed = m_request.seed,
                        .budgetSeconds = m_request.budgetSeconds,
                        .delta = m_request.delta,
                        .alpha = setup.rules.alpha,
                        .swapped = setup.swapStates,
                        .comparison = comparison,
                        .from = m_request.from,
                        .init = m_request.init,
                        .captures = m_request.whyWindows > 0,
                        .lossSeconds = m_request.lossSeconds,
                        .lossSeeds = m_request.lossSeconds > 0 ? m_request.lossSeeds : 0});
    m_tee.publish(LogLine{m_clock.now(), 0, LogLevel::Info, corpus.description});
    if (!comparison.empty()) m_tee.publish(LogLine{m_clock.now(), 0, LogLevel::Info, comparison});
    if (m_request.lossSeconds > 0)
        m_tee.publish(
            LogLine{m_clock.now(), 0, LogLevel::Info,
                    fmt::format("When the time per step is decided, or the {:g} s for that are over, both sides are trained for their "
                                "losses, which takes another {} and what validating takes.",
                                m_request.budgetSeconds,
                                format::duration(TimeNs::fromSeconds(2 * m_request.lossSeconds * static_cast<double>(m_request.lossSeeds))))});
    for (const Arm arm : kArms)
        if (const auto& told = m_plans[armPlace(arm)].notes; !told.empty())
            m_tee.publish(LogLine{m_clock.now(), 0, LogLevel::Info, fmt::format("{}: {}", nameOfSide(m_request.a, m_request.b, arm), told)});
    for (const auto& note : notes) m_tee.publish(LogLine{m_clock.now(), 0, LogLevel::Warning, note});
    return {};
}

}  // namespace stepscope
