// ProgramBuilder: the parts of a Program. What the plan says in numbers is taken from it at once; the functions behind its words are slots, which
// the switches' install() fills. Used by the registry on the trainer thread.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/events/RunPlan.h"
#include "core/model/ModelOps.h"
#include "core/program/BatchFeed.h"
#include "core/program/ProgramScope.h"
#include "core/program/Recompute.h"
#include "core/program/StepProgram.h"
#include "core/state/Optimizer.h"

namespace stepscope {

// Clipping and AdamW on a GPU without waiting for it, for a captured step. norm: float32, no dimensions; step: the numbers of AdamWStep.
// Both lie on the device. Nothing is changed when the norm is not finite.
struct CapturedOptimizer {
    std::function<void(const std::vector<ParameterGroup>&, const at::Tensor& norm)> norm;
    std::function<void(ParameterGroup&, const at::Tensor& step, const at::Tensor& norm, double maxNorm)> update;
};

// What a Program is made of. Filled by ProgramBuilder, read by Programs.
struct ProgramParts {
    at::Device device{at::kCPU};
    ScopeSettings scope;
    std::optional<at::ScalarType> autocast;            // of the forward pass
    std::optional<at::ScalarType> validationAutocast;  // of evaluate()
    std::string attentionName = "auto";
    ModelOps ops;  // of the forward pass; backward is autograd's
    std::int64_t batchSize = 1, context = 1, accumulation = 1;
    double maxNorm = 0;                      // 0 = no clipping
    double dropout = 0, labelSmoothing = 0;  // in training steps only
    std::string optimizerName;
    OptimizerFunction optimizer;
    // When set, the norm to clip by; the optimizer then applies AdamW::gradientScale itself and no gradient is rewritten.
    std::function<double(const std::vector<ParameterGroup>&)> normForOptimizer;
    bool optimizerWritesLow = false;   // whether the optimizer fills ParameterGroup::lowWeights
    CapturedOptimizer captured;        // empty = this optimizer cannot be captured
    bool eightBitMoments = false;      // the State's moments are uint8; gradients that are no numbers are refused before they touch them
    std::int64_t lossScaleGrowth = 0;  // fp16: clean steps before the scale doubles; 0 = no loss scaling
    RecomputePlan recompute;           // applied to `ops` already; for Programs that do not run them
    // The forward pass reads a bfloat16 copy of the matrices that the optimizer keeps up to date, instead of casting them.
    bool keepsLowWeights() const { return optimizerWritesLow && autocast == at::kBFloat16; }
    bool keepGradients = false;                 // zero-grad: true = zero them in place, false = set to none
    bool keepZeros = false;                     // weights of the blocks' matrices that are zero get no gradient (state/Zeros.h)
    SumPrecision sums = SumPrecision::Float32;  // of gradients, with other workers
    AdamW adamW;                                // rate and t are set at each step
    FeedSettings feed;                          // where batches come from; every Program takes them through a BatchFeed
};

using ProgramMaker = std::function<std::unique_ptr<StepProgram>(ProgramParts)>;

class ProgramBuilder {
public:
    explicit ProgramBuilder(const RunPlan& plan);

    struct AttentionSlot {
        std::string name;
        AttentionFunction function;
        decltype(ScopeSettings::sdpa) backends;
    };
    void setAttention(AttentionSlot attention);
    void setOptimizer(std::string name, OptimizerFunction function);
    // One that clips by itself and writes ParameterGroup::lowWeights.
    void setClippingOptimizer(std::string name, OptimizerFunction function, decltype(ProgramParts::normForOptimizer) norm,
                              CapturedOptimizer captured);

    // One setter a slot of ModelOps.
    void setEmbedOp(decltype(ModelOps::embed) embed) { m_parts.ops.embed = std::move(embed); }
    void setNormOp(decltype(ModelOps::residualNorm) residualNorm) { m_parts.ops.residualNorm = std::move(residualNorm); }
    void setLinearOp(decltype(ModelOps::linear) linear) { m_parts.ops.linear = std::move(linear); }
    struct ActivationOps {
        decltype(ModelOps::linearGelu) gelu = plain::linearGelu;
        decltype(ModelOps::linearSwiglu) swiglu = plain::linearSwiglu;
    };
    void setActivationOps(ActivationOps activation);
    struct HeadsOps {
        decltype(ModelOps::linearHeads) split = plain::linearHeads;
        decltype(ModelOps::mergeHeads) merge = plain::mergeHeads;
    };
    void setHeadsOps(HeadsOps heads);
    void setLossOp(decltype(ModelOps::loss) loss) { m_parts.ops.loss = std::move(loss); }

    // Who executes the parts; without it an EagerProgram.
    void setProgram(ProgramMaker make) { m_make = std::move(make); }

    std::unique_ptr<StepProgram> build() const;

private:
    ProgramParts m_parts;
    ProgramMaker m_make;
};

}  // namespace stepscope
