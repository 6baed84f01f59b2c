// What an operation of LibTorch's computes and moves, by its name and the sizes it was called with: for what a GPT uses. Operations that only call
// others have none, so that sums over all operations count everything once.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/OperationSpan.h"

namespace stepscope {

struct OperandShape {
    std::vector<std::int64_t> dims;
    std::int64_t elementBytes = 0;
    std::int64_t elements() const;
};

// operands: the tensors among its arguments in their order, those of lists too. causal: whether a flag among them says so; attention counts what it
// looks at.
OperationWork workOf(std::string_view name, const std::vector<OperandShape>& operands, bool causal);

}  // namespace stepscope
