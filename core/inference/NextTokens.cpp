#include "core/inference/NextTokens.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "core/base/Check.h"
#include "core/inference/Decoder.h"
#include "core/model/Attention.h"
#include "core/model/Gpt.h"

namespace stepscope {
namespace {

void keepLast(std::vector<std::int64_t>& ids, std::int64_t count) {
    if (static_cast<std::int64_t>(ids.size()) > count) ids.erase(ids.begin(), ids.end() - count);
}

class Cached final : public NextTokens {
public:
    Cached(const GeneratorWeights& weights, WeightType type, const NextTokensRoom& room, int threads)
        : m_positions(weights.config.positions),
          m_decoder(weights, type, {.sequences = room.sequences, .positions = std::clamp<std::int64_t>(room.tokens, 1, weights.config.positions)},
                    threads) {}

    void begin(std::span<const std::vector<std::int64_t>> prompts) override {
        m_contexts.assign(prompts.begin(), prompts.end());
        m_place.assign(prompts.size(), 0);
        std::vector<Decoder::Piece> pieces;
        for (std::size_t i = 0; i < m_contexts.size(); ++i) {
            keepLast(m_contexts[i], m_positions);
            m_decoder.clear(static_cast<std::int64_t>(i));
            m_place[i] = pieces.size();
            pieces.push_back({static_cast<std::int64_t>(i), m_contexts[i]});
        }
        m_decoder.read(pieces);
    }

    void append(std::span<const Continued> tokens) override {
        std::vector<Decoder::Piece> pieces;
        for (const Continued& token : tokens) {
            auto& context = m_contexts[static_cast<std::size_t>(token.sequence)];
            context.push_back(token.id);
            std::size_t unread = 1;
            if (m_decoder.length(token.sequence) == m_positions) {
                keepLast(context, (m_positions + 1) / 2);
                m_decoder.clear(token.sequence);
                unread = context.size();
            }
            m_place[static_cast<std::size_t>(token.sequence)] = pieces.size();
            pieces.push_back({token.sequence, std::span(context).last(unread)});
        }
        m_decoder.read(pieces);
    }

    std::span<const float> logits(std::int64_t sequence) const override { return m_decoder.logits(m_place[static_cast<std::size_t>(sequence)]); }
    Bytes weightBytes() const override { return m_decoder.weightBytes(); }
    Bytes cacheBytes() const override { return m_decoder.cacheBytes(); }

private:
    std::int64_t m_positions;
    Decoder m_decoder;
    std::vector<std::vector<std::int64_t>> m_contexts;
    std::vector<std::size_t> m_place;  // of each sequence's logits
};

class Recomputed final : public NextTokens {
public:
    explicit Recomputed(const GeneratorWeights& weights)
        : m_model(weights), m_view(WeightsView::over(weights.weights, weights.layout, weights.config, false)) {}

    void begin(std::span<const std::vector<std::int64_t>> prompts) override {
        m_contexts.assign(prompts.begin(), prompts.end());
        m_logits.resize(prompts.size());
        for (std::size_t i = 0; i < m_contexts.size(); ++i) compute(i);
    }

    void append(std::span<const Continued> tokens) override {
        for (const Continued& token : tokens) {
            m_contexts[static_cast<std::size_t>(token.sequence)].push_back(token.id);
            compute(static_cast<std::size_t>(token.sequence));
        }
    }

    std::span<const float> logits(std::int64_t sequence) const override {
        const at::Tensor& values = m_logits[static_cast<std::size_t>(sequence)];
        return {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())};
    }
    Bytes weightBytes() const override { return Bytes{m_model.weights.numel() * 4}; }
    Bytes cacheBytes() const override { return Bytes{0}; }

private:
    void compute(std::size_t sequence) {
        const c10::InferenceMode inference;
        auto& ids = m_contexts[sequence];
        keepLast(ids, m_model.config.positions);
        const auto length = static_cast<std::int64_t>(ids.size());
        const at::Tensor tokens = at::from_blob(ids.data(), {1, length}, at::TensorOptions().dtype(at::kLong)).to(m_model.weights.device());
        const at::Tensor hidden = gptHidden(m_model.config, m_view, m_ops, tokens).narrow(1, length - 1, 1);
        m_logits[sequence] =
            gptLogits(m_model.config, m_view, hidden).view({-1}).narrow(0, 0, m_model.config.vocabulary).to(at::kCPU, at::kFloat).contiguous();
    }

    GeneratorWeights m_model;
    WeightsView m_view;
    // One sequence: a table of T x T is small. LibTorch's choice of an attention is the process's, and training beside this may allow only one that
    // takes no float32.
    ModelOps m_ops{.attention = manualAttention};
    std::vector<std::vector<std::int64_t>> m_contexts;
    std::vector<at::Tensor> m_logits;  // (V) each
};

}  // namespace

std::unique_ptr<NextTokens> cachedTokens(const GeneratorWeights& weights, WeightType type, const NextTokensRoom& room, int threads) {
    return std::make_unique<Cached>(weights, type, room, threads);
}

std::unique_ptr<NextTokens> recomputedTokens(const GeneratorWeights& weights) {
    return std::make_unique<Recomputed>(weights);
}

}  // namespace stepscope
