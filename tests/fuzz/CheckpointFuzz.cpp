// Any bytes as a checkpoint's state.json: a description that a run could have left, or one sentence.
#include "core/base/Check.h"
#include "core/data/CheckpointDescription.h"
#include "core/events/ConfigKeys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const auto read = parseCheckpointDescription({reinterpret_cast<const char*>(bytes), size}, "fuzz");
    if (!read) {
        SS_CHECK(read.error().sentence.ends_with('.') && read.error().sentence.find("fuzz") != std::string::npos);
        return 0;
    }
    for (const auto& key : configKeys()) SS_CHECK(parseValue(key.values, key.id, toString(key.get(read->config))).ok());
    SS_CHECK(read->config.width % read->config.heads == 0);
    SS_CHECK(read->step >= 0 && read->skipped >= 0 && read->skipped <= read->step && read->cursor >= 0 && read->cleanSteps >= 0);
    SS_CHECK(read->vocabulary >= 1 && read->positions >= 1);
    SS_CHECK(!read->lossScale || *read->lossScale > 0);
    return 0;
}
