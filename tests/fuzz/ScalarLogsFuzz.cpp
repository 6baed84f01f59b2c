// Any bytes as TensorBoard's events and as a log of llm.c: numbers, or one sentence.
#include "core/base/Check.h"
#include "sessions/importers/ScalarLogs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    importing::TraceBuilder trace("/tmp");
    trace.beginFile(0);
    importing::ScalarSteps steps;
    for (const Status& read : {importing::readEventBytes(text, "bytes", trace, steps), importing::readLlmcText(text, "bytes", trace, steps)})
        if (!read) SS_CHECK(read.error().sentence.ends_with('.'));
    (void)importing::looksLikeEventFile(text);
    (void)importing::looksLikeLlmcLog(text);
    (void)steps.events(steps.firstNs());
    return 0;
}
