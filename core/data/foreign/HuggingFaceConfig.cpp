#include "core/data/foreign/HuggingFaceConfig.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/JsonDepth.h"
#include "core/data/tokenizers/Tokenizer.h"

namespace stepscope {
namespace {

constexpr double kEpsilon = 1e-5;        // of every norm, as core/model computes it
constexpr std::size_t kMostQuoted = 60;  // bytes of a value that a sentence carries

struct SizeKey {
    const char* name;
    const char* alias;  // transformers reads it in the first one's place
    std::int64_t usual, most;
    std::int64_t Gpt2Sizes::*size;
};
// What transformers takes where a file says nothing: the small GPT-2's.
constexpr std::array kSizeKeys{SizeKey{"n_layer", "num_hidden_layers", 12, kMostForeignLayers, &Gpt2Sizes::layers},
                               SizeKey{"n_head", "num_attention_heads", 12, kMostForeignHeads, &Gpt2Sizes::heads},
                               SizeKey{"n_embd", "hidden_size", 768, kMostForeignWidth, &Gpt2Sizes::width},
                               SizeKey{"vocab_size", nullptr, 50257, kMostForeignRows, &Gpt2Sizes::vocabulary},
                               SizeKey{"n_positions", "max_position_embeddings", 1024, kMostForeignRows, &Gpt2Sizes::positions}};

struct FlagKey {
    const char* name;
    bool usual, needed;
    const char* why;
};
constexpr std::array kFlagKeys{FlagKey{"scale_attn_weights", true, true, "attention that is not divided by the square root of its heads' width"},
                               FlagKey{"scale_attn_by_inverse_layer_idx", false, false, "attention that is divided by the number of the layer"},
                               FlagKey{"add_cross_attention", false, false, "attention to an encoder"}};

// All of these are x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
constexpr std::array<std::string_view, 4> kSameGelu{"gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_accurate"};

std::string quotedValue(const nlohmann::json& value) {
    std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    return text.size() <= kMostQuoted ? text : text.substr(0, kMostQuoted) + "...";
}

class ConfigReader {
public:
    ConfigReader(const nlohmann::json& all, const std::string& name) : m_all(all), m_name(name) {}

    // The value of a key; nullptr where it is missing or null.
    const nlohmann::json* find(const char* key) const {
        const auto found = key == nullptr ? m_all.end() : m_all.find(key);
        return found == m_all.end() || found->is_null() ? nullptr : &*found;
    }

    Status architecture() const {
        if (const auto* type = find("model_type")) {
            if (*type == "gpt2") return {};
            return unsupported(fmt::format("model_type is {}, and of the architectures of Hugging Face only gpt2 can be read", quotedValue(*type)));
        }
        return unsupported("it has no model_type, so that nobody can tell its architecture; of those of Hugging Face gpt2 can be read");
    }

    Result<Gpt2Sizes> sizes() const {
        Gpt2Sizes sizes;
        for (const SizeKey& key : kSizeKeys) {
            const auto* value = find(key.name);
            const auto* other = find(key.alias);
            if (value != nullptr && other != nullptr && *value != *other)
                return bad(fmt::format("{} is {} and {} is {}, which are one thing", key.name, quotedValue(*value), key.alias, quotedValue(*other)));
            if (value == nullptr) value = other;
            sizes.*key.size = key.usual;
            if (value == nullptr) continue;
            if (!value->is_number_unsigned() || value->get<std::uint64_t>() < 1 || value->get<std::uint64_t>() > static_cast<std::uint64_t>(key.most))
                return bad(fmt::format("{} is {}, and it takes a whole number from 1 to {}", key.name, quotedValue(*value), key.most));
            sizes.*key.size = value->get<std::int64_t>();
        }
        if (sizes.width % sizes.heads != 0) return bad(fmt::format("n_embd {} does not divide by n_head {}", sizes.width, sizes.heads));
        if (const auto* inner = find("n_inner"); inner != nullptr && *inner != 4 * sizes.width)
            return unsupported(fmt::format("n_inner is {}, and an MLP here is 4 x n_embd wide ({})", quotedValue(*inner), 4 * sizes.width));
        const auto tied = flag({"tie_word_embeddings", true, true, ""});
        if (!tied) return tied.error();
        sizes.tiedHead = *tied;
        return sizes;
    }

    Status arithmetic() const {
        if (const auto* used = find("activation_function"); used != nullptr) {
            const bool same =
                used->is_string() && std::ranges::find(kSameGelu, std::string_view(used->get_ref<const std::string&>())) != kSameGelu.end();
            if (!same)
                return unsupported(
                    fmt::format("activation_function is {}, and what can be computed here is gelu_new, the GELU by tanh", quotedValue(*used)));
        }
        if (const auto* epsilon = find("layer_norm_epsilon"); epsilon != nullptr && (!epsilon->is_number() || epsilon->get<double>() != kEpsilon))
            return unsupported(fmt::format("layer_norm_epsilon is {}, and norms here are computed with 1e-5", quotedValue(*epsilon)));
        for (const FlagKey& key : kFlagKeys) {
            const auto value = flag(key);
            if (!value) return value.error();
            if (*value != key.needed) return unsupported(fmt::format("{} is {}: {} cannot be computed here", key.name, *value, key.why));
        }
        // Where attention is computed in float32 anyway, as here, it means nothing; yet it must be what it says.
        if (const auto upcast = flag({"reorder_and_upcast_attn", false, false, ""}); !upcast) return upcast.error();
        if (const auto* pruned = find("pruned_heads"); pruned != nullptr && !pruned->empty())
            return unsupported("pruned_heads names heads that were taken out, and here every layer has all of them");
        if (find("quantization_config") != nullptr)
            return unsupported("quantization_config says that its weights are quantised; save them as float32, bfloat16 or float16");
        return {};
    }

private:
    // Null is false, as Python has it.
    Result<bool> flag(const FlagKey& key) const {
        const auto found = m_all.find(key.name);
        if (found == m_all.end()) return key.usual;
        if (found->is_null()) return false;
        if (!found->is_boolean()) return bad(fmt::format("{} is {}, and it takes true or false", key.name, quotedValue(*found)));
        return found->get<bool>();
    }
    Error bad(const std::string& what) const { return makeError(ErrorCode::BadInput, fmt::format("{} cannot be used: {}.", m_name, what)); }
    Error unsupported(const std::string& what) const {
        return makeError(ErrorCode::Unsupported, fmt::format("{} cannot be used: {}.", m_name, what));
    }

    const nlohmann::json& m_all;
    const std::string& m_name;
};

}  // namespace

Result<Gpt2Sizes> parseHuggingFaceConfig(std::string_view text, const std::string& name) {
    const auto broken = [&](const char* what) { return makeError(ErrorCode::Damaged, fmt::format("{} cannot be read: {}.", name, what)); };
    if (nestsDeeper(text)) return broken("its brackets nest deeper than those of any configuration");
    const auto all = nlohmann::json::parse(text, nullptr, false);
    if (!all.is_object()) return broken("it is not a JSON object");
    const ConfigReader reader(all, name);
    if (const auto known = reader.architecture(); !known) return known.error();
    if (const auto same = reader.arithmetic(); !same) return same.error();
    return reader.sizes();
}

std::string huggingFaceConfig(const HuggingFaceConfig& config) {
    const Gpt2Sizes& sizes = config.sizes;
    const nlohmann::ordered_json end = config.endOfText ? nlohmann::ordered_json(*config.endOfText) : nlohmann::ordered_json();
    const nlohmann::ordered_json all{{"architectures", {"GPT2LMHeadModel"}},
                                     {"model_type", "gpt2"},
                                     {"vocab_size", sizes.vocabulary},
                                     {"n_positions", sizes.positions},
                                     {"n_ctx", sizes.positions},
                                     {"n_embd", sizes.width},
                                     {"n_layer", sizes.layers},
                                     {"n_head", sizes.heads},
                                     {"n_inner", nullptr},
                                     {"activation_function", "gelu_new"},
                                     {"layer_norm_epsilon", kEpsilon},
                                     {"initializer_range", 0.02},
                                     {"scale_attn_weights", true},
                                     {"scale_attn_by_inverse_layer_idx", false},
                                     {"reorder_and_upcast_attn", false},
                                     {"add_cross_attention", false},
                                     {"tie_word_embeddings", sizes.tiedHead},
                                     {"embd_pdrop", config.dropout},
                                     {"resid_pdrop", config.dropout},
                                     {"attn_pdrop", 0.0},
                                     {"bos_token_id", end},
                                     {"eos_token_id", end},
                                     {"use_cache", true},
                                     {"torch_dtype", config.bf16 ? "bfloat16" : "float32"}};
    return all.dump(2) + "\n";
}

std::string huggingFaceTokenizerConfig(std::int64_t positions, bool endOfText) {
    nlohmann::ordered_json all{
        {"tokenizer_class", "GPT2Tokenizer"}, {"model_max_length", positions}, {"add_prefix_space", false}, {"clean_up_tokenization_spaces", false}};
    for (const char* token : {"bos_token", "eos_token", "unk_token"})
        all[token] = endOfText ? nlohmann::ordered_json(kEndOfText) : nlohmann::ordered_json();
    return all.dump(2) + "\n";
}

}  // namespace stepscope
