// The fused operations as cases beside their plain forms, and how one is run with its gradients. Used by FusedOpsTest and NonFiniteTest.
#pragma once
#include <ATen/TensorOperators.h>

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "core/fused/FusedOps.h"

namespace stepscope::testing {

using Tensors = std::vector<at::Tensor>;

// An operation as a function of the tensors that get gradients.
struct Case {
    std::string name;
    Tensors inputs;  // float32
    std::function<Tensors(const Tensors&)> plain, fused;
};
void PrintTo(const Case& c, std::ostream* out);
std::vector<Case> cases();

at::Tensor normal(at::IntArrayRef size, std::uint64_t seed, double scale = 1);
at::Tensor ids(at::IntArrayRef size, std::int64_t below);

struct Outcome {
    Tensors outputs, gradients;  // double
};
// low: under bf16 autocast. The gradient of each output is normal, of a loss 1, but for its middle element when `spoilt` is there.
Outcome run(const std::function<Tensors(const Tensors&)>& op, const Tensors& inputs, at::ScalarType type, bool low,
            std::optional<double> spoilt = {});

}  // namespace stepscope::testing
