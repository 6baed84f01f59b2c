// Isa: which instruction set the kernels use, chosen at run time. Called by each operation's dispatcher and by tests; any thread.
// An operation's <Op>.isa.cpp is compiled once per set (packaging/cmake/StepscopeIsa.cmake) and fills a table of functions in a
// namespace of that set; STEPSCOPE_ISA_TABLE declares the tables and STEPSCOPE_PICK_ISA gives the one for this processor.
#pragma once

namespace stepscope {

// Each contains the former ones. Baseline is plain C++ for any CPU; Amx has products of tiles (core/kernels/gemm) and is Avx512Bf16 otherwise.
enum class Isa { Baseline, Avx2, Avx512, Avx512Bf16, Amx };
const char* toString(Isa isa);  // "baseline", "avx2", "avx512", "avx512bf16", "amx": the words of STEPSCOPE_ISA

bool isaNamed(const char* word, Isa& isa);  // false: no set has that name

// The highest set that processor and system support: avx2 with fma; avx512 with F, BW, DQ and VL; amx with tiles of bf16, which Linux allows a
// process that asks for it (this does).
Isa isaOfThisCpu();
// The set in use: isaOfThisCpu(), or less when the environment variable STEPSCOPE_ISA named a lower one when this was first called.
Isa isaInUse();

template <class Table>
const Table& pickIsa(const Table& baseline, const Table& avx2, const Table& avx512, const Table& avx512bf16) {
    switch (isaInUse()) {
        case Isa::Amx:
        case Isa::Avx512Bf16:
            return avx512bf16;
        case Isa::Avx512:
            return avx512;
        case Isa::Avx2:
            return avx2;
        case Isa::Baseline:
            break;
    }
    return baseline;
}

}  // namespace stepscope

// In an operation's own header, inside namespace stepscope.
#if defined(__x86_64__)
#define STEPSCOPE_ISA_TABLE(Table, name) \
    namespace baseline {                 \
    extern const Table name;             \
    }                                    \
    namespace avx2 {                     \
    extern const Table name;             \
    }                                    \
    namespace avx512 {                   \
    extern const Table name;             \
    }                                    \
    namespace avx512bf16 {               \
    extern const Table name;             \
    }
#define STEPSCOPE_PICK_ISA(name) ::stepscope::pickIsa(baseline::name, avx2::name, avx512::name, avx512bf16::name)
#else
#define STEPSCOPE_ISA_TABLE(Table, name) \
    namespace baseline {                 \
    extern const Table name;             \
    }
#define STEPSCOPE_PICK_ISA(name) (baseline::name)
#endif

// One table for float and one for Bf16, nameFloat and nameBf16, and nameCpu<T>(), which gives the one for T on this processor.
#define STEPSCOPE_ISA_TABLES(Table, name)           \
    STEPSCOPE_ISA_TABLE(Table<float>, name##Float)  \
    STEPSCOPE_ISA_TABLE(Table<Bf16>, name##Bf16)    \
    template <class T>                              \
    const Table<T>& name##Cpu();                    \
    template <>                                     \
    inline const Table<float>& name##Cpu<float>() { \
        return STEPSCOPE_PICK_ISA(name##Float);     \
    }                                               \
    template <>                                     \
    inline const Table<Bf16>& name##Cpu<Bf16>() {   \
        return STEPSCOPE_PICK_ISA(name##Bf16);      \
    }
