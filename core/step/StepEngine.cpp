// See StepEngine.h. Layout of the buffers and the order of the stages; the stages are in files of their own.
#include "core/step/StepEngine.h"

#include "core/base/Check.h"
#include "core/step/StepPlan.h"

#include <chrono>
#include <cmath>
#include <cstring>

namespace stepscope {
namespace {

constexpr std::int64_t kBlockBytes = 400 * 1024;       // of the widest activation of a row block

std::int64_t rowsWithin(std::int64_t bytes, std::int64_t bytesPerRow, std::int64_t most) {
    return std::clamp(bytes / bytesPerRow / 32 * 32, std::int64_t{32}, most);
}

// Members own whole sequences where they divide, and then share no word of an operand.
bool wholeSequences(const StepShape& shape) {
    return shape.batch % shape.members == 0 && shape.batch / shape.members * shape.context % gemm::perWord(shape.element) == 0;
}

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

}  // namespace

StepEngine::StepEngine(const StepShape& shape, StepParameters parameters)
    : m_shape(shape),
      m_parameters(std::move(parameters)),
      m_gemm(gemm::kernels(shape.element)),
      m_packers(gemm::packers(shape.element)),
      m_rows(step::kernels(shape.element)),
      m_team(shape.members),
      m_whole(wholeSequences(shape)),
      m_head({.element = shape.element, .width = shape.width, .vocabulary = shape.vocabulary, .rows = allRows()}),
      m_plan(std::make_unique<Plan>()) {
    m_rowBlock = rowsWithin(kBlockBytes, shape.bytes(4 * shape.width), 256);
    Arena counting;
    place(counting);
    m_bytes = counting.used();
}

StepEngine::~StepEngine() = default;

Share StepEngine::rowsOf(int member) const {
    const std::int64_t N = m_shape.rows();
    if (m_whole) return share(N, member, m_shape.members);
    const Share units = share((N + 31) / 32, member, m_shape.members);
    return {std::min(N, units.begin * 32), std::min(N, units.end * 32)};
}

std::vector<Share> StepEngine::allRows() const {
    std::vector<Share> all;
    for (int member = 0; member < m_shape.members; ++member) all.push_back(rowsOf(member));
    return all;
}

void StepEngine::meetUnlessWhole() {
    if (!m_whole) m_team.meet();
}

void StepEngine::place(Arena& arena) {
    const StepShape& s = m_shape;
    Plan& plan = *m_plan;
    const std::int64_t N = s.rows(), C = s.width, T = s.context, D = s.headWidth();
    using Word = std::uint32_t;
    const auto elements = [&](std::int64_t rows, std::int64_t columns) { return arena.take<std::byte>(s.bytes(rows * s.leading(columns))); };
    const auto panelsOf = [&](std::int64_t columns, std::int64_t summed) { return arena.take<Word>(gemm::panels(columns) * s.steps(summed) * gemm::kPanel); };
    const auto linear = [&](std::int64_t out, std::int64_t in) { return gemm::PackedLinear::place(arena, s.element, out, in); };
    plan.gradients = arena.take<float>(m_parameters.size);
    m_head.place(arena);
    plan.layers.resize(static_cast<std::size_t>(s.layers));
    for (auto& layer : plan.layers) {
        layer.qkv = linear(3 * C, C);
        layer.projection = linear(C, C);
        layer.expand = linear(4 * C, C);
        layer.contract = linear(C, 4 * C);
        layer.input = arena.take<float>(N * C);
        layer.middle = arena.take<float>(N * C);
        for (float** statistic : {&layer.mean1, &layer.inverse1, &layer.mean2, &layer.inverse2}) *statistic = arena.take<float>(N);
        layer.logSum = arena.take<float>(N * s.heads);
        layer.qkvRows = elements(N, 3 * C);
        layer.expandedRows = elements(N, 4 * C);
        layer.norm1Pairs = panelsOf(C, N);
        layer.attendedPairs = panelsOf(C, N);
        layer.norm2Pairs = panelsOf(C, N);
        layer.activatedPairs = panelsOf(4 * C, N);
    }
    plan.output = arena.take<float>(N * C);
    plan.dx = arena.take<float>(N * C);
    for (float** statistic : {&plan.mean, &plan.inverse}) *statistic = arena.take<float>(N);
    plan.hidden = elements(N, C);
    plan.attended = elements(N, C);
    plan.dQkv = elements(N, 3 * C);
    for (auto& set : plan.deltas) {
        set.contract = panelsOf(C, N);
        set.expand = panelsOf(4 * C, N);
        set.projection = panelsOf(C, N);
        set.qkv = panelsOf(3 * C, N);
    }
    plan.members.resize(static_cast<std::size_t>(s.members));
    plan.partial.resize(static_cast<std::size_t>(s.members));
    constexpr std::int64_t Q = Plan::kQueryRows;
    const std::int64_t paddedT = (T + 31) / 32 * 32;
    for (auto& member : plan.members) {
        member.normed = elements(m_rowBlock, C);
        member.delta = elements(m_rowBlock, C);
        member.activated = elements(m_rowBlock, 4 * C);
        member.gradient = arena.take<float>(m_rowBlock * C);
        member.keysTransposed = panelsOf(T, D);
        member.valuesTransposed = panelsOf(T, D);
        member.keyPairs = panelsOf(D, T);
        member.valuePairs = panelsOf(D, T);
        member.queryPairs = panelsOf(D, Q);
        member.outPairs = panelsOf(D, Q);
        member.weightPairs = panelsOf(T, Q);
        member.scorePairs = panelsOf(T, Q);
        member.scores = arena.take<float>(Q * paddedT);
        member.dWeights = arena.take<float>(Q * paddedT);
        member.dKeys = arena.take<float>(T * D);
        member.dValues = arena.take<float>(T * D);
        member.weights = elements(Q, T);
        member.dScores = elements(Q, T);
        member.rows = elements(2 * Q, D);
        member.vectors = arena.take<float>(m_parameters.size - m_parameters.decayEnd);
        member.low = arena.take<std::byte>(s.bytes(gemm::kPanel * 4 * C));
    }
}

void StepEngine::plan(void* block) {
    // Each member clears a part: padding must hold finite numbers, and the first touch of so much memory takes a while.
    m_team.run([&](int member) {
        const Share part = share(m_bytes, member, m_shape.members);
        std::memset(static_cast<std::byte*>(block) + part.begin, 0, static_cast<std::size_t>(part.end - part.begin));
    });
    Arena arena(block);
    place(arena);
    SS_CHECK(arena.used() == m_bytes);
}

const float* StepEngine::gradients() const { return m_plan->gradients; }

void StepEngine::forward(int member, const StepBuffers& buffers, const std::int64_t* ids, bool keep) {
    const Share rows = rowsOf(member);
    m_rows.embed(ids + rows.begin, rows.begin % m_shape.context, m_shape.context, rows.end - rows.begin, m_shape.width, buffers.weights + m_parameters.tokens,
                 buffers.weights + m_parameters.positions, m_plan->layers.front().input + rows.begin * m_shape.width);
    for (std::int64_t layer = 0; layer < m_shape.layers; ++layer) blockForward(member, buffers, layer, keep);
}

double StepEngine::accumulate(const StepBuffers& buffers, const std::int64_t* ids, const std::int64_t* targets, bool first, double share,
                              std::array<std::int64_t, 2>& marks) {
    Plan& plan = *m_plan;
    const std::int64_t begin = now();
    std::int64_t middle = begin;
    m_team.run([&](int member) {
        const auto place = static_cast<std::size_t>(member);
        if (first) std::memset(plan.members[place].vectors, 0, static_cast<std::size_t>(m_parameters.size - m_parameters.decayEnd) * sizeof(float));
        forward(member, buffers, ids, true);
        plan.partial[place] = head(member, buffers, targets, true, first, share);
        if (member == 0) middle = now();
        for (std::int64_t layer = m_shape.layers - 1; layer >= 0; --layer) blockBackward(member, buffers, layer, first);
        embeddingGradients(member, ids, first);
        reduceVectors(member);
    });
    marks[0] += middle - begin;
    marks[1] += now() - middle;
    double sum = 0;
    for (const double part : plan.partial) sum += part;
    return sum / static_cast<double>(m_shape.rows());
}

double StepEngine::evaluate(const StepBuffers& buffers, const std::int64_t* ids, const std::int64_t* targets) {
    m_team.run([&](int member) {
        forward(member, buffers, ids, false);
        m_plan->partial[static_cast<std::size_t>(member)] = head(member, buffers, targets, false, false, 1);
    });
    double sum = 0;
    for (const double part : m_plan->partial) sum += part;
    return sum / static_cast<double>(m_shape.rows());
}

}  // namespace stepscope
