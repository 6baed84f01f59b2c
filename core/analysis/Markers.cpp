#include "core/analysis/Markers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace stepscope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double between(double value, double low, double high) {
    if (!std::isfinite(value)) return std::isfinite(low) ? low : std::isfinite(high) ? high : 0;
    return std::clamp(value, low, high);
}

// As far as the markers before and behind allow it.
RunPlace placeBetween(const RunPlace& wanted, const RunPlace* before, const RunPlace* behind) {
    const auto fit = [&](double RunPlace::*on) {
        return between(wanted.*on, before != nullptr ? before->*on : -kInfinity, behind != nullptr ? behind->*on : kInfinity);
    };
    return {fit(&RunPlace::step), fit(&RunPlace::tokens), fit(&RunPlace::seconds), fit(&RunPlace::rate), fit(&RunPlace::joules)};
}

// The first index from `from` on for which it no longer holds, `to` when there is none; it holds up to a place and not behind it. By doubling steps,
// then by bisection: what is near is found soon.
std::size_t firstWithout(std::size_t from, std::size_t to, const auto& holds) {
    std::size_t low = from, reach = 1;
    while (low + reach < to && holds(low + reach - 1)) {
        low += reach;
        reach *= 2;
    }
    std::size_t length = std::min(reach, to - low);
    while (length > 0) {
        const std::size_t half = length / 2;
        if (holds(low + half)) {
            low += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return low;
}

}  // namespace

void Markers::add(Marker marker) {
    marker.place = placeBetween(marker.place, m_all.empty() ? nullptr : &m_all.back().place, nullptr);
    m_all.push_back(std::move(marker));
    count(m_all.size() - 1);
}

void Markers::insert(Marker marker) {
    const auto behind = std::ranges::upper_bound(m_all, marker.place.step, {}, [](const Marker& other) { return other.place.step; });
    marker.place =
        placeBetween(marker.place, behind == m_all.begin() ? nullptr : &std::prev(behind)->place, behind == m_all.end() ? nullptr : &behind->place);
    const auto index = static_cast<std::size_t>(behind - m_all.begin());
    m_all.insert(behind, std::move(marker));
    count(index);
}

void Markers::eraseIf(const std::function<bool(const Marker&)>& isErased) {
    std::erase_if(m_all, isErased);
    count(0);
}

void Markers::count(std::size_t from) {
    m_counts.resize(m_all.size());
    for (std::size_t i = from; i < m_all.size(); ++i) {
        m_counts[i] = i > 0 ? m_counts[i - 1] : Counts{};
        ++m_counts[i][static_cast<std::size_t>(m_all[i].kind)];
    }
}

std::size_t Markers::before(Marker::Kind kind, std::size_t index) const {
    return index > 0 ? m_counts[index - 1][static_cast<std::size_t>(kind)] : 0;
}

std::size_t Markers::nth(Marker::Kind kind, std::size_t number) const {
    const auto found =
        std::ranges::upper_bound(m_counts, number, {}, [kind](const Counts& counts) { return std::size_t{counts[static_cast<std::size_t>(kind)]}; });
    return static_cast<std::size_t>(found - m_counts.begin());
}

MarkerRange markersBetween(const Markers& markers, XAxis axis, const std::function<double(double)>& shareOf, double from, double to) {
    const auto share = [&](std::size_t index) { return shareOf(markers[index].place.on(axis)); };
    // What a logarithmic axis cannot show lies before it.
    const std::size_t begin = firstWithout(0, markers.size(), [&](std::size_t index) { return !(share(index) >= from); });
    return {begin, firstWithout(begin, markers.size(), [&](std::size_t index) { return share(index) <= to; })};
}

std::vector<FoldedMarker> foldMarkers(const Markers& markers, XAxis axis, const std::function<double(double)>& shareOf, double width) {
    std::vector<FoldedMarker> folded;
    const auto pixel = [&](std::size_t index) { return std::round(shareOf(markers[index].place.on(axis)) * width); };
    const auto [begin, end] = markersBetween(markers, axis, shareOf, 0, 1);
    for (std::size_t from = begin; from < end;) {
        const double x = pixel(from);
        const std::size_t to = firstWithout(from + 1, end, [&](std::size_t index) { return pixel(index) <= x; });
        const auto ofPixel = static_cast<std::ptrdiff_t>(folded.size());
        for (std::size_t kind = 0; kind < Markers::kKinds; ++kind) {
            const auto which = static_cast<Marker::Kind>(kind);
            const std::size_t first = markers.before(which, from), behind = markers.before(which, to);
            if (behind > first) folded.push_back({x, which, markers.nth(which, first), first, behind - 1});
        }
        std::ranges::sort(folded.begin() + ofPixel, folded.end(), {}, &FoldedMarker::index);
        from = to;
    }
    return folded;
}

}  // namespace stepscope
