#include "core/data/foreign/TokenizerFile.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/JsonDepth.h"

namespace stepscope {
namespace {

using TokenizerJson = nlohmann::json;

const TokenizerJson& partOf(const TokenizerJson& object, const char* key) {
    static const TokenizerJson null;
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : null;
}

bool isTrue(const TokenizerJson& object, const char* key) {
    return partOf(object, key) == true;
}

bool isEmptyText(const TokenizerJson& value) {
    return value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty());
}

// A template of the text alone, as newer versions of transformers write it, adds none.
bool addsTokens(const TokenizerJson& after) {
    if (after.is_null() || partOf(after, "type") == "ByteLevel") return false;
    const TokenizerJson& single = partOf(after, "single");
    return partOf(after, "type") != "TemplateProcessing" || !single.is_array() || single.size() != 1 || partOf(single[0], "Sequence").is_null();
}

// What differs from GPT-2's way, in a few words; empty = nothing.
std::string whyNotByteLevel(const TokenizerJson& all) {
    const TokenizerJson& model = partOf(all, "model");
    if (partOf(model, "type") != "BPE") return "its model is no BPE";
    if (!partOf(model, "dropout").is_null()) return "its model drops merges (dropout)";
    if (isTrue(model, "byte_fallback") || isTrue(model, "ignore_merges")) return "its model has byte_fallback or ignore_merges";
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!isEmptyText(partOf(model, affix))) return fmt::format("its model has a {}", affix);
    if (!partOf(all, "normalizer").is_null()) return "it has a normalizer";
    const TokenizerJson& words = partOf(all, "pre_tokenizer");
    if (partOf(words, "type") != "ByteLevel") return "its pre_tokenizer is not ByteLevel";
    if (isTrue(words, "add_prefix_space")) return "its pre_tokenizer adds a blank (add_prefix_space)";
    if (partOf(words, "use_regex") == false) return "its pre_tokenizer splits no words (use_regex)";
    return addsTokens(partOf(all, "post_processor")) ? "its post_processor adds tokens" : "";
}

std::string moreTokens() {
    return fmt::format("it has added tokens beside {}", kEndOfText);
}

Error brokenFile(const std::string& name, const std::string& what) {
    return makeError(ErrorCode::Damaged, fmt::format("{} cannot be read: {}.", name, what));
}

Error anotherKind(const std::string& name, const std::string& why) {
    return makeError(ErrorCode::Unsupported, fmt::format("{} is no tokenizer of GPT-2's kind: {}.", name, why));
}

Result<TokenizerJson> objectIn(std::string_view text, const std::string& name) {
    if (nestsDeeper(text)) return brokenFile(name, "its brackets nest deeper than those of any tokenizer");
    auto all = TokenizerJson::parse(text, nullptr, false);
    if (!all.is_object()) return brokenFile(name, "it is not a JSON object");
    return all;
}

}  // namespace

Status checkTokenizerSettings(std::string_view settings, const std::string& name) {
    const auto all = objectIn(settings, name);
    if (!all) return all.error();
    for (const char* key : {"add_prefix_space", "add_bos_token", "add_eos_token"})
        if (isTrue(*all, key)) return anotherKind(name, fmt::format("it sets {}", key));
    const TokenizerJson& added = partOf(*all, "added_tokens_decoder");  // by their ids
    if (added.is_object())
        for (const TokenizerJson& token : added)
            if (partOf(token, "content") != kEndOfText) return anotherKind(name, moreTokens());
    return {};
}

Status checkAddedTokens(std::string_view added, const std::string& name) {
    const auto all = objectIn(added, name);
    if (!all) return all.error();
    for (const auto& [token, id] : all->items())
        if (token != kEndOfText) return anotherKind(name, moreTokens());
    return {};
}

Result<BytePairTexts> parseTokenizerFile(std::string_view text, const std::string& name) {
    const auto broken = [&](const std::string& what) { return brokenFile(name, what); };
    const auto read = objectIn(text, name);
    if (!read) return read.error();
    const TokenizerJson& all = *read;
    if (const std::string why = whyNotByteLevel(all); !why.empty()) return anotherKind(name, why);
    const TokenizerJson& model = partOf(all, "model");
    TokenizerJson vocabulary = partOf(model, "vocab");
    const TokenizerJson& merges = partOf(model, "merges");
    if (!vocabulary.is_object() || !merges.is_array()) return broken("its model lacks vocab or merges");
    if (const TokenizerJson& added = partOf(all, "added_tokens"); added.is_array())
        for (const TokenizerJson& token : added) {
            if (partOf(token, "content") != kEndOfText) return anotherKind(name, moreTokens());
            vocabulary[kEndOfText] = partOf(token, "id");
        }
    // Older versions write "left right", newer ones a pair.
    std::string lines = "#version: 0.2\n";
    for (const TokenizerJson& merge : merges) {
        if (merge.is_string())
            lines += merge.get_ref<const std::string&>();
        else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
            lines += merge[0].get_ref<const std::string&>() + " " + merge[1].get_ref<const std::string&>();
        else
            return broken("one of its merges is no pair of symbols");
        lines += '\n';
    }
    return BytePairTexts{vocabulary.dump() + "\n", std::move(lines)};
}

}  // namespace stepscope
