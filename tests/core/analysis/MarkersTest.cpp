// Markers by pixel: whatever part of a run is shown, no more are drawn than there are pixels, none is lost, and finding them costs what the pixels
// cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/analysis/Decimate.h"
#include "core/analysis/Markers.h"

namespace stepscope {
namespace {

using Kind = Marker::Kind;

constexpr XAxis kAxes[] = {XAxis::Step, XAxis::Tokens, XAxis::WallTime, XAxis::Energy, XAxis::LearningRate};

Marker at(double step, Kind kind = Kind::Switch) {
    return {kind, {step, step * 100, step / 8, step * 1e-6, step * 3}, "label", {}, 0, {}};
}

std::size_t number(Kind kind) {
    return static_cast<std::size_t>(kind);
}

// Many at one place, long stretches without any, and now and then a place that goes back or is no number.
Markers someMarkers(std::mt19937& random, std::size_t count) {
    Markers markers;
    double step = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (random() % 3 == 0) step += static_cast<double>(random() % 100);
        Marker marker = at(step, static_cast<Kind>(random() % 10 < 7 ? 0 : random() % Markers::kKinds));
        if (random() % 50 == 0) marker.place.step -= 500;
        if (random() % 50 == 0) marker.place.seconds = NAN;
        if (random() % 50 == 0) marker.place.rate = INFINITY;
        markers.add(marker);
    }
    return markers;
}

TEST(Markers, StayInOrderUnderEveryAxisAndKnowTheirNumbers) {
    std::mt19937 random(3);
    Markers markers = someMarkers(random, 2000);
    markers.insert(at(1000, Kind::Suggestion));
    markers.insert(at(-5, Kind::Suggestion));
    for (const bool erased : {false, true}) {
        if (erased) markers.eraseIf([](const Marker& marker) { return std::fmod(marker.place.step, 7) < 3; });
        std::array<std::size_t, Markers::kKinds> counts{};
        for (std::size_t i = 0; i < markers.size(); ++i) {
            const Marker& marker = markers[i];
            for (const XAxis axis : kAxes) {
                ASSERT_TRUE(std::isfinite(marker.place.on(axis)));
                if (i > 0) {
                    ASSERT_GE(marker.place.on(axis), markers[i - 1].place.on(axis));
                }
            }
            ASSERT_EQ(markers.before(marker.kind, i), counts[number(marker.kind)]);
            ASSERT_EQ(markers.nth(marker.kind, counts[number(marker.kind)]), i);
            ++counts[number(marker.kind)];
        }
        for (std::size_t kind = 0; kind < Markers::kKinds; ++kind) EXPECT_EQ(markers.count(static_cast<Kind>(kind)), counts[kind]);
    }
    EXPECT_EQ(markers.size(), static_cast<std::size_t>(std::distance(markers.begin(), markers.end())));
}

TEST(Markers, OnWhateverPartIsShownAreFoldedToWhatThePixelsHoldAndNoneIsLost) {
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        const Markers markers = someMarkers(random, random() % 3000);
        const XAxis axis = kAxes[random() % std::size(kAxes)];
        const double reach = markers.empty() ? 100 : std::max(1.0, markers[markers.size() - 1].place.on(axis));
        Scale x;
        x.logarithmic = random() % 4 == 0;
        x.low = reach * static_cast<double>(random() % 1000) / 1000 + (x.logarithmic ? reach * 1e-4 : 0);
        x.high = x.low + reach * std::pow(10.0, -static_cast<double>(random() % 6));
        const double width = 1 + static_cast<double>(random() % 4000) / 2;
        const auto shareOf = [&x](double place) { return x.toShare(place); };

        std::array<std::size_t, Markers::kKinds> inRange{}, drawn{}, folded{};
        for (const Marker& marker : markers)
            if (const double share = shareOf(marker.place.on(axis)); share >= 0 && share <= 1) ++inRange[number(marker.kind)];
        double before = -1;
        std::array<std::size_t, Markers::kKinds> next{};
        for (const FoldedMarker& one : foldMarkers(markers, axis, shareOf, width)) {
            ASSERT_TRUE(one.x >= before && one.x >= 0 && one.x <= std::round(width)) << "in order of place, within the plot";
            before = one.x;
            ASSERT_EQ(markers[one.index].kind, one.kind);
            ASSERT_EQ(markers.before(one.kind, one.index), one.first);
            if (drawn[number(one.kind)] > 0) {
                ASSERT_EQ(one.first, next[number(one.kind)]) << "none between two of them";
            }
            next[number(one.kind)] = one.last + 1;
            ++drawn[number(one.kind)];
            folded[number(one.kind)] += one.count() - 1;
        }
        for (std::size_t kind = 0; kind < Markers::kKinds; ++kind) {
            ASSERT_LE(static_cast<double>(drawn[kind]), width + 1.5);
            ASSERT_EQ(drawn[kind] + folded[kind], inRange[kind]) << "round " << round << " kind " << kind;
        }
    }
}

TEST(Markers, OfAMillionCostWhatThePixelsCost) {
    Markers markers;
    for (int i = 0; i < 1'000'000; ++i) markers.add(at(i, i % 1000 == 0 ? Kind::Checkpoint : Kind::Switch));
    for (const double shown : {1e6, 1e4, 100.0}) {
        std::size_t asked = 0;
        const auto shareOf = [&](double step) {
            ++asked;
            return step / shown;
        };
        const auto folded = foldMarkers(markers, XAxis::Step, shareOf, 800);
        EXPECT_LE(folded.size(), 2 * 801u);
        EXPECT_LE(asked, 801u * 2 * 21u) << "twice the logarithm a pixel, of " << shown;
    }
}

TEST(Markers, NearAPlaceAreARange) {
    Markers markers;
    for (int i = 0; i <= 100; ++i) markers.add(at(i));
    const auto [begin, end] = markersBetween(
        markers, XAxis::Step, [](double step) { return step / 100; }, 0.2, 0.3);
    EXPECT_EQ(begin, 20u);
    EXPECT_EQ(end, 31u);
}

}  // namespace
}  // namespace stepscope
