// vocab-padding: rounds the rows of the embedding (and of the tied head) up to a friendlier size.
#include <bit>

#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

std::int64_t padded(std::int64_t vocabulary, const std::string& how) {
    if (how == "none") return vocabulary;
    if (how == "power-of-two") return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(vocabulary)));
    const std::int64_t multiple = how == "64" ? 64 : 128;
    return (vocabulary + multiple - 1) / multiple * multiple;
}

}  // namespace

Optimization vocabPadding() {
    return {.id = "vocab-padding",
            .title = "Vocabulary padding",
            .group = SwitchGroup::Kernels,
            .why =
                "Rounds the vocabulary up (50257 becomes 50304 for 64), so that the largest matrix product has sizes that fit the hardware's tiles. "
                "Padded ids get no probability and their rows stay zero.",
            .cost = "A few more rows of weights, moments and logits.",
            .reported = "96 → 93 ms",
            .values = Choices{{"none", "64", "128", "power-of-two"}},
            .byDefault = "none",
            .shape = [](GptConfig& wanted, const Value& value) { wanted.paddedVocabulary = padded(wanted.vocabulary, word(value)); }};
}

}  // namespace stepscope
