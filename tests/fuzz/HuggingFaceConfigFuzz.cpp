// Any bytes as the config.json of a model of others: sizes that a model can have, written down the same again, or one sentence.
#include "core/base/Check.h"
#include "core/data/foreign/HuggingFaceConfig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const auto sizes = parseHuggingFaceConfig({reinterpret_cast<const char*>(bytes), size}, "fuzz");
    if (!sizes) {
        SS_CHECK(sizes.error().sentence.ends_with('.') && sizes.error().sentence.starts_with("fuzz ") && sizes.error().sentence.size() < 1000);
        return 0;
    }
    SS_CHECK(sizes->layers >= 1 && sizes->layers <= kMostForeignLayers && sizes->heads >= 1 && sizes->width % sizes->heads == 0);
    SS_CHECK(sizes->vocabulary >= 1 && sizes->vocabulary <= kMostForeignRows && sizes->positions >= 1 && sizes->positions <= kMostForeignRows);
    const auto again = parseHuggingFaceConfig(huggingFaceConfig({.sizes = *sizes}), "fuzz");
    SS_CHECK(again.ok() && *again == *sizes);
    return 0;
}
