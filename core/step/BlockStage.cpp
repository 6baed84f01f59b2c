// The stages of StepEngine that run a transformer block, both ways, over the rows of one member.
#include "core/step/StepPlan.h"

#include <algorithm>

namespace stepscope {
void StepEngine::blockForward(int member, const StepBuffers& buffers, std::int64_t index, bool keep) {
    const StepShape& s = m_shape;
    LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const BlockPlace& at = m_parameters.blocks[static_cast<std::size_t>(index)];
    auto& own = m_plan->members[static_cast<std::size_t>(member)];
    float* output = index + 1 < s.layers ? m_plan->layers[static_cast<std::size_t>(index) + 1].input : m_plan->output;
    const std::int64_t C = s.width, perWord = gemm::perWord(s.element), pairs = s.steps(s.rows()) * gemm::kPanel;
    const std::int64_t ldC = s.leading(C), ldQkv = s.leading(3 * C), ld4C = s.leading(4 * C);
    const float* weights = buffers.weights;
    const Share rows = rowsOf(member);
    const auto keepPairs = [&](const void* from, std::int64_t stride, std::int64_t n, std::int64_t columns, std::uint32_t* to, std::int64_t row) {
        if (keep) m_packers.summedRows(from, stride, n, columns, to + row / perWord * gemm::kPanel, pairs);
    };

    for (std::int64_t row = rows.begin; row < rows.end; row += m_rowBlock) {
        const std::int64_t n = std::min(m_rowBlock, rows.end - row);
        m_rows.normForward(layer.input + row * C, n, C, weights + at.norm1.weight, weights + at.norm1.bias, own.normed, ldC, layer.mean1 + row, layer.inverse1 + row);
        keepPairs(own.normed, ldC, n, C, layer.norm1Pairs, row);
        step::BiasTile tile{weights + at.qkv.bias, layer.qkvRows + s.bytes(row * ldQkv), ldQkv};
        m_gemm.tiles({wordsOf(own.normed), ldC / perWord, 1}, {layer.qkv.forward, s.steps(C) * gemm::kPanel}, n, 3 * C, s.steps(C), m_rows.biasTile, &tile);
    }
    meetUnlessWhole();
    attentionForward(member, index);
    meetUnlessWhole();
    for (std::int64_t row = rows.begin; row < rows.end; row += m_rowBlock) {
        const std::int64_t n = std::min(m_rowBlock, rows.end - row);
        const std::byte* attended = m_plan->attended + s.bytes(row * ldC);
        keepPairs(attended, ldC, n, C, layer.attendedPairs, row);
        step::ResidualTile first{weights + at.projection.bias, layer.input + row * C, layer.middle + row * C, C};
        m_gemm.tiles({wordsOf(attended), ldC / perWord, 1}, {layer.projection.forward, s.steps(C) * gemm::kPanel}, n, C, s.steps(C), m_rows.residualTile, &first);
        m_rows.normForward(layer.middle + row * C, n, C, weights + at.norm2.weight, weights + at.norm2.bias, own.normed, ldC, layer.mean2 + row, layer.inverse2 + row);
        keepPairs(own.normed, ldC, n, C, layer.norm2Pairs, row);
        step::GeluTile gelu{weights + at.expand.bias, layer.expandedRows + s.bytes(row * ld4C), own.activated, ld4C, ld4C,
                            keep ? layer.activatedPairs + row / perWord * gemm::kPanel : nullptr, pairs};
        m_gemm.tiles({wordsOf(own.normed), ldC / perWord, 1}, {layer.expand.forward, s.steps(C) * gemm::kPanel}, n, 4 * C, s.steps(C), m_rows.geluTile, &gelu);
        step::ResidualTile second{weights + at.contract.bias, layer.middle + row * C, output + row * C, C};
        m_gemm.tiles({wordsOf(own.activated), ld4C / perWord, 1}, {layer.contract.forward, s.steps(4 * C) * gemm::kPanel}, n, C, s.steps(4 * C), m_rows.residualTile,
                     &second);
    }
}

void StepEngine::blockBackward(int member, const StepBuffers& buffers, std::int64_t index, bool first) {
    const StepShape& s = m_shape;
    LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const BlockPlace& at = m_parameters.blocks[static_cast<std::size_t>(index)];
    auto& own = m_plan->members[static_cast<std::size_t>(member)];
    DeltaPlan& deltas = m_plan->deltas[index % 2];
    const std::int64_t C = s.width, perWord = gemm::perWord(s.element), pairs = s.steps(s.rows()) * gemm::kPanel;
    const std::int64_t ldC = s.leading(C), ldQkv = s.leading(3 * C), ld4C = s.leading(4 * C);
    const float* weights = buffers.weights;
    const auto vector = [&](std::int64_t offset) { return own.vectors + offset - m_parameters.decayEnd; };
    const Share rows = rowsOf(member);

    for (std::int64_t row = rows.begin; row < rows.end; row += m_rowBlock) {
        const std::int64_t n = std::min(m_rowBlock, rows.end - row), pair = row / perWord * gemm::kPanel;
        float* dx = m_plan->dx + row * C;
        m_rows.convert(dx, C, n, C, own.delta, ldC, vector(at.contract.bias));
        m_packers.summedRows(own.delta, ldC, n, C, deltas.contract + pair, pairs);
        step::GeluBackwardTile gelu{layer.expandedRows + s.bytes(row * ld4C), own.activated, vector(at.expand.bias), ld4C, ld4C, deltas.expand + pair, pairs};
        m_gemm.tiles({wordsOf(own.delta), ldC / perWord, 1}, {layer.contract.backward, s.steps(C) * gemm::kPanel}, n, 4 * C, s.steps(C), m_rows.geluBackwardTile, &gelu);
        m_gemm.store({wordsOf(own.activated), ld4C / perWord, 1}, {layer.expand.backward, s.steps(4 * C) * gemm::kPanel}, n, C, s.steps(4 * C), own.gradient, C, false);
        m_rows.normBackward(own.gradient, C, layer.middle + row * C, n, C, weights + at.norm2.weight, layer.mean2 + row, layer.inverse2 + row, dx, true,
                            vector(at.norm2.weight), vector(at.norm2.bias));
        m_rows.convert(dx, C, n, C, own.delta, ldC, vector(at.projection.bias));
        m_packers.summedRows(own.delta, ldC, n, C, deltas.projection + pair, pairs);
        step::BiasTile tile{nullptr, m_plan->attended + s.bytes(row * ldC), ldC};
        m_gemm.tiles({wordsOf(own.delta), ldC / perWord, 1}, {layer.projection.backward, s.steps(C) * gemm::kPanel}, n, C, s.steps(C), m_rows.biasTile, &tile);
    }
    meetUnlessWhole();
    attentionBackward(member, index);
    meetUnlessWhole();
    for (std::int64_t row = rows.begin; row < rows.end; row += m_rowBlock) {
        const std::int64_t n = std::min(m_rowBlock, rows.end - row);
        const std::byte* dQkv = m_plan->dQkv + s.bytes(row * ldQkv);
        m_rows.columnSum(dQkv, ldQkv, n, 3 * C, vector(at.qkv.bias));
        m_packers.summedRows(dQkv, ldQkv, n, 3 * C, deltas.qkv + row / perWord * gemm::kPanel, pairs);
        m_gemm.store({wordsOf(dQkv), ldQkv / perWord, 1}, {layer.qkv.backward, s.steps(3 * C) * gemm::kPanel}, n, C, s.steps(3 * C), own.gradient, C, false);
        m_rows.normBackward(own.gradient, C, layer.input + row * C, n, C, weights + at.norm1.weight, layer.mean1 + row, layer.inverse1 + row, m_plan->dx + row * C, true,
                            vector(at.norm1.weight), vector(at.norm1.bias));
    }
    m_team.meet();  // all rows' deltas are there; the set of the layer above is free for the layer below
    weightGradients(member, index, first);
}

void StepEngine::weightGradients(int member, std::int64_t index, bool first) {
    const StepShape& s = m_shape;
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const BlockPlace& at = m_parameters.blocks[static_cast<std::size_t>(index)];
    const DeltaPlan& deltas = m_plan->deltas[index % 2];
    const std::int64_t steps = s.steps(s.rows()), pairs = steps * gemm::kPanel;
    const auto linear = [&](const LinearPlace& place, const std::uint32_t* delta, const std::uint32_t* input) {
        const Share mine = share(gemm::panels(place.out), member, s.members);
        for (std::int64_t panel = mine.begin; panel < mine.end; ++panel) {
            const std::int64_t row = panel * gemm::kPanel, n = std::min(gemm::kPanel, place.out - row);
            m_gemm.store({delta + panel * pairs, 1, gemm::kPanel}, {input, pairs}, n, place.in, steps, m_plan->gradients + place.weight + row * place.in, place.in, !first);
        }
    };
    linear(at.contract, deltas.contract, layer.activatedPairs);
    linear(at.expand, deltas.expand, layer.norm2Pairs);
    linear(at.projection, deltas.projection, layer.attendedPairs);
    linear(at.qkv, deltas.qkv, layer.norm1Pairs);
}

}  // namespace stepscope
