// Any bytes as a log in CSV: numbers, or one sentence with line and byte; and the same whatever the pieces are in which they come. And as rows behind
// the first line of our own forms, so that what stands behind the names is asked too.
#include <algorithm>
#include <string>

#include "core/base/Check.h"
#include "core/events/Event.h"
#include "sessions/importers/CsvLog.h"

namespace {

using namespace stepscope;

// Steps that come of it, or the sentence.
std::string readOf(std::string_view text, std::size_t atOnce) {
    importing::TraceBuilder trace("/tmp");
    trace.beginFile(0);
    importing::ScalarSteps steps;
    std::vector<std::string> notes;
    const Status read = importing::readCsvText(text, "bytes", trace, steps, notes, atOnce);
    if (!read) {
        SS_CHECK(read.error().sentence.ends_with('.') && read.error().sentence.find("(byte ") != std::string::npos);
        return read.error().sentence;
    }
    std::string all = std::to_string(steps.events(steps.firstNs()).size());
    for (const auto& [reason, count] : trace.counts().reasons) all += reason + std::to_string(count);
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const bool reached = readOf("run,step,time,metric,value\nr,1,0.5,loss,2\n", 3) == "1";
    SS_CHECK(reached);
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    for (const char* head : {"", "run,step,time,metric,value\n", "Step,r - time,r - measured_at,r - loss,r - cpu_pct\n", "step;loss\n"})
        SS_CHECK(readOf(head + text, std::string_view::npos) == readOf(head + text, 1 + size / 3));
    (void)importing::looksLikeCsv("bytes", text);
    return 0;
}
