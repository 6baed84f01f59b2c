#include "core/analysis/PairedInterval.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
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

// The first theta on one side (direction +1 or -1) of the centre that is excluded. S and V change slowly against `step`, so none is stepped over.
template <typename Excluded>
double edge(std::span<const double> differences, double centre, double direction, double step, double reach, double clip, const Excluded& excluded) {
    double inside = 0;
    for (double away = step; inside < reach; away *= 1.05, away += step) {
        if (!excluded(sumsAt(differences, centre + direction * away, clip))) {
            inside = away;
            continue;
        }
        double outside = away;
        for (int i = 0; i < 60; ++i) {
            const double middle = inside + (outside - inside) / 2;
            (excluded(sumsAt(differences, centre + direction * middle, clip)) ? outside : inside) = middle;
        }
        return centre + direction * outside;
    }
    return direction * std::numeric_limits<double>::infinity();
}

// Around the cut mean; `step` is small against the interval's half width, or against what it may be at least.
template <typename Excluded>
PairedInterval around(std::span<const double> differences, double clip, double step, double least, const Excluded& excluded) {
    SS_CHECK(clip > 0);
    PairedInterval interval;
    if (differences.empty()) return interval;
    SS_CHECK(std::ranges::all_of(differences, [](double d) { return std::isfinite(d); }));
    interval.centre = cutMean(differences, clip);
    const auto [smallest, largest] = std::ranges::minmax(differences);
    // Far beyond every difference nothing changes any more when they are cut, and when they are not the interval's end lies within some spreads of
    // the centre or nowhere.
    const double reach = 1000 * std::max({largest - smallest, least, std::isfinite(clip) ? clip : 0.0});
    interval.low = edge(differences, interval.centre, -1, step, reach, clip, excluded);
    interval.high = edge(differences, interval.centre, +1, step, reach, clip, excluded);
    return interval;
}

}  // namespace

// S never grows with theta.
double cutMean(std::span<const double> differences, double clip) {
    SS_CHECK(!differences.empty() && clip > 0);
    auto [least, most] = std::ranges::minmax(differences);
    for (int i = 0; i < 200 && least < most; ++i) {
        const double middle = least + (most - least) / 2;
        if (middle == least || middle == most) break;
        (sumsAt(differences, middle, clip).s > 0 ? least : most) = middle;
    }
    return least + (most - least) / 2;
}

PairedInterval pairedInterval(std::span<const double> differences, const PairedBound& bound) {
    SS_CHECK(bound.eta > 0 && bound.alpha > 0 && bound.alpha < 1);
    // Half the interval is at least about sqrt(eta) / n wide.
    const double least = std::sqrt(bound.eta);
    const double step = least / (16 * static_cast<double>(std::max<std::size_t>(differences.size(), 1)));
    return around(differences, bound.clip, step, least, [&](const Sums& sums) { return excluded(sums, bound); });
}

PairedInterval pairedIntervalAtOneLook(std::span<const double> differences, const PairedBound& bound) {
    SS_CHECK(bound.alpha > 0 && bound.alpha < 1);
    if (differences.size() < 2) {
        PairedInterval none;
        if (!differences.empty()) none.centre = differences.front();
        return none;
    }
    const double n = static_cast<double>(differences.size());
    const double quantile = boost::math::quantile(boost::math::complement(boost::math::students_t(n - 1), bound.alpha / 2));
    const double most = n * quantile * quantile / (n - 1 + quantile * quantile);
    // The half width is at least about the root of V, over n.
    const Sums middle = sumsAt(differences, cutMean(differences, bound.clip), bound.clip);
    const double least = std::max(std::sqrt(middle.v), 1e-12);
    return around(differences, bound.clip, least / (16 * n), least, [&](const Sums& sums) { return sums.s * sums.s > most * sums.v; });
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
