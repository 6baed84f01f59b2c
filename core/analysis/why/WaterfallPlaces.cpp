// Waterfall: at which places of a model the two arms differ. Where one arm does at once what the other does one by one, both are one place.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

#include "core/analysis/why/Waterfall.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

constexpr double kMsOfNs = 1e-6;
constexpr std::size_t kMostNames = 3;
constexpr double kHardly = 0.1;

// "attention/out + norm2 + mlp": the parts that one stage does at once.
std::vector<std::string> partsOf(const std::string& role) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= role.size();) {
        const std::size_t end = std::min(role.find(" + ", at), role.size());
        parts.push_back(role.substr(at, end - at));
        at = end + 3;
    }
    return parts;
}

bool isPartOf(const std::string& role, const std::string& joined) {
    const auto parts = partsOf(joined);
    return parts.size() > 1 && std::ranges::any_of(parts, [&](const std::string& part) { return role == part || role.starts_with(part + "/"); });
}

constexpr const char* kBlockWeights = "weights of the block";
constexpr const char* kLayers = "layers without attention";

bool isOfLayers(const std::string& role) {
    constexpr std::array<std::string_view, 5> parts{"norm1", "norm2", "attention/qkv", "attention/out", "mlp"};
    return role == kBlockWeights || std::ranges::any_of(parts, [&](std::string_view part) { return role.starts_with(part); });
}

template <class Names>
std::vector<std::string> longestNames(const Names& names) {
    std::vector<std::pair<double, std::string>> all;
    for (const auto& [name, ns] : names) all.emplace_back(ns, name);
    std::ranges::sort(all, std::greater<>());
    std::vector<std::string> first;
    for (std::size_t i = 0; i < std::min(kMostNames, all.size()); ++i) first.push_back(all[i].second);
    return first;
}

std::string callCount(double calls) {
    return format::count(std::llround(calls));
}

}  // namespace

std::string PlaceDifference::change() const {
    if (callsA < 0.5 && callsB < 0.5) return "";
    // Of a place that only waits now nothing is gone.
    if (callsA < 0.5) return a < kHardly * b ? "new" : "";
    if (callsB < 0.5) return b < kHardly * a ? "gone" : "";
    if (callsA >= 2 * callsB || callsB >= 2 * callsA) return fmt::format("{} became {}", callCount(callsA), callCount(callsB));
    return "";
}

std::string PlaceDifference::calls() const {
    if (const std::string changed = change(); !changed.empty()) return changed;
    if (callsA < 0.5 && callsB < 0.5) return "";
    const std::string ofA = callCount(callsA), ofB = callCount(callsB);
    return ofA == ofB ? ofA : ofA + ", " + ofB;
}

std::string PlaceDifference::share() const {
    if (!(a > 0)) return b > 0 ? "new" : "";
    const double percent = 100 * difference() / a;
    return fmt::format("{}{:.0f}\u202f%", percent < -0.5 ? "\u2212" : percent > 0.5 ? "+" : "", std::abs(percent));
}

std::string PlaceDifference::where() const {
    if (phase.empty()) return role.empty() ? "between the phases" : role;
    return phase + ", " + (layer >= 0 ? fmt::format("layer {}, ", layer) : "") + (role.empty() ? "no part of the model" : role);
}

// The newest step, all of it.
void Waterfall::Place::see(std::int64_t ofStep, const SeenAt& at) {
    if (!at.somewhere() || ofStep < step) return;
    const bool same = ofStep == step && seen.somewhere();
    seen = same ? SeenAt{std::min(seen.from, at.from), std::max(seen.until, at.until)} : at;
    step = ofStep;
}

void Waterfall::Place::add(const Place& other) {
    ns += other.ns;
    calls += other.calls;
    records += other.records;
    for (const auto& [name, ofIt] : other.names) names[name] += ofIt;
    see(other.step, other.seen);
}

std::map<Waterfall::PlaceKey, Waterfall::Place> Waterfall::placesOf(const Lanes& lanes) {
    std::map<PlaceKey, Place> all;
    for (const auto& [number, lane] : lanes)
        for (const auto& [step, places] : lane.places) {
            if (lane.steps.at(step).duration <= 0) continue;
            for (const auto& [key, place] : places) all[key].add(place);
        }
    return all;
}

std::vector<PlaceDifference> Waterfall::rowsOf(const std::array<std::map<PlaceKey, Place>, 2>& places, const WaterfallResult& found,
                                               double tokensRatio, bool layered) {
    std::set<std::pair<std::string, std::string>> joined;  // phase, role
    bool weightsApart = false;                             // an arm that computes gradients of a layer's weights at once: of what is not told apart
    for (const auto& of : places)
        for (const auto& [key, place] : of) {
            if (key.role.find(" + ") != std::string::npos) joined.insert({key.phase, key.role});
            weightsApart |= key.role == kBlockWeights;
        }
    const auto keyOf = [&](const PlaceKey& key) -> PlaceKey {
        const std::int64_t layer = layered ? key.layer : -1;
        if (weightsApart && key.phase == "backward" && isOfLayers(key.role)) return {key.phase, kLayers, layer};
        for (const auto& [phase, role] : joined)
            if (phase == key.phase && isPartOf(key.role, role)) return {phase, role, layer};
        return {key.phase, key.role, layer};
    };
    std::map<PlaceKey, std::array<Place, 2>> rows;
    for (const std::size_t arm : {0, 1})
        for (const auto& [key, place] : places[arm]) {
            if (layered && key.layer < 0) continue;
            rows[keyOf(key)][arm].add(place);
        }
    const std::array<double, 2> unit{kMsOfNs, kMsOfNs * tokensRatio};
    const std::array<double, 2> steps{static_cast<double>(found.stepsA), static_cast<double>(found.stepsB)};
    const double cost = found.nsARecord * kMsOfNs;
    std::vector<PlaceDifference> all;
    for (const auto& [key, of] : rows) {
        const auto ms = [&, &sides = of](std::size_t arm) {
            const double cheaper = cost * static_cast<double>(sides[arm].records) * (arm == 0 ? 1 : tokensRatio);
            return std::max(0.0, sides[arm].ns * unit[arm] - cheaper) / steps[arm] * (arm == 0 ? found.scaleA : found.scaleB);
        };
        all.push_back({.phase = key.phase,
                       .role = key.role,
                       .layer = key.layer,
                       .a = ms(0),
                       .b = ms(1),
                       .callsA = static_cast<double>(of[0].calls) / steps[0],
                       .callsB = static_cast<double>(of[1].calls) / steps[1],
                       .namesA = longestNames(of[0].names),
                       .namesB = longestNames(of[1].names),
                       .seenA = of[0].seen,
                       .seenB = of[1].seen});
    }
    std::ranges::stable_sort(all, [](const auto& x, const auto& y) { return std::abs(x.difference()) > std::abs(y.difference()); });
    return all;
}

}  // namespace stepscope
