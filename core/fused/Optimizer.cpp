#include "core/fused/Optimizer.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"
#include "core/fused/OnDevice.h"
#include "core/fused/Rows.h"

namespace stepscope::fused {
namespace {

constexpr std::int64_t kPiece = 32768;  // elements; small tensors are one piece each

struct Piece {
    std::size_t tensor = 0;
    std::int64_t begin = 0, end = 0;
};

// Every tensor in pieces that do not depend on the number of threads.
std::vector<Piece> piecesOf(const std::vector<at::Tensor>& tensors) {
    std::vector<Piece> all;
    for (std::size_t i = 0; i < tensors.size(); ++i)
        for (std::int64_t begin = 0; begin < tensors[i].numel(); begin += kPiece)
            all.push_back({i, begin, std::min(begin + kPiece, tensors[i].numel())});
    return all;
}

// function(piece, number of the piece), several pieces a thread.
template <class Function>
void overPieces(const char* name, const std::vector<Piece>& pieces, OperationWork work, Function function) {
    parallel(name, static_cast<std::int64_t>(pieces.size()), 1, work, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) function(pieces[static_cast<std::size_t>(i)], static_cast<std::size_t>(i));
    });
}

std::vector<at::Tensor> contiguous(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> all;
    for (const auto& t : tensors) all.push_back(t.contiguous());
    return all;
}

struct CudaList {
    explicit CudaList(const std::vector<at::Tensor>& gradients) : all(contiguous(gradients)) {
        for (const auto& g : all) parameters.push_back({.gradient = floats(g), .count = g.numel()});
    }
    CudaUpdate update() const { return {parameters.data(), static_cast<std::int64_t>(parameters.size()), streamOf(all.front().device())}; }

    std::vector<at::Tensor> all;  // alive until the launch
    std::vector<CudaParameter> parameters;
};

bool onGpu(const std::vector<at::Tensor>& tensors) {
    return !tensors.empty() && takesCudaForm(tensors.front());
}

// Where the new weights go in bfloat16 as well; null: nowhere.
void* lowOf(const AdamWLists& lists, std::size_t i) {
    return lists.lowWeights.empty() ? nullptr : data(lists.lowWeights[i]);
}

std::int64_t bytesOf(const std::vector<at::Tensor>& tensors) {
    std::int64_t bytes = 0;
    for (const auto& t : tensors) bytes += t.defined() ? static_cast<std::int64_t>(t.nbytes()) : 0;
    return bytes;
}

// Weights and both moments are read and written, gradients read, the weights' low copies written.
OperationWork workOf(const AdamWLists& lists) {
    return {0, 2 * (bytesOf(lists.parameters) + bytesOf(lists.firstMoments) + bytesOf(lists.secondMoments)) + bytesOf(lists.gradients) +
                   bytesOf(lists.lowWeights)};
}

void adamWOnGpu(const at::Tensor& step, const float* norm, double maxNorm, const AdamWLists& lists) {
    CudaList list(lists.gradients);
    for (std::size_t i = 0; i < lists.parameters.size(); ++i) {
        list.parameters[i].weight = floats(lists.parameters[i]);
        list.parameters[i].first = floats(lists.firstMoments[i]);
        list.parameters[i].second = floats(lists.secondMoments[i]);
        list.parameters[i].low = lowOf(lists, i);
    }
    onCuda("AdamW", step, workOf(lists), [&](const CudaInterface& cuda) {
        return cuda.adamW(list.update(), static_cast<const AdamWStep*>(step.data_ptr()), norm, static_cast<float>(maxNorm));
    });
}

void check(const AdamWLists& lists) {
    const std::size_t count = lists.parameters.size();
    SS_CHECK(lists.gradients.size() == count && lists.firstMoments.size() == count && lists.secondMoments.size() == count);
    SS_CHECK(lists.lowWeights.empty() || lists.lowWeights.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
        const at::Tensor& weight = lists.parameters[i];
        SS_CHECK(weight.is_contiguous() && lists.firstMoments[i].is_contiguous() && lists.secondMoments[i].is_contiguous() &&
                 lists.gradients[i].numel() == weight.numel());
        if (lists.lowWeights.empty() || !lists.lowWeights[i].defined()) continue;
        const at::Tensor& low = lists.lowWeights[i];
        SS_CHECK(low.is_contiguous() && low.scalar_type() == at::kBFloat16 && low.numel() == weight.numel() && low.device() == weight.device());
    }
}

}  // namespace

void globalNormTo(const at::Tensor& norm, const std::vector<at::Tensor>& gradients) {
    const PlaceScope place(Role::Optimizer);
    const CudaList list(gradients);
    onCuda("sum of squares", norm, {0, bytesOf(gradients)}, [&](const CudaInterface& cuda) {
        const at::Tensor partial = workspace(cuda.globalNormWorkspaceBytes(list.update()), norm);
        return cuda.globalNorm(list.update(), floats(norm), data(partial));
    });
}

void adamWFrom(const at::Tensor& step, const at::Tensor& norm, double maxNorm, const AdamWLists& lists) {
    const PlaceScope place(Role::Optimizer);
    check(lists);
    if (!lists.parameters.empty()) adamWOnGpu(step, floats(norm), maxNorm, lists);
}

double globalNorm(const std::vector<at::Tensor>& gradients) {
    const PlaceScope place(Role::Optimizer);
    if (onGpu(gradients)) {
        const at::Tensor norm = at::empty({}, gradients.front().options());
        globalNormTo(norm, gradients);
        return norm.item<double>();
    }
    const auto all = contiguous(gradients);
    const auto pieces = piecesOf(all);
    std::vector<double> sums(pieces.size());
    overPieces("sum of squares", pieces, {0, bytesOf(all)},
               [&](const Piece& p, std::size_t i) { sums[i] = adamWCpu().sumOfSquares(all[p.tensor].data_ptr<float>(), p.begin, p.end); });
    double total = 0;
    for (const double sum : sums) total += sum;
    return std::sqrt(total);
}

void adamW(AdamWStep step, const AdamWLists& lists) {
    const PlaceScope place(Role::Optimizer);
    check(lists);
    if (onGpu(lists.parameters)) {
        const at::Tensor numbers = at::from_blob(&step, {sizeof step / sizeof(float)}, at::kFloat).to(lists.parameters.front().device());
        return adamWOnGpu(numbers, nullptr, 0, lists);
    }
    const auto gradients = contiguous(lists.gradients);
    overPieces("AdamW", piecesOf(lists.parameters), workOf(lists), [&](const Piece& p, std::size_t) {
        adamWCpu().update(step, floats(gradients[p.tensor]), floats(lists.parameters[p.tensor]), floats(lists.firstMoments[p.tensor]),
                          floats(lists.secondMoments[p.tensor]), static_cast<Bf16*>(lowOf(lists, p.tensor)), p.begin, p.end);
    });
}

}  // namespace stepscope::fused
