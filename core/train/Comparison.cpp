#include "core/train/Comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/Statistics.h"
#include "core/base/CounterRandom.h"
#include "core/base/OperationSpan.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/events/Event.h"
#include "core/events/Schedule.h"
#include "core/experiment/Judgement.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/KernelSource.h"
#include "core/profile/MemorySource.h"
#include "core/profile/OperationCounter.h"
#include "core/profile/OperationSource.h"
#include "core/profile/OperationTable.h"
#include "core/profile/ProcessUsage.h"
#include "core/train/CaptureWindow.h"
#include "core/train/Failure.h"
#include "core/train/Instances.h"
#include "core/train/LossAtEqualTime.h"
#include "core/train/Settling.h"

namespace stepscope {
namespace {

constexpr double kCaptured = 0.3;  // seconds of steps in a captured window, of at least
constexpr std::int64_t kLeastCaptured = 2, kMostCaptured = 20;
constexpr double kWellEnough = 0.1;
constexpr std::int64_t kMostWindows = 40;  // of each arm, however long the budget: they are stored, step by step

constexpr std::array kArms{Arm::A, Arm::B};

// Whether captured windows tell the difference that the pairs found to a tenth of it: half of Student's 95 % interval of theirs, logarithms as the
// pairs' are. What a record costs moves all of them alike. Of what the pairs did not decide, nothing more is asked.
bool toldWellEnough(const std::vector<double>& differences, const PairedVerdict& verdict) {
    if (verdict.outcome != PairedOutcome::Faster && verdict.outcome != PairedOutcome::Slower) return true;
    if (differences.size() < 2 || !(verdict.ratio > 0)) return false;
    const auto count = static_cast<double>(differences.size());
    const double centre = mean(differences);
    double squares = 0;
    for (const double one : differences) squares += (one - centre) * (one - centre);
    const boost::math::students_t t(count - 1);
    const double half = boost::math::quantile(boost::math::complement(t, 0.025)) * std::sqrt(squares / (count - 1) / count);
    return half <= kWellEnough * std::abs(std::log(verdict.ratio));
}

}  // namespace

Comparison::Comparison(ComparisonSetup setup)
    : m_setup(std::move(setup)),
      m_course(m_setup.rules),
      m_processors(usableProcessors()),
      m_energy(energyOf(m_setup.sides[0].plan, m_setup.sides[1].plan)) {}

ComparisonOutcome Comparison::run() {
    m_begin = m_setup.clock->now();
    ComparisonOutcome outcome;
    while (const auto order = m_course.next()) {
        Status done;
        try {
            done = carryOut(*order);
        } catch (const std::exception& thrown) {
            Error error = describeException(thrown);
            error.sentence = fmt::format("{} cannot go on: {}", toString(order->arm), error.sentence);
            done = error;
        }
        if (stopAsked()) {
            m_course.stop();
            outcome.state = RunState::Stopped;
        } else if (!done) {
            m_course.stop();
            outcome = {RunState::Failed, done.error()};
        }
        if (outcome.state != RunState::Finished) break;
    }
    // What is known is told where a part that comes behind it fails.
    const auto then = [&](auto part) {
        if (outcome.state != RunState::Finished) return;
        Status done;
        try {
            done = part();
        } catch (const std::exception& thrown) {
            done = describeException(thrown);
        }
        if (stopAsked())
            outcome.state = RunState::Stopped;
        else if (!done)
            outcome = {RunState::Failed, done.error()};
    };
    if (m_setup.whyWindows > 0 && !m_course.pairs().empty()) then([this] { return captureBoth(); });
    // Memory comes back before anybody is told that it is over.
    for (Instance& instance : m_instances) instance = {};
    m_shared = {};
    m_ballast = at::Tensor();
    for (const Arm arm : kArms) device_memory::trim(deviceOf(arm));
    if (m_setup.lossSeconds > 0) then([this] { return learnFor(m_equalTime); });
    judge(true);
    return outcome;
}

Status Comparison::learnFor(EqualTimeLoss& loss) const {
    EqualTimeSetup setup{.batches = m_setup.batches,
                         .factory = m_setup.factory,
                         .clock = m_setup.clock,
                         .seconds = m_setup.lossSeconds,
                         .seeds = m_setup.lossSeeds,
                         .seed = m_setup.rules.seed,
                         .drawWeights = m_setup.drawWeights,
                         .together = !m_setup.swapStates,
                         .stopAsked = [this] { return stopAsked(); },
                         .progress =
                             [this](double fraction) {
                                 m_setup.sink->publish(Preparing{m_setup.clock->now(), "training both sides for their losses", fraction});
                             }};
    for (const Arm arm : kArms) setup.sides[armPlace(arm)] = {side(arm).config, side(arm).plan, side(arm).start};
    const auto found = lossAtEqualTime(setup);
    if (!found) return found.error();
    loss = *found;
    return {};
}

void Comparison::judge(bool over) {
    ExperimentJudged judged = judgementOf(m_course, over);
    judged.at = m_setup.clock->now();
    judged.step = m_newestStep;
    if (over && m_setup.lossSeconds > 0) {
        judged.equalTime = m_equalTime;
        judged.equalTime.seconds = m_setup.lossSeconds;
        judged.why += std::string(judged.why.empty() ? "" : " ") + equalTimeSentence(judged);
    }
    m_setup.sink->publish(std::move(judged));
}

// Windows rather than one long capture: whatever this machine does meanwhile meets both. Both arms are made anew between them, as between pairs: the
// luck of one instance with memory is as large as a small difference.
Status Comparison::captureBoth() {
    const TimeNs began = m_setup.clock->now();
    const auto passed = [&](TimeNs since) { return (m_setup.clock->now() - since).seconds(); };
    const auto first = [&](std::int64_t window, std::uint64_t stream) {
        return counterRandomBelow(m_setup.rules.seed, stream, static_cast<std::uint64_t>(window), 2) == 1 ? Arm::B : Arm::A;
    };
    m_setup.sink->publish(Preparing{began, "capturing both sides", kUnknown});
    double building = 0;
    const auto buildAnew = [&](Arm builtFirst) {
        const TimeNs begin = m_setup.clock->now();
        Status built = build(builtFirst);
        building = passed(begin);
        return built;
    };
    if (auto built = buildAnew(Arm::A); !built) return built;
    for (const Arm arm : kArms)
        if (auto captured = captureMemory(arm); !captured) return captured;
    std::vector<double> differences;
    TimeNs ofInstance = m_setup.clock->now();
    for (std::int64_t window = 0; !stopAsked(); ++window) {
        const bool enough =
            toldWellEnough(differences, m_course.verdict()) || passed(began) > m_setup.rules.budgetSeconds / 6 || window >= kMostWindows;
        if (window >= m_setup.whyWindows && enough) break;
        if (passed(ofInstance) * m_setup.rules.rebuildShare > building) {
            if (auto built = buildAnew(first(window, 0x6275696c)); !built) return built;
            m_capturedBefore = m_capturedUntil;
            ofInstance = m_setup.clock->now();
        }
        const Arm begins = first(window, 0x77687963);
        std::array<double, 2> seconds{};
        for (const Arm arm : {begins, begins == Arm::A ? Arm::B : Arm::A}) {
            const auto captured = captureWindow(arm);
            if (!captured) return captured.error();
            seconds[armPlace(arm)] = *captured;
        }
        differences.push_back(std::log(seconds[0] / seconds[1]));
    }
    return {};
}

Result<double> Comparison::captureWindow(Arm arm) {
    turnTo(arm);
    StepResult result;
    const std::int64_t warmUp = std::max<std::int64_t>(1, m_course.plan() ? m_course.plan()->warmUp[armPlace(arm)] : 1);
    TimeNs begin;
    for (std::int64_t i = 0; i < warmUp && !stopAsked(); ++i) {
        begin = m_setup.clock->now();
        if (auto stepped = step(arm, result); !stepped) return stepped.error();
    }
    device_memory::synchronise(deviceOf(arm));
    const double seconds = std::max(1e-6, (m_setup.clock->now() - begin).seconds());
    return captureSteps(arm, std::clamp<std::int64_t>(static_cast<std::int64_t>(kCaptured / seconds), kLeastCaptured, kMostCaptured));
}

CaptureOutlet Comparison::outletOf(Arm arm) {
    return {.sink = m_setup.sink,
            .clock = m_setup.clock,
            .rank = arm == Arm::A ? 0 : 1,
            .process = toString(arm),
            .gpu = deviceOf(arm).is_cuda() || cudaPlugin().onHost,
            .lasting = [this, arm] { return lastingMemory(stateOf(arm)); }};
}

void Comparison::tellLost(const std::string& lost) {
    if (lost.empty() || !m_lost.insert(lost).second) return;  // the same of every window is said once
    m_setup.sink->publish(LogLine{m_setup.clock->now(), m_newestStep, LogLevel::Warning, lost});
}

// Who takes memory in two steps, apart from the windows whose times count: each block that is taken costs its step some time.
Status Comparison::captureMemory(Arm arm) {
    constexpr int kSteps = 2;
    if (m_setup.sink == nullptr || !host_memory::installed()) return {};
    turnTo(arm);
    StepResult result;
    if (auto stepped = step(arm, result); !stepped) return stepped;
    MemorySource source(outletOf(arm));
    for (int i = 0; i < kSteps && !stopAsked(); ++i) {
        {
            const StepRange range({.kind = RangeFacts::Kind::Step, .step = stateOf(arm).updates + 1});
            if (auto stepped = step(arm, result); !stepped) return stepped;
            device_memory::synchronise(deviceOf(arm));
        }
        source.stepDone();
    }
    CaptureDone unused;
    tellLost(source.finish(unused));
    return {};
}

Result<double> Comparison::captureSteps(Arm arm, std::int64_t steps) {
    const CudaPlugin& plugin = cudaPlugin();
    const CaptureOutlet outlet = outletOf(arm);
    StepResult result;
    {
        // The first step that is observed meets names and shapes for the first time.
        const OperationTable unkept;
        if (auto stepped = step(arm, result); !stepped) return stepped.error();
    }
    double seconds = 0;
    std::int64_t tokens = 0;
    OperationSource source(outlet);
    std::optional<KernelSource> kernels;  // what a GPU did is told beside what the thread did
    if (outlet.gpu && outlet.sink != nullptr && plugin.interface != nullptr) kernels.emplace(outlet, plugin);
    for (std::int64_t i = 0; i < steps && !stopAsked(); ++i) {
        const std::int64_t number = m_capturedBefore + stateOf(arm).updates + 1;
        m_capturedUntil = std::max(m_capturedUntil, number);
        const TimeNs begin = m_setup.clock->now();
        {
            const StepRange range({.kind = RangeFacts::Kind::Step, .step = number});
            if (auto stepped = step(arm, result); !stepped) return stepped.error();
            device_memory::synchronise(deviceOf(arm));
        }
        seconds += (m_setup.clock->now() - begin).seconds();
        tokens += result.tokens;
        source.stepDone();
    }
    CaptureDone unused;
    tellLost(source.finish(unused));
    if (kernels) tellLost(kernels->finish(unused));
    return seconds / static_cast<double>(std::max<std::int64_t>(1, tokens));
}

Status Comparison::build(Arm first) {
    for (Instance& instance : m_instances) instance = {};
    m_shared = {};
    m_onDevice.reset();
    m_ballast = at::Tensor();
    for (const Arm arm : kArms) device_memory::trim(deviceOf(arm));
    m_ballast = ballastOf(m_setup.rules.seed, m_builds++);
    for (const Arm arm : {first, first == Arm::A ? Arm::B : Arm::A})
        if (auto built = buildOne(arm); !built) return built;
    return {};
}

Status Comparison::buildOne(Arm arm) {
    Instance& instance = of(arm);
    const ComparedSide& own = side(arm);
    const at::Device device = deviceOf(arm);
    const std::int64_t before = device_memory::live(device).count;
    instance.state = own.start->clone(m_setup.swapStates ? std::optional<at::Device>(at::kCPU) : device);
    if (!m_setup.swapStates) instance.state.convert(m_setup.factory->formOf(own.plan, instance.state));
    instance.program = m_setup.factory->build(own.plan);
    turnTo(arm);
    const int settling = settlingSteps(own.plan);
    for (int i = 0; i < settling && !stopAsked(); ++i) {
        StepResult result;
        if (i + 1 == settling && !std::isfinite(m_operations[armPlace(arm)])) {
            const OperationCounter counter;
            if (auto stepped = step(arm, result); !stepped) return stepped;
            m_operations[armPlace(arm)] = static_cast<double>(counter.count());
        } else if (auto stepped = step(arm, result); !stepped) {
            return stepped;
        }
    }
    instance.owned = std::max<std::int64_t>(0, device_memory::live(device).count - before);
    return {};
}

// What this Program keeps of its State is fresh, and the device has nothing left to do for the other one.
void Comparison::turnTo(Arm arm) {
    if (m_setup.swapStates && m_onDevice != arm) {
        if (m_onDevice) of(*m_onDevice).state.restore(m_shared);
        m_shared.restore(of(arm).state);
        m_shared.convert(m_setup.factory->formOf(side(arm).plan, m_shared));
        m_onDevice = arm;
    }
    of(arm).program->prepare(stateOf(arm));
    for (const Arm each : kArms) device_memory::synchronise(deviceOf(each));
}

Status Comparison::step(Arm arm, StepResult& result) {
    TrainState& state = stateOf(arm);
    result = of(arm).program->step(state, *m_setup.batches, learningRate(side(arm).config, state.updates + 1));
    m_newestStep = state.updates;
    if (m_setup.afterStep) m_setup.afterStep(arm, state.updates, result);
    if (result.breakdown == Breakdown::None && std::isfinite(result.loss)) return {};
    return makeError(
        ErrorCode::Training,
        fmt::format("{} diverged: its loss or a gradient was no number at step {}; lower its learning rate, or use a wider number format.",
                    toString(arm), state.updates + 1));
}

Comparison::Reading Comparison::read() const {
    return {m_setup.clock->now(), processorTimes(m_processors), processorNs(), pageFaults()};
}

Status Comparison::carryOut(const BlockOrder& order) {
    const Reading begin = read();
    BlockTimes times;
    if (order.rebuild) {
        if (auto built = build(order.builtFirst); !built) return built;
        times.rebuildSeconds = (m_setup.clock->now() - begin.at).seconds();
    }
    turnTo(order.arm);
    StepResult result;
    for (std::int64_t i = 0; i < order.warmUp && !stopAsked(); ++i)
        if (auto stepped = step(order.arm, result); !stepped) return stepped;
    const at::Device device = deviceOf(order.arm);
    device_memory::synchronise(device);
    const std::int64_t liveBefore = device_memory::live(device).count;
    device_memory::takePeak(device);
    const Reading first = read();
    const EnergyReading energyBefore = m_energy.read();
    TimeNs at = m_setup.clock->now();
    const TimeNs counted = at;
    while (!stopAsked()) {
        if (auto stepped = step(order.arm, result); !stepped) return stepped;
        const TimeNs now = m_setup.clock->now();
        times.steps.push_back((now - at).seconds());
        times.tokens += result.skipped ? 0 : result.tokens;
        at = now;
        if (static_cast<std::int64_t>(times.steps.size()) >= order.steps && (now - counted).seconds() >= order.leastSeconds) break;
    }
    device_memory::synchronise(device);
    const Reading end = read();
    const EnergyReading energyAfter = m_energy.read();
    if (times.steps.empty() || stopAsked()) return {};
    if (times.tokens == 0)
        return makeError(ErrorCode::Training,
                         fmt::format("Every update of a block of {} was left out because float16 overflowed; it trains nothing to "
                                     "compare.",
                                     toString(order.arm)));
    times.seconds = (end.at - counted).seconds();
    times.turnSeconds = (counted - begin.at).seconds();
    times.elapsed = (end.at - m_begin).seconds();
    double stealPct = kUnknown;
    if (begin.processors && end.processors)
        if (const auto shares = sharesBetween(*begin.processors, *end.processors, end.ownNs - begin.ownNs)) {
            times.others = shares->othersPct / 100 * static_cast<double>(m_processors.size());
            stealPct = shares->stealPct;
        }
    const Bytes peak = device_memory::takePeak(device);
    Instance& instance = of(order.arm);
    const std::int64_t alone = peak.count - liveBefore + instance.owned + instance.program->report().graphBytes;
    instance.owned += device_memory::live(device).count - liveBefore;
    const std::size_t pairsBefore = m_course.pairs().size();
    m_course.done(times);
    m_setup.sink->publish(BlockDone{.step = stateOf(order.arm).updates,
                                    .at = end.at,
                                    .duration = TimeNs::fromSeconds(times.seconds),
                                    .pair = order.pair,
                                    .arm = order.arm,
                                    .second = order.second,
                                    .rebuild = static_cast<std::int64_t>(m_builds) - 1,
                                    .warmUp = order.warmUp,
                                    .steps = static_cast<std::int64_t>(times.steps.size()),
                                    .tokens = times.tokens,
                                    .turn = TimeNs::fromSeconds(times.turnSeconds),
                                    .median = TimeNs::fromSeconds(median(times.steps)),
                                    .slowest = TimeNs::fromSeconds(*std::ranges::max_element(times.steps)),
                                    .loss = result.loss,
                                    .others = times.others,
                                    .stealPct = stealPct,
                                    .pageFaults = end.faults - first.faults,
                                    .peakBytes = peak.count > 0 ? static_cast<double>(alone) : kUnknown,
                                    .operations = m_operations[armPlace(order.arm)],
                                    .joules = joulesBetween(energyBefore, energyAfter)});
    if (m_course.pairs().size() != pairsBefore) judge(false);
    return {};
}

}  // namespace stepscope
