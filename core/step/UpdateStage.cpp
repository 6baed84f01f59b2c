// The stages of StepEngine around the update: gradients of embeddings and vectors, the global norm, and clip + AdamW + packing of the new weights in
// one pass over memory.
#include "core/step/StepPlan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stepscope {

void StepEngine::embeddingGradients(int member, const std::int64_t* ids, bool first) {
    const StepShape& s = m_shape;
    const std::int64_t C = s.width, T = s.context;
    m_team.meet();  // dx of every row is final
    // By ranges of the vocabulary, in the order of the rows: no two members add to one row, and sums come out the same every time.
    const Share units = share(gemm::panels(s.vocabulary), member, s.members);
    const std::int64_t from = units.begin * gemm::kPanel, to = std::min(s.vocabulary, units.end * gemm::kPanel);
    float* tokens = m_plan->gradients + m_parameters.tokens;
    for (std::int64_t row = 0; row < s.rows(); ++row)
        if (ids[row] >= from && ids[row] < to) m_rows.addScaled(m_plan->dx + row * C, C, 1.0f, tokens + ids[row] * C);
    const Share places = share(m_parameters.positionRows, member, s.members);
    for (std::int64_t t = places.begin; t < places.end; ++t) {
        float* to = m_plan->gradients + m_parameters.positions + t * C;
        if (first) std::memset(to, 0, static_cast<std::size_t>(C) * sizeof(float));
        for (std::int64_t sequence = 0; t < T && sequence < s.batch; ++sequence) m_rows.addScaled(m_plan->dx + (sequence * T + t) * C, C, 1.0f, to);
    }
}

void StepEngine::reduceVectors(int member) {
    // The members' sums were complete before embeddingGradients() met.
    const Share mine = share(m_parameters.size - m_parameters.decayEnd, member, m_shape.members);
    float* to = m_plan->gradients + m_parameters.decayEnd;
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
        float sum = 0;
        for (const auto& other : m_plan->members) sum += other.vectors[i];
        to[i] = sum;
    }
}

double StepEngine::gradientNorm() {
    m_team.run([&](int member) {
        const Share mine = share(m_parameters.size, member, m_shape.members);
        m_plan->partial[static_cast<std::size_t>(member)] = m_rows.sumOfSquares(m_plan->gradients + mine.begin, mine.end - mine.begin);
    });
    double sum = 0;
    for (const double part : m_plan->partial) sum += part;
    return std::sqrt(sum);
}

namespace {

// Every matrix that is packed, with its place among the packed ones.
template <typename Each>
void eachPacked(const StepShape& shape, const StepParameters& parameters, const gemm::PackedLinear& head, const std::vector<LayerPlan>& layers, Each&& each) {
    each(LinearPlace{shape.vocabulary, shape.width, parameters.tokens, 0}, head);
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const BlockPlace& at = parameters.blocks[layer];
        each(at.qkv, layers[layer].qkv);
        each(at.projection, layers[layer].projection);
        each(at.expand, layers[layer].expand);
        each(at.contract, layers[layer].contract);
    }
}

}  // namespace

void StepEngine::pack(const StepBuffers& buffers) {
    m_team.run([&](int member) {
        std::byte* low = m_plan->members[static_cast<std::size_t>(member)].low;
        eachPacked(m_shape, m_parameters, m_head.weights(), m_plan->layers, [&](const LinearPlace& place, const gemm::PackedLinear& packed) {
            const Share units = share(gemm::panels(place.out), member, m_shape.members);
            for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
                const std::int64_t row = unit * gemm::kPanel, rows = std::min(gemm::kPanel, place.out - row);
                m_rows.convert(buffers.weights + place.weight + row * place.in, place.in, rows, place.in, low, place.in, nullptr);
                packed.pack(m_shape.element, place.out, place.in, row, rows, low);
            }
        });
    });
}

void StepEngine::update(const StepBuffers& buffers, const StepOptimizer& o, double norm) {
    step::AdamWScalars decaying;
    // As torch.nn.utils.clip_grad_norm_ scales: max / (norm + 1e-6), never up.
    decaying.clip = o.maxNorm > 0 ? static_cast<float>(std::min(1.0, o.maxNorm / (norm + 1e-6))) : 1.0f;
    decaying.keep = static_cast<float>(1 - o.rate * o.weightDecay);
    decaying.beta1 = static_cast<float>(o.beta1);
    decaying.beta2 = static_cast<float>(o.beta2);
    decaying.epsilon = static_cast<float>(o.epsilon);
    decaying.stepSize = static_cast<float>(o.rate / (1 - std::pow(o.beta1, static_cast<double>(o.t))));
    decaying.secondRoot = static_cast<float>(std::sqrt(1 - std::pow(o.beta2, static_cast<double>(o.t))));
    step::AdamWScalars plain = decaying;
    plain.keep = 1;
    m_team.run([&](int member) {
        std::byte* low = m_plan->members[static_cast<std::size_t>(member)].low;
        const auto range = [&](std::int64_t offset, void* into) {
            return step::AdamWRange{buffers.weights + offset, buffers.firstMoment + offset, buffers.secondMoment + offset, m_plan->gradients + offset, into};
        };
        eachPacked(m_shape, m_parameters, m_head.weights(), m_plan->layers, [&](const LinearPlace& place, const gemm::PackedLinear& packed) {
            const Share units = share(gemm::panels(place.out), member, m_shape.members);
            for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
                const std::int64_t row = unit * gemm::kPanel, rows = std::min(gemm::kPanel, place.out - row);
                m_rows.adamW(range(place.weight + row * place.in, low), rows * place.in, decaying);
                packed.pack(m_shape.element, place.out, place.in, row, rows, low);
            }
        });
        const Share positions = share(m_parameters.positionRows * m_shape.width, member, m_shape.members);
        m_rows.adamW(range(m_parameters.positions + positions.begin, nullptr), positions.end - positions.begin, decaying);
        const Share vectors = share(m_parameters.size - m_parameters.decayEnd, member, m_shape.members);
        m_rows.adamW(range(m_parameters.decayEnd + vectors.begin, nullptr), vectors.end - vectors.begin, plain);
    });
}

}  // namespace stepscope
