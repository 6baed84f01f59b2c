// See MemoryPrediction.h.
#include "core/analysis/MemoryPrediction.h"

#include <algorithm>

namespace stepscope {
namespace {

// Products of sizes that a person may type: computed in double and capped, for 10^8 sequences must not wrap around.
Bytes saturated(double bytes) { return {static_cast<std::int64_t>(std::min(bytes, 9e18))}; }

}  // namespace

MemoryPrediction predictMemory(const RunConfig& config, std::int64_t vocabulary) {
    const double C = static_cast<double>(config.width), L = static_cast<double>(config.layers), H = static_cast<double>(config.heads);
    const double B = static_cast<double>(config.integer("batch-size")), T = static_cast<double>(config.integer("context"));
    const double V = static_cast<double>(vocabulary);
    const double parameters = V * C + T * C + L * (12 * C * C + 13 * C) + 2 * C;
    const bool low = config.word("amp") != "off";
    const double element = low ? 2 : 4;
    const bool scores = config.word("attention") == "manual" || config.word("attention") == "sdpa-math";

    // Kept for backward, per layer and token: two residual sums and two norms in float32 (4 C); qkv (3 C), attention's output and its
    // projection (2 C), fc before and after GELU (8 C), its projection (C) in the products' type.
    const double perToken = L * (4 * C * 4 + 14 * C * element);
    // manual keeps scores, masked scores and their softmax, (B, H, T, T) each.
    const double perTable = scores ? L * H * T * T * (element * 2 + 4) : 0;
    MemoryPrediction predicted;
    predicted.weights = saturated(parameters * 4 * (low ? 1.5 : 1));
    predicted.gradients = saturated(parameters * 4);
    predicted.moments = saturated(parameters * 8);
    predicted.activations = saturated(B * T * perToken + B * perTable);
    // Logits, their log-softmax in float32, and the gradient of both at the same time.
    predicted.logits = saturated(B * T * V * (low ? 2 + 4 + 4 + 2 : 4 * 3));
    return predicted;
}

}  // namespace stepscope
