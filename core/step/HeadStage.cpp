// The stage of StepEngine for the last norm, the tied head and the loss, both ways: the norm works on the rows that LinearCrossEntropy takes next, while
// they are in cache, and takes their gradient from there.
#include "core/step/StepPlan.h"

#include <algorithm>

namespace stepscope {

double StepEngine::head(int member, const StepBuffers& buffers, const std::int64_t* targets, bool train, bool first, double share) {
    const StepShape& s = m_shape;
    Plan& plan = *m_plan;
    const std::int64_t C = s.width, ldC = s.leading(C);
    const NormPlace& norm = m_parameters.norm;
    const float *weight = buffers.weights + norm.weight, *bias = buffers.weights + norm.bias;
    const auto vector = [&](std::int64_t offset) { return plan.members[static_cast<std::size_t>(member)].vectors + offset - m_parameters.decayEnd; };
    const LinearCrossEntropyInput in{.hidden = plan.hidden, .stride = ldC, .targets = targets, .weight = buffers.weights + m_parameters.tokens,
                                     .scale = static_cast<float>(share / static_cast<double>(s.rows())), .gradients = train};
    double loss = 0;
    for (int piece = 0; piece < m_head.pieces(); ++piece) {
        const Share rows = m_head.rowsOf(member, piece);
        for (std::int64_t row = rows.begin; row < rows.end; row += m_head.rowBlock()) {
            const std::int64_t n = std::min(m_head.rowBlock(), rows.end - row);
            m_rows.normForward(plan.output + row * C, n, C, weight, bias, plan.hidden + s.bytes(row * ldC), ldC, plan.mean + row, plan.inverse + row);
            loss += m_head.rows(member, piece, {row, row + n}, in);
            if (!train) continue;
            m_rows.normBackward(m_head.dHidden(member), C, plan.output + row * C, n, C, weight, plan.mean + row, plan.inverse + row, plan.dx + row * C, false,
                                vector(norm.weight), vector(norm.bias));
        }
        if (!train) continue;
        m_team.meet();
        m_head.weightGradient(member, piece, in, !(first && piece == 0), plan.gradients + m_parameters.tokens);
        m_team.meet();
    }
    return loss;
}

}  // namespace stepscope
