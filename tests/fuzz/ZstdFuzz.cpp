// Any bytes as .zst: what was packed, within the bound, or one sentence.
#include "core/base/Check.h"
#include "core/data/Zstd.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const std::function<bool()> never = [] { return false; };
    constexpr std::size_t kMost = 1'000'000;
    const auto text = stepscope::unpackZstd({reinterpret_cast<const char*>(bytes), size}, "fuzz.zst", never, kMost);
    if (text)
        SS_CHECK(text->size() <= kMost);
    else
        SS_CHECK(text.error().sentence.starts_with("fuzz.zst "));
    return 0;
}
