// RunPlan: what the registry of switches makes of a configuration on a machine. Every switch is resolved once, into types instead of words, and what
// gives way to what is decided already. Programs, their feed, the loop, the prediction of memory and what is reported read it; core/optimizations
// alone fills it, each switch its own part. Plain data without torch; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/events/RunConfig.h"

namespace stepscope {

enum class Precision { Float32, Bf16, Fp16 };
enum class MatmulPrecision { Highest, High, Medium };  // of float32 products: as they are, TF32, bf16
enum class HostMemory { System, Caching };
enum class Execution { Eager, Planned, Captured };  // by autograd; the whole step planned ahead; captured into CUDA graphs
enum class AttentionKind { Auto, Manual, Math, Flash, Efficient, Cudnn, Fused };
enum class LossKind { Plain, Chunked, Fused };
enum class SumPrecision { Float32, Bf16 };         // that gradients have on their way between workers
constexpr std::int64_t kGradientBucket = 4 << 20;  // bytes of float32 gradients that workers add up at a time, while backward goes on
enum class OptimizerKind { Loop, Foreach, Fused, FusedWithClipping, EightBit };

// Where the tokens lie. Device: in RAM here; the Program cuts on the device.
enum class TokenPlace { Text, Mapped, Ram, Device };

// How a batch is cut: id by id; a sequence at a time, targets after inputs; or from the row seen as overlapping windows of context + 1 ids, each read
// once for inputs and targets.
enum class BatchCreation { Loop, Vectorised, Strided };

struct FeedSettings {
    TokenPlace place = TokenPlace::Mapped;
    BatchCreation creation = BatchCreation::Vectorised;
    std::int64_t workers = 0, prefetch = 2;
    bool pinned = false;       // host memory that a GPU can read by itself
    bool nonBlocking = false;  // the copy runs on while the host goes on

    bool operator==(const FeedSettings&) const = default;
};

// Which parts of a forward pass are run again in backward.
struct RecomputePlan {
    std::int64_t everyKthBlock = 0;  // 0 = none, 1 = every block, 2 = blocks 0, 2, 4 ...
    bool attentionOnly = false;

    bool operator==(const RecomputePlan&) const = default;
};

// Operations of our own in the place of LibTorch's, beside attention, loss and optimizer.
struct FusedOperations {
    bool embedding = false, norm = false, activation = false;
    bool linear = false;  // the projections that nothing follows
    bool heads = false;   // q, k and v as views of one product

    bool operator==(const FusedOperations&) const = default;
};

struct VocabularyPadding {
    std::int64_t multiple = 1;  // rows of the embedding are a multiple of this,
    bool powerOfTwo = false;    // or the next power of two

    bool operator==(const VocabularyPadding&) const = default;
};

struct ValidationPlan {
    std::int64_t everySteps = 0;  // 0 = never, unless
    bool everyEpoch = false;
    Precision precision = Precision::Float32;

    bool happens() const { return everyEpoch || everySteps > 0; }
    bool operator==(const ValidationPlan&) const = default;
};

struct RunPlan {
    RunConfig config;             // complete and as it was chosen: what is no switch is read from here
    std::int64_t vocabulary = 0;  // ids that can occur; 0 = not known before the data are read
    std::string notes;            // what runs as another value than the one chosen, does nothing beside the others or is dear here: sentences

    std::optional<int> gpu;  // none = on the CPU
    MatmulPrecision matmulPrecision = MatmulPrecision::Highest;
    Precision precision = Precision::Float32;
    Execution execution = Execution::Eager;
    AttentionKind attention = AttentionKind::Auto;
    FusedOperations fused;
    LossKind loss = LossKind::Plain;
    std::int64_t lossRows = 0;  // Chunked: tokens whose logits exist at a time
    HostMemory hostMemory = HostMemory::Caching;
    bool cudnnAutotune = false;
    RecomputePlan recompute;
    VocabularyPadding padding;
    std::int64_t batchSize = 1, context = 1, accumulation = 1;
    OptimizerKind optimizer = OptimizerKind::Fused;
    bool keepsGradients = false;  // set to zero between steps instead of dropped
    double maxNorm = 0;           // that gradients are clipped to; 0 = they are not
    SumPrecision sums = SumPrecision::Float32;
    std::int64_t momentShares = 1;  // parts in which the moments are dealt out, one a worker; 1 = each holds them whole
    FeedSettings feed;
    ValidationPlan validation;

    bool onGpu() const { return gpu.has_value(); }
    std::string device() const { return gpu ? "cuda:" + std::to_string(*gpu) : "cpu"; }
    // The optimizer keeps a bfloat16 copy of the blocks' matrices, which the forward pass reads instead of casting them.
    bool keepsLowWeights() const { return optimizer == OptimizerKind::FusedWithClipping && precision == Precision::Bf16; }

    bool operator==(const RunPlan&) const = default;
};

// Whether both compute the same but for rounding and the order of sums: precisions, batches, clipping and the moments' form are alike.
inline bool sameArithmetic(const RunPlan& a, const RunPlan& b) {
    return a.precision == b.precision && a.matmulPrecision == b.matmulPrecision && a.batchSize == b.batchSize && a.context == b.context &&
           a.accumulation == b.accumulation && a.maxNorm == b.maxNorm && a.sums == b.sums &&
           (a.optimizer == OptimizerKind::EightBit) == (b.optimizer == OptimizerKind::EightBit);
}

}  // namespace stepscope
