// The stages of StepEngine that run causal self-attention (Vaswani et al. 2017), one head of one sequence at a time: a block of queries
// against all keys they may see, so that scores never leave the cache; the backward pass computes them again from the stored
// logarithms of the sums (Dao et al. 2022, with whole rows instead of running sums).
#include "core/step/StepPlan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stepscope {
namespace {

// Sequences or single heads that a member works on.
Share tasksOf(const StepShape& shape, bool whole, int member) {
    if (!whole) return share(shape.batch * shape.heads, member, shape.members);
    const Share sequences = share(shape.batch, member, shape.members);
    return {sequences.begin * shape.heads, sequences.end * shape.heads};
}

// Rows as an operand A. A head whose first element shares a word with its neighbour (odd head width in bf16) is copied out.
gemm::Rows operand(const StepShape& s, const std::byte* from, std::int64_t stride, std::int64_t rows, std::byte* scratch) {
    const std::int64_t perWord = gemm::perWord(s.element), D = s.headWidth(), ld = s.leading(D);
    if (D % perWord == 0) return {wordsOf(from), stride / perWord, 1};
    std::memset(scratch, 0, static_cast<std::size_t>(s.bytes(rows * ld)));
    for (std::int64_t row = 0; row < rows; ++row) std::memcpy(scratch + s.bytes(row * ld), from + s.bytes(row * stride), static_cast<std::size_t>(s.bytes(D)));
    return {wordsOf(scratch), ld / perWord, 1};
}

}  // namespace

void StepEngine::attentionForward(int member, std::int64_t index) {
    const StepShape& s = m_shape;
    LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    auto& own = m_plan->members[static_cast<std::size_t>(member)];
    const std::int64_t T = s.context, C = s.width, D = s.headWidth(), perWord = gemm::perWord(s.element), paddedT = (T + 31) / 32 * 32;
    const std::int64_t ldQkv = s.leading(3 * C), ldC = s.leading(C), ldT = s.leading(T);
    const float scale = 1.0f / std::sqrt(static_cast<float>(D));
    const Share tasks = tasksOf(s, m_whole, member);
    for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
        const std::int64_t sequence = task / s.heads, head = task % s.heads;
        const auto rowsOf = [&](std::int64_t part, std::int64_t t) { return layer.qkvRows + s.bytes((sequence * T + t) * ldQkv + part * C + head * D); };
        m_packers.transposed(rowsOf(1, 0), ldQkv, T, D, own.keysTransposed, s.steps(D) * gemm::kPanel);
        m_packers.summedRows(rowsOf(2, 0), ldQkv, T, D, own.valuePairs, s.steps(T) * gemm::kPanel);
        for (std::int64_t t = 0; t < T; t += Plan::kQueryRows) {
            const std::int64_t n = std::min(Plan::kQueryRows, T - t), seen = t + n;
            const gemm::Rows queries = operand(s, rowsOf(0, t), ldQkv, n, own.rows);
            m_gemm.store(queries, {own.keysTransposed, s.steps(D) * gemm::kPanel}, n, seen, s.steps(D), own.scores, paddedT, false);
            m_rows.softmax(own.scores, paddedT, n, t, seen, s.steps(seen) * perWord, scale, own.weights, ldT, layer.logSum + task * T + t);
            step::BiasTile tile{nullptr, m_plan->attended + s.bytes((sequence * T + t) * ldC + head * D), ldC};
            m_gemm.tiles({wordsOf(own.weights), ldT / perWord, 1}, {own.valuePairs, s.steps(T) * gemm::kPanel}, n, D, s.steps(seen), m_rows.biasTile, &tile);
        }
    }
}

void StepEngine::attentionBackward(int member, std::int64_t index) {
    const StepShape& s = m_shape;
    LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    auto& own = m_plan->members[static_cast<std::size_t>(member)];
    const std::int64_t T = s.context, C = s.width, D = s.headWidth(), perWord = gemm::perWord(s.element), paddedT = (T + 31) / 32 * 32;
    const std::int64_t ldQkv = s.leading(3 * C), ldC = s.leading(C), ldT = s.leading(T);
    const float scale = 1.0f / std::sqrt(static_cast<float>(D));
    const Share tasks = tasksOf(s, m_whole, member);
    for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
        const std::int64_t sequence = task / s.heads, head = task % s.heads;
        const auto rowsOf = [&](std::int64_t part, std::int64_t t) { return layer.qkvRows + s.bytes((sequence * T + t) * ldQkv + part * C + head * D); };
        const auto gradientOf = [&](std::int64_t part, std::int64_t t) { return m_plan->dQkv + s.bytes((sequence * T + t) * ldQkv + part * C + head * D); };
        m_packers.transposed(rowsOf(1, 0), ldQkv, T, D, own.keysTransposed, s.steps(D) * gemm::kPanel);
        m_packers.transposed(rowsOf(2, 0), ldQkv, T, D, own.valuesTransposed, s.steps(D) * gemm::kPanel);
        m_packers.summedRows(rowsOf(1, 0), ldQkv, T, D, own.keyPairs, s.steps(T) * gemm::kPanel);
        std::memset(own.dKeys, 0, static_cast<std::size_t>(T * D) * sizeof(float));
        std::memset(own.dValues, 0, static_cast<std::size_t>(T * D) * sizeof(float));
        for (std::int64_t t = 0; t < T; t += Plan::kQueryRows) {
            const std::int64_t n = std::min(Plan::kQueryRows, T - t), seen = t + n, pairs = s.steps(n) * gemm::kPanel;
            const std::byte* out = m_plan->attended + s.bytes((sequence * T + t) * ldC + head * D);
            const gemm::Rows queries = operand(s, rowsOf(0, t), ldQkv, n, own.rows);
            const gemm::Rows gradient = operand(s, out, ldC, n, own.rows + s.bytes(Plan::kQueryRows * s.leading(D)));
            m_gemm.store(queries, {own.keysTransposed, s.steps(D) * gemm::kPanel}, n, seen, s.steps(D), own.scores, paddedT, false);
            m_gemm.store(gradient, {own.valuesTransposed, s.steps(D) * gemm::kPanel}, n, seen, s.steps(D), own.dWeights, paddedT, false);
            m_rows.softmaxBackward(own.scores, own.dWeights, paddedT, n, t, seen, s.steps(seen) * perWord, scale, layer.logSum + task * T + t, own.weights,
                                   own.dScores, ldT);
            step::BiasTile tile{nullptr, gradientOf(0, t), ldQkv};
            m_gemm.tiles({wordsOf(own.dScores), ldT / perWord, 1}, {own.keyPairs, s.steps(T) * gemm::kPanel}, n, D, s.steps(seen), m_rows.biasTile, &tile);
            m_packers.summedRows(own.weights, ldT, n, seen, own.weightPairs, pairs);
            m_packers.summedRows(own.dScores, ldT, n, seen, own.scorePairs, pairs);
            m_packers.summedRows(rowsOf(0, t), ldQkv, n, D, own.queryPairs, pairs);
            m_packers.summedRows(out, ldC, n, D, own.outPairs, pairs);
            m_gemm.store({own.weightPairs, 1, gemm::kPanel, pairs}, {own.outPairs, pairs}, seen, D, s.steps(n), own.dValues, D, true);
            m_gemm.store({own.scorePairs, 1, gemm::kPanel, pairs}, {own.queryPairs, pairs}, seen, D, s.steps(n), own.dKeys, D, true);
        }
        m_rows.convert(own.dKeys, D, T, D, gradientOf(1, 0), ldQkv, nullptr);
        m_rows.convert(own.dValues, D, T, D, gradientOf(2, 0), ldQkv, nullptr);
    }
}

}  // namespace stepscope
