// The stages of StepEngine inside the MLP: its first product and the activation, and back. GELU finishes the product tile by tile; SwiGLU needs two
// columns far apart, so it passes over finished rows while they are in cache. StepEngine chooses one of the two when it is made.
#include "core/kernels/swiglu/SwigluCpu.h"
#include "core/step/StepPlan.h"

namespace stepscope {

void StepEngine::gelu(int worker, std::int64_t index, std::int64_t row, std::int64_t n) {
    const StepShape& s = m_shape;
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const auto& own = m_plan->workers[static_cast<std::size_t>(worker)];
    const std::int64_t C = s.width, ldF = s.leading(s.hidden), perWord = gemm::perWord(s.element);
    step::GeluTile tile{weightsAt(m_parameters.blocks[static_cast<std::size_t>(index)].feedForward.in[0].bias),
                        layer.expandedRows + s.bytes(row * ldF), own.activated, ldF, ldF};
    m_gemm.tiles({wordsOf(own.normed), s.leading(C) / perWord, 1}, {layer.feedForward.in[0].forward, s.steps(C) * gemm::kPanel}, n, s.hidden,
                 s.steps(C), m_rows.geluTile, &tile);
}

void StepEngine::geluBackward(int worker, std::int64_t index, std::int64_t row, std::int64_t n) {
    const StepShape& s = m_shape;
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const auto& own = m_plan->workers[static_cast<std::size_t>(worker)];
    const std::int64_t C = s.width, ldF = s.leading(s.hidden), perWord = gemm::perWord(s.element);
    step::GeluBackwardTile tile{layer.expandedRows + s.bytes(row * ldF),
                                own.dExpanded,
                                vectorAt(worker, m_parameters.blocks[static_cast<std::size_t>(index)].feedForward.in[0].bias),
                                ldF,
                                ldF,
                                m_plan->deltas[index % 2].feedForward.in[0] + row / perWord * gemm::kPanel,
                                layer.feedForward.outPairs + row / perWord * gemm::kPanel,
                                s.steps(s.rows()) * gemm::kPanel};
    m_gemm.tiles({wordsOf(own.delta), s.leading(C) / perWord, 1}, {layer.feedForward.out.backward, s.steps(C) * gemm::kPanel}, n, s.hidden,
                 s.steps(C), m_rows.geluBackwardTile, &tile);
}

void StepEngine::swiglu(int worker, std::int64_t index, std::int64_t row, std::int64_t n) {
    const StepShape& s = m_shape;
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const auto& own = m_plan->workers[static_cast<std::size_t>(worker)];
    const std::int64_t C = s.width, ldF = s.leading(s.hidden), ldRows = s.leading(s.hiddenRows()), perWord = gemm::perWord(s.element);
    const float* bias = weightsAt(m_parameters.blocks[static_cast<std::size_t>(index)].feedForward.in[0].bias);
    std::byte* expanded = layer.expandedRows + s.bytes(row * ldRows);
    step::BiasTile tile{nullptr, expanded, ldRows};  // the activation adds the bias, before anything is rounded
    m_gemm.tiles({wordsOf(own.normed), s.leading(C) / perWord, 1}, {layer.feedForward.in[0].forward, s.steps(C) * gemm::kPanel}, n, s.hiddenRows(),
                 s.steps(C), m_rows.biasTile, &tile);
    withElement(s.element, [&](auto element) {
        using E = decltype(element);
        for (std::int64_t r = 0; r < n; ++r)
            swigluCpu<E>().forward(s.hidden, reinterpret_cast<const E*>(expanded) + r * ldRows, bias, reinterpret_cast<E*>(own.activated) + r * ldF,
                                   0, 1);
    });
    if (m_training)
        m_packers.summedRows(own.activated, ldF, n, s.hidden, layer.feedForward.outPairs + row / perWord * gemm::kPanel,
                             s.steps(s.rows()) * gemm::kPanel);
}

void StepEngine::swigluBackward(int worker, std::int64_t index, std::int64_t row, std::int64_t n) {
    const StepShape& s = m_shape;
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const auto& own = m_plan->workers[static_cast<std::size_t>(worker)];
    const std::int64_t C = s.width, ldF = s.leading(s.hidden), ldRows = s.leading(s.hiddenRows()), perWord = gemm::perWord(s.element);
    const LinearPlace& at = m_parameters.blocks[static_cast<std::size_t>(index)].feedForward.in[0];
    const std::byte* expanded = layer.expandedRows + s.bytes(row * ldRows);
    step::BiasTile tile{nullptr, own.activated, ldF};
    m_gemm.tiles({wordsOf(own.delta), s.leading(C) / perWord, 1}, {layer.feedForward.out.backward, s.steps(C) * gemm::kPanel}, n, s.hidden,
                 s.steps(C), m_rows.biasTile, &tile);
    withElement(s.element, [&](auto element) {
        using E = decltype(element);
        for (std::int64_t r = 0; r < n; ++r)
            swigluCpu<E>().backward(s.hidden, reinterpret_cast<const E*>(own.activated) + r * ldF, reinterpret_cast<const E*>(expanded) + r * ldRows,
                                    weightsAt(at.bias), reinterpret_cast<E*>(own.dExpanded) + r * ldRows, vectorAt(worker, at.bias), 0, 1);
    });
    m_packers.summedRows(own.dExpanded, ldRows, n, s.hiddenRows(), m_plan->deltas[index % 2].feedForward.in[0] + row / perWord * gemm::kPanel,
                         s.steps(s.rows()) * gemm::kPanel);
}

}  // namespace stepscope
