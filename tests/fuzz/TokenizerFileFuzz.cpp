// Any bytes as a tokenizer.json: two files of which a tokenizer can be made or not, or one sentence; and as what may stand beside those two.
#include "core/base/Check.h"
#include "core/data/foreign/TokenizerFile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    for (const Status& beside : {checkTokenizerSettings(text, "fuzz"), checkAddedTokens(text, "fuzz")})
        SS_CHECK(beside.ok() || (beside.error().sentence.ends_with('.') && beside.error().sentence.starts_with("fuzz ")));
    auto texts = parseTokenizerFile(text, "fuzz");
    if (!texts) {
        SS_CHECK(texts.error().sentence.ends_with('.') && texts.error().sentence.starts_with("fuzz "));
        return 0;
    }
    const auto tokenizer = bytePairTokenizer(std::move(*texts), true);
    if (!tokenizer) {
        SS_CHECK(tokenizer.error().sentence.ends_with('.'));
        return 0;
    }
    const auto again = tokenizerFromJson((*tokenizer)->toJson());
    SS_CHECK(again.ok() && (*again)->toJson() == (*tokenizer)->toJson());
    return 0;
}
