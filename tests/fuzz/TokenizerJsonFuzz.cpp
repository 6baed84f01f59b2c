// Any bytes as the tokenizer that a checkpoint holds: a tokenizer that writes itself down again the same, or one sentence.
#include "core/base/Check.h"
#include "core/data/tokenizers/Tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string json(reinterpret_cast<const char*>(bytes), size);
    const auto tokenizer = stepscope::tokenizerFromJson(json);
    if (!tokenizer) {
        SS_CHECK(tokenizer.error().sentence.ends_with('.'));
        return 0;
    }
    const auto again = stepscope::tokenizerFromJson((*tokenizer)->toJson());
    SS_CHECK(again.ok() && (*again)->toJson() == (*tokenizer)->toJson());
    return 0;
}
