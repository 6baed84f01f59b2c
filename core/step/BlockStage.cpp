// The stages of StepEngine that run a transformer block, both ways, over the rows of one worker.
#include <algorithm>

#include "core/kernels/rope/RopeCpu.h"
#include "core/step/StepPlan.h"

namespace stepscope {

// Of a weight gradient's rows: each panel of the input, which comes from far away, serves so many.
constexpr std::int64_t kPanelsAtOnce = 6;

void StepEngine::rotate(std::byte* qkv, bool back, std::int64_t row, std::int64_t n) const {
    const StepShape& s = m_shape;
    if (s.rotaryBase == 0) return;
    const RopeShape shape{.context = s.context, .heads = s.heads, .width = s.headWidth(), .stride = s.leading(3 * s.partColumns())};
    withElement(s.element, [&](auto element) {
        auto* rows = reinterpret_cast<decltype(element)*>(qkv);
        for (std::int64_t part = 0; part < 2; ++part)
            ropeCpu<decltype(element)>().rotate(shape, rows + part * s.partColumns(), m_plan->cosines, m_plan->sines, back, row, row + n);
    });
}

void StepEngine::blockForward(int worker, std::int64_t index) {
    const PlaceScope place(index, Role::None);
    const StepShape& s = m_shape;
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const BlockPlace& at = m_parameters.blocks[static_cast<std::size_t>(index)];
    const auto& own = m_plan->workers[static_cast<std::size_t>(worker)];
    const std::int64_t C = s.width, ldC = s.leading(C), ldQkv = s.leading(3 * s.partColumns()), perWord = gemm::perWord(s.element);
    const auto site = static_cast<std::uint64_t>(2 * index);

    overRowBlocks("norm + QKV", Role::Norm1AndQkv, worker, &StageWork::qkv, [&](std::int64_t row, std::int64_t n) {
        enterBranch(worker, at.attention, layer.attention, row, n);
        for (std::size_t part = 0; part < at.attention.in.size(); ++part) {
            const LinearPlace& linear = at.attention.in[part];
            step::BiasTile tile{weightsAt(linear.bias), layer.qkvRows + s.bytes(row * ldQkv + static_cast<std::int64_t>(part) * s.partColumns()),
                                ldQkv};
            m_gemm.tiles({wordsOf(own.normed), ldC / perWord, 1}, {layer.attention.in[part].forward, s.steps(C) * gemm::kPanel}, n, linear.out,
                         s.steps(C), m_rows.biasTile, &tile);
        }
        rotate(layer.qkvRows, false, row, n);
    });
    meetUnlessWhole();
    attentionForward(worker, index);
    meetUnlessWhole();
    overRowBlocks("projection + MLP", Role::OutAndMlp, worker, &StageWork::outAndMlp, [&](std::int64_t row, std::int64_t n) {
        leaveBranch(at.attention, layer.attention, site + 1, layer.attended + s.bytes(row * ldC), ldC, row, n);
        enterBranch(worker, at.feedForward, layer.feedForward, row, n);
        (this->*m_activate)(worker, index, row, n);
        leaveBranch(at.feedForward, layer.feedForward, site + 2, own.activated, s.leading(s.hidden), row, n);
    });
}

void StepEngine::blockBackward(int worker, std::int64_t index) {
    const PlaceScope place(index, Role::None);
    const StepShape& s = m_shape;
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const BlockPlace& at = m_parameters.blocks[static_cast<std::size_t>(index)];
    const auto& own = m_plan->workers[static_cast<std::size_t>(worker)];
    const LayerDeltas& deltas = m_plan->deltas[index % 2];
    const std::int64_t C = s.width, ldC = s.leading(C), ldQkv = s.leading(3 * s.partColumns()), perWord = gemm::perWord(s.element);
    const auto site = static_cast<std::uint64_t>(2 * index);

    overRowBlocks("MLP + projection backward", Role::OutAndMlp, worker, &StageWork::outAndMlpBackward, [&](std::int64_t row, std::int64_t n) {
        leaveBranchBackward(worker, at.feedForward, layer.feedForward, deltas.feedForward, site + 2, row, n);
        (this->*m_activateBackward)(worker, index, row, n);
        enterBranchBackward(worker, at.feedForward, layer.feedForward, own.dExpanded, s.leading(s.hiddenRows()), row, n);
        leaveBranchBackward(worker, at.attention, layer.attention, deltas.attention, site + 1, row, n);
        m_packers.summedRows(layer.attended + s.bytes(row * ldC), ldC, n, C, layer.attention.outPairs + row / perWord * gemm::kPanel,
                             s.steps(s.rows()) * gemm::kPanel);
        step::BiasTile tile{nullptr, m_plan->dAttended + s.bytes(row * ldC), ldC};
        m_gemm.tiles({wordsOf(own.delta), ldC / perWord, 1}, {layer.attention.out.backward, s.steps(C) * gemm::kPanel}, n, C, s.steps(C),
                     m_rows.biasTile, &tile);
    });
    meetUnlessWhole();
    attentionBackward(worker, index);
    meetUnlessWhole();
    overRowBlocks("QKV + norm backward", Role::Norm1AndQkv, worker, &StageWork::qkvBackward, [&](std::int64_t row, std::int64_t n) {
        rotate(m_plan->dQkv, true, row, n);
        const std::byte* dQkv = m_plan->dQkv + s.bytes(row * ldQkv);
        for (std::size_t part = 0; part < at.attention.in.size(); ++part) {
            const LinearPlace& linear = at.attention.in[part];
            const std::byte* delta = dQkv + s.bytes(static_cast<std::int64_t>(part) * s.partColumns());
            if (float* bias = vectorAt(worker, linear.bias)) m_rows.columnSum(delta, ldQkv, n, linear.out, bias);
            m_packers.summedRows(delta, ldQkv, n, linear.out, deltas.attention.in[part] + row / perWord * gemm::kPanel,
                                 s.steps(s.rows()) * gemm::kPanel);
        }
        enterBranchBackward(worker, at.attention, layer.attention, dQkv, ldQkv, row, n);
    });
    m_team.barrier();  // all rows' deltas are there; the set of the layer above is free for the layer below
    if (index + 1 < s.layers) tellFinal(worker, index + 1);
    weightGradients(worker, index);
}

void StepEngine::weightGradients(int worker, std::int64_t index) {
    const StepShape& s = m_shape;
    const LayerPlan& layer = m_plan->layers[static_cast<std::size_t>(index)];
    const BlockPlace& at = m_parameters.blocks[static_cast<std::size_t>(index)];
    const LayerDeltas& deltas = m_plan->deltas[index % 2];
    const std::int64_t steps = s.steps(s.rows()), pairs = steps * gemm::kPanel;
    const auto panelsOf = [&](const LinearPlace& place) { return share(gemm::panels(place.out), worker, s.workers); };
    const OperationSpan span("weight gradients", Role::BlockWeights, worker, [&] {
        OperationWork all;
        const auto add = [&](const LinearPlace& place) {
            const Share mine = panelsOf(place);
            const std::int64_t rows = std::min(place.out, mine.end * gemm::kPanel) - std::min(place.out, mine.begin * gemm::kPanel);
            const OperationWork one = StageWork(s).weightGradient(rows, place.in);
            all.flops += one.flops;
            all.bytes += one.bytes;
            all.type = one.type;
        };
        for (const BranchPlace* branch : {&at.attention, &at.feedForward}) {
            add(branch->out);
            for (const LinearPlace& place : branch->in) add(place);
        }
        return all;
    });
    const auto linear = [&](const LinearPlace& place, const std::uint32_t* delta, const std::uint32_t* input) {
        const Share mine = panelsOf(place);
        for (std::int64_t panel = mine.begin; panel < mine.end; panel += kPanelsAtOnce) {
            const std::int64_t row = panel * gemm::kPanel, n = std::min(std::min(panel + kPanelsAtOnce, mine.end) * gemm::kPanel, place.out) - row;
            m_gemm.store({delta + panel * pairs, 1, gemm::kPanel, pairs}, {input, pairs}, n, place.in, steps,
                         m_plan->gradients + place.weight + row * place.in, place.in, !m_batch.first);
        }
    };
    const auto branch = [&](const BranchPlace& place, const BranchPlan& plan, const BranchDeltas& delta) {
        linear(place.out, delta.out, plan.outPairs);
        for (std::size_t part = 0; part < place.in.size(); ++part) linear(place.in[part], delta.in[part], plan.inPairs);
    };
    branch(at.feedForward, layer.feedForward, deltas.feedForward);
    branch(at.attention, layer.attention, deltas.attention);
}

}  // namespace stepscope
