// PackedLinear: the weights of a linear layer, (out, in), as operands of the products both ways. Packed by whoever changes the weights or first needs
// them: the AdamW pass of a planned step, each call under autograd.
#pragma once
#include "core/base/Arena.h"
#include "core/kernels/gemm/Gemm.h"

namespace stepscope::gemm {

struct PackedLinear {
    std::uint32_t* forward = nullptr;   // panels(out) of steps(in): Y = X W^T
    std::uint32_t* backward = nullptr;  // panels(in) of steps(out): dX = dY W; absent where nothing goes backward

    static PackedLinear place(Arena& arena, Element element, std::int64_t out, std::int64_t in, bool bothWays = true) {
        const auto panelsOf = [&](std::int64_t columns, std::int64_t summed) {
            return arena.take<std::uint32_t>(panels(columns) * steps(element, summed) * kPanel);
        };
        return {panelsOf(out, in), bothWays ? panelsOf(in, out) : nullptr};
    }

    // Packs `rows` rows of elements, `in` each, that begin at row `row` of the weights, a multiple of 32.
    void pack(Element element, std::int64_t out, std::int64_t in, std::int64_t row, std::int64_t rows, const void* elements) const {
        const std::int64_t panel = steps(element, in) * kPanel;
        packers(element).transposed(elements, in, rows, in, forward + row / kPanel * panel, panel);
        if (backward != nullptr)
            packers(element).summedRows(elements, in, rows, in, backward + row / perWord(element) * kPanel, steps(element, out) * kPanel);
    }
};

}  // namespace stepscope::gemm
