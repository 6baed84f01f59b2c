#include "core/model/GptConfig.h"

#include <algorithm>

namespace stepscope {

std::int64_t GptConfig::hidden() const {
    if (activation == Activation::Gelu) return 4 * width;
    const std::int64_t multiple = width >= 512 ? 64 : 8;
    return std::max<std::int64_t>(1, (8 * width + 3 * multiple / 2) / (3 * multiple)) * multiple;
}

GptConfig gptConfig(const RunConfig& config, std::int64_t vocabulary) {
    return {.layers = config.layers,
            .heads = config.heads,
            .width = config.width,
            .vocabulary = vocabulary,
            .paddedVocabulary = vocabulary,
            .positions = 1,
            .splitQkv = config.qkv == "split",
            .activation = config.activation == "swiglu" ? Activation::Swiglu : Activation::Gelu,
            .tiedHead = config.tiedHead == "on",
            .placement = config.normPlacement == "post" ? NormPlacement::Post : NormPlacement::Pre,
            .norm = config.norm == "rmsnorm" ? NormKind::RmsNorm : NormKind::LayerNorm,
            .positionKind = config.positions == "rope" ? PositionKind::Rope : PositionKind::Learned,
            .bias = config.bias == "on"};
}

std::string differingKey(const GptConfig& a, const GptConfig& b) {
    if (a.layers != b.layers) return "layers";
    if (a.heads != b.heads) return "heads";
    if (a.width != b.width) return "width";
    if (a.vocabulary != b.vocabulary) return "vocabulary";
    if (a.splitQkv != b.splitQkv) return "qkv";
    if (a.activation != b.activation) return "activation";
    if (a.tiedHead != b.tiedHead) return "tied-head";
    if (a.placement != b.placement) return "norm-placement";
    if (a.norm != b.norm) return "norm";
    if (a.positionKind != b.positionKind) return "positions";
    if (a.bias != b.bias) return "bias";
    return {};
}

}  // namespace stepscope
