// Gpt: the forward pass as functions over a WeightsView. Called by Programs on the trainer thread and by generation.
#pragma once
#include "core/model/ModelOps.h"
#include "core/model/WeightsView.h"

namespace stepscope {

// What only training does; the default is validation and text.
struct Regularisation {
    double dropout = 0;              // of the embedding and of both branches of a block
    double smoothing = 0;            // of the labels
    std::uint64_t seed = 0;          // of the dropped elements, with
    std::int64_t step = 0;           //   the number of the update, from 1, and
    std::int64_t firstSequence = 0;  //   the place of these sequences among all of the step
    double backwardScale = 1;        // see LossSettings
};

// Final hidden states after the last norm. tokens: (B, T) int64, T <= config.positions. -> (B, T, C)
at::Tensor gptHidden(const GptConfig& config, const WeightsView& weights, const ModelOps& ops, const at::Tensor& tokens,
                     const Regularisation& training = {});

// Logits of every position. -> (B, T, Vp); columns of padded ids hold -inf.
at::Tensor gptLogits(const GptConfig& config, const WeightsView& weights, const at::Tensor& hidden);

// Mean cross-entropy in nats. targets: (B, T) int64. -> scalar
at::Tensor gptLoss(const GptConfig& config, const WeightsView& weights, const ModelOps& ops, const at::Tensor& tokens, const at::Tensor& targets,
                   const Regularisation& training = {});

}  // namespace stepscope
