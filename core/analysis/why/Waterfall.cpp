#include "core/analysis/why/Waterfall.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "core/analysis/PairedVerdict.h"
#include "core/analysis/Statistics.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

constexpr double kMsANs = 1e-6;
constexpr double kMostARecord = 2000;        // ns that a record of a capture can cost: what is more is the machine's
constexpr std::int64_t kMostSteps = 10'000;  // of an arm: what a stranger's file may hold beyond is left out

// Half of the 95 % interval of mean(b) - mean(a). paired: window i of one arm was captured beside window i of the other, so that what the machine did
// meanwhile is in both (Student's t over the differences); else Welch's.
double halfWidth(const std::vector<double>& a, const std::vector<double>& b, bool paired) {
    if (a.size() < 2 || b.size() < 2) return kUnknown;
    const auto spread = [](const std::vector<double>& all) {  // variance of the mean
        const double centre = mean(all);
        double squares = 0;
        for (const double one : all) squares += (one - centre) * (one - centre);
        return squares / static_cast<double>(all.size() - 1) / static_cast<double>(all.size());
    };
    const auto half = [](double variance, double freedom) {
        return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), 0.025)) * std::sqrt(variance);
    };
    if (paired && a.size() == b.size()) {
        std::vector<double> differences(a.size());
        std::ranges::transform(b, a, differences.begin(), std::minus<>());
        return half(spread(differences), static_cast<double>(a.size() - 1));
    }
    const double ofA = spread(a), ofB = spread(b), both = ofA + ofB;
    if (both <= 0) return 0;
    return half(both, std::max(1.0, both * both / (ofA * ofA / static_cast<double>(a.size() - 1) + ofB * ofB / static_cast<double>(b.size() - 1))));
}

bool enoughWindows(const std::vector<std::size_t>& window) {
    constexpr std::size_t kEnough = 4;
    return !window.empty() && window.back() + 1 >= kEnough;
}

// Of steps in windows, whose numbers follow each other: their windows' means where there are enough windows, since the steps of one have the luck of
// one instance and of one moment in common; else themselves. window: of each step, from 0.
std::vector<double> independentOf(const std::vector<double>& steps, const std::vector<std::size_t>& window) {
    if (!enoughWindows(window)) return steps;
    std::vector<double> sums(window.back() + 1), counts(window.back() + 1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        sums[window[i]] += steps[i];
        counts[window[i]] += 1;
    }
    for (std::size_t w = 0; w < sums.size(); ++w) sums[w] /= counts[w];
    return sums;
}

double tokensRatioOf(Arm arm, double ratio) {
    return arm == Arm::A ? 1 : ratio;
}

constexpr std::size_t kMostWorks = 500'000;  // kernels and copies of an arm
constexpr std::int32_t kMostLayers = 1000;   // what a stranger's file numbers beyond is of no layer
constexpr const char* kGaps = "launch gaps";

std::int64_t layerOf(const Slice& slice) {
    return slice.layer >= 0 && slice.layer < kMostLayers ? slice.layer : -1;
}

}  // namespace

double WaterfallResult::unexplainedShare() const {
    return difference() == 0 ? kUnknown : std::abs(unexplained / difference());
}

void Waterfall::add(Arm arm, const SliceBlock& block) {
    if (block.thread.device >= 0) return addDevice(arm, block);
    Lane& lane = m_lanes[armPlace(arm)][block.thread.laneNumber()];
    for (const Slice& slice : block.slices) {
        if (slice.step < 0) continue;
        if (static_cast<std::int64_t>(lane.steps.size()) >= kMostSteps && !lane.steps.contains(slice.step)) continue;
        const std::string &name = block.strings[slice.name], &phase = block.strings[slice.phase], &role = block.strings[slice.role];
        if (slice.kind == SliceKind::Evaluation || phase == "evaluation" || phase == "text") continue;
        StepSums& step = lane.steps[slice.step];
        if (slice.kind == SliceKind::Step) step.duration = slice.duration;
        const WorkClass kind = workClass(slice.kind, name, phase, role);
        step.classes[static_cast<std::size_t>(kind)] += static_cast<double>(slice.self());
        step.records[static_cast<std::size_t>(kind)] += 1;
        Place& place = lane.places[slice.step][{phase, role, layerOf(slice)}];
        place.ns += static_cast<double>(slice.self());
        place.records += 1;
        if (slice.kind != SliceKind::Step && slice.duration > 0 && slice.duration < std::numeric_limits<std::int64_t>::max() - slice.start)
            place.see(slice.step, {slice.start, slice.start + slice.duration});
        if (kind == WorkClass::Host) continue;
        place.calls += 1;
        place.names[name] += static_cast<double>(slice.self());
    }
}

std::int64_t Waterfall::steps(Arm arm) const {
    std::int64_t all = 0;
    for (const auto& [number, lane] : lanes(arm)) all += std::ranges::count_if(lane.steps, [](const auto& step) { return step.second.duration > 0; });
    return all;
}

void Waterfall::addDevice(Arm arm, const SliceBlock& block) {
    auto& steps = m_device[armPlace(arm)];
    for (const Slice& slice : block.slices) {
        if (slice.step < 0 || !isDeviceWork(slice.kind) || slice.start < 0 || slice.duration < 0) continue;
        if (slice.duration > std::numeric_limits<std::int64_t>::max() - slice.start || m_works >= 2 * kMostWorks) continue;
        const std::string &name = block.strings[slice.name], &phase = block.strings[slice.phase], &role = block.strings[slice.role];
        if (phase == "evaluation" || phase == "text") continue;
        steps[slice.step].push_back(
            {slice.step, slice.start, slice.start + slice.duration, workClass(slice.kind, name, phase, role), {phase, role, layerOf(slice)}, name});
        ++m_works;
    }
}

// The capture's own cost is the thread's: where the GPU waits for it, it lies in the gaps.
void Waterfall::divide(std::vector<DeviceWork> works, StepSums& step, std::map<PlaceKey, Place>& places) {
    std::ranges::stable_sort(works, {}, &DeviceWork::start);
    const std::int64_t records = std::accumulate(step.records.begin(), step.records.end(), std::int64_t{0});
    step.onDevice = true;
    step.classes = {};
    step.records = {};
    places.clear();
    double busy = 0;
    std::int64_t until = 0;
    for (const DeviceWork& work : works) {
        const auto own = static_cast<double>(std::max<std::int64_t>(0, work.end - std::max(work.start, until)));
        until = std::max(until, work.end);
        busy += own;
        step.classes[static_cast<std::size_t>(work.kind)] += own;
        Place& place = places[work.place];
        place.ns += own;
        place.calls += 1;
        place.names[work.name] += own;
        place.see(work.step, {work.start, work.end});
    }
    const double gaps = std::max(0.0, static_cast<double>(step.duration) - busy);
    step.classes[static_cast<std::size_t>(WorkClass::LaunchGaps)] = gaps;
    step.records[static_cast<std::size_t>(WorkClass::LaunchGaps)] = records;
    Place& between = places[{"", kGaps, -1}];
    between.ns = gaps;
    between.records = records;
}

Waterfall::Lanes Waterfall::withDevice(Arm arm) const {
    Lanes all = lanes(arm);
    for (const auto& [number, works] : m_device[armPlace(arm)])
        for (auto& [lane, of] : all)
            if (const auto step = of.steps.find(number); step != of.steps.end() && step->second.duration > 0)
                divide(works, step->second, of.places[number]);
    return all;
}

WaterfallResult Waterfall::result(double measuredA, double measuredB, double tokensRatio, double pairsHalf) const {
    WaterfallResult found{.measuredA = measuredA, .measuredB = measuredB};
    found.stepsA = steps(Arm::A);
    found.stepsB = steps(Arm::B);
    if (found.stepsA == 0 || found.stepsB == 0) return found;
    const std::array<double, 2> unit{kMsANs, kMsANs * tokensRatio};
    std::array<Lanes, 2> ofDevice;
    std::array<const Lanes*, 2> each{&lanes(Arm::A), &lanes(Arm::B)};
    for (const Arm arm : {Arm::A, Arm::B})
        if (const std::size_t at = armPlace(arm); !m_device[at].empty()) {
            ofDevice[at] = withDevice(arm);
            each[at] = &ofDevice[at];
        }
    std::array<std::vector<const StepSums*>, 2> all;
    std::array<std::vector<std::size_t>, 2> window;  // of each of them
    std::array<double, 2> captured{}, records{};
    for (const Arm arm : {Arm::A, Arm::B}) {
        const std::size_t at = armPlace(arm);
        for (const auto& [number, lane] : *each[at]) {
            std::optional<std::int64_t> before;
            for (const auto& [stepNumber, step] : lane.steps) {
                if (step.duration <= 0) continue;
                const std::size_t last = window[at].empty() ? 0 : window[at].back();
                window[at].push_back(window[at].empty() || (before && *before + 1 == stepNumber) ? last : last + 1);
                all[at].push_back(&step);
                before = stepNumber;
            }
        }
        for (const StepSums* step : all[at]) {
            captured[at] += static_cast<double>(step->duration) * unit[at] / static_cast<double>(all[at].size());
            records[at] += static_cast<double>(std::accumulate(step->records.begin(), step->records.end(), std::int64_t{0})) *
                           tokensRatioOf(arm, tokensRatio) / static_cast<double>(all[at].size());
        }
    }
    found.capturedA = captured[0];
    found.capturedB = captured[1];
    // What a capture costs is so much a record, as far as anybody can tell from both arms together.
    const double more = captured[0] + captured[1] - measuredA - measuredB;
    const double allRecords = records[0] + records[1];
    const double cost = more > 0 && allRecords > 0 ? std::min(more / allRecords, kMostARecord * kMsANs) : 0;  // ms
    found.nsARecord = cost / kMsANs;
    // What remains is another speed of the machine, which meets both arms alike.
    const double without = captured[0] + captured[1] - cost * allRecords;
    found.scale = without > 0 ? (measuredA + measuredB) / without : 1;
    std::array<std::array<std::vector<double>, kWorkClasses>, 2> classes;
    for (const Arm arm : {Arm::A, Arm::B})
        for (const StepSums* step : all[armPlace(arm)]) {
            // What is left of it: of a step on a GPU its gaps, else what the thread did between operations.
            const auto rest = static_cast<std::size_t>(step->onDevice ? WorkClass::LaunchGaps : WorkClass::Host);
            // What no slice covers (some were lost) is nobody's work; and a record that was shorter than its cost took the rest from what called it.
            double left =
                (static_cast<double>(step->duration) - std::accumulate(step->classes.begin(), step->classes.end(), 0.0)) * unit[armPlace(arm)];
            for (std::size_t kind = 0; kind < kWorkClasses; ++kind) {
                if (kind == rest) continue;
                const double ms =
                    step->classes[kind] * unit[armPlace(arm)] - cost * static_cast<double>(step->records[kind]) * tokensRatioOf(arm, tokensRatio);
                classes[armPlace(arm)][kind].push_back(std::max(0.0, ms));
                left += std::min(0.0, ms);
            }
            left += step->classes[rest] * unit[armPlace(arm)] - cost * static_cast<double>(step->records[rest]) * tokensRatioOf(arm, tokensRatio);
            classes[armPlace(arm)][rest].push_back(std::max(0.0, left));
        }
    std::array<std::vector<double>, 2> whole;  // ms of each captured step
    std::array<double, 2> typical{};           //   on average
    for (const std::size_t arm : {0, 1}) {
        for (std::size_t step = 0; step < all[arm].size(); ++step) {
            double ms = 0;
            for (const auto& kind : classes[arm]) ms += kind[step];
            whole[arm].push_back(ms);
        }
        typical[arm] = mean(whole[arm]);
    }
    // A comparison captures a window of each arm in turns.
    const bool paired = enoughWindows(window[0]) && enoughWindows(window[1]) && window[0].back() == window[1].back();
    found.open = std::hypot(halfWidth(independentOf(whole[0], window[0]), independentOf(whole[1], window[1]), paired) * found.scale, pairsHalf);
    found.apart = found.difference() - (typical[1] - typical[0]) * found.scale;
    // As much as that the captured steps may be apart from the measured ones by the machine's speed alone, which wanders from one window to the next
    // and takes all kinds of work with it: how a step divides into them is told far better than how long it takes. So each side's shares are taken of
    // a step that is as long as it was measured, as nearly as both leave open; what is missing beyond that stays missing.
    found.unexplained = found.apart;
    const bool bounded = std::isfinite(found.open) && std::ranges::all_of(typical, [](double ms) { return ms > 0; });
    if (bounded) found.unexplained = std::copysign(std::max(0.0, std::abs(found.apart) - found.open), found.apart);
    const double both = measuredA + measuredB, seen = found.difference() - found.unexplained;
    found.scaleA = bounded ? (both - seen) / 2 / typical[0] : found.scale;
    found.scaleB = bounded ? (both + seen) / 2 / typical[1] : found.scale;
    const double knownTo = found.mayBeNothing() ? pairsHalf : found.open;  // ms: the difference of which a kind of work has its share
    const std::array<double, 2> scales{found.scaleA, found.scaleB};
    const bool anyGaps = std::ranges::any_of(all, [](const auto& steps) { return std::ranges::any_of(steps, &StepSums::onDevice); });
    for (std::size_t kind = 0; kind < kWorkClasses; ++kind) {
        if (kind == static_cast<std::size_t>(WorkClass::LaunchGaps) && !anyGaps) continue;
        std::array<double, 2> ms{};
        std::array<std::vector<double>, 2> apart;  // what scatters
        double share = 0;                          // of a step
        for (const std::size_t arm : {0, 1}) {
            ms[arm] = mean(classes[arm][kind]) * scales[arm];
            if (bounded) share = std::max(share, mean(classes[arm][kind]) / typical[arm]);
            std::vector<double> each = classes[arm][kind];
            for (std::size_t step = 0; step < each.size(); ++step) {
                each[step] *= scales[arm];
                if (bounded && whole[arm][step] > 0) each[step] *= typical[arm] / whole[arm][step];
            }
            apart[arm] = independentOf(each, window[arm]);
        }
        ClassDifference one{.kind = static_cast<WorkClass>(kind), .a = ms[0], .b = ms[1]};
        double half = halfWidth(apart[0], apart[1], paired);
        if (bounded) half = std::hypot(half, share * knownTo);
        one.low = one.difference() - half;
        one.high = one.difference() + half;
        found.classes.push_back(one);
    }

    const std::array<std::map<PlaceKey, Place>, 2> places{placesOf(*each[0]), placesOf(*each[1])};
    found.places = rowsOf(places, found, tokensRatio, false);
    found.layers = rowsOf(places, found, tokensRatio, true);
    return found;
}

std::string openInterval(const WaterfallResult& result) {
    if (!std::isfinite(result.open)) return "unknown";
    return signedMilliseconds(result.apart - result.open) + " to " + signedMilliseconds(result.apart + result.open);
}

std::string waterfallSentence(const WaterfallResult& result) {
    if (result.classes.empty() || result.stepsA == 0 || result.stepsB == 0) return "";
    std::vector<const ClassDifference*> sure;
    for (const auto& one : result.classes)
        if (std::isfinite(one.low) && (one.low > 0 || one.high < 0)) sure.push_back(&one);
    std::ranges::sort(sure, [](const auto* x, const auto* y) { return std::abs(x->difference()) > std::abs(y->difference()); });
    const bool undecided = result.outcome == toString(PairedOutcome::Inconclusive), equal = result.outcome == toString(PairedOutcome::Equivalent);
    std::string said =
        fmt::format("A step takes {} with A and {} with B", format::milliseconds(result.measuredA), format::milliseconds(result.measuredB));
    // Captures are few and made behind the timing: what they show explains no difference that the pairs did not find.
    if (undecided) said += ", which the pairs cannot tell apart: there may be nothing to explain";
    if (equal) said += ", which is as good as equal";
    if (sure.empty()) return said + "; no kind of work differs for sure in what was captured.";
    if (undecided || equal) said += ". In the captured steps alone";
    for (std::size_t i = 0; i < std::min<std::size_t>(3, sure.size()); ++i) {
        const ClassDifference& one = *sure[i];
        const bool less = one.difference() < 0;
        said += fmt::format("{} {} [{}, {}] {} in {}", i == 0 ? ":" : ",", format::milliseconds(std::abs(one.difference())),
                            format::milliseconds(less ? -one.high : one.low), format::milliseconds(less ? -one.low : one.high),
                            less ? "less" : "more", toString(one.kind));
    }
    said += ".";
    if (undecided || equal) return said;
    // Nothing is left over then because nothing could be told, which is not the same as that all is explained.
    if (std::isfinite(result.open) && result.open > std::abs(result.difference()))
        said += fmt::format(
            " How long the captured steps took tells the difference to ±{} only, which is more than all of it: what names its place is "
            "how a step of each divides.",
            format::milliseconds(result.open));
    if (const double share = result.unexplainedShare(); std::isfinite(share) && share > 0.1)
        said += fmt::format(" {:.0f} % of the difference ({}) is not explained by what was captured.", share * 100,
                            format::milliseconds(std::abs(result.unexplained)));
    return said;
}

}  // namespace stepscope
