#include "core/kernels/isa/Isa.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace stepscope {
namespace {

// Whether processor and system have AMX's tiles and its products of bf16, and this process may use them. Their registers are large, so that Linux
// saves them for processes only that have asked (Documentation/arch/x86/xstate.rst); it refuses where a thread's stack for signals is too small for
// them.
bool tilesAllowed() {
#if defined(__x86_64__) && defined(__linux__)
    constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kSavesRegisters = 1u << 27;
    constexpr unsigned kTileState = 3u << 17;  // of XCR0: configuration and data
    constexpr long kAskFor = 0x1023, kTileData = 18;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & kSavesRegisters) == 0) return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & (kBf16 | kTile)) != (kBf16 | kTile)) return false;
    unsigned low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & kTileState) == kTileState && ::syscall(SYS_arch_prctl, kAskFor, kTileData) == 0;
#else
    return false;
#endif
}

}  // namespace

const char* toString(Isa isa) {
    switch (isa) {
        case Isa::Baseline:
            return "baseline";
        case Isa::Avx2:
            return "avx2";
        case Isa::Avx512:
            return "avx512";
        case Isa::Avx512Bf16:
            return "avx512bf16";
        case Isa::Amx:
            return "amx";
    }
    return "baseline";
}

bool isaNamed(const char* word, Isa& isa) {
    for (const Isa one : {Isa::Baseline, Isa::Avx2, Isa::Avx512, Isa::Avx512Bf16, Isa::Amx})
        if (std::strcmp(word, toString(one)) == 0) {
            isa = one;
            return true;
        }
    return false;
}

Isa isaOfThisCpu() {
#if defined(__x86_64__)
    // These ask for the system's support of the wide registers too.
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::Baseline;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return Isa::Avx2;
    if (!__builtin_cpu_supports("avx512bf16")) return Isa::Avx512;
    return tilesAllowed() ? Isa::Amx : Isa::Avx512Bf16;
#else
    return Isa::Baseline;
#endif
}

Isa isaInUse() {
    static const Isa chosen = [] {
        const Isa most = isaOfThisCpu();
        const char* asked = std::getenv("STEPSCOPE_ISA");
        Isa lower = most;
        if (asked != nullptr) isaNamed(asked, lower);
        return lower < most ? lower : most;
    }();
    return chosen;
}

}  // namespace stepscope
