// FlushDenormals: while it lives, this thread's float32 arithmetic takes and gives denormal numbers as zeros, as AVX512-BF16's dot product of pairs
// always does, so that products of pairs taken apart give the same bits. Included by *.isa.cpp files only.
#pragma once
#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {

#if STEPSCOPE_ISA_LEVEL >= 3
class FlushDenormals {
public:
    STEPSCOPE_INLINE explicit FlushDenormals(bool on) : m_on(on) {
        if (m_on) write(m_before = _mm_getcsr(), 0x8040);
    }
    STEPSCOPE_INLINE ~FlushDenormals() {
        if (m_on) write(m_before, 0);
    }
    FlushDenormals(const FlushDenormals&) = delete;
    FlushDenormals& operator=(const FlushDenormals&) = delete;

private:
    // The compiler does not know that arithmetic depends on this register: what is computed from memory stays behind it, and settle() before it.
    static STEPSCOPE_INLINE void write(unsigned state, unsigned more) {
        state |= more;
        asm volatile("ldmxcsr %0" : : "m"(state) : "memory");
    }
    unsigned m_before = 0;
    bool m_on;
};
// The value is computed here and not later.
STEPSCOPE_INLINE void settle(Vec& a) {
    asm volatile("" : "+v"(a.v));
}
#else
struct FlushDenormals {
    STEPSCOPE_INLINE explicit FlushDenormals(bool) {}
};
STEPSCOPE_INLINE void settle(Vec&) {}
#endif

}  // namespace stepscope::STEPSCOPE_ISA
