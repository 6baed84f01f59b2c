// Weight: a parameter of a linear as its products take it. Trainer thread.
#pragma once
#include <ATen/core/Tensor.h>

namespace stepscope {

struct Weight {
    at::Tensor full;  // the parameter itself, which gets the gradient
    at::Tensor low;   // its copy in autocast's type, where a Program keeps one

    Weight() = default;
    Weight(at::Tensor parameter) : full(std::move(parameter)) {}  // one without a copy
    Weight(at::Tensor parameter, at::Tensor copy) : full(std::move(parameter)), low(std::move(copy)) {}

    bool defined() const { return full.defined(); }
    // What a product under autograd and autocast takes: the copy where there is one, whose gradient reaches the parameter as float32.
    at::Tensor forProduct() const;
};

}  // namespace stepscope
