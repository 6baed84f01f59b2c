// What the fused operations share: which tensors they take, raw pointers of tensors, the CPU's two element types, rows among LibTorch's
// threads, and column sums that are the same bits whatever the number of threads. Included by core/fused/*.cpp only.
#pragma once
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "core/base/OperationSpan.h"
#include "core/fused/OnDevice.h"
#include "core/kernels/isa/Bf16.h"

namespace stepscope::fused {

inline bool taken(at::ScalarType type, at::Device device) {
    return type == at::kFloat || type == at::kBFloat16 || (type == at::kHalf && device.is_cuda());
}
inline bool taken(const at::Tensor& t) {
    return (t.is_cpu() || (t.is_cuda() && cudaPlugin().interface != nullptr)) && taken(t.scalar_type(), t.device());
}

// The type that autocast gives the next matrix product on the device of `t`.
inline at::ScalarType productType(const at::Tensor& t) {
    const auto device = t.device().type();
    return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device) : at::kFloat;
}

// A tensor that may be absent, as an argument of an autograd function: those take no undefined one. Contiguous, as raw pointers want it.
inline std::optional<at::Tensor> maybe(const at::Tensor& t) {
    return t.defined() ? std::optional(t.contiguous()) : std::nullopt;
}

template <class T>
T* pointer(const at::Tensor& t) {
    using Element = std::remove_const_t<T>;
    if (!t.defined()) return nullptr;
    if constexpr (std::is_void_v<Element>)  // of whatever type
        return t.data_ptr();
    else if constexpr (std::is_same_v<Element, Bf16>)
        return reinterpret_cast<T*>(t.data_ptr<at::BFloat16>());
    else
        return t.data_ptr<Element>();
}

// function(T{}) with T the element type.
template <class Function>
void withElement(at::ScalarType type, Function function) {
    if (type == at::kBFloat16)
        function(Bf16{});
    else
        function(float{});
}

// Of an operation that reads or writes each of these once; those that are not there count nothing.
inline OperationWork moved(std::initializer_list<at::Tensor> tensors) {
    OperationWork work;
    for (const at::Tensor& t : tensors)
        if (t.defined()) work.bytes += static_cast<std::int64_t>(t.nbytes());
    return work;
}

// OperationWork::type of products of such tensors.
inline const char* factorsOf(const at::Tensor& t) {
    return c10::toString(t.scalar_type());
}

// at::parallel_for as one named operation.
template <class Function>
void parallel(const char* name, std::int64_t count, std::int64_t share, OperationWork work, Function function) {
    const OperationSpan span(name, 0, work);
    at::parallel_for(0, count, share, function);
}

// function(begin, end) over rows of `width` elements, in shares worth a thread's while.
template <class Function>
void overRows(const char* name, std::int64_t rows, std::int64_t width, OperationWork work, Function function) {
    const std::int64_t share = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, width));
    parallel(name, rows, share, work, function);
}

// function(begin, end, sums) with float32 `sums` (columns) of its own for each block of rows; returns their sum. The blocks depend on the
// number of rows alone. Part of whatever operation asks for it.
template <class Function>
at::Tensor sumOfRows(std::int64_t rows, std::int64_t columns, Function function) {
    const std::int64_t blocks = std::clamp<std::int64_t>(rows / 64, 1, 32);
    const at::Tensor sums = at::zeros({blocks, columns}, at::kFloat);
    float* all = sums.data_ptr<float>();
    at::parallel_for(0, blocks, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t b = first; b < last; ++b) function(rows * b / blocks, rows * (b + 1) / blocks, all + b * columns);
    });
    return blocks == 1 ? sums[0] : sums.sum(0);
}

// The same as one named operation.
template <class Function>
at::Tensor sumOverRows(const char* name, std::int64_t rows, std::int64_t columns, OperationWork work, Function function) {
    const OperationSpan span(name, 0, work);
    return sumOfRows(rows, columns, function);
}

}  // namespace stepscope::fused
