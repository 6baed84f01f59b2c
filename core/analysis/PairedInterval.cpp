#include "core/analysis/PairedInterval.h"

#include <algorithm>
#include <bit>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

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

// Whether at most alpha of all signs that the cut differences could have had lead at least as far from 0 as theirs. Going outwards from the centre
// that share never grows: it is of the subsets whose own cut mean theta has not passed yet. False where even the least share there is would be more.
bool signsExclude(std::span<const double> differences, double theta, double clip, double alpha) {
    std::vector<double> sizes;
    double all = 0, s = 0;
    for (const double d : differences) {
        const double cut = std::clamp(d - theta, -clip, clip);
        sizes.push_back(std::abs(cut));
        all += std::abs(cut);
        s += cut;
    }
    // Signs and their opposites lead as far, so the first one's is fixed. Each step of the Gray code turns one of the others round.
    const std::uint32_t count = std::uint32_t{1} << (sizes.size() - 1);
    const double reached = std::abs(s) - 1e-9 * all, most = alpha * count;
    double sum = all, asFar = 0;
    for (std::uint32_t i = 1;; ++i) {
        if (std::abs(sum) >= reached && ++asFar > most) return false;
        if (i == count) return true;
        const auto turned = static_cast<std::size_t>(std::countr_zero(i));
        sum += ((i >> (turned + 1)) & 1) == 0 ? -2 * sizes[turned + 1] : 2 * sizes[turned + 1];
    }
}

// The first theta on one side (direction +1 or -1) of the centre that is excluded. S and V change slowly against `step`, so none is stepped over.
template <typename Excluded>
double edge(double centre, double direction, double step, double reach, const Excluded& excluded) {
    double inside = 0;
    for (double away = step; inside < reach; away *= 1.05, away += step) {
        if (!excluded(centre + direction * away)) {
            inside = away;
            continue;
        }
        double outside = away;
        for (int i = 0; i < 60; ++i) {
            const double middle = inside + (outside - inside) / 2;
            (excluded(centre + direction * middle) ? outside : inside) = middle;
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
    interval.low = edge(interval.centre, -1, step, reach, excluded);
    interval.high = edge(interval.centre, +1, step, reach, excluded);
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
    return around(differences, bound.clip, step, least, [&](double theta) { return excluded(sumsAt(differences, theta, bound.clip), bound); });
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
    const bool exact = differences.size() < kExactBelow && std::exp2(1 - n) <= bound.alpha;
    return around(differences, bound.clip, least / (16 * n), least, [&](double theta) {
        const Sums sums = sumsAt(differences, theta, bound.clip);
        return sums.s * sums.s > most * sums.v && (!exact || signsExclude(differences, theta, bound.clip, bound.alpha));
    });
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
