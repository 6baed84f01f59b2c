// The turns that time the forms of a model's weights: carries the orders of Rounds out over Decoders, one for each form. Used by MeasureForms, on its
// thread.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "core/experiment/Rounds.h"
#include "core/inference/TimedDecoder.h"
#include "core/profile/ProcessorTimes.h"

namespace stepscope {

class FormTurns {
public:
    static constexpr std::size_t kPrompt = 0, kText = 1, kMeasures = 2;  // what each turn times

    struct Setup {
        const GeneratorWeights* weights = nullptr;  // outlives this
        std::vector<WeightType> forms{};            // the first is what the others are beside
        TimedShape shape{};
        std::vector<std::int64_t> prompts{};
        int threads = 1;
        RoundsRules rules{};        // arms and measures are set here
        double blockSeconds = 0.1;  // that the fastest form's block lasts at least
    };
    explicit FormTurns(Setup setup);

    // Until it is over; asks `ended` between blocks, and tells after every round.
    void run(const std::function<bool()>& ended, const std::function<void()>& afterRound);

    const Rounds& rounds() const { return m_rounds; }
    // Of the newest instances; none before there were any.
    Bytes bytesOfAToken(std::size_t form) const { return form < m_bytes.size() ? m_bytes[form] : Bytes{}; }
    Bytes cacheBytes(std::size_t form) const { return form < m_caches.size() ? m_caches[form] : Bytes{}; }

private:
    void build();
    void chooseLengths();
    ArmTimes carryOut(const RoundOrder& order);

    Setup m_setup;
    Rounds m_rounds;
    std::vector<std::unique_ptr<TimedDecoder>> m_decoders;
    std::vector<Bytes> m_bytes, m_caches;
    std::int64_t m_prompts = 0, m_tokens = 0;  // of a block: how often the prompts are read, how many tokens each text gets
    std::vector<int> m_processors;
    double m_begin = 0;
};

}  // namespace stepscope
