// The stage of StepEngine for the last norm, the head and the loss, both ways: the norm works on the rows that LinearCrossEntropy takes next, while
// they are in cache, and takes their gradient from there.
#include <algorithm>

#include "core/step/StepPlan.h"

namespace stepscope {

double StepEngine::head(int worker) {
    const OperationSpan span("norm + head + cross-entropy", Role::HeadLoss, worker,
                             [&] { return StageWork(m_shape).head(rowsOf(worker).size(), m_training); });
    const StepShape& s = m_shape;
    Plan& plan = *m_plan;
    const std::int64_t C = s.width, ldC = s.leading(C);
    const LinearCrossEntropyInput in{.hidden = plan.hidden,
                                     .stride = ldC,
                                     .targets = m_batch.targets,
                                     .weight = m_weights + m_parameters.head,
                                     .smoothing = m_training ? static_cast<float>(s.smoothing) : 0.0f,
                                     .scale = static_cast<float>(m_batch.share / static_cast<double>(s.rows())),
                                     .gradients = m_training};
    if (in.smoothing > 0) {
        m_head.sumWeights(worker, in.weight);
        m_team.barrier();
    }
    double loss = 0;
    for (int piece = 0; piece < m_head.pieces(); ++piece) {
        const Share rows = m_head.rowsOf(worker, piece);
        for (std::int64_t row = rows.begin; row < rows.end; row += m_head.rowBlock()) {
            const std::int64_t n = std::min(m_head.rowBlock(), rows.end - row);
            std::byte* hidden = plan.hidden + s.bytes(row * ldC);
            if (s.postNorm)
                m_rows.convert(plan.output + row * C, C, n, C, hidden, ldC, nullptr);
            else
                normForward(m_parameters.norm, plan.norm, row, n, hidden);
            loss += m_head.rows(worker, piece, {row, row + n}, in);
            if (!m_training) continue;
            const float* gradient = m_head.dHidden(worker);
            if (s.postNorm)
                std::copy_n(gradient, n * C, plan.dx + row * C);
            else
                normBackward(worker, m_parameters.norm, plan.norm, gradient, nullptr, row, n);
        }
        if (!m_training) continue;
        m_team.barrier();
        m_head.weightGradient(worker, piece, in, !(m_batch.first && piece == 0), plan.gradients + m_parameters.head);
        m_team.barrier();
    }
    return loss;
}

}  // namespace stepscope
