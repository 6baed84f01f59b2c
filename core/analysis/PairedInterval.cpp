#include "core/analysis/PairedInterval.h"

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"

namespace stepscope {
namespace {

struct Sums {
    double s = 0, v = 0;
};

Sums sumsAt(std::span<const double> differences, double theta, double clip) {
    Sums sums;
    for (const double d : differences) {
        const double cut = std::clamp(d - theta, -clip, clip);
        sums.s += cut;
        sums.v += cut * cut;
    }
    return sums;
}

bool excluded(const Sums& sums, const PairedBound& bound) {
    const double v = sums.v + bound.eta;
    return sums.s * sums.s > v * std::log(v / (bound.eta * bound.alpha * bound.alpha));
}

// Where S, which never grows with theta, passes through 0.
double centreOf(std::span<const double> differences, double clip) {
    auto [least, most] = std::ranges::minmax(differences);
    for (int i = 0; i < 200 && least < most; ++i) {
        const double middle = least + (most - least) / 2;
        if (middle == least || middle == most) break;
        (sumsAt(differences, middle, clip).s > 0 ? least : most) = middle;
    }
    return least + (most - least) / 2;
}

// The first theta on one side (direction +1 or -1) of the centre that is excluded. S and V change slowly against `step`, so none is stepped over.
double edge(std::span<const double> differences, double centre, double direction, double step, double reach, const PairedBound& bound) {
    double inside = 0;
    for (double away = step; inside < reach; away *= 1.05, away += step) {
        if (!excluded(sumsAt(differences, centre + direction * away, bound.clip), bound)) {
            inside = away;
            continue;
        }
        double outside = away;
        for (int i = 0; i < 60; ++i) {
            const double middle = inside + (outside - inside) / 2;
            (excluded(sumsAt(differences, centre + direction * middle, bound.clip), bound) ? outside : inside) = middle;
        }
        return centre + direction * outside;
    }
    return direction * std::numeric_limits<double>::infinity();
}

}  // namespace

PairedInterval pairedInterval(std::span<const double> differences, const PairedBound& bound) {
    SS_CHECK(bound.eta > 0 && bound.alpha > 0 && bound.alpha < 1 && bound.clip > 0);
    PairedInterval interval;
    if (differences.empty()) return interval;
    SS_CHECK(std::ranges::all_of(differences, [](double d) { return std::isfinite(d); }));
    interval.centre = centreOf(differences, bound.clip);
    const auto [least, most] = std::ranges::minmax(differences);
    // Half the interval is at least about sqrt(eta) / n wide; far beyond every difference nothing changes any more when they are cut, and when they
    // are not the interval's end lies within some spreads of the centre or nowhere.
    const double n = static_cast<double>(differences.size());
    const double step = std::sqrt(bound.eta) / (16 * n);
    const double spread = std::max({most - least, std::sqrt(bound.eta), std::isfinite(bound.clip) ? bound.clip : 0.0});
    const double reach = 1000 * spread;
    interval.low = edge(differences, interval.centre, -1, step, reach, bound);
    interval.high = edge(differences, interval.centre, +1, step, reach, bound);
    return interval;
}

std::size_t enoughToBound(const PairedBound& bound) {
    SS_CHECK(bound.eta > 0 && bound.alpha > 0 && bound.alpha < 1 && bound.clip > 0 && std::isfinite(bound.clip));
    // Far beyond all of them each is cut to the same.
    constexpr std::size_t kMost = 1'000'000;
    std::size_t count = 1;
    for (; count < kMost; ++count) {
        const double n = static_cast<double>(count);
        if (excluded({n * bound.clip, n * bound.clip * bound.clip}, bound)) break;
    }
    return count;
}

}  // namespace stepscope
