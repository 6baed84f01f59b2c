// The products by tiles (GemmTiles.h) over a unit in plain C++ that does what Intel's manual writes of TDPBF16PS, so that they are tested where no
// processor has it.
#include "core/kernels/gemm/GemmTiles.h"
#include "tests/core/kernels/GemmTilesTable.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

float half(Word word, bool high) {
    const Word bits = high ? word & 0xffff0000u : word << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
// Denormal numbers are zeros for the unit.
float flushed(float value) {
    return __builtin_fabsf(value) < 1.17549435e-38f ? __builtin_copysignf(0.0f, value) : value;
}

class PlainUnit {
public:
    void zero() { __builtin_memset(m_sums, 0, sizeof m_sums); }
    void load(const float* from, i64 stride) {
        for (i64 r = 0; r < 32; ++r) __builtin_memcpy(m_sums[r], from + r * stride, sizeof m_sums[r]);
    }
    void store(float* to, i64 stride) {
        for (i64 r = 0; r < 32; ++r) __builtin_memcpy(to + r * stride, m_sums[r], sizeof m_sums[r]);
    }
    void multiply(const Word* a, i64 rowStride, i64 blockStride, const Word* b, i64 blocks) {
        for (i64 block = 0; block < blocks; ++block, a += blockStride, b += kBlockWords * gemm::kPanel)
            for (i64 r = 0; r < 32; ++r)
                for (i64 c = 0; c < 32; ++c) {
                    float low = 0, high = 0;
                    for (i64 k = 0; k < 16; ++k) {
                        const Word left = a[r * rowStride + k], right = b[k * gemm::kPanel + c];
                        low = flushed(__builtin_fmaf(flushed(half(left, false)), flushed(half(right, false)), low));
                        high = flushed(__builtin_fmaf(flushed(half(left, true)), flushed(half(right, true)), high));
                    }
                    m_sums[r][c] = flushed(flushed(m_sums[r][c]) + flushed(low + high));
                }
    }

private:
    float m_sums[32][32];
};

}  // namespace

const gemm::FormTable plainTileForms = {.forms = {{}, {{"in-place", byTiles<PlainUnit, true, 16>()}, {"tiled", byTiles<PlainUnit, false, 3>()}}}};

}  // namespace stepscope::STEPSCOPE_ISA
