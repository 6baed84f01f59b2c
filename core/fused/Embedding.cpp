// Token + position embedding under autograd.
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/sort.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "core/fused/FusedOps.h"
#include "core/fused/Rows.h"
#include "core/kernels/embedding/EmbeddingCpu.h"

namespace stepscope::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

EmbeddingShape shapeOf(const at::Tensor& tokens, std::int64_t columns) {
    return {.rows = tokens.numel(), .context = tokens.size(-1), .columns = columns};
}

// Gradients of the tables, each sum in the order of the tokens whatever the number of threads. Either may be undefined.
void scatter(const at::Tensor& tokens, const std::int64_t* ids, const at::Tensor& gradOut, const at::Tensor& gradWte, const at::Tensor& gradWpe) {
    const std::int64_t columns = gradOut.size(-1);
    at::parallel_for(0, columns, 64, [&](std::int64_t begin, std::int64_t end) {
        embeddingCpu().backward(shapeOf(tokens, columns), ids, pointer<float>(gradOut), pointer<float>(gradWte), pointer<float>(gradWpe), begin, end);
    });
}

// The same on a GPU, where the table's gradient is dense and the order of the sums is that of the sorted ids.
const char* scatterOnCuda(const CudaInterface& cuda, const at::Tensor& tokens, const at::Tensor& gradOut, const at::Tensor& gradWte,
                          const at::Tensor& gradWpe) {
    const CudaRows shape = rowsOf(gradOut, tokens.numel(), gradOut.size(-1));
    const auto [sorted, order] = at::sort(tokens.view({-1}), /*stable=*/std::optional<bool>(true));  // a plain true would be taken for a dimension
    const CudaEmbedding ids{.context = tokens.size(-1), .vocabulary = gradWte.size(0), .ids = sorted.data_ptr<std::int64_t>()};
    const at::Tensor partial = workspace(cuda.embeddingBackwardWorkspaceBytes(shape.rows, shape.columns), gradOut);
    if (const char* why = cuda.embeddingBackward(shape, ids, order.data_ptr<std::int64_t>(), floats(gradOut), floats(gradWte), data(partial)))
        return why;
    return gradWpe.defined() ? cuda.positionBackward(shape, tokens.size(-1), floats(gradOut), floats(gradWpe)) : nullptr;
}

// The ids that occur, ascending, and for every token the place of its id among them.
struct Occurring {
    std::vector<std::int64_t> ids, places;
};
Occurring occurring(const at::Tensor& tokens) {
    const std::int64_t* first = tokens.data_ptr<std::int64_t>();
    Occurring all;
    all.ids.assign(first, first + tokens.numel());
    std::sort(all.ids.begin(), all.ids.end());
    all.ids.erase(std::unique(all.ids.begin(), all.ids.end()), all.ids.end());
    for (std::int64_t i = 0; i < tokens.numel(); ++i)
        all.places.push_back(std::lower_bound(all.ids.begin(), all.ids.end(), first[i]) - all.ids.begin());
    return all;
}

class EmbeddingFunction : public torch::autograd::Function<EmbeddingFunction> {
public:
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& wte, const std::optional<at::Tensor>& maybeWpe, const at::Tensor& tokens,
                              bool sparse) {
        const at::Tensor wpe = maybeWpe.value_or(at::Tensor());
        const std::int64_t C = wte.size(1);
        auto size = tokens.sizes().vec();
        size.push_back(C);
        const at::Tensor out = at::empty(size, wte.options());
        const auto* ids = tokens.data_ptr<std::int64_t>();
        // As many rows of each table are read as are written.
        const OperationWork work{0, (wpe.defined() ? 3 : 2) * static_cast<std::int64_t>(out.nbytes())};
        const auto cpu = [&] {
            overRows("embedding", tokens.numel(), C, work, [&](std::int64_t begin, std::int64_t end) {
                embeddingCpu().forward(shapeOf(tokens, C), ids, pointer<float>(wte), pointer<float>(wpe), pointer<float>(out), begin, end);
            });
        };
        onDevice("embedding", wte, work, cpu, [&](const CudaInterface& cuda) {
            const CudaEmbedding embedding{.context = tokens.size(-1), .vocabulary = wte.size(0), .ids = ids};
            return cuda.embeddingForward(rowsOf(wte, tokens.numel(), C), embedding, floats(wte), floats(wpe), floats(out));
        });
        ctx->saved_data["tokens"] = tokens;
        ctx->saved_data["rows"] = wte.size(0);
        ctx->saved_data["positions"] = wpe.defined() ? wpe.size(0) : -1;
        ctx->saved_data["sparse"] = sparse;
        return out;
    }

    static variable_list backward(AutogradContext* ctx, variable_list gradients) {
        const PlaceScope place(Role::Embedding);
        const at::Tensor tokens = ctx->saved_data["tokens"].toTensor(), gradOut = gradients[0].contiguous();
        const std::int64_t rows = ctx->saved_data["rows"].toInt(), positions = ctx->saved_data["positions"].toInt(), C = gradOut.size(-1);
        // What comes is added to a row of each table.
        const OperationWork work{0, (positions >= 0 ? 3 : 2) * static_cast<std::int64_t>(gradOut.nbytes())};
        at::Tensor gradWte, gradWpe;
        const auto clear = [&](bool table) {
            if (positions >= 0) gradWpe = at::zeros({positions, C}, gradOut.options());
            if (table) gradWte = at::zeros({rows, C}, gradOut.options());
        };
        if (takesCudaForm(gradOut)) {
            onCuda("embedding backward", gradOut, work, [&](const CudaInterface& cuda) {
                clear(true);
                return scatterOnCuda(cuda, tokens, gradOut, gradWte, gradWpe);
            });
            return {gradWte, gradWpe, at::Tensor(), at::Tensor()};
        }
        const OperationSpan span("embedding backward", 0, work);
        const bool sparse = ctx->saved_data["sparse"].toBool();
        clear(!sparse);
        if (!sparse) {
            scatter(tokens, tokens.data_ptr<std::int64_t>(), gradOut, gradWte, gradWpe);
            return {gradWte, gradWpe, at::Tensor(), at::Tensor()};
        }
        Occurring all = occurring(tokens);
        const auto count = static_cast<std::int64_t>(all.ids.size());
        const at::Tensor values = at::zeros({count, C}, gradOut.options());
        scatter(tokens, all.places.data(), gradOut, values, gradWpe);
        const at::Tensor indices = at::from_blob(all.ids.data(), {1, count}, at::kLong).clone();
        gradWte = at::_sparse_coo_tensor_unsafe(indices, values, {rows, C}, values.options().layout(at::kSparse), /*is_coalesced=*/true);
        return {gradWte, gradWpe, at::Tensor(), at::Tensor()};
    }
};

at::Tensor embedWith(const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe, bool sparse) {
    if (!taken(wte) || wte.scalar_type() != at::kFloat || (wpe.defined() && wpe.scalar_type() != at::kFloat)) return plain::embed(tokens, wte, wpe);
    const at::Tensor ids = tokens.contiguous();
    if (ids.is_cpu()) {
        const std::int64_t* first = ids.data_ptr<std::int64_t>();
        for (std::int64_t i = 0; i < ids.numel(); ++i)
            TORCH_CHECK_INDEX(first[i] >= 0 && first[i] < wte.size(0), "index out of range in embedding: ", first[i]);
    }
    return EmbeddingFunction::apply(wte.contiguous(), maybe(wpe), ids, sparse);
}

}  // namespace

at::Tensor embed(const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe) {
    return embedWith(tokens, wte, wpe, false);
}
at::Tensor embedTied(const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe) {
    return embedWith(tokens, wte, wpe, true);
}

}  // namespace stepscope::fused
