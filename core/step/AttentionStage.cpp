// The stages of StepEngine that run causal self-attention, one head of one sequence at a time, by core/kernels/attention, where the rows lie.
#include <algorithm>
#include <cmath>

#include "core/kernels/attention/AttentionCpu.h"
#include "core/step/StepPlan.h"

namespace stepscope {
namespace {

// Sequences or single heads that a worker works on.
Share tasksOf(const StepShape& shape, bool whole, int worker) {
    if (!whole) return share(shape.batch * shape.heads, worker, shape.workers);
    const Share sequences = share(shape.batch, worker, shape.workers);
    return {sequences.begin * shape.heads, sequences.end * shape.heads};
}

AttentionShape shapeOf(const StepShape& s) {
    return {.context = s.context, .width = s.headWidth(), .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.headWidth())))};
}

// Where a head's rows begin: in queries, keys and values (part 0, 1, 2) and in what attention gives.
template <class E, class Bytes>
auto partOf(const StepShape& s, Bytes* rows, std::int64_t task, std::int64_t part) {
    const std::int64_t stride = s.leading(3 * s.partColumns());
    return HeadRows<E>{reinterpret_cast<E*>(rows) + task / s.heads * s.context * stride + part * s.partColumns() + task % s.heads * s.headWidth(),
                       stride};
}
template <class E, class Bytes>
auto attendedOf(const StepShape& s, Bytes* rows, std::int64_t task) {
    const std::int64_t stride = s.leading(s.width);
    return HeadRows<E>{reinterpret_cast<E*>(rows) + task / s.heads * s.context * stride + task % s.heads * s.headWidth(), stride};
}

}  // namespace

std::int64_t StepEngine::attentionScratch() const {
    std::int64_t bytes = 0;
    withElement(m_shape.element, [&](auto element) {
        using E = decltype(element);
        bytes = std::max(stepscope::attentionForward<E>().scratchBytes(shapeOf(m_shape)),
                         stepscope::attentionBackward<E>().scratchBytes(shapeOf(m_shape)));
    });
    return bytes;
}

void StepEngine::attentionForward(int worker, std::int64_t index) {
    const StepShape& s = m_shape;
    const Share tasks = tasksOf(s, m_whole, worker);
    const OperationSpan span("attention", Role::AttentionCore, worker, [&] { return StageWork(s).attention(tasks.size()); });
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    void* const scratch = m_plan->workers[static_cast<std::size_t>(worker)].scratch;
    withElement(s.element, [&](auto element) {
        using E = decltype(element);
        for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
            const auto part = [&](std::int64_t p) { return partOf<const E>(s, layer.qkvRows, task, p); };
            stepscope::attentionForward<E>().run(shapeOf(s), part(0), part(1), part(2), attendedOf<E>(s, layer.attended, task),
                                                 layer.logSum + task * s.context, scratch);
        }
    });
}

void StepEngine::attentionBackward(int worker, std::int64_t index) {
    const StepShape& s = m_shape;
    const Share tasks = tasksOf(s, m_whole, worker);
    const OperationSpan span("attention backward", Role::AttentionCore, worker, [&] { return StageWork(s).attentionBackward(tasks.size()); });
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    void* const scratch = m_plan->workers[static_cast<std::size_t>(worker)].scratch;
    withElement(s.element, [&](auto element) {
        using E = decltype(element);
        for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
            const auto part = [&](std::int64_t p) { return partOf<const E>(s, layer.qkvRows, task, p); };
            const auto gradient = [&](std::int64_t p) { return partOf<E>(s, m_plan->dQkv, task, p); };
            stepscope::attentionBackward<E>().run(shapeOf(s), part(0), part(1), part(2), attendedOf<const E>(s, layer.attended, task),
                                                  attendedOf<const E>(s, m_plan->dAttended, task), layer.logSum + task * s.context, gradient(0),
                                                  gradient(1), gradient(2), scratch);
        }
    });
}

}  // namespace stepscope
