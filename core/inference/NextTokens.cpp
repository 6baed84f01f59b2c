#include "core/inference/NextTokens.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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

// The forward pass of core/model, whose slots know how much of each sequence is kept: a prompt is read by itself, one token of each of several
// sequences together, so that the weights are read once for all of them.
class Kept final : public NextTokens {
public:
    Kept(const GeneratorWeights& weights, const NextTokensRoom& room)
        : m_model(weights),
          m_view(WeightsView::over(weights.weights, weights.layout, weights.config, false)),
          m_capacity(std::clamp<std::int64_t>(room.tokens, 1, weights.config.positions)),
          m_lengths(static_cast<std::size_t>(room.sequences)) {
        const GptConfig& config = m_model.config;
        for (std::int64_t layer = 0; layer < config.layers; ++layer)
            m_layers.push_back(at::empty({2, room.sequences, config.heads, m_capacity, config.headWidth()}, m_model.weights.options()));
        if (config.positionKind == PositionKind::Rope) makeTurns();
        m_ops.attention = [this](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) { return attend(q, k, v); };
        m_ops.embed = [this](const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe) {
            return readsOne() ? embedAtPlaces(tokens, wte) : plain::embed(tokens, wte, wpe);
        };
        m_ops.rotate = [this](const at::Tensor& t, const at::Tensor& cosines, const at::Tensor& sines) {
            return readsOne() ? plain::rotate(t, turnsAtPlaces(m_cosines), turnsAtPlaces(m_sines)) : plain::rotate(t, cosines, sines);
        };
    }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    void begin(std::span<const std::vector<std::int64_t>> prompts) override {
        m_contexts.assign(prompts.begin(), prompts.end());
        m_logits.resize(prompts.size());
        for (std::size_t i = 0; i < m_contexts.size(); ++i) {
            keepLast(m_contexts[i], m_model.config.positions);
            readWhole(static_cast<std::int64_t>(i));
        }
    }

    void append(std::span<const Continued> tokens) override {
        std::vector<std::int64_t> sequences, ids;
        for (const Continued& token : tokens) {
            auto& context = m_contexts[static_cast<std::size_t>(token.sequence)];
            context.push_back(token.id);
            if (lengthOf(token.sequence) == m_model.config.positions) {
                keepLast(context, (m_model.config.positions + 1) / 2);
                readWhole(token.sequence);
            } else {
                sequences.push_back(token.sequence);
                ids.push_back(token.id);
            }
        }
        if (!ids.empty()) read(std::move(sequences), ids, {static_cast<std::int64_t>(ids.size()), 1});
    }

    std::span<const float> logits(std::int64_t sequence) const override {
        const at::Tensor& values = m_logits[static_cast<std::size_t>(sequence)];
        return {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())};
    }
    Bytes weightBytes() const override { return Bytes{m_model.weights.numel() * 4}; }
    Bytes cacheBytes() const override {
        std::int64_t all = 0;
        for (const at::Tensor& layer : m_layers) all += layer.numel() * 4;
        return Bytes{all};
    }

private:
    std::int64_t& lengthOf(std::int64_t sequence) { return m_lengths[static_cast<std::size_t>(sequence)]; }
    bool readsOne() const { return m_places.defined(); }

    // As core/model's, for every position.
    void makeTurns() {
        const auto options = at::TensorOptions().dtype(at::kDouble).device(m_model.weights.device());
        const std::int64_t half = m_model.config.headWidth() / 2;
        const at::Tensor speeds = at::pow(kRopeBase, at::arange(half, options) * (-1.0 / static_cast<double>(half)));
        const at::Tensor angles = at::outer(at::arange(m_capacity, options), speeds);  // (P, D/2)
        m_cosines = angles.cos().to(at::kFloat);
        m_sines = angles.sin().to(at::kFloat);
    }

    void readWhole(std::int64_t sequence) {
        auto& ids = m_contexts[static_cast<std::size_t>(sequence)];
        lengthOf(sequence) = 0;
        read({sequence}, ids, {1, static_cast<std::int64_t>(ids.size())});
    }

    // shape: (1, T) of a sequence of which nothing is kept, or (B, 1) of several.
    void read(std::vector<std::int64_t> sequences, std::vector<std::int64_t>& ids, const std::array<std::int64_t, 2>& shape) {
        const c10::InferenceMode inference;
        const auto onDevice = [&](std::vector<std::int64_t>& numbers, at::IntArrayRef sizes) {
            return at::from_blob(numbers.data(), sizes, at::TensorOptions().dtype(at::kLong)).to(m_model.weights.device());
        };
        m_sequences = std::move(sequences);
        std::vector<std::int64_t> places;
        for (const std::int64_t sequence : m_sequences) {
            places.push_back(lengthOf(sequence));
            SS_CHECK(lengthOf(sequence) + shape[1] <= m_capacity);
        }
        const bool fresh = m_sequences.size() == 1 && places.front() == 0;
        SS_CHECK(fresh || shape[1] == 1);
        m_places = fresh ? at::Tensor() : onDevice(places, {shape[0]});  // (B)
        m_layer = 0;
        const at::Tensor hidden = gptHidden(m_model.config, m_view, m_ops, onDevice(ids, shape)).narrow(1, shape[1] - 1, 1);
        const at::Tensor all =
            gptLogits(m_model.config, m_view, hidden).select(1, 0).narrow(1, 0, m_model.config.vocabulary).to(at::kCPU, at::kFloat).contiguous();
        for (std::size_t i = 0; i < m_sequences.size(); ++i) {
            lengthOf(m_sequences[i]) += shape[1];
            m_logits[static_cast<std::size_t>(m_sequences[i])] = all.select(0, static_cast<std::int64_t>(i));  // (V)
        }
    }

    // One token of each sequence, wherever it stands. -> (B, 1, C)
    at::Tensor embedAtPlaces(const at::Tensor& tokens, const at::Tensor& wte) const {
        const at::Tensor rows = at::embedding(wte, tokens);
        return m_view.positions.defined() ? rows + m_view.positions.index_select(0, m_places).unsqueeze(1) : rows;
    }
    at::Tensor turnsAtPlaces(const at::Tensor& turns) const { return turns.index_select(0, m_places).unsqueeze(1).unsqueeze(1); }  // (B, 1, 1, D/2)

    // Asked once a layer, in their order. q, k, v: (B, H, T, D)
    at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
        const at::Tensor& layer = m_layers[m_layer++];
        const auto kept = [&](std::int64_t which, std::int64_t sequence) { return layer.select(0, which).select(0, sequence); };  // (H, P, D)
        if (!readsOne()) {
            kept(0, m_sequences.front()).narrow(1, 0, q.size(2)).copy_(k.squeeze(0));
            kept(1, m_sequences.front()).narrow(1, 0, q.size(2)).copy_(v.squeeze(0));
            return manualAttention(q, k, v);
        }
        const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
        std::vector<at::Tensor> mixed;
        for (std::size_t i = 0; i < m_sequences.size(); ++i) {
            const auto row = static_cast<std::int64_t>(i);
            const std::int64_t before = lengthOf(m_sequences[i]);
            const at::Tensor keys = kept(0, m_sequences[i]), values = kept(1, m_sequences[i]);
            keys.narrow(1, before, 1).copy_(k.select(0, row));
            values.narrow(1, before, 1).copy_(v.select(0, row));
            const at::Tensor scores = at::matmul(q.select(0, row), keys.narrow(1, 0, before + 1).transpose(1, 2)) * scale;  // (H, 1, T)
            mixed.push_back(at::matmul(at::softmax(scores, -1), values.narrow(1, 0, before + 1)));
        }
        return at::stack(mixed);
    }

    GeneratorWeights m_model;
    WeightsView m_view;
    ModelOps m_ops;
    const std::int64_t m_capacity;
    std::vector<at::Tensor> m_layers;       // (2, S, H, P, D) each: keys and values of every sequence
    std::vector<std::int64_t> m_lengths;    // of what is kept
    at::Tensor m_cosines, m_sines;          // of RoPE: (P, D/2)
    std::vector<std::int64_t> m_sequences;  // that are read now,
    at::Tensor m_places;                    //   (B): where their tokens stand; undefined: a whole sequence is read
    std::size_t m_layer = 0;
    std::vector<std::vector<std::int64_t>> m_contexts;
    std::vector<at::Tensor> m_logits;  // (V) each
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

std::unique_ptr<NextTokens> keptTokens(const GeneratorWeights& weights, const NextTokensRoom& room) {
    return std::make_unique<Kept>(weights, room);
}

std::unique_ptr<NextTokens> recomputedTokens(const GeneratorWeights& weights) {
    return std::make_unique<Recomputed>(weights);
}

}  // namespace stepscope
