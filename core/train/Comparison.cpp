#include "core/train/Comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/Statistics.h"
#include "core/events/Event.h"
#include "core/events/Schedule.h"
#include "core/experiment/Judgement.h"
#include "core/memory/DeviceMemory.h"
#include "core/profile/OperationCounter.h"
#include "core/profile/ProcessUsage.h"
#include "core/train/Failure.h"
#include "core/train/Instances.h"
#include "core/train/LossAtEqualTime.h"
#include "core/train/Settling.h"

namespace stepscope {
namespace {

constexpr std::array kArms{Arm::A, Arm::B};

// Updates that float16 may leave out one after the other before nothing is expected of it any more; the scale halves with each.
constexpr std::int64_t kMostLeftOut = 20;

// Into the memory that it had there; of another form it has none.
void keepInHostMemory(TrainState& kept, const TrainState& from) {
    if (kept.has({.model = from.config, .device = at::kCPU, .eightBitMoments = from.eightBit()}))
        kept.restore(from);
    else
        kept = from.clone(at::kCPU);
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
            error.sentence = fmt::format("{} cannot go on: {}", nameOf(m_working), error.sentence);
            done = error;
        }
        if (stopAsked()) {
            m_course.stop();
            outcome.state = RunState::Stopped;
        } else if (!done) {
            m_course.stop(EndedBy::Breakage);
            m_broke = done.error().sentence;
            outcome = {RunState::Failed, done.error()};
        }
        if (outcome.state != RunState::Finished) break;
    }
    // The verdict stands, whatever becomes of a part that comes behind it: who waits has it now, and it is kept where this program is killed
    // meanwhile. Why there is none of that part is told beside it.
    const bool captures = m_setup.whyWindows > 0 && !m_course.pairs().empty(), learns = m_setup.lossSeconds > 0;
    if (outcome.state == RunState::Finished && (captures || learns)) judge(true);
    const auto then = [&](const char* what, auto part) -> Status {
        if (outcome.state != RunState::Finished) return {};
        Status done;
        try {
            done = part();
        } catch (const std::exception& thrown) {
            done = describeException(thrown);
        }
        if (stopAsked()) {
            outcome.state = RunState::Stopped;
            return {};
        }
        if (!done)
            m_setup.sink->publish(LogLine{m_setup.clock->now(), m_newestStep, LogLevel::Warning, fmt::format("{} {}", what, done.error().sentence),
                                          done.error().code, done.error().subject});
        return done;
    };
    if (captures) static_cast<void>(then("Nothing was captured that would say why:", [this] { return captureBoth(); }));
    // Memory comes back before anybody is told that it is over.
    for (Instance& instance : m_instances) instance = {};
    m_shared = {};
    m_ballast = at::Tensor();
    for (const Arm arm : kArms) device_memory::trim(deviceOf(arm));
    Status learnt;
    if (learns) {
        learnt = then("The losses at equal time are not known:", [this] { return learnFor(m_equalTime); });
        m_equalTime.seconds = m_setup.lossSeconds;
    }
    judge(true, learnt ? std::string() : learnt.error().sentence);
    return outcome;
}

Status Comparison::learnFor(EqualTimeLoss& loss) const {
    EqualTimeSetup setup{.batches = m_setup.batches,
                         .factory = m_setup.factory,
                         .clock = m_setup.clock,
                         .seconds = m_setup.lossSeconds,
                         .seeds = m_setup.lossSeeds,
                         .coins = m_setup.rules.seed,
                         .seed = static_cast<std::uint64_t>(side(Arm::A).config.seed),
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

void Comparison::judge(bool over, const std::string& beside) {
    const ArmNames names = armNames(side(Arm::A).config, side(Arm::B).config);
    ExperimentJudged judged = judgementOf(m_course, over, m_broke, names);
    judged.at = m_setup.clock->now();
    judged.step = m_newestStep;
    // What comes behind the pairs takes time as well.
    if (over) judged.seconds = std::max(judged.seconds, (judged.at - m_begin).seconds());
    if (over && m_equalTime.seconds > 0) {
        judged.equalTime = m_equalTime;
        judged.why += std::string(judged.why.empty() ? "" : " ") + equalTimeSentence(judged, names);
    }
    if (!beside.empty()) judged.why += (judged.why.empty() ? "" : " ") + beside;
    m_setup.sink->publish(std::move(judged));
}

std::string Comparison::nameOf(Arm arm) const {
    return nameOfSide(side(Arm::A).config, side(Arm::B).config, arm);
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
    m_working = arm;
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
        if (m_onDevice) keepInHostMemory(of(*m_onDevice).state, m_shared);
        m_shared.restore(of(arm).state);
        m_shared.convert(m_setup.factory->formOf(side(arm).plan, m_shared));
        m_onDevice = arm;
    }
    of(arm).program->prepare(stateOf(arm));
    for (const Arm each : kArms) device_memory::synchronise(deviceOf(each));
}

Status Comparison::step(Arm arm, StepResult& result) {
    m_working = arm;
    TrainState& state = stateOf(arm);
    result = of(arm).program->step(state, *m_setup.batches, learningRate(side(arm).config, state.updates + 1));
    m_newestStep = state.updates;
    if (m_setup.afterStep) m_setup.afterStep(arm, state.updates, result);
    if (result.breakdown == Breakdown::None && std::isfinite(result.loss)) return {};
    return makeError(
        ErrorCode::Training,
        fmt::format("{} diverged: its loss or a gradient was no number at step {}; lower its learning rate, or use a wider number format.",
                    nameOf(arm), state.updates + 1));
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
        const auto made = static_cast<std::int64_t>(times.steps.size());
        if (made < order.steps || (now - counted).seconds() < order.leastSeconds) continue;
        if (times.tokens > 0 || made >= order.steps + kMostLeftOut) break;
    }
    device_memory::synchronise(device);
    const Reading end = read();
    const EnergyReading energyAfter = m_energy.read();
    if (times.steps.empty() || stopAsked()) return {};
    if (times.tokens == 0)
        return makeError(ErrorCode::Training,
                         fmt::format("Every update of a block of {} was left out because float16 overflowed; it trains nothing to "
                                     "compare.",
                                     nameOf(order.arm)));
    times.seconds = (end.at - counted).seconds();
    times.turnSeconds = (counted - begin.at).seconds();
    times.elapsed = (end.at - m_begin).seconds();
    if (begin.processors && end.processors)
        if (const auto shares = sharesBetween(*begin.processors, *end.processors, end.ownNs - begin.ownNs)) {
            times.others = shares->othersPct / 100 * static_cast<double>(m_processors.size());
            times.stealPct = shares->stealPct;
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
                                    .stealPct = times.stealPct,
                                    .pageFaults = end.faults - first.faults,
                                    .peakBytes = peak.count > 0 ? static_cast<double>(alone) : kUnknown,
                                    .operations = m_operations[armPlace(order.arm)],
                                    .joules = joulesBetween(energyBefore, energyAfter)});
    if (m_course.pairs().size() != pairsBefore) judge(false);
    return {};
}

}  // namespace stepscope
