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

// The differences in order, with the sums of all below each: S and V at any theta are two searches instead of a walk. An experiment asks for them
// some hundred times after every pair. Kept from their middle on, so that squares of differences that lie close together lose no digits.
class Ordered {
public:
    explicit Ordered(std::span<const double> differences) : m_values(differences.begin(), differences.end()) {
        SS_CHECK(std::ranges::all_of(m_values, [](double d) { return std::isfinite(d); }));
        std::ranges::sort(m_values);
        if (!m_values.empty()) m_middle = m_values[m_values.size() / 2];
        m_sums.reserve(m_values.size() + 1);
        m_sums.emplace_back();
        for (double& d : m_values) {
            d -= m_middle;
            m_sums.push_back({m_sums.back().s + d, m_sums.back().v + d * d});
        }
    }

    bool empty() const { return m_values.empty(); }
    std::size_t size() const { return m_values.size(); }
    double smallest() const { return m_middle + m_values.front(); }
    double largest() const { return m_middle + m_values.back(); }

    // Of d - theta, each cut at +-clip.
    Sums at(double theta, double clip) const {
        const double x = theta - m_middle;
        const auto first = static_cast<std::size_t>(std::ranges::lower_bound(m_values, x - clip) - m_values.begin());
        const auto last = static_cast<std::size_t>(std::ranges::upper_bound(m_values, x + clip) - m_values.begin());
        const double within = static_cast<double>(last - first), below = static_cast<double>(first), above = static_cast<double>(size() - last);
        const double s = m_sums[last].s - m_sums[first].s, v = m_sums[last].v - m_sums[first].v;
        Sums sums{s - within * x, std::max(0.0, v - 2 * x * s + within * x * x)};
        if (below + above > 0) {
            sums.s += (above - below) * clip;
            sums.v += (above + below) * clip * clip;
        }
        return sums;
    }

    double cutMean(double clip) const {
        // A gap in the middle that is wider than both cuts leaves S at 0 all over it: to take one of its ends would favour one side.
        if (const std::size_t half = size() / 2; size() % 2 == 0 && m_values[half] - m_values[half - 1] > 2 * clip)
            return m_middle + m_values[half - 1] + (m_values[half] - m_values[half - 1]) / 2;
        double least = smallest(), most = largest();
        for (int i = 0; i < 200 && least < most; ++i) {
            const double middle = least + (most - least) / 2;
            if (middle == least || middle == most) break;
            (at(middle, clip).s > 0 ? least : most) = middle;  // S never grows with theta
        }
        return least + (most - least) / 2;
    }

private:
    std::vector<double> m_values;
    std::vector<Sums> m_sums;
    double m_middle = 0;
};

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
PairedInterval around(const Ordered& differences, double clip, double step, double least, const Excluded& excluded) {
    SS_CHECK(clip > 0);
    PairedInterval interval;
    if (differences.empty()) return interval;
    interval.centre = differences.cutMean(clip);
    // Far beyond every difference nothing changes any more when they are cut, and when they are not the interval's end lies within some spreads of
    // the centre or nowhere.
    const double reach = 1000 * std::max({differences.largest() - differences.smallest(), least, std::isfinite(clip) ? clip : 0.0});
    interval.low = edge(interval.centre, -1, step, reach, excluded);
    interval.high = edge(interval.centre, +1, step, reach, excluded);
    return interval;
}

}  // namespace

double cutMean(std::span<const double> differences, double clip) {
    SS_CHECK(!differences.empty() && clip > 0);
    return Ordered(differences).cutMean(clip);
}

PairedInterval pairedInterval(std::span<const double> differences, const PairedBound& bound) {
    SS_CHECK(bound.eta > 0 && bound.alpha > 0 && bound.alpha < 1);
    // Half the interval is at least about sqrt(eta) / n wide.
    const double least = std::sqrt(bound.eta);
    const double step = least / (16 * static_cast<double>(std::max<std::size_t>(differences.size(), 1)));
    const Ordered ordered(differences);
    return around(ordered, bound.clip, step, least, [&](double theta) { return excluded(ordered.at(theta, bound.clip), bound); });
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
    const Ordered ordered(differences);
    // The half width is at least about the root of V, over n.
    const double least = std::max(std::sqrt(ordered.at(ordered.cutMean(bound.clip), bound.clip).v), 1e-12);
    const bool exact = differences.size() < kExactBelow && std::exp2(1 - n) <= bound.alpha;
    return around(ordered, bound.clip, least / (16 * n), least, [&](double theta) {
        const Sums sums = ordered.at(theta, bound.clip);
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
