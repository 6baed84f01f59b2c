// Any bytes as a ladder: one that reads again as the same, or one sentence.
#include "core/base/Check.h"
#include "core/experiment/Ladder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const auto ladder = parseLadder({reinterpret_cast<const char*>(bytes), size}, "ladder", "ladder");
    if (!ladder) {
        SS_CHECK(ladder.error().sentence.starts_with("ladder"));
        return 0;
    }
    SS_CHECK(!ladder->rungs.empty() && ladder->rungs.size() <= kMostRungs);
    for (const auto& rung : ladder->rungs) SS_CHECK(!rung.settings.empty());
    SS_CHECK(parseLadder(ladder->source, "ladder", "ladder").ok());
    (void)checkLadder(*ladder, RunConfig{}, {}).ok();
    return 0;
}
