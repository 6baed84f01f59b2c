// vocab-padding: rounds the rows of the embedding (and of the tied head) up to a friendlier size.
#include <fmt/format.h>

#include <bit>

#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

std::int64_t padded(std::int64_t vocabulary, const VocabularyPadding& how) {
    if (how.powerOfTwo) return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(vocabulary)));
    return (vocabulary + how.multiple - 1) / how.multiple * how.multiple;
}

}  // namespace

Switch vocabPadding() {
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
            .note = [](const Machine&, const PlanDraft& draft, const Value& value) -> SwitchNote {
                const std::int64_t ids = draft.plan.vocabulary;
                if (ids == 0 || padded(ids, draft.plan.padding) != ids) return {};
                return idleNote(fmt::format("vocab-padding={} adds no row here: {} ids are {} already.", word(value), ids,
                                            draft.plan.padding.powerOfTwo ? "a power of two" : "a multiple of " + word(value)));
            },
            .resolve =
                [](PlanDraft& draft, const Value& value) {
                    const std::string& how = word(value);
                    draft.plan.padding = {.multiple = how == "64" ? 64 : how == "128" ? 128 : 1, .powerOfTwo = how == "power-of-two"};
                },
            .shape = [](GptConfig& wanted, const RunPlan& plan) { wanted.paddedVocabulary = padded(wanted.vocabulary, plan.padding); },
            .racing = {.promise = 40}};
}

}  // namespace stepscope
