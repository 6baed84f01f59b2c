// ModelOps: the operations a GPT's forward pass is made of, as typed slots. Each defaults to the plain LibTorch form (namespace
// plain, ModelOps.cpp); fused operations take a slot's place through ProgramBuilder. Called inside autograd and, for validation and
// text, outside it, under whatever autocast the Program set. Trainer and generator threads.
#pragma once
#include <functional>

#include "core/model/Attention.h"
#include "core/model/Dropout.h"
#include "core/model/GptConfig.h"
#include "core/model/Weight.h"

namespace stepscope {

struct NormedSum {
    at::Tensor sum;     // (B, T, C), the residual stream
    at::Tensor normed;  // (B, T, C)
};

struct NormSettings {
    NormKind kind;
    // Whether what is normed is the residual stream from here on (norm-placement=post): then it stays float32. Otherwise a product reads it, and it
    // may be in the product's type at once.
    bool isStream = false;

    NormSettings(NormKind which, bool stream = false) : kind(which), isStream(stream) {}
};

struct Heads {
    at::Tensor q, k, v;  // (B, H, T, D) each
};

struct LossSettings {
    std::int64_t vocabulary = 0;  // ids that can occur; rows of the head beyond it get no probability
    double smoothing = 0;         // label smoothing (Szegedy et al. 2016): this share of the target is spread over all ids
    double backwardScale = 1;     // the gradient that backward will start from: an operation that computes its gradients in forward
                                  // multiplies by it at once, or small ones would vanish in fp16; on a GPU it is taken as it is
};

constexpr double kNormEpsilon = 1e-5;  // GPT-2's layer_norm_epsilon
constexpr double kRopeBase = 10000;    // Su et al. 2021, section 3.2.2

namespace plain {

at::Tensor embed(const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe);
NormedSum residualNorm(const at::Tensor& x, const at::Tensor& delta, NormSettings settings, const at::Tensor& weight, const at::Tensor& bias);
at::Tensor linear(const at::Tensor& x, const Weight& weight, const Weight& bias);
at::Tensor linearGelu(const at::Tensor& x, const Weight& weight, const Weight& bias);
at::Tensor linearSwiglu(const at::Tensor& x, const Weight& weight, const Weight& bias);
Heads linearHeads(const at::Tensor& x, const Weight& weight, const Weight& bias, std::int64_t heads);
at::Tensor mergeHeads(const at::Tensor& y);
at::Tensor rotate(const at::Tensor& t, const at::Tensor& cosines, const at::Tensor& sines);
at::Tensor dropout(const at::Tensor& x, const DropoutPlace& place);
at::Tensor loss(const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets, const LossSettings& settings);

}  // namespace plain

using BlockFunction = std::function<at::Tensor(const at::Tensor& x)>;  // one block: residual stream (B, T, C) -> (B, T, C)

// An undefined bias = none, everywhere.
struct ModelOps {
    // tokens (B, T) int64, wte (Vp, C), wpe (T, C) or undefined -> (B, T, C) float32
    std::function<at::Tensor(const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe)> embed = plain::embed;
    // x (B, T, C) float32, delta the same shape in float32 or autocast's type, or undefined: no addition. sum = x + delta, normed over C:
    // LayerNorm (Ba et al. 2016) or RMSNorm (Zhang and Sennrich 2019).
    std::function<NormedSum(const at::Tensor& x, const at::Tensor& delta, NormSettings settings, const at::Tensor& weight, const at::Tensor& bias)>
        residualNorm = plain::residualNorm;
    // x (B, T, I), weight (O, I), bias (O) -> (B, T, O): the projections that nothing follows
    std::function<at::Tensor(const at::Tensor& x, const Weight& weight, const Weight& bias)> linear = plain::linear;
    // weight (F, C) -> (B, T, F): GELU(tanh) of the linear (Hendrycks and Gimpel 2016)
    std::function<at::Tensor(const at::Tensor& x, const Weight& weight, const Weight& bias)> linearGelu = plain::linearGelu;
    // weight (2F, C) -> (B, T, F): silu(first half) * second half (Shazeer 2020)
    std::function<at::Tensor(const at::Tensor& x, const Weight& weight, const Weight& bias)> linearSwiglu = plain::linearSwiglu;
    // weight (3C, C), rows of q, then k, then v
    std::function<Heads(const at::Tensor& x, const Weight& weight, const Weight& bias, std::int64_t heads)> linearHeads = plain::linearHeads;
    // (B, H, T, D) -> (B, T, C)
    std::function<at::Tensor(const at::Tensor& y)> mergeHeads = plain::mergeHeads;
    AttentionFunction attention = sdpaAttention;
    // RoPE on q or k (B, H, T, D), cosines and sines (T, D/2) float32: element d of the first half turns with element d of the second
    std::function<at::Tensor(const at::Tensor& t, const at::Tensor& cosines, const at::Tensor& sines)> rotate = plain::rotate;
    // x / (1 - rate) where DropoutMask keeps, else 0; the embedding (B, T, C) and what each branch adds to the residual stream
    std::function<at::Tensor(const at::Tensor& x, const DropoutPlace& place)> dropout = plain::dropout;
    // hidden (B, T, C), headWeight (Vp, C), targets (B, T) int64 -> scalar, mean cross-entropy in nats
    std::function<at::Tensor(const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets, const LossSettings& settings)> loss =
        plain::loss;
    // Runs one block. Empty = blocks are not cut apart: what one adds last is added by the next one's norm.
    std::function<at::Tensor(std::int64_t layer, const at::Tensor& x, const BlockFunction& block)> block;
};

}  // namespace stepscope
