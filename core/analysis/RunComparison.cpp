#include "core/analysis/RunComparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/analysis/flips/StepSample.h"
#include "core/events/ConfigKeys.h"
#include "core/events/ConfigNumbers.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

constexpr std::size_t kFewSteps = 30;  // fewer tell little of a median
constexpr double kOthersPoints = 10;   // of the processors, between the two
constexpr double kStealPoints = 5, kThrottledPoints = 5;
constexpr double kClockShare = 0.05;  // of the higher median clock
const std::set<std::string> kDataKeys{"data", "tokenizer", "validation-fraction", "validation", "separator", "vocabulary"};
const std::set<std::string> kModelKeys{"layers", "heads", "width"};

struct Reason {
    int cost = 0;
    std::string sentence;
};

double lossUpTo(const StoredRun& run, const std::vector<double>& places, double place) {
    if (!std::isfinite(place)) return kUnknown;
    const auto end = static_cast<std::size_t>(std::ranges::upper_bound(places, place) - places.begin());
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = std::min(end, run.losses.size()); i > 0 && count < kLossSteps; --i) {
        if (!std::isfinite(run.losses[i - 1])) continue;
        sum += run.losses[i - 1];
        ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : kUnknown;
}

std::vector<double> known(const std::vector<double>& samples) {
    std::vector<double> kept;
    std::ranges::copy_if(samples, std::back_inserter(kept), [](double value) { return std::isfinite(value); });
    return kept;
}

// Apart by more than `points`; unknown on either side is no reason.
bool apart(const std::vector<double>& a, const std::vector<double>& b, double points, double& ofA, double& ofB) {
    ofA = mean(known(a));
    ofB = mean(known(b));
    return std::isfinite(ofA) && std::isfinite(ofB) && std::abs(ofA - ofB) > points;
}

void lookAtMachines(const StoredRun& a, const StoredRun& b, std::vector<Reason>& reasons) {
    const bool both = a.info && b.info && a.info->machine && b.info->machine;
    if (!both) {
        reasons.push_back({40, "the machine of one of them is not known"});
        return;
    }
    const Machine &ofA = *a.info->machine, &ofB = *b.info->machine;
    if (ofA.cpu != ofB.cpu || ofA.cores != ofB.cores || ofA.gpus != ofB.gpus)
        reasons.push_back({60, fmt::format("another machine ({}, {} core{}; {}, {} core{})", ofA.cpu, ofA.cores, ofA.cores == 1 ? "" : "s", ofB.cpu,
                                           ofB.cores, ofB.cores == 1 ? "" : "s")});
    if (ofA.stepscope != ofB.stepscope || ofA.libtorch != ofB.libtorch || ofA.driver != ofB.driver || ofA.system != ofB.system)
        reasons.push_back({10, "other versions of the program, LibTorch, driver or system"});
    double shareA = 0, shareB = 0;
    if (apart(a.othersPct, b.othersPct, kOthersPoints, shareA, shareB))
        reasons.push_back(
            {25, fmt::format("other programs took {:.0f} % of the processors during one and {:.0f} % during the other", shareA, shareB)});
    if (apart(a.stealPct, b.stealPct, kStealPoints, shareA, shareB))
        reasons.push_back(
            {25, fmt::format("the host of this virtual machine took {:.0f} % of the time during one and {:.0f} % during the other", shareA, shareB)});
    if (apart(a.throttledPct, b.throttledPct, kThrottledPoints, shareA, shareB))
        reasons.push_back(
            {25, fmt::format("throttled: a quota stopped the threads in {:.0f} % of its periods during one and in {:.0f} % during the other", shareA,
                             shareB)});
    const auto throttled = [&](const char* who, const std::vector<double>& ofA, const std::vector<double>& ofB) {
        const std::vector<double> clockA = known(ofA), clockB = known(ofB);
        if (clockA.empty() || clockB.empty()) return;
        const double mhzA = median(clockA), mhzB = median(clockB);
        if (std::abs(mhzA - mhzB) > kClockShare * std::max(mhzA, mhzB))
            reasons.push_back({20, fmt::format("throttled: {} ran at {:.0f} MHz during one and at {:.0f} MHz during the other", who, mhzA, mhzB)});
    };
    throttled("the GPU", a.gpuClockMhz, b.gpuClockMhz);
    // Of a GPU's run the processors wait most of the time, at whatever clock.
    const bool onGpu = !known(a.gpuClockMhz).empty() || !known(b.gpuClockMhz).empty();
    if (!onGpu) throttled("the processors", a.cpuClockMhz, b.cpuClockMhz);
}

}  // namespace

void addEvent(StoredRun& run, const Event& event) {
    if (const auto* started = std::get_if<SessionStarted>(&event)) {
        run.session = started->session;
        run.info = started->info;
    } else if (const auto* step = std::get_if<StepDone>(&event)) {
        const double before = run.tokens.empty() ? static_cast<double>(tokensBefore(run.info.get(), step->tokens)) : run.tokens.back();
        run.ms.push_back(step->duration.milliseconds());
        run.seconds.push_back(step->at.seconds());
        run.tokens.push_back(before + static_cast<double>(step->tokens));
        run.losses.push_back(step->loss);
        if (std::isfinite(step->peakBytes)) run.peakBytes = std::isfinite(run.peakBytes) ? std::max(run.peakBytes, step->peakBytes) : step->peakBytes;
        if (run.ms.size() <= kWarmUpSteps || step->disturbed || step->tokens <= 0 || step->duration.ns <= 0) return;
        run.steadyMs.push_back(step->duration.milliseconds());
        run.steadyMsPerToken.push_back(step->duration.milliseconds() / static_cast<double>(step->tokens));
    } else if (const auto* sample = std::get_if<DeviceSample>(&event)) {
        run.othersPct.push_back(sample->othersPct);
        run.stealPct.push_back(sample->stealPct);
        run.throttledPct.push_back(sample->throttledPct);
        run.gpuClockMhz.push_back(sample->gpuClockMhz);
        run.cpuClockMhz.push_back(sample->cpuClockMhz);
    } else if (const auto* validation = std::get_if<ValidationDone>(&event)) {
        run.validationLoss = validation->loss;
    } else if (const auto* flip = std::get_if<SwitchApplied>(&event)) {
        run.flips += flip->from != flip->to ? 1 : 0;
        addFlip(run.flipped, *flip);
    }
}

void addFlip(FlippedValues& flipped, const SwitchApplied& flip) {
    constexpr std::size_t kMostSwitches = 100, kMostValues = 3;
    if (flip.from == flip.to || (flipped.size() >= kMostSwitches && !flipped.contains(flip.id))) return;
    auto& values = flipped[flip.id];
    if (values.empty()) values.push_back(toString(flip.from));
    if (values.size() == kMostValues)
        values = {values.front(), "…", toString(flip.to)};
    else
        values.push_back(toString(flip.to));
}

StoredRun storedRun(const std::vector<Event>& events) {
    StoredRun run;
    for (const Event& event : events) addEvent(run, event);
    return run;
}

bool hasSettings(const StoredRun& run) {
    return run.info && run.info->config.has_value();
}

std::vector<DifferingKeys> differingKeys(const std::vector<StoredRun>& runs) {
    std::vector<std::string> order;
    std::vector<std::map<std::string, std::string>> values(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!hasSettings(runs[i])) continue;
        for (const auto& [key, value] : listConfig(*runs[i].info->config)) {
            if (key == "preset") continue;
            if (std::ranges::find(order, key) == order.end()) order.push_back(key);
            const auto flipped = runs[i].flipped.find(key);
            values[i][key] = flipped == runs[i].flipped.end() ? value : fmt::format("{}", fmt::join(flipped->second, " → "));
        }
    }
    std::vector<DifferingKeys> differing;
    for (const std::string& key : order) {
        DifferingKeys one{key, {}};
        for (const auto& of : values) {
            const auto found = of.find(key);
            one.values.push_back(found == of.end() ? std::string() : found->second);
        }
        // Of a run whose settings nobody stored no key is known to differ: it would differ in all of them.
        std::set<std::string> told;
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (hasSettings(runs[i])) told.insert(one.values[i]);
        if (told.size() > 1) differing.push_back(std::move(one));
    }
    return differing;
}

bool knowsTokens(const StoredRun& run) {
    return !run.tokens.empty() && run.tokens.back() > 0;
}

bool knowsTimes(const StoredRun& run) {
    if (run.info && run.info->timesUnknown) return false;
    return std::ranges::any_of(run.ms, [](double ms) { return ms > 0; });
}

double lossAtTokens(const StoredRun& run, double tokens) {
    if (!knowsTokens(run)) return kUnknown;
    return lossUpTo(run, run.tokens, tokens);
}

double lossAtSeconds(const StoredRun& run, double seconds) {
    if (!knowsTimes(run)) return kUnknown;
    return lossUpTo(run, run.seconds, seconds);
}

Comparability comparabilityOf(const StoredRun& a, const StoredRun& b) {
    std::vector<Reason> reasons{{25, "not interleaved: what the machine did meanwhile is in the difference"}};
    lookAtMachines(a, b, reasons);
    std::string data, model;
    for (const DifferingKeys& key : differingKeys({a, b})) {
        if (kDataKeys.contains(key.key)) data += (data.empty() ? "" : ", ") + key.key;
        if (kModelKeys.contains(key.key)) model += (model.empty() ? "" : ", ") + key.key;
    }
    if (hasSettings(a) && hasSettings(b)) {
        const BatchShape ofA = batchShape(*a.info->config), ofB = batchShape(*b.info->config);
        if (ofA.tokens() != ofB.tokens() || ofA.context != ofB.context) model += (model.empty() ? "" : ", ") + std::string("tokens a step");
    }
    if (!hasSettings(a) || !hasSettings(b))
        reasons.push_back({70, "the settings of one of them are not known: it may have had other data, and another model"});
    if (!data.empty()) reasons.push_back({40, fmt::format("other data ({})", data)});
    if (!model.empty()) reasons.push_back({30, fmt::format("not the same work a step ({})", model)});
    if (a.flips > 0 || b.flips > 0) reasons.push_back({20, "a switch was flipped in the middle: its median is of several settings"});
    const std::size_t fewest = std::min(a.steadyMs.size(), b.steadyMs.size());
    if (fewest < kFewSteps) reasons.push_back({fewest == 0 ? 75 : 20, fmt::format("only {} steps of one of them tell its speed", fewest)});
    std::ranges::stable_sort(reasons, std::greater<>(), &Reason::cost);
    Comparability found{100, {}};
    for (const Reason& reason : reasons) {
        found.score -= reason.cost;
        found.reasons.push_back(reason.sentence);
    }
    found.score = std::max(0, found.score);
    return found;
}

std::string sentenceOf(const Comparability& comparability) {
    return fmt::format("Comparability: {} of 100: {}.", comparability.score, fmt::join(comparability.reasons, "; "));
}

std::string ratioSentence(const StoredRun& a, const StoredRun& b) {
    if (a.steadyMsPerToken.empty() || b.steadyMsPerToken.empty()) return {};
    const double ratio = median(a.steadyMsPerToken) / median(b.steadyMsPerToken);
    if (!std::isfinite(ratio)) return {};
    return fmt::format("Median time per token of session {} \u00f7 that of session {}: {:.3f}. That is no verdict: the two did not take turns.",
                       a.session, b.session, ratio);
}

std::string workOf(const RunConfig& config) {
    std::string work;
    for (const auto& [key, value] : listConfig(config))
        if (kDataKeys.contains(key) || kModelKeys.contains(key)) work += key + "=" + value + "\n";
    return work;
}

}  // namespace stepscope
