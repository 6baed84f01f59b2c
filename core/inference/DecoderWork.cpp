// What the threads of a Decoder do with the rows of one call: every thread all stages, a part of each, with a barrier where one stage reads what
// another thread wrote.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/Share.h"
#include "core/inference/Decoder.h"
#include "core/inference/DecoderProducts.h"
#include "core/kernels/bias_gelu/BiasGeluCpu.h"
#include "core/kernels/cached_attention/CachedAttentionCpu.h"
#include "core/kernels/packed_rows/DynamicRowsCpu.h"
#include "core/kernels/packed_rows/PackedRowsCpu.h"
#include "core/kernels/residual_norm/ResidualNormCpu.h"
#include "core/kernels/rope/RopeCpu.h"
#include "core/kernels/rounding/RoundingCpu.h"
#include "core/kernels/swiglu/SwigluCpu.h"
#include "core/model/ModelOps.h"

namespace stepscope {

void Decoder::work(int worker, float* logits) {
    embed(worker);
    m_team.barrier();
    for (std::size_t layer = 0; layer < m_model.blocks.size(); ++layer) block(worker, layer);
    if (m_wanted.empty()) return;
    const std::int64_t C = m_config.width, wanted = static_cast<std::int64_t>(m_wanted.size());
    const Share mine = share(wanted, worker, m_team.size());
    for (std::int64_t w = mine.begin; w < mine.end; ++w) {
        const float* from = m_at.stream + m_wanted[static_cast<std::size_t>(w)] * C;
        float* to = m_at.normed + w * C;
        if (m_config.placement == NormPlacement::Pre)
            normRow(m_model.norm, from, to, w);
        else
            std::memcpy(to, from, static_cast<std::size_t>(C) * sizeof(float));
    }
    m_team.barrier();
    multiply(worker, {m_model.head, nullptr}, m_at.normed, wanted, logits, m_config.vocabulary, false);
}

void Decoder::embed(int worker) {
    const std::int64_t C = m_config.width;
    const Share mine = share(static_cast<std::int64_t>(m_rows.size()), worker, m_team.size());
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
        const Row& row = m_rows[static_cast<std::size_t>(r)];
        float* to = m_at.stream + r * C;
        unpackRow(m_model.embedding, row.id, to);
        if (m_model.positions == nullptr) continue;
        const float* position = m_model.positions + row.position * C;
        for (std::int64_t c = 0; c < C; ++c) to[c] += position[c];
    }
}

void Decoder::block(int worker, std::size_t layer) {
    const PackedBlock& w = m_model.blocks[layer];
    const bool post = m_config.placement == NormPlacement::Post;
    const std::int64_t C = m_config.width, rows = static_cast<std::int64_t>(m_rows.size());
    const auto normed = [&](const PackedNorm& before) -> const float* {
        if (post) return m_at.stream;
        norm(worker, before, m_at.stream, m_at.normed);
        return m_at.normed;
    };
    const auto joined = [&](const PackedNorm& after) {
        m_team.barrier();
        if (!post) return;
        norm(worker, after, m_at.stream, m_at.stream);
    };
    const float* in = normed(w.norm1);
    multiply(worker, w.qkv, in, rows, m_at.qkv, 3 * C, false);
    m_team.barrier();
    keep(worker, static_cast<std::int64_t>(layer));
    m_team.barrier();
    if (m_kept.type() == KeptType::Bf16)
        attend<Bf16>(worker, static_cast<std::int64_t>(layer));
    else
        attend<float>(worker, static_cast<std::int64_t>(layer));
    m_team.barrier();
    multiply(worker, w.proj, m_at.attended, rows, m_at.stream, C, true);
    joined(w.norm1);
    multiply(worker, w.fc, normed(w.norm2), rows, m_at.hidden, m_config.hiddenRows(), false);
    activate(worker, w.fc);
    m_team.barrier();
    multiply(worker, w.fcProj, m_at.activated, rows, m_at.stream, C, true);
    joined(w.norm2);
}

// Rows of `from`, which may be `to`, and a barrier behind.
void Decoder::norm(int worker, const PackedNorm& norm, const float* from, float* to) {
    const Share mine = share(static_cast<std::int64_t>(m_rows.size()), worker, m_team.size());
    for (std::int64_t r = mine.begin; r < mine.end; ++r) normRow(norm, from + r * m_config.width, to + r * m_config.width, r);
    m_team.barrier();
}

void Decoder::normRow(const PackedNorm& norm, const float* from, float* to, std::int64_t row) {
    const NormForward<float> arguments{.epsilon = static_cast<float>(kNormEpsilon),
                                       .rms = m_config.norm == NormKind::RmsNorm,
                                       .x = from,
                                       .weight = norm.weight,
                                       .bias = norm.bias,
                                       .normed = to,
                                       .mean = m_at.mean + row,
                                       .rstd = m_at.rstd + row};
    residualNormCpu<float>().forward({.columns = m_config.width}, arguments, 0, 1);
}

template <class T>
void Decoder::keepRow(const Row& row, const float* qkv, std::int64_t layer) {
    const std::int64_t C = m_config.width, D = m_config.headWidth();
    for (std::int64_t h = 0; h < m_config.heads; ++h)
        cachedAttentionCpu<T>().keep({.width = D}, qkv + C + h * D, qkv + 2 * C + h * D, row.position, m_kept.keys<T>(layer, row.sequence, h),
                                     m_kept.values<T>(layer, row.sequence, h));
}

// Queries and keys are turned to their positions, keys and values kept.
void Decoder::keep(int worker, std::int64_t layer) {
    const std::int64_t C = m_config.width, D = m_config.headWidth();
    const Share mine = share(static_cast<std::int64_t>(m_rows.size()), worker, m_team.size());
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
        const Row& row = m_rows[static_cast<std::size_t>(r)];
        float* qkv = m_at.qkv + r * 3 * C;
        if (m_at.cosines != nullptr) {
            // The heads of the keys lie behind those of the queries.
            const RopeShape shape{.context = 1, .heads = 2 * m_config.heads, .width = D, .stride = 3 * C};
            ropeCpu<float>().rotate(shape, qkv, m_at.cosines + row.position * (D / 2), m_at.sines + row.position * (D / 2), false, 0, 1);
        }
        if (m_kept.type() == KeptType::Bf16)
            keepRow<Bf16>(row, qkv, layer);
        else
            keepRow<float>(row, qkv, layer);
    }
}

template <class T>
void Decoder::attend(int worker, std::int64_t layer) {
    const std::int64_t C = m_config.width, D = m_config.headWidth(), units = static_cast<std::int64_t>(m_rows.size()) * m_config.heads;
    const CachedHead head{.width = D, .scale = 1.0f / std::sqrt(static_cast<float>(D))};
    float* scores = m_at.scores + worker * keyBlocks(m_room.positions) * kKeyBlock;
    // In turn: later rows of a prompt see more.
    for (std::int64_t unit = worker; unit < units; unit += m_team.size()) {
        const std::int64_t r = unit / m_config.heads, h = unit % m_config.heads;
        const Row& row = m_rows[static_cast<std::size_t>(r)];
        cachedAttentionCpu<T>().attend(head, m_at.qkv + r * 3 * C + h * D, m_kept.keys<T>(layer, row.sequence, h),
                                       m_kept.values<T>(layer, row.sequence, h), row.position + 1, scores, m_at.attended + r * C + h * D);
    }
}

// GELU of the columns that this worker has just computed; SwiGLU's gates and values are a whole half apart.
void Decoder::activate(int worker, const PackedLinearRows& fc) {
    const auto rows = static_cast<std::int64_t>(m_rows.size());
    if (m_config.activation == Activation::Swiglu) {
        m_team.barrier();
        const Share mine = share(rows, worker, m_team.size());
        swigluCpu<float>().forward(m_config.hidden(), m_at.hidden, nullptr, m_at.activated, mine.begin, mine.end);
        return;
    }
    const Share panels = share(fc.weight.panelCount(), worker, m_team.size());
    const std::int64_t first = panels.begin * gemm::kPanel, columns = std::min(panels.end * gemm::kPanel, fc.weight.rows) - first;
    for (std::int64_t r = 0; r < rows && columns > 0; ++r) {
        float* at = m_at.hidden + r * fc.weight.rows + first;
        biasGeluCpu<float>().forward(columns, at, nullptr, at, 0, 1);
    }
}

void Decoder::multiply(int worker, const PackedLinearRows& linear, const float* x, std::int64_t rows, float* out, std::int64_t outStride, bool add) {
    const RowProducts products{
        .count = rows, .x = x, .xStride = linear.weight.columns, .bias = linear.bias, .out = out, .outStride = outStride, .add = add};
    if (linear.weight.type == WeightType::Int8Dynamic) return multiplyBytes(worker, linear.weight, products);
    if (rows > kFewRows) return multiplyMany(worker, linear, x, rows, out, outStride, add);
    const Share panels = share(linear.weight.panelCount(), worker, m_team.size());
    packedRowsCpu().multiply[static_cast<int>(linear.weight.type)](linear.weight, products, panels.begin, panels.end);
}

// Few rows each worker rounds for itself, which is less than waiting for the others; of many each worker has its part.
void Decoder::multiplyBytes(int worker, const PackedRows& weight, const RowProducts& products) {
    const DynamicRowsTable& table = dynamicRowsCpu();
    QuantisedRows rows = m_at.quantised;
    if (products.count <= kFewRows) {
        rows = m_at.own;
        rows.numbers += worker * kFewRows * QuantisedRows::stride(std::max(m_config.width, m_config.hidden()));
        rows.scales += worker * kFewRows;
        table.quantise(products.x, weight.columns, rows, 0, products.count);
    } else {
        const Share mine = share(products.count, worker, m_team.size());
        table.quantise(products.x, weight.columns, rows, mine.begin, mine.end);
        m_team.barrier();
    }
    const Share panels = share(weight.panelCount(), worker, m_team.size());
    multiplyDynamic(weight, rows, products, panels.begin, panels.end);
}

namespace {

struct Target {
    float* out;
    std::int64_t stride;
    const float* bias;
    bool add;
};

void finishTile(void* context, float* tile, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
    const auto& target = *static_cast<const Target*>(context);
    for (std::int64_t r = 0; r < rows; ++r) {
        float* to = target.out + (row + r) * target.stride + column;
        const float* from = tile + r * gemm::kPanel;
        for (std::int64_t c = 0; c < columns; ++c) {
            const float value = from[c] + (target.bias == nullptr ? 0.0f : target.bias[column + c]);
            to[c] = target.add ? to[c] + value : value;
        }
    }
}

}  // namespace

void Decoder::multiplyMany(int worker, const PackedLinearRows& linear, const float* x, std::int64_t rows, float* out, std::int64_t outStride,
                           bool add) {
    const PackedRows& weight = linear.weight;
    const gemm::Element element = productElement(weight.type);
    const std::int64_t K = weight.columns, steps = gemm::steps(element, K);
    const auto* words = reinterpret_cast<const std::uint32_t*>(x);
    if (element == gemm::Element::Bf16) {
        // The other operand has the same elements: the activations are rounded, an odd last column beside a zero.
        const Share mine = share(rows, worker, m_team.size());
        for (std::int64_t r = mine.begin; r < mine.end; ++r) {
            Bf16* to = m_at.low + r * 2 * steps;
            roundingCpu().round(x + r * K, to, K);
            if (2 * steps > K) to[K] = Bf16{0};
        }
        m_team.barrier();
        words = reinterpret_cast<const std::uint32_t*>(m_at.low);
    }
    const gemm::Rows left{words, steps, 1};
    const auto& kernels = gemm::kernels(element);
    const Share panels = share(weight.panelCount(), worker, m_team.size());
    const auto target = [&](std::int64_t panel) {
        const std::int64_t column = panel * gemm::kPanel;
        return Target{out + column, outStride, linear.bias == nullptr ? nullptr : linear.bias + column, add};
    };
    const auto columnsUpTo = [&](std::int64_t begin, std::int64_t end) { return std::min(end * gemm::kPanel, weight.rows) - begin * gemm::kPanel; };
    if (!isWidened(weight.type)) {
        if (panels.size() == 0) return;
        const std::int64_t panelWords = steps * gemm::kPanel;
        Target all = target(panels.begin);
        kernels.tiles(left, {static_cast<const std::uint32_t*>(weight.panels) + panels.begin * panelWords, panelWords}, rows,
                      columnsUpTo(panels.begin, panels.end), steps, finishTile, &all);
        return;
    }
    float* wide = m_at.panels + worker * std::max(m_config.width, m_config.hidden()) * gemm::kPanel;
    for (std::int64_t p = panels.begin; p < panels.end; ++p) {
        packedRowsCpu().widenPanel(weight, p, wide);
        Target one = target(p);
        kernels.tiles(left, {reinterpret_cast<const std::uint32_t*>(wide), K * gemm::kPanel}, rows, columnsUpTo(p, p + 1), steps, finishTile, &one);
    }
}

}  // namespace stepscope
