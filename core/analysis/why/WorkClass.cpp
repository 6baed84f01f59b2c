#include "core/analysis/why/WorkClass.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/Format.h"
#include "core/base/StepPlace.h"

namespace stepscope {
namespace {

bool holds(std::string_view name, std::string_view part) {
    return name.find(part) != std::string_view::npos;
}
template <std::size_t n>
bool holdsOne(std::string_view name, const std::array<std::string_view, n>& parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return holds(name, part); });
}
template <std::size_t n>
bool isOne(std::string_view name, const std::array<std::string_view, n>& names) {
    return std::ranges::find(names, name) != names.end();
}

// Parts of names, LibTorch's and ours, in the order in which they are asked for.
constexpr std::array<std::string_view, 4> kAttention{"scaled_dot_product", "attention backward", "flash", "fmha"};
constexpr std::array<std::string_view, 10> kProducts{"::mm", "addmm",           "bmm",  "mkldnn_linear", "QKV", "projection",
                                                     "MLP",  "weight gradient", "gemm", "::matmul"};
constexpr std::array<std::string_view, 4> kOptimizers{"::_fused_adam", "::_fused_sgd", "::_fused_adagrad", "multi_tensor_adam"};
constexpr std::array<std::string_view, 4> kLosses{"cross-entropy", "cross_entropy", "nll_loss", "log_softmax"};
constexpr std::array<std::string_view, 3> kNorms{"layer_norm", "rms_norm", "residual + norm"};
constexpr std::array<std::string_view, 5> kCopies{"::copy_", "::_to_copy", "::cat", "::contiguous", "merge"};
// And of kernels: cuBLAS's, CUTLASS's, LibTorch's.
constexpr std::array<std::string_view, 5> kProductKernels{"gemv", "nvjet", "xmma", "cutlass", "splitK"};
constexpr std::array<std::string_view, 2> kNormKernels{"LayerNorm", "RMSNorm"};
constexpr std::array<std::string_view, 3> kCopyKernels{"copy_kernel", "BatchedCopy", "transpose"};
// Of these the name says that nothing is computed.
constexpr std::array<std::string_view, 24> kNothing{
    "aten::view",    "aten::t",          "aten::transpose", "aten::as_strided", "aten::empty",   "aten::empty_strided",
    "aten::reshape", "aten::detach",     "detach",          "aten::item",       "aten::slice",   "aten::narrow",
    "aten::select",  "aten::expand",     "aten::permute",   "aten::unsqueeze",  "aten::squeeze", "aten::split",
    "aten::linear",  "aten::empty_like", "aten::to",        "aten::clone",      "aten::resize_", "aten::_local_scalar_dense"};

// What PyTorch does for other workers, or waits for of them, on a thread of the host.
bool isOfWorkers(std::string_view name) {
    return name.starts_with("gloo:") || name.starts_with("c10d::") || name.starts_with("_c10d_functional::");
}

}  // namespace

const char* toString(WorkClass kind) {
    constexpr std::array<const char*, kWorkClasses> words{"matrix products", "attention core", "normalisation", "pointwise",        "head and loss",
                                                          "optimizer step",  "copies",         "data",          "host and waiting", "launch gaps"};
    return words[static_cast<std::size_t>(kind)];
}

std::string signedMilliseconds(double ms) {
    if (std::isfinite(ms) && std::abs(ms) < 5e-4) return "0";  // less than a microsecond: clocks are no finer
    return (ms > 0 ? "+" : ms < 0 ? "\u2212" : "") + format::milliseconds(std::abs(ms));
}

WorkClass workClass(SliceKind kind, std::string_view name, std::string_view phase, std::string_view role) {
    const bool ofDevice = isDeviceWork(kind);
    // As PyTorch's profiler names what waits for a batch.
    if (kind == SliceKind::Annotation && name.starts_with("enumerate(DataLoader)")) return WorkClass::Data;
    if (!isOperation(kind) && !ofDevice) return WorkClass::Host;
    if (phase == "batch" || phase == "copy") return WorkClass::Data;
    if (role == toString(Role::Communication) || isOfWorkers(name)) return WorkClass::Host;
    // A node of autograd computes by the operations that it calls; its own time is the engine's.
    if (ofDevice && kind != SliceKind::Kernel) return WorkClass::Copies;
    if (kind == SliceKind::Backward || name.starts_with("autograd::") || name.starts_with("torch::autograd") || isOne(name, kNothing))
        return WorkClass::Host;
    // A trace of PyTorch's says neither phase nor role: there names alone tell.
    if (phase == "clip" || phase == toString(Activity::Optimizer) || role == toString(Role::Optimizer) || holdsOne(name, kOptimizers))
        return WorkClass::Optimizer;
    if (role == "head/loss" || holdsOne(name, kLosses)) return WorkClass::Loss;
    if (holdsOne(name, kCopies) || (ofDevice && holdsOne(name, kCopyKernels))) return WorkClass::Copies;
    if (role == "attention/core" || holdsOne(name, kAttention)) return WorkClass::Attention;
    if (holdsOne(name, kNorms) || (ofDevice && holdsOne(name, kNormKernels))) return WorkClass::Normalisation;
    if (holdsOne(name, kProducts) || (ofDevice && holdsOne(name, kProductKernels))) return WorkClass::MatrixProducts;
    return WorkClass::Pointwise;
}

}  // namespace stepscope
