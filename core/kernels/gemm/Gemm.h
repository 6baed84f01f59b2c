// Matrix products over packed operands, for the parts that are planned ahead: fusion=step and linear + cross-entropy. Torch-free.
// One thread a call; the caller splits rows. Chosen for the instruction set at run time (core/kernels/isa).
//
// A *word* is 32 bits: one float32, or two bf16 that are neighbours along the summed index, which is what the bf16 dot-product
// instruction consumes. Both operands are made of words, so that one kernel serves every product of a step:
//   A    word (m, k) at words + (m / 32) * blockStride + (m % 32) * rowStride + k * stepStride: a row-major matrix (stepStride 1), or panels read
//        column by column (rowStride 1, stepStride 32)
//   B    panels of 32 columns: word (k, n) at words + (n / 32) * panelStride + k * 32 + n % 32; absent columns hold zeros
// Summation is in float32 (bf16: two products at a time), in the order of k; the result does not depend on how rows are split.
#pragma once
#include <cstdint>
#include <vector>

namespace stepscope::gemm {

constexpr std::int64_t kPanel = 32;  // columns of B held in registers at a time, two vectors of 16
constexpr std::int64_t kStrip = 8;   // rows of A: 16 accumulators are enough to hide the latency, and 8 divides what models use

enum class Element { F32, Bf16 };
constexpr std::int64_t perWord(Element element) {
    return element == Element::Bf16 ? 2 : 1;
}
constexpr std::int64_t bytesOf(Element element) {
    return element == Element::Bf16 ? 2 : 4;
}
constexpr std::int64_t panels(std::int64_t columns) {
    return (columns + kPanel - 1) / kPanel;
}
// Words along the summed index for `extent` elements.
constexpr std::int64_t steps(Element element, std::int64_t extent) {
    return (extent + perWord(element) - 1) / perWord(element);
}

struct Rows {  // A
    const std::uint32_t* words = nullptr;
    std::int64_t rowStride = 0, stepStride = 1;
    std::int64_t blockStride = kPanel * rowStride;  // between rows m and m + 32: other than 32 rowStride where A is in panels
};
struct Panels {  // B
    const std::uint32_t* words = nullptr;
    std::int64_t panelStride = 0;
};

// Called for each tile of the result while it is in the first-level cache: tile[r * 32 + c], r < rows <= 8, c < columns <= 32, whose first
// element is (row, column) of the result. It may write into the tile.
using TileFunction = void (*)(void* context, float* tile, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns);

struct Kernels {
    // C (rows, columns) = A (rows, steps) * B (steps, columns), or += when `add`. c is row-major with `stride` floats a row.
    void (*store)(Rows a, Panels b, std::int64_t rows, std::int64_t columns, std::int64_t steps, float* c, std::int64_t stride, bool add);
    // The same product handed out tile by tile.
    void (*tiles)(Rows a, Panels b, std::int64_t rows, std::int64_t columns, std::int64_t steps, TileFunction tile, void* context);
};
// The fastest form on this processor (FormChoice.h). Measures at the first call of a process on a new machine, 0.2 s or so; any thread.
const Kernels& kernels(Element element);

// One way of running the products. All of an instruction set and element give the same bits, but for the payload of a NaN.
struct Form {
    const char* name = nullptr;
    Kernels kernels{};
};
// All forms of the instruction set in use, those left out that this processor computes otherwise; the first is the reference.
std::vector<Form> forms(Element element);

// How operands come to be. `source` is row-major elements with `stride` elements a row.
struct Packers {
    // B for products that sum over the columns of `source` (Y = X * W^T): one panel for each 32 rows. rows (N) x columns (K) ->
    // panels(N) panels of steps(K) * 32 words, `panelStride` words apart. The missing rows of the last panel, and an odd last column, become zeros.
    void (*transposed)(const void* source, std::int64_t stride, std::int64_t rows, std::int64_t columns, std::uint32_t* out,
                       std::int64_t panelStride);
    // Operands for products that sum over the rows of `source` (dW = dY^T * X): panels of 32 columns; rows (K) x columns (N) -> panels(N) panels
    // of steps(K) * 32 words, `panelStride` words apart. Missing columns and an odd last row become zeros. As A: rowStride 1, stepStride 32 in a
    // panel.
    void (*summedRows)(const void* source, std::int64_t stride, std::int64_t rows, std::int64_t columns, std::uint32_t* out,
                       std::int64_t panelStride);
};
const Packers& packers(Element element);

}  // namespace stepscope::gemm
