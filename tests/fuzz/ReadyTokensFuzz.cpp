// Any bytes as a .bin of nanoGPT or llm.c: a row whose every id can be read, or one sentence.
#include <vector>

#include "core/base/Check.h"
#include "core/data/tokens/ReadyTokens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const auto owner = std::make_shared<std::string>(reinterpret_cast<const char*>(bytes), size);
    const auto ready = stepscope::readReadyTokens(*owner, owner, "fuzz.bin");
    if (!ready) {
        SS_CHECK(ready.error().sentence.ends_with('.'));
        return 0;
    }
    std::vector<std::int64_t> ids(static_cast<std::size_t>(ready->row->size()));
    ready->row->copy(0, ready->row->size(), ids.data());
    for (const auto id : ids) SS_CHECK(id >= 0 && id <= 0xFFFFFFFF);
    return 0;
}
