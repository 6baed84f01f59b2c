// bench_kernels [--benchmark_filter=REGEX]: each fused operation against the plain LibTorch composition, forwards and backwards under
// autograd, at shape M (batch 8, context 256, width 384, 6 heads, vocabulary 50257), float32 and bf16 autocast, attention also at other
// contexts and widths of a head; then the kernels that have
// no slot of their own. bytes/s counts what an operation has to read and write at least, once each. Run by hand:
//   build/release/tests/bench/bench_kernels
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "core/fused/FusedOps.h"
#include "core/fused/Optimizer.h"
#include "core/kernels/isa/Isa.h"
#include "core/program/ProgramScope.h"
#include "core/state/Optimizer.h"

using namespace stepscope;

namespace {

constexpr std::int64_t B = 8, T = 256, C = 384, H = 6, V = 50257;

using Tensors = std::vector<at::Tensor>;
using Operation = std::function<Tensors(const Tensors&)>;

struct Case {
    std::string name;
    Tensors inputs;   // float32 leaves
    bool lowInputs;   // under autocast the activations (3 dimensions and more) come in bf16
    double elements;  // read and written at least, forwards and backwards
    Operation plain, fused;
};

at::Tensor leaf(at::IntArrayRef size, double scale = 1) {
    return (at::randn(size) * scale).set_requires_grad(true);
}

std::vector<Case> cases() {
    const at::Tensor tokens = at::randint(V, {B, T}, at::TensorOptions().dtype(at::kLong)),
                     targets = at::randint(V, {B, T}, at::TensorOptions().dtype(at::kLong));
    const double rows = B * T;
    const auto one = [](auto f) { return [f](const Tensors& in) { return Tensors{f(in)}; }; };
    const auto norm = [&](auto f) {
        return [f](const Tensors& in) {
            const NormedSum out = f(in[0], in[1], NormKind::LayerNorm, in[2], in[3]);
            return Tensors{out.sum, out.normed};
        };
    };
    const auto heads = [&](auto split, auto attend) {
        return one([=](const Tensors& in) {
            const Heads h = split(in[0], in[1], in[2], H);
            return plain::mergeHeads(attend(h.q, h.k, h.v));
        });
    };
    const auto attend = [&](auto f) { return one([f](const Tensors& in) { return f(in[0], in[1], in[2]); }); };
    const Tensors qkv{leaf({B, H, T, C / H}), leaf({B, H, T, C / H}), leaf({B, H, T, C / H})};
    std::vector<Case> all{
        {"embedding",
         {leaf({V, C}), leaf({T, C})},
         false,
         rows * C * 5,
         one([=](const Tensors& in) { return plain::embed(tokens, in[0], in[1]); }),
         one([=](const Tensors& in) { return fused::embed(tokens, in[0], in[1]); })},
        {"embedding_tied",
         {leaf({V, C}), leaf({T, C})},
         false,
         rows * C * 5,
         one([=](const Tensors& in) { return plain::embed(tokens, in[0], in[1]); }),
         one([=](const Tensors& in) { return fused::embedTied(tokens, in[0], in[1]); })},
        {"residual_norm",
         {leaf({B, T, C}), leaf({B, T, C}), leaf({C}), leaf({C})},
         true,
         rows * C * 9,
         norm(plain::residualNorm),
         norm(fused::residualNorm)},
        {"linear_gelu",
         {leaf({B, T, C}), leaf({4 * C, C}, 0.05), leaf({4 * C})},
         true,
         rows * C * 4 * 5,
         one([](const Tensors& in) { return plain::linearGelu(in[0], in[1], in[2]); }),
         one([](const Tensors& in) { return fused::linearGelu(in[0], in[1], in[2]); })},
        {"linear_swiglu",
         {leaf({B, T, C}), leaf({8 * C, C}, 0.05), leaf({8 * C})},
         true,
         rows * C * 4 * 8,
         one([](const Tensors& in) { return plain::linearSwiglu(in[0], in[1], in[2]); }),
         one([](const Tensors& in) { return fused::linearSwiglu(in[0], in[1], in[2]); })},
        {"heads_and_attention",
         {leaf({B, T, C}), leaf({3 * C, C}, 0.05), leaf({3 * C})},
         true,
         rows * C * 12,
         heads(plain::linearHeads, sdpaAttention),
         heads(fused::linearHeads, fused::attention)},
        {"attention_against_sdpa", qkv, true, rows * C * 12, attend(sdpaAttention), attend(fused::attention)},
        {"attention_against_manual", qkv, true, rows * C * 12, attend(manualAttention), attend(fused::attention)},
        {"loss",
         {leaf({B, T, C}), leaf({V, C}, 0.05)},
         true,
         rows * V * 4,
         one([=](const Tensors& in) { return plain::loss(in[0], in[1], targets, {.vocabulary = V}); }),
         one([=](const Tensors& in) { return fused::loss(in[0], in[1], targets, {.vocabulary = V}); })},
    };
    // The same number of tokens and the same width, cut into heads and sequences of other sizes.
    for (const std::int64_t context : {32L, 128L, 512L, 2048L})
        for (const std::int64_t head : {16L, 64L, 128L}) {
            const std::vector<std::int64_t> size{B * T / context, C / head, context, head};
            all.push_back({"attention_context_" + std::to_string(context) + "_head_" + std::to_string(head),
                           {leaf(size), leaf(size), leaf(size)},
                           true,
                           rows * C * 12,
                           attend(sdpaAttention),
                           attend(fused::attention)});
        }
    return all;
}

void run(benchmark::State& state, const Case& c, const Operation& op, bool low) {
    Tensors inputs;
    for (const auto& in : c.inputs) {
        // The activations that come out of a product are bf16 leaves; the residual stream (the norm's first input) stays float32.
        const bool residual = c.name == "residual_norm" && inputs.empty();
        const bool asLow = low && c.lowInputs && in.dim() >= 3 && !residual;
        inputs.push_back(in.detach().to(asLow ? at::kBFloat16 : at::kFloat).set_requires_grad(true));
    }
    Tensors gradients;
    for (auto _ : state) {
        Tensors outputs;
        {
            const AutocastScope autocast(at::kCPU, low ? std::optional(at::kBFloat16) : std::nullopt);
            outputs = op(inputs);
        }
        if (gradients.empty())
            for (const auto& out : outputs) gradients.push_back(out.dim() == 0 ? at::ones_like(out) : at::randn(out.sizes()).to(out.scalar_type()));
        for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].backward(gradients[i], /*retain_graph=*/i + 1 < outputs.size());
        for (auto& in : inputs) in.mutable_grad() = at::Tensor();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<double>(state.iterations()) * c.elements * (low ? 2 : 4)));
}

void clipAndUpdate(benchmark::State& state, bool fusedPass) {
    ParameterGroup group{.parameters = {at::randn({30'000'000})},
                         .gradients = {at::randn({30'000'000})},
                         .firstMoments = {at::randn({30'000'000})},
                         .secondMoments = {at::randn({30'000'000}).abs()},
                         .decays = true};
    std::vector<ParameterGroup> groups{group};
    for (auto _ : state) {
        if (fusedPass) {
            benchmark::DoNotOptimize(fused::globalNorm(group.gradients));
            fused::adamW({.stepSize = 1e-6f, .gradientScale = 0.9f},
                         {group.parameters, group.gradients, group.firstMoments, group.secondMoments, group.lowWeights});
        } else {
            clipByNorm(groups, globalNorm(groups), 1e9);
            adamWFused(groups[0], {.rate = 1e-6});
        }
    }
    state.SetBytesProcessed(state.iterations() * 30'000'000 * 4 * 8);
}

}  // namespace

int main(int argc, char** argv) {
    host_memory::install();
    host_memory::setMode(host_memory::Mode::Caching);
    benchmark::Initialize(&argc, argv);
    benchmark::AddCustomContext("instruction set", toString(isaInUse()));
    benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
    const auto all = cases();
    for (const auto& c : all)
        for (const bool low : {false, true})
            for (const bool fusedForm : {false, true}) {
                const std::string name = c.name + (low ? "/bf16" : "/float32") + (fusedForm ? "/fused" : "/plain");
                benchmark::RegisterBenchmark(name.c_str(),
                                             [&c, low, fusedForm](benchmark::State& state) { run(state, c, fusedForm ? c.fused : c.plain, low); })
                    ->Unit(benchmark::kMillisecond)
                    ->UseRealTime();
            }
    for (const bool fusedPass : {false, true})
        benchmark::RegisterBenchmark(fusedPass ? "clip_adamw/fused" : "clip_adamw/plain",
                                     [fusedPass](benchmark::State& state) { clipAndUpdate(state, fusedPass); })
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
    benchmark::RunSpecifiedBenchmarks();
}
