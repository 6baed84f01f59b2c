// The stages of StepEngine around the update: gradients of embeddings and vectors, the global norm, and clip + AdamW + packing of the new weights in
// one pass over memory.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kernels/embedding/EmbeddingCpu.h"
#include "core/step/StepPlan.h"

namespace stepscope {
namespace {

// Matrices that no product reads, so that they are not packed: tables of rows. An untied embedding, and positions.
struct Table {
    std::int64_t offset = 0, count = 0;
};
std::vector<Table> tablesOf(const StepShape& shape, const StepParameters& parameters) {
    std::vector<Table> all;
    if (parameters.head != parameters.tokens) all.push_back({parameters.tokens, shape.vocabulary * shape.width});
    if (parameters.positions != kAbsent) all.push_back({parameters.positions, parameters.positionRows * shape.width});
    return all;
}

// Every matrix that is packed, with its operands.
template <typename Each>
void eachPacked(const StepShape& shape, const StepParameters& parameters, const gemm::PackedLinear& head, const std::vector<LayerPlan>& layers,
                Each&& each) {
    each(LinearPlace{shape.vocabulary, shape.width, parameters.head}, head);
    const auto branch = [&](const BranchPlace& at, const BranchPlan& plan) {
        for (std::size_t part = 0; part < at.in.size(); ++part) each(at.in[part], plan.in[part]);
        each(at.out, plan.out);
    };
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        branch(parameters.blocks[layer].attention, layers[layer].attention);
        branch(parameters.blocks[layer].feedForward, layers[layer].feedForward);
    }
}

}  // namespace

void StepEngine::embeddingGradients(int worker) {
    const StepShape& s = m_shape;
    const std::int64_t C = s.width;
    const Share rows = rowsOf(worker);
    const OperationSpan span("embedding backward", Role::Embedding, worker, [&] { return StageWork(s).embedding(rows.size()); });
    if (drops()) m_rows.drop(dropoutAt(0, rows.begin), rows.size() * C, m_plan->dx + rows.begin * C);
    // A tied table's gradient holds the head's part by now; the others begin at zero.
    if (m_batch.first)
        for (const Table& table : tablesOf(s, m_parameters)) {
            const Share mine = share(table.count, worker, s.workers);
            std::memset(m_plan->gradients + table.offset + mine.begin, 0, static_cast<std::size_t>(mine.size()) * sizeof(float));
        }
    m_team.barrier();  // dx of every row is final
    tellFinal(worker, 0);
    // By columns: no two workers add to one number, and sums come out the same every time. 16 columns are a cache line.
    const Share lines = share((C + 15) / 16, worker, s.workers);
    float* positions = m_parameters.positions == kAbsent ? nullptr : m_plan->gradients + m_parameters.positions;
    embeddingCpu().backward({.rows = s.rows(), .context = s.context, .columns = C}, m_batch.ids, m_plan->dx, m_plan->gradients + m_parameters.tokens,
                            positions, lines.begin * 16, std::min(C, lines.end * 16));
}

void StepEngine::reduceVectors(int worker) {
    const Share mine = share(m_parameters.size - m_parameters.decayEnd, worker, m_shape.workers);
    const OperationSpan span("sum biases' gradients", Role::BlockWeights, worker, [&] {
        return OperationWork{0, 4 * mine.size() * (m_shape.workers + 1)};
    });
    // The workers' sums were complete before the barrier of embeddingGradients().
    float* to = m_plan->gradients + m_parameters.decayEnd;
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
        float sum = 0;
        for (const auto& other : m_plan->workers) sum += other.vectors[i];
        to[i] = sum;
    }
}

double StepEngine::gradientNorm() {
    m_team.run([&](int worker) {
        const PlaceScope place(Activity::Clip);
        const Share mine = share(m_parameters.size, worker, m_shape.workers);
        const OperationSpan span("sum of squares", Role::Optimizer, worker, [&] { return StageWork::sumOfSquares(mine.size()); });
        m_plan->partial[static_cast<std::size_t>(worker)] = adamWCpu().sumOfSquares(m_plan->gradients, mine.begin, mine.end);
    });
    double sum = 0;
    for (const double part : m_plan->partial) sum += part;
    return std::sqrt(sum);
}

void StepEngine::pack(const float* weights) {
    m_team.run([&](int worker) {
        const OperationSpan span("pack weights", Role::Optimizer, worker,
                                 [&] { return StageWork(m_shape).packing(share(m_parameters.decayEnd, worker, m_shape.workers).size()); });
        std::byte* low = m_plan->workers[static_cast<std::size_t>(worker)].low;
        eachPacked(m_shape, m_parameters, m_head.weights(), m_plan->layers, [&](const LinearPlace& place, const gemm::PackedLinear& packed) {
            const Share units = share(gemm::panels(place.out), worker, m_shape.workers);
            for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
                const std::int64_t row = unit * gemm::kPanel, rows = std::min(gemm::kPanel, place.out - row);
                m_rows.convert(weights + place.weight + row * place.in, place.in, rows, place.in, low, place.in, nullptr);
                packed.pack(m_shape.element, place.out, place.in, row, rows, low);
            }
        });
    });
}

void StepEngine::update(const StepBuffers& b, const AdamWStep& decaying) {
    AdamWStep plain = decaying;
    plain.keep = 1;
    const std::int64_t end = std::min(b.end, m_parameters.size);
    const bool whole = b.begin == 0 && end == m_parameters.size;
    const bool lowers = whole && m_shape.element == gemm::Element::Bf16;
    m_team.run([&](int worker) {
        const PlaceScope place(Activity::Optimizer);
        const OperationSpan span(whole ? "AdamW + pack weights" : "AdamW", Role::Optimizer, worker,
                                 [&] { return StageWork(m_shape).adamW(share(end - b.begin, worker, m_shape.workers).size()); });
        std::byte* low = m_plan->workers[static_cast<std::size_t>(worker)].low;
        const auto update = [&](const AdamWStep& step, std::int64_t offset, std::int64_t count, Bf16* into) {
            const std::int64_t from = std::max(offset, b.begin), to = std::min(offset + count, end), inMoments = from - b.begin;
            if (from >= to) return;
            adamWCpu().update(step, m_plan->gradients + from, b.weights + from, b.firstMoment + inMoments, b.secondMoment + inMoments, into, 0,
                              to - from);
        };
        eachPacked(m_shape, m_parameters, m_head.weights(), m_plan->layers, [&](const LinearPlace& place, const gemm::PackedLinear& packed) {
            const Share units = share(gemm::panels(place.out), worker, m_shape.workers);
            for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
                const std::int64_t row = unit * gemm::kPanel, rows = std::min(gemm::kPanel, place.out - row), first = place.weight + row * place.in;
                update(decaying, first, rows * place.in, lowers ? reinterpret_cast<Bf16*>(low) : nullptr);
                if (whole) packed.pack(m_shape.element, place.out, place.in, row, rows, lowers ? static_cast<const void*>(low) : b.weights + first);
            }
        });
        for (const Table& table : tablesOf(m_shape, m_parameters)) {
            const Share mine = share(table.count, worker, m_shape.workers);
            update(decaying, table.offset + mine.begin, mine.size(), nullptr);
        }
        const Share vectors = share(m_parameters.size - m_parameters.decayEnd, worker, m_shape.workers);
        update(plain, m_parameters.decayEnd + vectors.begin, vectors.size(), nullptr);
    });
}

}  // namespace stepscope
