#include "core/inference/PackedModel.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "core/base/Share.h"
#include "core/model/WeightsView.h"

namespace stepscope {
namespace {

// Weights are read from one end to the other for each token: with large pages the processor looks up fewer of them. Advice only.
void adviseLargePages(void* begin, std::int64_t bytes) {
    constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
    const auto first = (reinterpret_cast<std::uintptr_t>(begin) + kPage - 1) / kPage * kPage;
    const auto last = (reinterpret_cast<std::uintptr_t>(begin) + static_cast<std::uintptr_t>(bytes)) / kPage * kPage;
    if (last > first) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

// Three projections one below the other.
at::Tensor joined(const Weight& whole, const std::array<Weight, 3>& three) {
    if (whole.defined() || !three[0].defined()) return whole.full;
    return at::cat({three[0].full, three[1].full, three[2].full});
}

}  // namespace

const char* toString(WeightType type) {
    switch (type) {
        case WeightType::F32:
            return "f32";
        case WeightType::Bf16:
            return "bf16";
        case WeightType::Int8:
            return "int8";
        case WeightType::Int4:
            return "int4";
        case WeightType::Int8Dynamic:
            return "int8-dynamic";
    }
    return "f32";
}

Result<WeightType> weightTypeNamed(const std::string& word) {
    for (const WeightType type : kAllWeightTypes)
        if (word == toString(type)) return type;
    return makeError(ErrorCode::BadInput, fmt::format("The type of the weights is f32, bf16, int8, int4 or int8-dynamic, not \"{}\".", word));
}

PackedModel::PackedModel(const GeneratorWeights& from, WeightType type, Team& team) : type(type) {
    collect(from);
    Arena counting;
    lay(counting);
    m_bytes = Bytes{counting.used()};
    // Room to begin at a cache line, wherever the tensor begins.
    m_memory = at::empty({counting.used() + 64}, at::TensorOptions().dtype(at::kByte));
    auto* const begin = m_memory.data_ptr<std::uint8_t>();
    adviseLargePages(begin, m_memory.numel());
    Arena placing(reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(begin) + 63) / 64 * 64));
    lay(placing);
    team.run([&](int worker) {
        for (const Task& task : m_tasks) {
            if (task.rows == nullptr) continue;
            const Share panels = share(task.rows->panelCount(), worker, team.size());
            packRows(type, task.from.const_data_ptr<float>(), task.rows->rows, task.rows->columns, const_cast<void*>(task.rows->panels),
                     const_cast<float*>(task.rows->scales), panels.begin, panels.end);
        }
    });
    for (const Task& task : m_tasks)
        if (task.vector != nullptr)
            std::memcpy(const_cast<float*>(*task.vector), task.from.const_data_ptr<float>(),
                        static_cast<std::size_t>(task.from.numel()) * sizeof(float));
    m_tasks.clear();
    if (from.config.tiedHead) head = embedding;
}

Bytes PackedModel::bytesRead() const {
    std::int64_t looked = m_positionBytes;
    if (embedding.panels != head.panels) looked += embedding.panelCount() * embedding.panelBytes();
    return Bytes{m_bytes.count - looked};
}

void PackedModel::collect(const GeneratorWeights& from) {
    const auto weights = WeightsView::over(from.weights, from.layout, from.config, false);
    // Rows of padding are never chosen and never read.
    const auto used = [&](const at::Tensor& rows) { return rows.narrow(0, 0, from.config.vocabulary); };
    matrix(embedding, used(weights.tokens));
    if (!from.config.tiedHead) matrix(head, used(weights.head));
    vector(positions, weights.positions);
    if (weights.positions.defined()) m_positionBytes = weights.positions.numel() * 4;
    vector(norm.weight, weights.normWeight);
    vector(norm.bias, weights.normBias);
    blocks.resize(weights.blocks.size());
    for (std::size_t l = 0; l < blocks.size(); ++l) {
        const BlockWeights& w = weights.blocks[l];
        PackedBlock& block = blocks[l];
        vector(block.norm1.weight, w.norm1Weight);
        vector(block.norm1.bias, w.norm1Bias);
        matrix(block.qkv.weight, joined(w.qkvWeight, w.qkvWeights));
        vector(block.qkv.bias, joined(w.qkvBias, w.qkvBiases));
        matrix(block.proj.weight, w.projWeight.full);
        vector(block.proj.bias, w.projBias.full);
        vector(block.norm2.weight, w.norm2Weight);
        vector(block.norm2.bias, w.norm2Bias);
        matrix(block.fc.weight, w.fcWeight.full);
        vector(block.fc.bias, w.fcBias.full);
        matrix(block.fcProj.weight, w.fcProjWeight.full);
        vector(block.fcProj.bias, w.fcProjBias.full);
    }
}

void PackedModel::matrix(PackedRows& into, const at::Tensor& from) {
    into.type = type;
    into.rows = from.size(0);
    into.columns = from.size(1);
    m_tasks.push_back({&into, nullptr, from.contiguous()});
}

void PackedModel::vector(const float*& into, const at::Tensor& from) {
    if (from.defined()) m_tasks.push_back({nullptr, &into, from.contiguous()});
}

// In the order in which a token reads them.
void PackedModel::lay(Arena& arena) {
    for (const Task& task : m_tasks) {
        if (task.vector != nullptr) {
            *task.vector = arena.take<float>(task.from.numel());
            continue;
        }
        task.rows->panels = arena.take<char>(task.rows->panelCount() * task.rows->panelBytes());
        if (const std::int64_t scales = PackedRows::scaleCount(type, task.rows->rows, task.rows->columns); scales > 0)
            task.rows->scales = arena.take<float>(scales);
    }
}

}  // namespace stepscope
