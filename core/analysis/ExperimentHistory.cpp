#include "core/analysis/ExperimentHistory.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "core/analysis/PairedVerdict.h"
#include "core/analysis/Statistics.h"
#include "core/base/MemoryKind.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigNumbers.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"

namespace stepscope {

void ExperimentHistory::add(const Event& event) {
    if (const auto* began = std::get_if<ExperimentBegan>(&event)) {
        *this = {};  // a run may hold several, one after the other
        m_began = *began;
    }
    if (const auto* block = std::get_if<BlockDone>(&event)) m_blocks.push_back(*block);
    if (const auto* sample = std::get_if<DeviceSample>(&event)) m_samples.add(*sample);
    if (const auto* judged = std::get_if<ExperimentJudged>(&event)) {
        if (!judged->over) m_pairs.push_back(*judged);
        if (judged->over && !m_decided) m_decided = judged->seconds;
        m_newest = *judged;
    }
}

ChosenExperiment chosenExperiment(const std::vector<Event>& events, std::int64_t wanted) {
    ChosenExperiment chosen;
    for (const Event& event : events) {
        if (const auto* began = std::get_if<ExperimentBegan>(&event)) chosen.all.push_back({*began, std::nullopt});
        if (chosen.all.empty()) continue;
        if (const auto* judged = std::get_if<ExperimentJudged>(&event)) chosen.all.back().newest = *judged;
        const auto number = static_cast<std::int64_t>(chosen.all.size());
        if (wanted != 0 && number != wanted) continue;
        chosen.history.add(event);
        chosen.number = number;
    }
    return chosen;
}

ExperimentHistory ExperimentHistory::after(std::size_t pairs) const {
    ExperimentHistory then;
    then.m_began = m_began;
    then.m_pairs.assign(m_pairs.begin(), m_pairs.begin() + static_cast<std::ptrdiff_t>(std::min(pairs, m_pairs.size())));
    if (!then.m_pairs.empty()) then.m_newest = then.m_pairs.back();
    const std::int64_t last = then.m_newest ? then.m_newest->pair : -1;
    std::ranges::copy_if(m_blocks, std::back_inserter(then.m_blocks), [&](const BlockDone& block) { return block.pair <= last; });
    then.m_samples = m_samples;
    return then;
}

MachineWindow ExperimentHistory::machineWindow() const {
    MachineWindow window;
    const auto first = std::ranges::find_if(m_blocks, [](const BlockDone& block) { return block.pair >= 0; });
    if (first == m_blocks.end()) return window;
    window.from = first->at.seconds() - first->duration.seconds();
    window.to = m_blocks.back().at.seconds();
    for (const std::string& json : {m_began ? m_began->configA : "", m_began ? m_began->configB : ""})
        if (const auto config = configFromJson(json); config) window.onGpu = window.onGpu || isOnGpu(*config);
    return window;
}

void MachineSamples::add(const DeviceSample& sample) {
    if (std::ssize(m_samples) >= kMostSamplesMeanwhile) return;
    m_samples.push_back(
        {sample.at.seconds(), sample.gpuClockMhz, sample.cpuClockMhz, sample.throttledPct, sample.gpuOtherProcesses, sample.gpuOthersBusyPct});
}

MachineMeanwhile MachineSamples::within(const MachineWindow& window) const {
    constexpr std::size_t kFewest = 8;
    MachineMeanwhile found;
    std::vector<double> gpu, cpu, throttled, shared, othersBusy;
    const auto take = [](std::vector<double>& known, double value) {
        if (std::isfinite(value)) known.push_back(value);
    };
    for (const Sample& sample : m_samples) {
        if (!(window.from <= sample.seconds && sample.seconds <= window.to)) continue;
        take(gpu, sample.gpuMhz);
        take(cpu, sample.cpuMhz);
        take(throttled, sample.throttledPct);
        if (std::isfinite(sample.gpuOthers)) shared.push_back(sample.gpuOthers > 0 ? 100 : 0);
        take(othersBusy, sample.gpuOthersBusyPct);
    }
    const auto spread = [](const std::vector<double>& known, double& low, double& high) {
        if (known.size() < kFewest) return;
        low = quantile(known, 0.05);
        high = quantile(known, 0.95);
    };
    // Of a side on a GPU the processors wait most of the time, at whatever clock; and a GPU that nothing runs on rests.
    if (window.onGpu)
        spread(gpu, found.gpuMhzLow, found.gpuMhzHigh);
    else
        spread(cpu, found.cpuMhzLow, found.cpuMhzHigh);
    if (throttled.size() >= kFewest) found.throttledPct = mean(throttled);
    if (window.onGpu && shared.size() >= kFewest) found.gpuOthersPct = mean(shared);
    if (window.onGpu && othersBusy.size() >= kFewest) found.gpuOthersBusyPct = mean(othersBusy);
    return found;
}

SideFacts ExperimentHistory::facts(Arm arm) const {
    std::unordered_set<std::int64_t> counts;
    for (const ExperimentJudged& judged : m_pairs)
        if (!judged.discarded) counts.insert(judged.pair);
    // Sums of what a file holds, which may be any numbers.
    double blocks = 0, steps = 0, tokens = 0, seconds = 0, faults = 0, joules = 0;
    SideFacts facts;
    std::vector<double> medians, means;
    for (const BlockDone& block : m_blocks) {
        if (block.arm != arm || block.pair < 0 || !counts.contains(block.pair)) continue;
        ++blocks;
        steps += static_cast<double>(block.steps);
        tokens += static_cast<double>(block.tokens);
        seconds += block.duration.seconds();
        faults += static_cast<double>(block.pageFaults);
        joules += block.joules;
        medians.push_back(block.median.milliseconds());
        if (block.steps > 0) means.push_back(block.duration.milliseconds() / static_cast<double>(block.steps));
        facts.slowestMs = std::fmax(facts.slowestMs, block.slowest.milliseconds());
        facts.peakBytes = std::fmax(facts.peakBytes, block.peakBytes);
        if (std::isfinite(block.operations)) facts.operations = block.operations;
    }
    const auto whole = [](double value) { return static_cast<std::int64_t>(std::clamp(value, 0.0, 9e18)); };
    facts.blocks = whole(blocks);
    facts.steps = whole(steps);
    facts.tokens = whole(tokens);
    if (!(steps > 0 && tokens > 0 && seconds > 0)) return facts;
    facts.msPerStep = seconds / steps * 1e3;
    facts.medianMsPerStep = median(medians);
    facts.tenthMs = quantile(means, 0.1);
    facts.ninetiethMs = quantile(means, 0.9);
    facts.tokensPerSecond = tokens / seconds;
    facts.faultsPerStep = faults / steps;
    facts.joulesPerToken = joules / tokens;
    return facts;
}

double ExperimentHistory::measuringSeconds() const {
    return m_decided ? *m_decided : m_newest ? m_newest->seconds : 0;
}

double ExperimentHistory::secondsToAskAgain() const {
    constexpr double kSpare = 1.5, kMost = 3600;  // pairs scatter a little more than they did
    const double had = m_began ? m_began->budgetSeconds : 0;
    if (!m_newest || !m_newest->over || m_newest->outcome != toString(PairedOutcome::Inconclusive) || !(m_newest->secondsToGo > 0)) return had;
    const double pairs = measuringSeconds() + kSpare * m_newest->secondsToGo;
    return std::max(had, std::min(kMost, std::ceil(m_began && m_began->captures ? pairs * (1 + kCapturesOfPairs) : pairs)));
}

double ExperimentHistory::speedRatio() const {
    return facts(Arm::B).tokensPerSecond / facts(Arm::A).tokensPerSecond;
}

void ExperimentHistory::add(const SliceBlock& block) {
    if (block.thread.rank == 0 || block.thread.rank == 1) m_waterfall.add(block.thread.rank == 0 ? Arm::A : Arm::B, block);
}

void ExperimentHistory::add(const AllocationBlock& block) {
    if (block.rank == 0 || block.rank == 1) m_memory.add(block);
}

std::vector<MemoryOwner> ExperimentHistory::memoryAtPeak(Arm arm) const {
    constexpr std::int64_t kEver = std::int64_t{1} << 61;
    const MemoryOfDevice* most = nullptr;
    const std::vector<MemoryOfDevice> devices = m_memory.result(0, kEver);
    for (const MemoryOfDevice& one : devices)
        if (one.rank == (arm == Arm::A ? 0 : 1) && (most == nullptr || one.aliveBytes > most->aliveBytes)) most = &one;
    std::vector<MemoryOwner> kinds;
    if (most == nullptr) return kinds;
    // What was there before and has no name is the other side's as well as this one's.
    for (std::size_t kind = 0; kind < kMemoryKinds; ++kind) {
        MemoryOwner of{.kind = toString(static_cast<MemoryKind>(kind)), .owner = {}};
        for (const MemoryOwner& one : most->alive) {
            if (one.kind != of.kind) continue;
            of.bytes += one.bytes;
            of.count += one.count;
        }
        if (of.bytes > 0) kinds.push_back(std::move(of));
    }
    std::ranges::stable_sort(kinds, std::greater<>(), &MemoryOwner::bytes);
    return kinds;
}

WaterfallResult ExperimentHistory::why() const {
    const SideFacts a = facts(Arm::A), b = facts(Arm::B);
    if (!m_waterfall.has(Arm::A) || !m_waterfall.has(Arm::B) || a.steps == 0 || b.steps == 0 || a.tokens == 0 || b.tokens == 0) return {};
    const double tokensOfA = static_cast<double>(a.tokens) / static_cast<double>(a.steps);
    const double tokensOfB = static_cast<double>(b.tokens) / static_cast<double>(b.steps);
    const bool bounded = m_newest && m_newest->low > 0 && std::isfinite(m_newest->high);
    const double pairsHalf = bounded ? a.msPerStep * (1 / m_newest->low - 1 / m_newest->high) / 2 : kUnknown;
    WaterfallResult found = m_waterfall.result(a.msPerStep, b.msPerStep * tokensOfA / tokensOfB, tokensOfA / tokensOfB, pairsHalf);
    if (m_newest) found.outcome = m_newest->outcome;
    return found;
}

double ExperimentHistory::lossDifference() const {
    std::vector<double> differences;
    for (std::size_t i = 0; i + 1 < m_blocks.size(); ++i) {
        const BlockDone &one = m_blocks[i], &other = m_blocks[i + 1];
        if (one.pair < 0 || one.pair != other.pair || one.step != other.step || one.tokens != other.tokens) continue;
        const double difference = other.loss - one.loss;
        if (std::isfinite(difference)) differences.push_back(other.arm == Arm::B ? difference : -difference);
    }
    return mean(differences);
}

std::string ExperimentHistory::whyNoLoss() const {
    if (m_pairs.empty() || std::isfinite(lossDifference())) return {};
    if (const auto a = configFromJson(m_began ? m_began->configA : ""), b = configFromJson(m_began ? m_began->configB : ""); a && b) {
        const BatchShape ofA = batchShape(*a), ofB = batchShape(*b);
        if (ofA.sequences != ofB.sequences || ofA.context != ofB.context || ofA.microBatches != ofB.microBatches) return "the batches differ";
    }
    return "no pair ended where both had trained as many tokens";
}

std::size_t ExperimentHistory::sameArmPairs() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(m_pairs, [](const ExperimentJudged& pair) { return !pair.discarded && std::isfinite(pair.sameArm); }));
}

}  // namespace stepscope
