// What VecTest.cpp runs in one instruction set: Vec's functions over arrays. Compiled once per set, like the kernels.
#include "core/kernels/isa/Vec.h"
#include "tests/core/kernels/VecTable.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

template <class Function>
STEPSCOPE_INLINE void each(const float* in, float* out, std::int64_t count, Function function) {
    forLanes(count, [&](std::int64_t i, std::int64_t lanes) { put(out + i, function(get(in + i, lanes)), lanes); });
}

void exps(const float* in, float* out, std::int64_t count) {
    each(in, out, count, [](Vec x) { return exp(x); });
}
void sigmoids(const float* in, float* out, std::int64_t count) {
    each(in, out, count, [](Vec x) { return sigmoid(x); });
}
void tanhs(const float* in, float* out, std::int64_t count) {
    each(in, out, count, [](Vec x) { return tanh(x); });
}
void rounded(const float* in, Bf16* out, std::int64_t count) {
    forLanes(count, [&](std::int64_t i, std::int64_t lanes) { put(out + i, get(in + i, lanes), lanes); });
}
void widened(const Bf16* in, float* out, std::int64_t count) {
    forLanes(count, [&](std::int64_t i, std::int64_t lanes) { put(out + i, get(in + i, lanes), lanes); });
}
float summed(const float* in, std::int64_t count) {
    Vec total = zero();
    forLanes(count, [&](std::int64_t i, std::int64_t lanes) { total = total + get(in + i, lanes); });
    return sum(total);
}
float greatest(const float* in, std::int64_t count) {
    Vec most = all(-3e38f);
    forLanes(count, [&](std::int64_t i, std::int64_t lanes) { most = max(most, firstLanes(get(in + i, lanes), lanes, all(-3e38f))); });
    return largest(most);
}

}  // namespace

const VecTable vecTable{exps, sigmoids, tanhs, rounded, widened, summed, greatest};

}  // namespace stepscope::STEPSCOPE_ISA
