// The faster forms of attention's two directions on this processor.
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/base/CounterRandom.h"
#include "core/kernels/attention/AttentionCpu.h"
#include "core/kernels/forms/FormChoice.h"

namespace stepscope {
namespace {

// One head's rows and all that both directions make of them.
struct Trial {
    AttentionShape shape;
    std::vector<Bf16> q, k, v, gradOut, out, gradQ, gradK, gradV;
    std::vector<float> logSum;
    std::vector<std::uint64_t> memory;  // of the scratch

    // Elements with random signs and fractions and exponents in [low, low + range).
    Trial(std::int64_t context, std::int64_t width, std::uint32_t low, std::uint32_t range)
        : shape{context, width, static_cast<float>(1 / std::sqrt(static_cast<double>(width)))}, logSum(static_cast<std::size_t>(context)) {
        std::uint64_t stream = 0;
        for (std::vector<Bf16>* input : {&q, &k, &v, &gradOut}) {
            input->resize(static_cast<std::size_t>(context * width));
            for (std::size_t i = 0; i < input->size(); ++i) {
                const std::uint64_t random = counterRandom(1, stream, i);
                (*input)[i].bits = static_cast<std::uint16_t>((random & 0x807f) | (low + (random >> 16) % range) << 7);
            }
            ++stream;
        }
        for (std::vector<Bf16>* output : {&out, &gradQ, &gradK, &gradV}) output->resize(q.size());
    }

    HeadRows<const Bf16> in(const std::vector<Bf16>& of) const { return {of.data(), shape.width}; }
    HeadRows<Bf16> to(std::vector<Bf16>& of) const { return {of.data(), shape.width}; }
    void* scratch(std::int64_t bytes) {
        memory.resize(static_cast<std::size_t>(bytes) / 8 + 8);
        return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
    }
    void run(const AttentionForwardTable<Bf16>& form) {
        form.run(shape, in(q), in(k), in(v), to(out), logSum.data(), scratch(form.scratchBytes(shape)));
    }
    void run(const AttentionBackwardTable<Bf16>& form) {
        form.run(shape, in(q), in(k), in(v), in(out), in(gradOut), logSum.data(), to(gradQ), to(gradK), to(gradV), scratch(form.scratchBytes(shape)));
    }
    bool sameAs(const Trial& other) const {
        const auto same = [](const auto& a, const auto& b) { return std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0; };
        return same(out, other.out) && same(logSum, other.logSum) && same(gradQ, other.gradQ) && same(gradK, other.gradK) && same(gradV, other.gradV);
    }
};

// Whether both ways give the same bits on this processor, with denormal numbers too.
template <class Table>
bool sameBits(const Table (&forms)[3], const AttentionForwardTable<Bf16>& forward) {
    for (const auto& [low, range] : {std::pair{118u, 10u}, std::pair{0u, 128u}}) {
        Trial one(45, 21, low, range), other(45, 21, low, range);
        one.run(forward), other.run(forward);
        one.run(forms[0]), other.run(forms[1]);
        if (!one.sameAs(other)) return false;
    }
    return true;
}

template <class Table>
const Table& fastest(const char* key, const Table (&forms)[3], const AttentionForwardTable<Bf16>& forward) {
    if (isaInUse() >= Isa::Amx) return forms[2];
    if (forms[1].run == forms[0].run || !sameBits(forms, forward)) return forms[0];
    Trial trial(256, 64, 118, 10);
    trial.run(forward);
    return chooseForm(key, {{"pairs", [&] { trial.run(forms[0]); }}, {"apart", [&] { trial.run(forms[1]); }}}) == "apart" ? forms[1] : forms[0];
}

}  // namespace

template <>
const AttentionForwardTable<float>& attentionForward<float>() {
    return attentionForwardCpu<float>().forms[0];
}
template <>
const AttentionBackwardTable<float>& attentionBackward<float>() {
    return attentionBackwardCpu<float>().forms[0];
}
template <>
const AttentionForwardTable<Bf16>& attentionForward<Bf16>() {
    const auto& forms = attentionForwardCpu<Bf16>().forms;
    static const AttentionForwardTable<Bf16>& chosen = fastest("attention.forward", forms, forms[0]);
    return chosen;
}
template <>
const AttentionBackwardTable<Bf16>& attentionBackward<Bf16>() {
    static const AttentionBackwardTable<Bf16>& chosen =
        fastest("attention.backward", attentionBackwardCpu<Bf16>().forms, attentionForwardCpu<Bf16>().forms[0]);
    return chosen;
}

}  // namespace stepscope
