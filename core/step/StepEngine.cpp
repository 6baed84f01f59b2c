// Layout of the buffers and the order of the stages; the stages are in files of their own.
#include "core/step/StepEngine.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/Check.h"
#include "core/base/DropoutMask.h"
#include "core/kernels/embedding/EmbeddingCpu.h"
#include "core/kernels/rope/Rope.h"
#include "core/step/StepPlan.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBlockBytes = 400 * 1024;  // of the widest activation of a row block

std::int64_t rowsWithin(std::int64_t bytes, std::int64_t bytesPerRow, std::int64_t most) {
    return std::clamp(bytes / bytesPerRow / 32 * 32, std::int64_t{32}, most);
}

// Workers own whole sequences where they divide, and then share no word of an operand.
bool wholeSequences(const StepShape& shape) {
    return shape.batch % shape.workers == 0 && shape.batch / shape.workers * shape.context % gemm::perWord(shape.element) == 0;
}

}  // namespace

StepEngine::StepEngine(const StepShape& shape, StepParameters parameters)
    : m_shape(shape),
      m_parameters(std::move(parameters)),
      m_gemm(gemm::kernels(shape.element)),
      m_packers(gemm::packers(shape.element)),
      m_rows(step::kernels(shape.element)),
      m_team(shape.workers),
      m_whole(wholeSequences(shape)),
      m_head({.element = shape.element, .width = shape.width, .vocabulary = shape.vocabulary, .rows = allRows()}),
      m_activate(shape.gated ? &StepEngine::swiglu : &StepEngine::gelu),
      m_activateBackward(shape.gated ? &StepEngine::swigluBackward : &StepEngine::geluBackward),
      m_rowBlock(rowsWithin(kBlockBytes, shape.bytes(shape.hiddenRows()), 256)),
      m_plan(std::make_unique<Plan>()) {
    Arena counting;
    place(counting);
    m_bytes = counting.used();
}

StepEngine::~StepEngine() = default;

Share StepEngine::rowsOf(int worker) const {
    const std::int64_t N = m_shape.rows();
    if (m_whole) return share(N, worker, m_shape.workers);
    const Share units = share((N + 31) / 32, worker, m_shape.workers);
    return {std::min(N, units.begin * 32), std::min(N, units.end * 32)};
}

std::vector<Share> StepEngine::allRows() const {
    std::vector<Share> all;
    for (int worker = 0; worker < m_shape.workers; ++worker) all.push_back(rowsOf(worker));
    return all;
}

void StepEngine::meetUnlessWhole() {
    if (!m_whole) m_team.barrier();
}

// Called after a barrier: every worker has finished what came before.
void StepEngine::tellFinal(int worker, std::int64_t layer) const {
    if (worker == 0 && m_batch.layerIsFinal != nullptr) (*m_batch.layerIsFinal)(layer);
}

step::Dropout StepEngine::dropoutAt(std::uint64_t site, std::int64_t row) const {
    return {.key = dropoutKey(m_batch.seed, m_batch.update, site),
            .element = static_cast<std::uint64_t>((m_batch.firstSequence * m_shape.context + row) * m_shape.width),
            .threshold = dropoutThreshold(m_shape.dropout),
            .factor = static_cast<float>(1 / (1 - m_shape.dropout))};
}

float* StepEngine::vectorAt(int worker, std::int64_t offset) const {
    return offset == kAbsent ? nullptr : m_plan->workers[static_cast<std::size_t>(worker)].vectors + offset - m_parameters.decayEnd;
}

void StepEngine::place(Arena& arena) {
    const StepShape& s = m_shape;
    Plan& plan = *m_plan;
    const std::int64_t N = s.rows(), C = s.width, half = s.rotaryBase > 0 ? s.headWidth() / 2 : 0;
    const auto elements = [&](std::int64_t columns) { return arena.take<std::byte>(s.bytes(N * s.leading(columns))); };
    plan.gradients = arena.take<float>(m_parameters.size);
    m_head.place(arena);
    plan.output = arena.take<float>(N * C);
    plan.norm = {plan.output, arena.take<float>(N), arena.take<float>(N)};
    placeLayers(arena);
    plan.dx = arena.take<float>(N * C);
    plan.hidden = elements(C);
    plan.dAttended = elements(C);
    plan.dQkv = elements(3 * s.partColumns());
    plan.cosines = arena.take<float>(s.context * half);
    plan.sines = arena.take<float>(s.context * half);
    placeMembers(arena);
}

void StepEngine::placeLayers(Arena& arena) {
    const StepShape& s = m_shape;
    Plan& plan = *m_plan;
    const std::int64_t N = s.rows(), C = s.width;
    const auto elements = [&](std::int64_t columns) { return arena.take<std::byte>(s.bytes(N * s.leading(columns))); };
    const auto pairsOf = [&](std::int64_t columns) { return arena.take<std::uint32_t>(gemm::panels(columns) * s.steps(N) * gemm::kPanel); };
    plan.layers.resize(static_cast<std::size_t>(s.layers));
    const auto placeBranch = [&](BranchPlan& branch, const BranchPlace& at) {
        branch.in.clear();
        for (const LinearPlace& linear : at.in) branch.in.push_back(gemm::PackedLinear::place(arena, s.element, linear.out, linear.in));
        branch.out = gemm::PackedLinear::place(arena, s.element, at.out.out, at.out.in);
        branch.norm.input = arena.take<float>(N * C);
        branch.norm.mean = arena.take<float>(N);
        branch.norm.rstd = arena.take<float>(N);
        branch.inPairs = pairsOf(C);
    };
    // What backward makes anew for one layer at a time; in turn, as the deltas.
    std::uint32_t* const attendedPairs[2] = {pairsOf(C), pairsOf(C)};
    std::uint32_t* const activatedPairs[2] = {s.gated ? nullptr : pairsOf(s.hidden), s.gated ? nullptr : pairsOf(s.hidden)};
    std::vector<BranchPlan*> branches;
    for (std::size_t l = 0; l < plan.layers.size(); ++l) {
        LayerPlan& layer = plan.layers[l];
        placeBranch(layer.attention, m_parameters.blocks[l].attention);
        placeBranch(layer.feedForward, m_parameters.blocks[l].feedForward);
        layer.attention.outPairs = attendedPairs[l % 2];
        layer.feedForward.outPairs = s.gated ? pairsOf(s.hidden) : activatedPairs[l % 2];
        layer.attended = elements(C);
        layer.logSum = arena.take<float>(N * s.heads);
        layer.qkvRows = elements(3 * s.partColumns());
        layer.expandedRows = elements(s.hiddenRows());
        branches.insert(branches.end(), {&layer.attention, &layer.feedForward});
    }
    for (std::size_t b = 0; b < branches.size(); ++b) {
        branches[b]->before = s.postNorm ? plan.output : branches[b]->norm.input;
        branches[b]->after = s.postNorm || b + 1 == branches.size() ? plan.output : branches[b + 1]->norm.input;
    }
    for (auto& set : plan.deltas) {
        const auto placeDeltas = [&](BranchDeltas& deltas, const BranchPlace& at) {
            deltas.in.clear();
            for (const LinearPlace& linear : at.in) deltas.in.push_back(pairsOf(linear.out));
            deltas.out = pairsOf(C);
        };
        placeDeltas(set.attention, m_parameters.blocks.front().attention);
        placeDeltas(set.feedForward, m_parameters.blocks.front().feedForward);
    }
}

void StepEngine::placeMembers(Arena& arena) {
    const StepShape& s = m_shape;
    const std::int64_t C = s.width;
    const auto elements = [&](std::int64_t rows, std::int64_t columns) { return arena.take<std::byte>(s.bytes(rows * s.leading(columns))); };
    m_plan->workers.resize(static_cast<std::size_t>(s.workers));
    m_plan->partial.resize(static_cast<std::size_t>(s.workers));
    for (auto& worker : m_plan->workers) {
        worker.normed = elements(m_rowBlock, C);
        worker.delta = elements(m_rowBlock, C);
        worker.activated = elements(m_rowBlock, s.hidden);
        worker.dExpanded = s.gated ? elements(m_rowBlock, s.hiddenRows()) : worker.activated;
        worker.gradient = arena.take<float>(m_rowBlock * C);
        worker.scratch = arena.take<std::byte>(attentionScratch());
        worker.vectors = arena.take<float>(m_parameters.size - m_parameters.decayEnd);
        worker.low = arena.take<std::byte>(s.bytes(gemm::kPanel * std::max(C, s.hidden)));
    }
}

void StepEngine::plan(void* block) {
    // Each worker clears a part: padding must hold finite numbers, and the first touch of so much memory takes a while.
    m_team.run([&](int worker) {
        const Share part = share(m_bytes, worker, m_shape.workers);
        std::memset(static_cast<std::byte*>(block) + part.begin, 0, static_cast<std::size_t>(part.end - part.begin));
    });
    Arena arena(block);
    place(arena);
    SS_CHECK(arena.used() == m_bytes);
    if (m_shape.rotaryBase > 0) ropeTurns(m_shape.context, m_shape.headWidth() / 2, m_shape.rotaryBase, m_plan->cosines, m_plan->sines);
}

float* StepEngine::gradients() const {
    return m_plan->gradients;
}

void StepEngine::embed(int worker) {
    const StepShape& s = m_shape;
    const Share rows = rowsOf(worker);
    const OperationSpan span("embedding", Role::Embedding, worker, [&] { return StageWork(s).embedding(rows.size()); });
    float* out = m_plan->layers.front().attention.before;
    embeddingCpu().forward({.rows = s.rows(), .context = s.context, .columns = s.width}, m_batch.ids, m_weights + m_parameters.tokens,
                           weightsAt(m_parameters.positions), out, rows.begin, rows.end);
    if (drops()) m_rows.drop(dropoutAt(0, rows.begin), rows.size() * s.width, out + rows.begin * s.width);
}

double StepEngine::accumulate(const float* weights, const MicroBatch& batch) {
    Plan& plan = *m_plan;
    m_weights = weights;
    m_batch = batch;
    m_training = true;
    m_team.run([&](int worker) {
        const PlaceScope forward(Activity::Forward);
        const auto place = static_cast<std::size_t>(worker);
        if (batch.first)
            std::memset(plan.workers[place].vectors, 0, static_cast<std::size_t>(m_parameters.size - m_parameters.decayEnd) * sizeof(float));
        embed(worker);
        for (std::int64_t layer = 0; layer < m_shape.layers; ++layer) blockForward(worker, layer);
        plan.partial[place] = head(worker);
        if (worker == 0 && batch.backwardBegins != nullptr) (*batch.backwardBegins)();
        tellFinal(worker, m_shape.layers);
        const PlaceScope backward(Activity::Backward);
        for (std::int64_t layer = m_shape.layers - 1; layer >= 0; --layer) blockBackward(worker, layer);
        embeddingGradients(worker);
        reduceVectors(worker);
    });
    return std::accumulate(plan.partial.begin(), plan.partial.end(), 0.0) / static_cast<double>(m_shape.rows());
}

double StepEngine::evaluate(const float* weights, const std::int64_t* ids, const std::int64_t* targets) {
    m_weights = weights;
    m_batch = {.ids = ids, .targets = targets};
    m_training = false;
    m_team.run([&](int worker) {
        const PlaceScope place(Activity::Evaluation);
        embed(worker);
        for (std::int64_t layer = 0; layer < m_shape.layers; ++layer) blockForward(worker, layer);
        m_plan->partial[static_cast<std::size_t>(worker)] = head(worker);
    });
    return std::accumulate(m_plan->partial.begin(), m_plan->partial.end(), 0.0) / static_cast<double>(m_shape.rows());
}

}  // namespace stepscope
