#include "core/train/InRunExperiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/analysis/Statistics.h"
#include "core/events/ConfigJson.h"
#include "core/events/Event.h"
#include "core/experiment/Judgement.h"
#include "core/memory/DeviceMemory.h"
#include "core/profile/ProcessUsage.h"
#include "core/train/Instances.h"

namespace stepscope {
namespace {

constexpr double kMostOverBudget = 1.25, kGraceSeconds = 5;
constexpr double kRunsShare = 0.01;  // of the run's time meanwhile, for making both anew, where the budget allows for it
// The first steps of an instance prepare; one that captures its step has done so by the fifth.
constexpr std::int64_t kFirstSteps = 2, kFirstStepsOfCaptured = 6;

Arm other(Arm arm) {
    return arm == Arm::A ? Arm::B : Arm::A;
}

}  // namespace

Result<InRunExperiment::Setup> inRunSetup(const Measure& asked, const InRunContext& run) {
    auto wanted = run.factory->flipped(*run.config, asked.id, asked.value);
    if (!wanted) return wanted.error();
    const Value from = run.config->switches.at(asked.id), to = wanted->switches.at(asked.id);
    if (from == to) return makeError(ErrorCode::BadInput, fmt::format("it is {} already; measure another value.", toString(to)));
    auto plan = run.factory->plan(*wanted, run.state->config.vocabulary);
    if (!plan) return plan.error();
    if (auto fits = run.batches->accepts(*plan); !fits) return fits.error();
    if (auto fits = run.fits(*run.plan, *plan); !fits) return fits.error();
    if (!run.state->has(run.factory->formOf(*plan, *run.state)))
        return makeError(
            ErrorCode::Unsupported,
            fmt::format("{} needs weights or moments in another form, and turns convert nothing; measure it beside the run instead (ab).",
                        toString(to)));
    const bool alike = sameArithmetic(*run.plan, *plan);
    if (!alike && !asked.lossMayMove)
        return makeError(
                   ErrorCode::BadInput,
                   fmt::format(
                       "{} is other arithmetic than {}: the loss may move while they take turns; agree to that, or measure it beside the run (ab).",
                       toString(to), toString(from)))
            .about(Subject::Kind::Loss);
    const auto tokens = [](const RunPlan& of) { return of.batchSize * of.context * of.accumulation; };
    InRunExperiment::Setup setup{.configs = {*run.config, *wanted},
                                 .plans = {*run.plan, *plan},
                                 .id = asked.id,
                                 .from = from,
                                 .to = to,
                                 // The run pays for it: it may last longer, and is to be hardly slower.
                                 .rules = {.seed = static_cast<std::uint64_t>(asked.seed),
                                           .budgetSeconds = asked.budgetSeconds,
                                           .delta = asked.delta,
                                           .rebuildShare = kRunsShare},
                                 .factory = run.factory,
                                 .clock = run.clock,
                                 .sink = run.sink,
                                 .question = run.questionOf ? run.questionOf(*run.config, *wanted) : std::string(),
                                 .comparison = alike ? std::string() : "The arithmetic differs, so the loss of the run may move for that."};
    setup.rules.equalSeconds = tokens(*run.plan) != tokens(*plan) || run.plan->context != plan->context;
    return setup;
}

InRunExperiment::InRunExperiment(Setup setup, std::int64_t step)
    : m_setup(std::move(setup)),
      m_course(m_setup.rules),
      m_processors(usableProcessors()),
      m_energy(energyWithinARun(m_setup.plans[0], m_setup.plans[1])),
      m_began(m_setup.clock->now()) {
    m_setup.sink->publish(ExperimentBegan{.step = step,
                                          .at = m_began,
                                          .configA = configToJson(m_setup.configs[0]),
                                          .configB = configToJson(m_setup.configs[1]),
                                          .question = m_setup.question,
                                          .seed = static_cast<std::int64_t>(m_setup.rules.seed),
                                          .budgetSeconds = m_setup.rules.budgetSeconds,
                                          .delta = m_setup.rules.delta,
                                          .alpha = m_setup.rules.alpha,
                                          .comparison = m_setup.comparison});
}

InRunExperiment::Reading InRunExperiment::read() const {
    return {m_setup.clock->now(), m_setup.processors ? m_setup.processors() : processorTimes(m_processors), processorNs()};
}

StepProgram* InRunExperiment::next(const TrainState& state) {
    if (m_concluded) return nullptr;
    // Of a run that does something else after every step no block is ever whole; one of slow steps comes to no pair either.
    if (elapsedSeconds() > kMostOverBudget * m_setup.rules.budgetSeconds + kGraceSeconds) {
        conclude(state.updates, EndedBy::Budget,
                 m_course.pairs().empty() && m_interruptions > 0 && m_interruptions >= m_made
                     ? "The run does something else after nearly every step (validation, a checkpoint, text), so that hardly a block "
                       "was whole; let it do that less often while it measures."
                     : "");
        return nullptr;
    }
    if (!m_order) {
        m_order = m_course.next();
        if (!m_order) {
            conclude(state.updates, EndedBy::Itself);
            return nullptr;
        }
        begin(state);
    }
    // The last step that does not count is the one whose operations are counted: an instance's first ones still prepare.
    if (m_steps.empty() && m_warmed + 1 == warmUp() && !std::isfinite(m_operations[armPlace(m_order->arm)])) m_counting.emplace();
    if (m_warmed >= warmUp() && m_rewarm == 0 && !m_stretchIsOpen) openStretch(state);
    return of(m_order->arm).program.get();
}

// Of a block of which no step counted yet it is the first one, whatever came before.
void InRunExperiment::openStretch(const TrainState& state) {
    device_memory::synchronise(m_device);
    device_memory::takePeak(m_device);
    if (m_steps.empty()) {
        m_liveBefore = device_memory::live(state.weights.device()).count;
        m_counted = read();
        m_tokens = m_peak = 0;
        m_stretches.clear();
    }
    m_stretches.push_back({.faults = pageFaults(), .begin = m_energy.read(), .end = {}});
    m_stretchIsOpen = true;
}

void InRunExperiment::closeStretch() {
    if (!std::exchange(m_stretchIsOpen, false)) return;
    device_memory::synchronise(m_device);
    Stretch& stretch = m_stretches.back();
    stretch.faults = pageFaults() - stretch.faults;
    stretch.end = m_energy.read();
    m_peak = std::max(m_peak, device_memory::takePeak(m_device).count);
}

void InRunExperiment::interrupted() {
    ++m_interruptions;
    closeStretch();
    m_rewarm = m_order ? std::max<std::int64_t>(1, m_order->warmUp) : 0;
}

void InRunExperiment::waited(TimeNs since) {
    m_idleSeconds += (m_setup.clock->now() - std::max(since, m_began)).seconds();
    if (!m_order) return;
    closeStretch();
    m_steps.clear();
    m_warmed = 0;
    m_warmSeconds = 0;
    m_rewarm = 1;  // the pilot's blocks have no warm-up of their own
    m_turn = read();
}

void InRunExperiment::begin(const TrainState& state) {
    m_turn = read();
    m_rebuildSeconds = m_warmSeconds = 0;
    m_warmed = m_rewarm = 0;
    m_steps.clear();
    m_stretchIsOpen = false;
    const at::Device device = m_device = state.weights.device();
    if (m_order->rebuild) {
        for (Instance& instance : m_instances) instance = {};
        m_ballast = at::Tensor();
        device_memory::trim(device);
        m_ballast = ballastOf(m_setup.rules.seed, static_cast<std::uint64_t>(m_builds));
        for (const Arm arm : {m_order->builtFirst, other(m_order->builtFirst)}) {
            const std::int64_t before = device_memory::live(device).count;
            of(arm).program = m_setup.factory->build(planOf(arm));
            of(arm).program->prepare(state);
            of(arm).owned = device_memory::live(device).count - before;
        }
        ++m_builds;
        m_rebuildSeconds = (m_setup.clock->now() - m_turn.at).seconds();
    }
    of(m_order->arm).program->prepare(state);
    device_memory::synchronise(device);
}

// Steps that do not count: those that the pilot found, and the first ones of an instance.
std::int64_t InRunExperiment::warmUp() const {
    const Instance& instance = m_instances[m_order->arm == Arm::A ? 0 : 1];
    const std::int64_t first = planOf(m_order->arm).execution == Execution::Captured ? kFirstStepsOfCaptured : kFirstSteps;
    return std::max(m_order->warmUp, first - (instance.steps - m_warmed));
}

void InRunExperiment::done(const TrainState& state, TimeNs duration, std::int64_t tokens, double loss) {
    ++m_made;
    Instance& instance = of(m_order->arm);
    if (m_counting) m_operations[armPlace(m_order->arm)] = static_cast<double>(m_counting->count());
    m_counting.reset();
    if (m_steps.empty() && m_warmed < warmUp()) {
        ++instance.steps;
        ++m_warmed;
        m_warmSeconds += duration.seconds();
        return;
    }
    ++instance.steps;
    if (m_rewarm > 0) {
        --m_rewarm;
        return;
    }
    m_steps.push_back(duration.seconds());
    m_tokens += tokens;
    const double seconds = std::accumulate(m_steps.begin(), m_steps.end(), 0.0);
    // Steps whose updates float16 left out take time and train nothing: a block of them alone says nothing of a token.
    if (static_cast<std::int64_t>(m_steps.size()) >= m_order->steps && seconds >= m_order->leastSeconds && m_tokens > 0) finishBlock(state, loss);
}

void InRunExperiment::finishBlock(const TrainState& state, double loss) {
    const BlockOrder order = *m_order;
    m_order.reset();
    const at::Device device = m_device;
    closeStretch();
    const Reading end = read();
    BlockTimes times;
    times.steps = std::move(m_steps);
    m_steps.clear();
    times.seconds = std::accumulate(times.steps.begin(), times.steps.end(), 0.0);
    times.tokens = m_tokens;
    times.turnSeconds = (m_counted.at - m_turn.at).seconds();
    // New instances cost their first steps' slowness as well; those of the other one come with the pair's second block.
    const double slowness = m_warmSeconds - static_cast<double>(m_warmed) * median(times.steps);
    times.rebuildSeconds = m_rebuildSeconds + (order.rebuild ? 2 * std::max(0.0, slowness) : 0);
    times.elapsed = (end.at - m_began).seconds() - m_idleSeconds;
    if (m_turn.processors && end.processors)
        if (const auto shares = sharesBetween(*m_turn.processors, *end.processors, end.ownNs - m_turn.ownNs)) {
            times.others = shares->othersPct / 100 * static_cast<double>(m_processors.size());
            times.stealPct = shares->stealPct;
        }
    std::int64_t faults = 0;
    double joules = 0;
    for (const Stretch& stretch : m_stretches) {
        faults += stretch.faults;
        joules += joulesBetween(stretch.begin, stretch.end);
    }
    const auto ballast = device.is_cpu() ? static_cast<std::int64_t>(m_ballast.nbytes()) : 0;
    Instance& instance = of(order.arm);
    instance.owned += device_memory::live(device).count - m_liveBefore;
    const std::size_t before = m_course.pairs().size();
    m_course.done(times);
    m_setup.sink->publish(BlockDone{.step = state.updates,
                                    .at = end.at,
                                    .duration = TimeNs::fromSeconds(times.seconds),
                                    .pair = order.pair,
                                    .arm = order.arm,
                                    .second = order.second,
                                    .rebuild = m_builds - 1,
                                    .warmUp = m_warmed,
                                    .steps = static_cast<std::int64_t>(times.steps.size()),
                                    .tokens = times.tokens,
                                    .turn = TimeNs::fromSeconds(times.turnSeconds),
                                    .median = TimeNs::fromSeconds(median(times.steps)),
                                    .slowest = TimeNs::fromSeconds(*std::ranges::max_element(times.steps)),
                                    .loss = loss,
                                    .others = times.others,
                                    .stealPct = times.stealPct,
                                    .pageFaults = faults,
                                    // The State is both arms'; the other Program's own memory is not this one's, nor is the ballast.
                                    .peakBytes = m_peak > 0 ? static_cast<double>(m_peak - of(other(order.arm)).owned - ballast) : kUnknown,
                                    .operations = m_operations[armPlace(order.arm)],
                                    .joules = joules});
    if (m_course.pairs().size() != before) judge(state.updates, false);
}

void InRunExperiment::judge(std::int64_t step, bool over) {
    ExperimentJudged judged = judgementOf(m_course, over, m_broke, {toString(m_setup.from), toString(m_setup.to)});
    judged.step = step;
    judged.at = m_setup.clock->now();
    m_setup.sink->publish(std::move(judged));
}

void InRunExperiment::conclude(std::int64_t step, EndedBy ended, const std::string& broke) {
    if (std::exchange(m_concluded, true)) return;
    m_broke = broke;
    if (ended != EndedBy::Itself) m_course.stop(ended);
    judge(step, true);
}

Arm InRunExperiment::chosen() const {
    return m_broke.empty() && m_course.verdict().outcome == PairedOutcome::Faster ? Arm::B : Arm::A;
}

}  // namespace stepscope
