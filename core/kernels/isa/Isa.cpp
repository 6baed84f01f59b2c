#include "core/kernels/isa/Isa.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace stepscope {

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
    }
    return "baseline";
}

bool isaNamed(const char* word, Isa& isa) {
    for (const Isa one : {Isa::Baseline, Isa::Avx2, Isa::Avx512, Isa::Avx512Bf16})
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
    return __builtin_cpu_supports("avx512bf16") ? Isa::Avx512Bf16 : Isa::Avx512;
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
