// Any bytes as a safetensors header: entries that together take no more than the data, or one sentence.
#include "core/base/Check.h"
#include "core/data/SafeTensorsHeader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    constexpr std::uint64_t kData = 4096;
    const auto entries = stepscope::parseSafeTensorsHeader({reinterpret_cast<const char*>(bytes), size}, kData, "fuzz.safetensors");
    if (!entries) {
        SS_CHECK(entries.error().sentence.ends_with('.'));
        return 0;
    }
    std::uint64_t together = 0;
    for (const auto& [name, entry] : *entries) {
        SS_CHECK(entry.begin <= entry.end && entry.end <= kData);
        together += entry.end - entry.begin;
    }
    SS_CHECK(together <= kData);
    return 0;
}
