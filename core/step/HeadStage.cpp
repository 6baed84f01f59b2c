// The stages of StepEngine for the tied head: linear + cross-entropy. Logits exist only as a tile in the first-level cache; what is kept of
// them, for a bounded number of rows, is exp(logit - reference) as E, because the sum of a row is known only at its end:
//   dHidden = (sum over v of e_v W_v) / sum - W_target      accumulated at once, tile after tile of the vocabulary
//   dW_v    = sum over rows of e_v (hidden / sum)  - (rows whose target is v)   after all tiles of those rows
#include "core/step/StepPlan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stepscope {
namespace {

float timesBf16(std::uint32_t bits, float factor) {
    float value = 0;
    const std::uint32_t wide = bits << 16;
    std::memcpy(&value, &wide, sizeof value);
    return value * factor;
}
std::uint32_t toBf16Bits(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// What a row's lifted reference must reach: all that is stored of the row.
struct Lift {
    gemm::Element element{};
    std::byte* rowMajor = nullptr;         // this tile, (rows, tile width)
    std::uint32_t* paired = nullptr;       // the row block's words in tile 0
    std::int64_t tileWords = 0, tileWidth = 0, tiles = 0;  // tiles that hold something, this one included
    float* dHidden = nullptr;
    std::int64_t width = 0;

    static void apply(void* owner, std::int64_t row, float factor) {
        const Lift& lift = *static_cast<const Lift*>(owner);
        for (std::int64_t c = 0; c < lift.width; ++c) lift.dHidden[row * lift.width + c] *= factor;
        const bool bf16 = lift.element == gemm::Element::Bf16;
        for (std::int64_t c = 0; c < lift.tileWidth; ++c) {
            if (bf16) {
                auto& bits = reinterpret_cast<std::uint16_t*>(lift.rowMajor)[row * lift.tileWidth + c];
                bits = static_cast<std::uint16_t>(toBf16Bits(timesBf16(bits, factor)));
            } else {
                reinterpret_cast<float*>(lift.rowMajor)[row * lift.tileWidth + c] *= factor;
            }
        }
        for (std::int64_t tile = 0; tile < lift.tiles; ++tile) {
            std::uint32_t* words = lift.paired + tile * lift.tileWords + row / gemm::perWord(lift.element) * lift.tileWidth;
            for (std::int64_t c = 0; c < lift.tileWidth; ++c) {
                if (!bf16) {
                    float value = 0;
                    std::memcpy(&value, words + c, sizeof value);
                    value *= factor;
                    std::memcpy(words + c, &value, sizeof value);
                } else if (row % 2 == 0) {
                    words[c] = (words[c] & 0xffff0000u) | toBf16Bits(timesBf16(words[c] & 0xffffu, factor));
                } else {
                    words[c] = (words[c] & 0xffffu) | toBf16Bits(timesBf16(words[c] >> 16, factor)) << 16;
                }
            }
        }
    }
};

}  // namespace

double StepEngine::head(int member, const StepBuffers& buffers, const std::int64_t* targets, bool train, bool first, double share) {
    const Share rows = rowsOf(member);
    std::int64_t most = 0;
    for (int other = 0; other < m_shape.members; ++other) most = std::max(most, rowsOf(other).end - rowsOf(other).begin);
    const std::int64_t pieces = (most + m_pieceRows - 1) / m_pieceRows;
    double loss = 0;
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
        const std::int64_t begin = std::min(rows.end, rows.begin + piece * m_pieceRows), end = std::min(rows.end, begin + m_pieceRows);
        for (std::int64_t row = begin; row < end; row += m_headRowBlock)
            loss += headRows(member, buffers, targets, row, std::min(end, row + m_headRowBlock), begin, train, share);
        if (!train) continue;
        m_team.meet();
        headGradient(member, targets, piece, first && piece == 0, share);
        m_team.meet();
    }
    return loss;
}

double StepEngine::headRows(int member, const StepBuffers& buffers, const std::int64_t* targets, std::int64_t begin, std::int64_t end, std::int64_t pieceBegin, bool train,
                            double share) {
    const StepShape& s = m_shape;
    Plan& plan = *m_plan;
    auto& own = plan.members[static_cast<std::size_t>(member)];
    const std::int64_t C = s.width, ldC = s.leading(C), perWord = gemm::perWord(s.element), n = end - begin, W = Plan::kVocabularyTile;
    const std::int64_t tileWords = s.steps(m_pieceRows) * W;
    std::byte* hidden = plan.hidden + s.bytes(begin * ldC);
    const NormPlace& norm = m_parameters.norm;
    m_rows.normForward(plan.output + begin * C, n, C, buffers.weights + norm.weight, buffers.weights + norm.bias, hidden, ldC, plan.mean + begin, plan.inverse + begin);
    std::uint32_t* paired = own.probabilityPairs + (begin - pieceBegin) / perWord * W;
    Lift lift{s.element, own.probabilities, paired, tileWords, W, 0, own.dHidden, C};
    for (std::int64_t column = 0; column < s.vocabulary; column += W) {
        const std::int64_t columns = std::min(W, s.vocabulary - column);
        lift.tiles += 1;
        step::LogitsTile tile{.firstColumn = column, .tileWidth = W, .targets = targets + begin, .reference = plan.reference + begin, .sum = own.sums,
                              .target = plan.target + begin};
        if (train) {
            tile.rowMajor = own.probabilities;
            tile.paired = paired + column / W * tileWords;
            tile.lift = Lift::apply;
            tile.owner = &lift;
        }
        m_gemm.tiles({wordsOf(hidden), ldC / perWord, 1}, {plan.head.forward + column / gemm::kPanel * s.steps(C) * gemm::kPanel, s.steps(C) * gemm::kPanel}, n, columns,
                     s.steps(C), m_rows.logitsTile, &tile);
        if (!train) continue;
        m_gemm.store({wordsOf(own.probabilities), W / perWord, 1}, {plan.head.backward + column / perWord * gemm::kPanel, s.steps(s.vocabulary) * gemm::kPanel}, n, C,
                     s.steps(columns), own.dHidden, C, column > 0);
    }
    double loss = 0;
    for (std::int64_t row = begin; row < end; ++row) {
        float sum = 0;
        for (std::int64_t lane = 0; lane < step::kSumLanes; ++lane) sum += own.sums[(row - begin) * step::kSumLanes + lane];
        plan.sum[row] = sum;
    }
    for (std::int64_t row = begin; row < end; ++row) loss += std::log(static_cast<double>(plan.sum[row])) + plan.reference[row] - plan.target[row];
    if (!train) return loss;
    m_rows.finishHead(hidden, ldC, plan.sum + begin, targets + begin, buffers.weights + m_parameters.tokens, n, C,
                      static_cast<float>(share / static_cast<double>(s.rows())), own.dHidden, C, own.scaled, ldC);
    m_packers.summedRows(own.scaled, ldC, n, C, own.scaledPairs + (begin - pieceBegin) / perWord * gemm::kPanel, s.steps(m_pieceRows) * gemm::kPanel);
    const auto vector = [&](std::int64_t offset) { return own.vectors + offset - m_parameters.decayEnd; };
    m_rows.normBackward(own.dHidden, C, plan.output + begin * C, n, C, buffers.weights + norm.weight, plan.mean + begin, plan.inverse + begin, plan.dx + begin * C, false,
                        vector(norm.weight), vector(norm.bias));
    return loss;
}

void StepEngine::headGradient(int member, const std::int64_t* targets, std::int64_t piece, bool replace, double share) {
    const StepShape& s = m_shape;
    Plan& plan = *m_plan;
    const std::int64_t C = s.width, ldC = s.leading(C), W = Plan::kVocabularyTile, tileWords = s.steps(m_pieceRows) * W;
    const Share units = stepscope::share(gemm::panels(s.vocabulary), member, s.members);
    const std::int64_t from = units.begin * gemm::kPanel, to = std::min(s.vocabulary, units.end * gemm::kPanel);
    float* gradient = plan.gradients + m_parameters.tokens;
    bool add = !replace;
    for (int other = 0; other < s.members; ++other) {
        const Share rows = rowsOf(other);
        const std::int64_t begin = std::min(rows.end, rows.begin + piece * m_pieceRows), end = std::min(rows.end, begin + m_pieceRows);
        if (begin == end) continue;
        const auto& theirs = plan.members[static_cast<std::size_t>(other)];
        for (std::int64_t id = from; id < to;) {
            const std::int64_t tile = id / W, until = std::min(to, (tile + 1) * W);
            m_gemm.store({theirs.probabilityPairs + tile * tileWords + id - tile * W, 1, W}, {theirs.scaledPairs, s.steps(m_pieceRows) * gemm::kPanel}, until - id, C,
                         s.steps(end - begin), gradient + id * C, C, add);
            id = until;
        }
        add = true;
    }
    const auto less = static_cast<float>(-share / static_cast<double>(s.rows()));
    for (int other = 0; other < s.members; ++other) {
        const Share rows = rowsOf(other);
        const std::int64_t begin = std::min(rows.end, rows.begin + piece * m_pieceRows), end = std::min(rows.end, begin + m_pieceRows);
        for (std::int64_t row = begin; row < end; ++row)
            if (targets[row] >= from && targets[row] < to) m_rows.addScaledElements(plan.hidden + s.bytes(row * ldC), C, less, gradient + targets[row] * C);
    }
}

}  // namespace stepscope
