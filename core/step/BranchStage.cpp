// The stages of StepEngine between the residual stream and a branch (attention or MLP), both ways: the norm before the branch, or after it where the
// model has it there; the branch's last product with bias and dropout; gradients of norms and of that bias.
#include "core/step/StepPlan.h"

namespace stepscope {

void StepEngine::normForward(const NormPlace& place, const NormPlan& norm, std::int64_t row, std::int64_t n, std::byte* out) {
    const StepShape& s = m_shape;
    withElement(s.element, [&](auto element) {
        using E = decltype(element);
        residualNormCpu<E>().forward({.columns = s.width, .stride = s.leading(s.width)},
                                     {.rms = s.rms,
                                      .x = norm.input + row * s.width,
                                      .weight = weightsAt(place.weight),
                                      .bias = weightsAt(place.bias),
                                      .normed = reinterpret_cast<E*>(out),
                                      .mean = norm.mean + row,
                                      .rstd = norm.rstd + row},
                                     0, n);
    });
}

void StepEngine::normBackward(int worker, const NormPlace& place, const NormPlan& norm, const float* gradient, const float* along, std::int64_t row,
                              std::int64_t n) {
    const std::int64_t C = m_shape.width;
    residualNormCpu<float>().backward({.columns = C},
                                      {.rms = m_shape.rms,
                                       .gradNormed = gradient,
                                       .sum = norm.input + row * C,
                                       .mean = norm.mean + row,
                                       .rstd = norm.rstd + row,
                                       .weight = weightsAt(place.weight),
                                       .gradResidual = along,
                                       .gradSum = m_plan->dx + row * C,
                                       .gradWeight = vectorAt(worker, place.weight),
                                       .gradBias = vectorAt(worker, place.bias)},
                                      0, n);
}

void StepEngine::enterBranch(int worker, const BranchPlace& place, const BranchPlan& branch, std::int64_t row, std::int64_t n) {
    const StepShape& s = m_shape;
    const std::int64_t C = s.width, ldC = s.leading(C);
    std::byte* normed = m_plan->workers[static_cast<std::size_t>(worker)].normed;
    if (s.postNorm)
        m_rows.convert(branch.before + row * C, C, n, C, normed, ldC, nullptr);
    else
        normForward(place.norm, branch.norm, row, n, normed);
    if (m_training)
        m_packers.summedRows(normed, ldC, n, C, branch.inPairs + row / gemm::perWord(s.element) * gemm::kPanel, s.steps(s.rows()) * gemm::kPanel);
}

void StepEngine::leaveBranch(const BranchPlace& place, const BranchPlan& branch, std::uint64_t site, const std::byte* from, std::int64_t stride,
                             std::int64_t row, std::int64_t n) {
    const StepShape& s = m_shape;
    const std::int64_t C = s.width, steps = s.steps(place.out.in);
    float* sum = s.postNorm ? branch.norm.input : branch.after;
    step::ResidualTile tile{weightsAt(place.out.bias), branch.before + row * C, sum + row * C, C, {}};
    if (drops()) tile.dropout = dropoutAt(site, row);
    m_gemm.tiles({wordsOf(from), stride / gemm::perWord(s.element), 1}, {branch.out.forward, steps * gemm::kPanel}, n, C, steps,
                 drops() ? m_rows.droppedResidualTile : m_rows.residualTile, &tile);
    if (!s.postNorm) return;
    residualNormCpu<float>().forward({.columns = C},
                                     {.rms = s.rms,
                                      .x = sum + row * C,
                                      .weight = weightsAt(place.norm.weight),
                                      .bias = weightsAt(place.norm.bias),
                                      .normed = branch.after + row * C,
                                      .mean = branch.norm.mean + row,
                                      .rstd = branch.norm.rstd + row},
                                     0, n);
}

void StepEngine::leaveBranchBackward(int worker, const BranchPlace& place, const BranchPlan& branch, const BranchDeltas& deltas, std::uint64_t site,
                                     std::int64_t row, std::int64_t n) {
    const StepShape& s = m_shape;
    const std::int64_t C = s.width, ldC = s.leading(C);
    float* dx = m_plan->dx + row * C;
    std::byte* delta = m_plan->workers[static_cast<std::size_t>(worker)].delta;
    if (s.postNorm) normBackward(worker, place.norm, branch.norm, dx, nullptr, row, n);
    if (drops())
        m_rows.convertDropped(dropoutAt(site, row), dx, n, C, delta, ldC, vectorAt(worker, place.out.bias));
    else
        m_rows.convert(dx, C, n, C, delta, ldC, vectorAt(worker, place.out.bias));
    m_packers.summedRows(delta, ldC, n, C, deltas.out + row / gemm::perWord(s.element) * gemm::kPanel, s.steps(s.rows()) * gemm::kPanel);
}

void StepEngine::enterBranchBackward(int worker, const BranchPlace& place, const BranchPlan& branch, const std::byte* delta, std::int64_t stride,
                                     std::int64_t row, std::int64_t n) {
    const StepShape& s = m_shape;
    const std::int64_t C = s.width, perWord = gemm::perWord(s.element);
    float* dx = m_plan->dx + row * C;
    // With the norm at the end of the branch its input is the stream itself, and the gradient joins the stream's.
    float* into = s.postNorm ? dx : m_plan->workers[static_cast<std::size_t>(worker)].gradient;
    for (std::size_t part = 0; part < place.in.size(); ++part) {
        const std::int64_t steps = s.steps(place.in[part].out), column = static_cast<std::int64_t>(part) * s.partColumns();
        m_gemm.store({wordsOf(delta + s.bytes(column)), stride / perWord, 1}, {branch.in[part].backward, steps * gemm::kPanel}, n, C, steps, into, C,
                     s.postNorm || part > 0);
    }
    if (!s.postNorm) normBackward(worker, place.norm, branch.norm, into, dx, row, n);
}

}  // namespace stepscope
