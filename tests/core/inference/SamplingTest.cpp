// Which token is drawn: against sorting all of them, which a draw no longer does; penalties by their formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/CounterRandom.h"
#include "core/inference/Sampling.h"

namespace stepscope {
namespace {

double random01(std::uint64_t stream, std::uint64_t i) {
    return static_cast<double>(counterRandom(9, stream, i) >> 11) * 0x1p-53;
}

// Everything sorted, probabilities one after the other.
std::int64_t drawnFromAll(const std::vector<float>& logits, const GenerateText& request, double place) {
    std::vector<std::int64_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)]; });
    if (request.topK > 0 && request.topK < static_cast<std::int64_t>(order.size())) order.resize(static_cast<std::size_t>(request.topK));
    std::vector<double> share;
    for (const auto id : order)
        share.push_back(std::exp((logits[static_cast<std::size_t>(id)] - logits[static_cast<std::size_t>(order[0])]) / request.temperature));
    const double sum = std::accumulate(share.begin(), share.end(), 0.0);
    std::size_t kept = 0;
    double mass = 0;
    while (kept < share.size() && mass < request.topP * sum) mass += share[kept++];
    place *= mass;
    for (std::size_t i = 0; i < kept; ++i)
        if ((place -= share[i]) < 0) return order[i];
    return order[kept - 1];
}

TEST(Sampling, DrawsTheSameTokenAsIfAllWereSorted) {
    for (const double spread : {0.5, 4.0, 40.0})
        for (const GenerateText& request :
             {GenerateText{.temperature = 1}, GenerateText{.temperature = 0.7, .topK = 40}, GenerateText{.temperature = 1.3, .topP = 0.9},
              GenerateText{.temperature = 2, .topK = 300, .topP = 0.5}, GenerateText{.temperature = 1, .topK = 100'000}}) {
            std::vector<float> logits;
            for (std::uint64_t i = 0; i < 3000; ++i)  // rounded, so that there are equal ones
                logits.push_back(static_cast<float>(std::round(spread * random01(1, i) * 64) / 64));
            for (std::uint64_t i = 0; i < 60; ++i) {
                const double place = random01(2, i);
                ASSERT_EQ(drawToken(logits, request, place).value(), drawnFromAll(logits, request, place))
                    << "spread " << spread << ", top-k " << request.topK << ", top-p " << request.topP << ", place " << place;
            }
        }
}

TEST(Sampling, TakesTheFirstOfTheLikeliestAtTemperatureZero) {
    EXPECT_EQ(drawToken(std::vector<float>{1, 3, 3, 2}, {.temperature = 0}, 0.9).value(), 1);
}

TEST(Sampling, RefusesLikelihoodsThatAreNoNumbers) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        const auto drawn = drawToken(std::vector<float>{1, bad, 2}, {}, 0.5);
        ASSERT_FALSE(drawn.ok());
        EXPECT_NE(drawn.error().sentence.find("checkpoint"), std::string::npos);
    }
    EXPECT_FALSE(drawToken(std::vector<float>{-std::numeric_limits<float>::infinity()}, {}, 0.5).ok());
    EXPECT_EQ(drawToken(std::vector<float>{-std::numeric_limits<float>::infinity(), 0}, {}, 0.5).value(), 1) << "an impossible one among others";
}

TEST(Sampling, TheRepetitionPenaltyMakesWhatOccurredLessLikelyWhateverItsSign) {
    const std::vector<std::int64_t> prompt{0, 1};
    Penalties penalties({.repetitionPenalty = 2}, prompt);
    penalties.wrote(2);
    std::vector<float> logits{4, -4, 3, 5};
    ASSERT_TRUE(penalties.any());
    penalties.apply(logits);
    EXPECT_EQ(logits, (std::vector<float>{2, -8, 1.5, 5}));
}

TEST(Sampling, FrequencyAndPresencePenaltiesCountWhatWasWrittenAndNotThePrompt) {
    const std::vector<std::int64_t> prompt{0};
    Penalties penalties({.frequencyPenalty = 0.5, .presencePenalty = 0.25}, prompt);
    penalties.wrote(1);
    penalties.wrote(1);
    penalties.wrote(2);
    std::vector<float> logits{1, 1, 1, 1};
    penalties.apply(logits);
    EXPECT_EQ(logits, (std::vector<float>{1, -0.25, 0.25, 1}));
    EXPECT_FALSE(Penalties({}, prompt).any());
}

}  // namespace
}  // namespace stepscope
