// Any bytes as the index of a model in several files: names of files in the same folder, or one sentence.
#include "core/base/Check.h"
#include "core/data/foreign/ShardIndex.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const auto fileOf = parseShardIndex({reinterpret_cast<const char*>(bytes), size}, "fuzz");
    if (!fileOf) {
        SS_CHECK(fileOf.error().sentence.ends_with('.') && fileOf.error().sentence.find("fuzz") != std::string::npos);
        return 0;
    }
    SS_CHECK(!fileOf->empty());
    for (const auto& [tensor, file] : *fileOf) SS_CHECK(file.find('/') == std::string::npos && file != ".." && file.ends_with(".safetensors"));
    const auto again = parseShardIndex(shardIndex(*fileOf, 1), "fuzz");
    SS_CHECK(again.ok() && *again == *fileOf);
    return 0;
}
