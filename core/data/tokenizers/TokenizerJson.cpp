// tokenizerFromJson of Tokenizer.h: the tokenizer a checkpoint was trained with. Called when one is loaded.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/JsonDepth.h"
#include "core/data/tokenizers/Tokenizer.h"

namespace stepscope {
namespace {

Error notATokenizer(const char* what, std::string cause = {}) {
    return makeError(ErrorCode::Damaged, fmt::format("The stored tokenizer cannot be read: {}.", what), std::move(cause));
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> tokenizerFromJson(const std::string& json) {
    if (nestsDeeper(json)) return notATokenizer("its brackets nest deeper than those of any tokenizer");
    nlohmann::json parsed;
    try {
        parsed = nlohmann::json::parse(json);
    } catch (const nlohmann::json::exception& problem) {
        return notATokenizer("it is not JSON", problem.what());
    }
    const auto text = [&](const char* key) {
        const auto found = parsed.is_object() ? parsed.find(key) : parsed.end();
        return found != parsed.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const std::string name = text("name");
    if (name == "byte") return byteTokenizer();
    if (name == "char") {
        if (text("characters").empty()) return notATokenizer("it is of kind char but lists no characters");
        return charTokenizer(text("characters"));
    }
    if (name == "gpt2" && parsed.contains("vocabulary")) {
        auto tokenizer = bytePairTokenizer({text("vocabulary"), text("merges")}, text("separator") == "endoftext", "The stored vocabulary",
                                           "The stored list of merges");
        if (!tokenizer) return tokenizer;
        const std::string files = text("files");
        if (!files.empty() && files != nlohmann::json::parse((*tokenizer)->toJson()).value("files", "")) return notATokenizer("its hash differs");
        return tokenizer;
    }
    if (name == "gpt2") {
        auto tokenizer = gpt2Tokenizer({}, text("separator") == "endoftext");
        if (!tokenizer) return tokenizer;
        const std::string files = text("files");
        if (!files.empty() && nlohmann::json::parse((*tokenizer)->toJson()).value("files", "") != files)
            return makeError(
                ErrorCode::Damaged,
                "The GPT-2 vocabulary files here are not the ones this model was trained with; point STEPSCOPE_GPT2_VOCABULARY to those.");
        return tokenizer;
    }
    return notATokenizer("its name is none of byte, char and gpt2");
}

}  // namespace stepscope
