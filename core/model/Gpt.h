// Gpt: the forward pass as functions over a WeightsView. Called by Programs on the trainer thread and by generation.
#pragma once
#include "core/model/ModelOps.h"
#include "core/model/WeightsView.h"

namespace stepscope {

// Final hidden states after the last norm. tokens: (B, T) int64, T <= config.positions. -> (B, T, C)
at::Tensor gptHidden(const GptConfig& config, const WeightsView& weights, const ModelOps& ops, const at::Tensor& tokens);

// Logits of every position. -> (B, T, Vp); columns of padded ids hold -inf.
at::Tensor gptLogits(const GptConfig& config, const WeightsView& weights, const at::Tensor& hidden);

// Mean cross-entropy in nats. targets: (B, T) int64. -> scalar
at::Tensor gptLoss(const GptConfig& config, const WeightsView& weights, const ModelOps& ops, const at::Tensor& tokens, const at::Tensor& targets);

}  // namespace stepscope
