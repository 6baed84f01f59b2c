#include "core/profile/OperationWork.h"

#include <algorithm>
#include <array>

#include "core/base/AttentionWork.h"

namespace stepscope {
namespace {

using Operands = std::vector<OperandShape>;

std::int64_t dim(const OperandShape& shape, int fromEnd) {
    const auto size = static_cast<int>(shape.dims.size());
    return fromEnd <= size ? shape.dims[static_cast<std::size_t>(size - fromEnd)] : 1;
}

std::int64_t bytesOf(const OperandShape& shape) {
    return shape.elements() * shape.elementBytes;
}

// a (.., m, k) times b (.., k, n); extra: what is read besides.
OperationWork product(const OperandShape& a, const OperandShape& b, std::int64_t extra) {
    const std::int64_t k = dim(a, 1), n = b.dims.size() > 1 ? dim(b, 1) : 1;
    const std::int64_t rows = k > 0 ? a.elements() / k : 0;
    return {2 * rows * k * n, bytesOf(a) + bytesOf(b) + rows * n * a.elementBytes + extra};
}

// q, k, v: (.., T, D).
OperationWork attention(const Operands& all, std::size_t firstOfThree, std::int64_t products, bool causal) {
    if (all.size() < firstOfThree + 3) return {};
    const OperandShape &q = all[firstOfThree], &k = all[firstOfThree + 1];
    const std::int64_t queries = dim(q, 2), keys = dim(k, 2), width = dim(q, 1);
    const std::int64_t heads = queries * width > 0 ? q.elements() / (queries * width) : 0;
    std::int64_t bytes = bytesOf(q);  // the result
    for (const auto& operand : all) bytes += bytesOf(operand);
    return {heads * attention_work::flops(queries, keys, width, products, causal), bytes};
}

std::int64_t operandBytes(const Operands& all) {
    std::int64_t sum = 0;
    for (const auto& operand : all) sum += bytesOf(operand);
    return sum;
}

// One result as large as the largest operand, in its type.
OperationWork pointwise(const Operands& all) {
    const auto largest = std::ranges::max_element(all, {}, &OperandShape::elements);
    return {0, operandBytes(all) + (largest == all.end() ? 0 : bytesOf(*largest))};
}

constexpr std::array<std::string_view, 22> kPointwise{"aten::add",
                                                      "aten::sub",
                                                      "aten::mul",
                                                      "aten::div",
                                                      "aten::gelu",
                                                      "aten::gelu_backward",
                                                      "aten::silu",
                                                      "aten::silu_backward",
                                                      "aten::exp",
                                                      "aten::rsqrt",
                                                      "aten::pow",
                                                      "aten::neg",
                                                      "aten::native_layer_norm",
                                                      "aten::native_layer_norm_backward",
                                                      "aten::_fused_rms_norm",
                                                      "aten::_softmax",
                                                      "aten::_softmax_backward_data",
                                                      "aten::_log_softmax",
                                                      "aten::_log_softmax_backward_data",
                                                      "aten::masked_fill",
                                                      "aten::where",
                                                      "aten::cat"};
// They write into an operand of theirs, or their result is small.
constexpr std::array<std::string_view, 22> kInPlace{"aten::add_",
                                                    "aten::mul_",
                                                    "aten::div_",
                                                    "aten::sub_",
                                                    "aten::copy_",
                                                    "aten::zero_",
                                                    "aten::fill_",
                                                    "aten::masked_fill_",
                                                    "aten::sum",
                                                    "aten::mean",
                                                    "aten::_foreach_mul_",
                                                    "aten::_foreach_add_",
                                                    "aten::_foreach_div_",
                                                    "aten::_foreach_addcdiv_",
                                                    "aten::_foreach_addcmul_",
                                                    "aten::_foreach_sqrt",
                                                    "aten::_foreach_norm",
                                                    "aten::_foreach_lerp_",
                                                    "aten::_fused_adamw_",
                                                    "aten::nll_loss_forward",
                                                    "aten::linalg_vector_norm",
                                                    "aten::_amp_foreach_non_finite_check_and_unscale_"};

bool among(const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

// LibTorch's fused attention by its back-end, the CPU's and those of a GPU: q, k, v come first, in the backward function behind the gradient of what
// came out. What such an operation calls (aten::_flash_attention_forward, …) has no work of its own.
constexpr std::array<std::string_view, 4> kAttentions{"flash_attention_for_cpu", "flash_attention", "efficient_attention", "cudnn_attention"};

OperationWork attentionOf(std::string_view name, const Operands& all, bool causal) {
    constexpr std::string_view kBegin = "aten::_scaled_dot_product_", kBackward = "_backward";
    if (!name.starts_with(kBegin)) return {};
    name.remove_prefix(kBegin.size());
    const bool backward = name.ends_with(kBackward);
    if (backward) name.remove_suffix(kBackward.size());
    if (!among(kAttentions, name)) return {};
    return attention(all, backward ? 1 : 0, backward ? attention_work::kBackwardProducts : attention_work::kForwardProducts, causal);
}

}  // namespace

std::int64_t OperandShape::elements() const {
    std::int64_t product = 1;
    for (const std::int64_t size : dims) product *= size;
    return product;
}

OperationWork workOf(std::string_view name, const std::vector<OperandShape>& all, bool causal) {
    const std::size_t count = all.size();
    if ((name == "aten::mm" || name == "aten::bmm" || name == "aten::mv" || name == "aten::dot") && count >= 2) return product(all[0], all[1], 0);
    if ((name == "aten::addmm" || name == "aten::baddbmm" || name == "aten::addmm_" || name == "aten::baddbmm_") && count >= 3)
        return product(all[1], all[2], bytesOf(all[0]));
    if (const OperationWork work = attentionOf(name, all, causal); work.bytes != 0) return work;
    if (name == "aten::embedding" && count >= 2) return {0, 2 * all[1].elements() * dim(all[0], 1) * all[0].elementBytes + bytesOf(all[1])};
    if (name == "aten::embedding_dense_backward" && count >= 1) return {0, 2 * bytesOf(all[0])};
    if (among(kPointwise, name)) return pointwise(all);
    if (among(kInPlace, name)) return {0, operandBytes(all)};
    return {};
}

}  // namespace stepscope
