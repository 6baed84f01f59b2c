// Any bytes as .jsonl: text that is valid UTF-8, or one sentence.
#include "core/base/Check.h"
#include "core/data/JsonLines.h"
#include "core/data/tokenizers/Utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const std::atomic<bool> never{false};
    const auto text = stepscope::textOfJsonLines({reinterpret_cast<const char*>(bytes), size}, "fuzz.jsonl", "\n\n", never);
    if (text)
        SS_CHECK(stepscope::utf8::findInvalid(text->text) == std::string::npos);
    else
        SS_CHECK(text.error().sentence.find(" line ") != std::string::npos);
    return 0;
}
