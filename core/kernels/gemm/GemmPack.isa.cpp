// How operands come to be, behind Packers of Gemm.h: compiled once for each instruction set.
#include "core/kernels/gemm/GemmTable.h"
#include "core/kernels/isa/Transpose16.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

using namespace gemm;

using i64 = std::int64_t;
using Word = std::uint32_t;

struct F32 {};
struct Halves {};  // bf16

inline i64 least(i64 a, i64 b) {
    return a < b ? a : b;
}

// Word k of a row: for bf16 two neighbours, for float32 one.
inline Word wordOf(F32, const void* row, i64 k, i64) {
    Word w;
    __builtin_memcpy(&w, static_cast<const float*>(row) + k, sizeof w);
    return w;
}
inline Word wordOf(Halves, const void* row, i64 k, i64 columns) {
    const auto* at = static_cast<const std::uint16_t*>(row) + 2 * k;
    return at[0] | (2 * k + 1 < columns ? static_cast<Word>(at[1]) << 16 : 0u);
}

constexpr i64 width(F32) {
    return 4;
}
constexpr i64 width(Halves) {
    return 2;
}

template <typename E>
void transposed(const void* source, i64 stride, i64 rows, i64 columns, Word* out, i64 panelStride) {
    const auto* bytes = static_cast<const unsigned char*>(source);
    const i64 rowBytes = stride * width(E{}), perWord = 4 / width(E{}), all = (columns + perWord - 1) / perWord, full = columns / perWord;
    for (i64 first = 0; first < rows; first += kPanel) {
        Word* panel = out + first / kPanel * panelStride;
        const i64 here = least(kPanel, rows - first);
        i64 k = 0;
        if (kTransposes16 && here == kPanel)
            for (; k + 16 <= full; k += 16)
                for (i64 half = 0; half < kPanel; half += 16) {
                    Words block[16];
                    for (int i = 0; i < 16; ++i) block[i] = words(reinterpret_cast<const Word*>(bytes + (first + half + i) * rowBytes) + k);
                    transpose16(block);
                    for (int i = 0; i < 16; ++i) store(panel + (k + i) * kPanel + half, block[i]);
                }
        for (; k < all; ++k)
            for (i64 n = 0; n < kPanel; ++n) panel[k * kPanel + n] = n < here ? wordOf(E{}, bytes + (first + n) * rowBytes, k, columns) : 0u;
    }
}

void summedRows(F32, const void* source, i64 stride, i64 rows, i64 columns, Word* out, i64 panelStride) {
    const auto* from = static_cast<const float*>(source);
    for (i64 first = 0; first < columns; first += kPanel) {
        Word* panel = out + first / kPanel * panelStride;
        const i64 wide = least(kPanel, columns - first);
        for (i64 k = 0; k < rows; ++k) {
            __builtin_memcpy(panel + k * kPanel, from + k * stride + first, static_cast<std::size_t>(wide) * sizeof(float));
            for (i64 n = wide; n < kPanel; ++n) panel[k * kPanel + n] = 0;
        }
    }
}

void summedRows(Halves, const void* source, i64 stride, i64 rows, i64 columns, Word* out, i64 panelStride) {
    const auto* from = static_cast<const Bf16*>(source);
    for (i64 k = 0; 2 * k < rows; ++k) {
        const Bf16* even = from + 2 * k * stride;
        const bool pair = 2 * k + 1 < rows;
        const Bf16* odd = pair ? even + stride : even;
        for (i64 first = 0; first < columns; first += kPanel) {
            Word* to = out + first / kPanel * panelStride + k * kPanel;
            const i64 wide = least(kPanel, columns - first);
            if (wide == kPanel && pair) {
                for (i64 c = 0; c < kPanel; c += kLanes) store(to + c, pairs(even + first + c, odd + first + c));
                continue;
            }
            for (i64 n = 0; n < kPanel; ++n)
                to[n] = n < wide ? even[first + n].bits | (pair ? static_cast<Word>(odd[first + n].bits) << 16 : 0u) : 0u;
        }
    }
}

template <typename E>
void summedRowsOf(const void* source, i64 stride, i64 rows, i64 columns, Word* out, i64 panelStride) {
    summedRows(E{}, source, stride, rows, columns, out, panelStride);
}

}  // namespace

extern const gemm::PackerTable gemmPackers;  // a constant is local to its file otherwise
const gemm::PackerTable gemmPackers = {
    .packers = {{.transposed = transposed<F32>, .summedRows = summedRowsOf<F32>},
                {.transposed = transposed<Halves>, .summedRows = summedRowsOf<Halves>}},
};

}  // namespace stepscope::STEPSCOPE_ISA
