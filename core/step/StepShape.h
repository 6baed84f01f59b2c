// StepShape: all sizes that a planned step depends on, torch-free. Made by PlannedProgram from GptConfig and the switches.
#pragma once
#include "core/kernels/gemm/Gemm.h"

#include <algorithm>
#include <cstdint>

namespace stepscope {

struct StepShape {
    std::int64_t layers = 1, heads = 1, width = 32;
    std::int64_t vocabulary = 256;        // ids that can occur
    std::int64_t paddedVocabulary = 256;  // rows of the embedding
    std::int64_t batch = 1, context = 1;
    gemm::Element element = gemm::Element::Bf16;  // of operands of matrix products; sums, residual stream and statistics are float32
    int members = 1;                              // threads

    bool operator==(const StepShape&) const = default;

    std::int64_t rows() const { return batch * context; }
    std::int64_t headWidth() const { return width / heads; }
    std::int64_t steps(std::int64_t extent) const { return gemm::steps(element, extent); }
    std::int64_t bytes(std::int64_t elements) const { return elements * gemm::bytesOf(element); }
    // Elements between rows of a row-major activation: whole cache lines, and never a multiple of 4 KiB, where eight rows would
    // fight for the same sets of the first-level cache.
    std::int64_t leading(std::int64_t columns) const {
        const std::int64_t padded = (columns + 31) / 32 * 32;
        return bytes(padded) % 4096 == 0 ? padded + 32 : padded;
    }
};

// Parameters of the plain model in one flat float32 buffer; offsets in elements. Weights, both moments and gradients share it.
struct LinearPlace {
    std::int64_t out = 0, in = 0;   // weight (out, in), row-major
    std::int64_t weight = 0, bias = 0;
};
struct NormPlace {
    std::int64_t weight = 0, bias = 0;
};
struct BlockPlace {
    NormPlace norm1, norm2;
    LinearPlace qkv, projection, expand, contract;
};

}  // namespace stepscope
