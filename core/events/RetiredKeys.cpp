#include "core/events/RetiredKeys.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/events/ConfigKeys.h"
#include "core/events/ConfigNumbers.h"

namespace stepscope {
namespace {

constexpr const char* kValidationBatches = "validation-batches";  // micro-batches; validation-tokens since
constexpr std::int64_t kMostBatches = 100'000, kMostTokens = 1'000'000'000;

Result<std::int64_t> tokensOf(const RunConfig& config, const std::string& text) {
    auto batches = parseValue(IntegerRange{1, kMostBatches}, kValidationBatches, text);
    if (!batches) return batches.error();
    const BatchShape shape = batchShape(config);
    const std::int64_t batch = shape.sequences > 0 ? std::min(shape.sequences, kMostTokens) : 12,
                       context = shape.context > 0 ? std::min(shape.context, kMostTokens) : 128;  // tiny-cpu's, where nothing was stored
    const auto tokens =
        static_cast<long double>(std::get<std::int64_t>(*batches)) * static_cast<long double>(batch) * static_cast<long double>(context);
    return static_cast<std::int64_t>(std::min<long double>(tokens, kMostTokens));
}

}  // namespace

bool isRetired(const std::string& key) {
    return key == kValidationBatches;
}

Status takeRetired(RunConfig& config, const std::string&, const std::string& text) {
    const auto tokens = tokensOf(config, text);
    if (!tokens) return tokens.error();
    config.validationTokens = *tokens;
    return {};
}

std::string insteadOfRetired(const RunConfig& config, const std::string& key, const std::string& text) {
    const auto tokens = tokensOf(config, text);
    if (!tokens) return tokens.error().sentence;
    return fmt::format("{} is counted in tokens now, so that it does not depend on the batch: give validation-tokens={} instead.", key, *tokens);
}

}  // namespace stepscope
