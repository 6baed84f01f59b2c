#include "core/inference/Decoder.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"
#include "core/inference/DecoderProducts.h"
#include "core/kernels/cached_attention/CachedAttention.h"
#include "core/kernels/rope/Rope.h"
#include "core/model/ModelOps.h"

namespace stepscope {

std::string whyNotDecoded(const GeneratorWeights& weights) {
    if (!weights.weights.is_cpu()) return "the weights are on a GPU";
    if (weights.weights.scalar_type() != at::kFloat) return "the weights are not float32";
    return {};
}

namespace {

DecoderRoom whole(DecoderRoom room, const GptConfig& config) {
    if (room.positions == 0) room.positions = config.positions;
    if (room.logits == 0) room.logits = room.sequences;
    SS_CHECK(room.sequences >= 1 && room.positions >= 1 && room.positions <= config.positions && room.rows >= 1);
    room.rows = std::max(room.rows, room.sequences);
    return room;
}

KeptShape keptShape(const GptConfig& config, const DecoderRoom& room, WeightType type) {
    return {.layers = config.layers,
            .sequences = room.sequences,
            .heads = config.heads,
            .headWidth = config.headWidth(),
            .positions = room.positions,
            .type = type == WeightType::F32 ? KeptType::F32 : KeptType::Bf16};
}

}  // namespace

Decoder::Decoder(const GeneratorWeights& weights, WeightType type, const DecoderRoom& room, int threads)
    : m_config(weights.config),
      m_room(whole(room, weights.config)),
      m_team(std::max(1, threads)),
      m_model(weights, type, m_team),
      m_kept(keptShape(m_config, m_room, type)),
      m_lengths(static_cast<std::size_t>(m_room.sequences)) {
    Arena counting;
    lay(counting);
    m_memory = at::empty({counting.used() + 64}, at::TensorOptions().dtype(at::kByte));
    Arena placing(reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(m_memory.data_ptr<std::uint8_t>()) + 63) / 64 * 64));
    lay(placing);
    if (m_at.cosines != nullptr) ropeTurns(m_room.positions, m_config.headWidth() / 2, kRopeBase, m_at.cosines, m_at.sines);
}

Decoder::~Decoder() = default;

void Decoder::lay(Arena& arena) {
    const std::int64_t rows = std::max(m_room.rows, m_room.logits), C = m_config.width, F = m_config.hidden(), widest = std::max(C, F);
    const bool swiglu = m_config.activation == Activation::Swiglu, rope = m_config.positionKind == PositionKind::Rope;
    const std::int64_t half = m_config.headWidth() / 2, threads = m_team.size();
    m_at.stream = arena.take<float>(rows * C);
    m_at.normed = arena.take<float>(rows * C);
    m_at.qkv = arena.take<float>(rows * 3 * C);
    m_at.attended = arena.take<float>(rows * C);
    m_at.hidden = arena.take<float>(rows * m_config.hiddenRows());
    m_at.activated = swiglu ? arena.take<float>(rows * F) : m_at.hidden;
    m_at.mean = arena.take<float>(rows);
    m_at.rstd = arena.take<float>(rows);
    m_at.scores = arena.take<float>(threads * keyBlocks(m_room.positions) * kKeyBlock);
    m_at.low = m_model.type == WeightType::Bf16 ? arena.take<Bf16>(rows * (widest + 1)) : nullptr;
    m_at.panels = isWidened(m_model.type) ? arena.take<float>(threads * widest * gemm::kPanel) : nullptr;
    m_at.quantised = m_at.own = {};
    if (m_model.type == WeightType::Int8Dynamic) {
        const auto room = [&](std::int64_t count) {
            return QuantisedRows{arena.take<std::uint8_t>(count * QuantisedRows::stride(widest)), arena.take<float>(count)};
        };
        m_at.quantised = room(rows);
        m_at.own = room(threads * kFewRows);
    }
    m_at.cosines = rope ? arena.take<float>(m_room.positions * half) : nullptr;
    m_at.sines = rope ? arena.take<float>(m_room.positions * half) : nullptr;
    m_at.logits = arena.take<float>(m_room.logits * m_config.vocabulary);
}

std::span<const float> Decoder::logits(std::size_t piece) const {
    return {m_at.logits + static_cast<std::int64_t>(piece) * m_config.vocabulary, static_cast<std::size_t>(m_config.vocabulary)};
}

void Decoder::read(std::span<const Piece> pieces) {
    SS_CHECK(static_cast<std::int64_t>(pieces.size()) <= m_room.logits);
    float* logits = m_at.logits;
    m_rows.clear();
    m_wanted.clear();
    const auto compute = [&] {
        forward(logits);
        logits += static_cast<std::int64_t>(m_wanted.size()) * m_config.vocabulary;
        m_rows.clear();
        m_wanted.clear();
    };
    for (const Piece& piece : pieces) {
        std::int64_t& length = m_lengths[static_cast<std::size_t>(piece.sequence)];
        SS_CHECK(!piece.ids.empty() && length + static_cast<std::int64_t>(piece.ids.size()) <= m_room.positions);
        for (std::size_t i = 0; i < piece.ids.size(); ++i) {
            SS_CHECK(piece.ids[i] >= 0 && piece.ids[i] < m_config.vocabulary);
            const bool last = i + 1 == piece.ids.size();
            if (last) m_wanted.push_back(static_cast<std::int64_t>(m_rows.size()));
            m_rows.push_back({piece.sequence, length++, piece.ids[i], last});
            if (static_cast<std::int64_t>(m_rows.size()) == m_room.rows) compute();
        }
    }
    if (!m_rows.empty()) compute();
}

double Decoder::negativeLogLikelihood(std::span<const std::int64_t> ids) {
    SS_CHECK(ids.size() >= 2 && static_cast<std::int64_t>(ids.size()) <= m_room.positions + 1);
    const c10::InferenceMode inference;
    double total = 0;
    const auto count = static_cast<std::int64_t>(ids.size()) - 1, most = std::min(m_room.rows, m_room.logits);
    for (std::int64_t first = 0; first < count; first += most) {
        const std::int64_t here = std::min(most, count - first);
        m_rows.clear();
        m_wanted.clear();
        for (std::int64_t i = 0; i < here; ++i) {
            m_wanted.push_back(i);
            m_rows.push_back({0, first + i, ids[static_cast<std::size_t>(first + i)], true});
        }
        forward(m_at.logits);
        const at::Tensor rows = at::from_blob(m_at.logits, {here, m_config.vocabulary}, at::TensorOptions().dtype(at::kFloat));
        std::vector<std::int64_t> targets(ids.begin() + first + 1, ids.begin() + first + 1 + here);
        const at::Tensor wanted = at::from_blob(targets.data(), {here}, at::TensorOptions().dtype(at::kLong));
        total += at::cross_entropy_loss(rows, wanted, {}, at::Reduction::Sum).item<double>();
    }
    m_lengths[0] = count;
    return total;
}

void Decoder::forward(float* logits) {
    const auto most = static_cast<std::int64_t>(std::max(m_rows.size(), m_wanted.size()));
    // Which form of the large products is fastest is measured once: not by all threads at a time.
    if (most > kFewRows && m_model.type != WeightType::Int8Dynamic) (void)gemm::kernels(productElement(m_model.type));
    m_team.run([this, logits](int worker) { work(worker, logits); });
}

}  // namespace stepscope
