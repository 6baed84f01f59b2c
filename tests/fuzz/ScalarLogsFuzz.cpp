// Any bytes as TensorBoard's events and as a log of llm.c: numbers, or one sentence. And as the records of an event file with the checksums that they
// have to have, each behind a byte of its length: what stands behind the checksums is asked too.
#include <algorithm>
#include <cstring>
#include <string>

#include "core/base/Check.h"
#include "core/events/Event.h"
#include "sessions/file/MaskedCrc.h"
#include "sessions/importers/ScalarLogs.h"

namespace {

using namespace stepscope;

template <class Number>
std::string raw(Number value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::string wrapped(std::string_view records) {
    std::string all;
    while (!records.empty()) {
        const std::size_t size = std::min<std::size_t>(static_cast<unsigned char>(records.front()), records.size() - 1);
        const std::string_view record = records.substr(1, size);
        const std::string length = raw(static_cast<std::uint64_t>(size));
        all += length + raw(maskedCrc(length));
        all += record;
        all += raw(maskedCrc(record));
        records.remove_prefix(1 + size);
    }
    return all;
}

// Steps that come of it.
std::size_t readOf(std::string_view text) {
    importing::TraceBuilder trace("/tmp");
    trace.beginFile(0);
    importing::ScalarSteps steps;
    for (const Status& read : {importing::readEventBytes(text, "bytes", trace, steps),
                               importing::readEventBytes(wrapped(text), "bytes", trace, steps), importing::readLlmcText(text, "bytes", trace, steps)})
        if (!read) SS_CHECK(read.error().sentence.ends_with('.'));
    (void)importing::looksLikeEventFile(text);
    (void)importing::looksLikeLlmcLog(text);
    return steps.events(steps.firstNs()).size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    // A loss of 2 at step 1, as the event of a summary; it is reached behind its checksums.
    static const bool reached = readOf("\x1a\x09" + raw(1.7e9) + std::string("\x10\x01\x2a\x0d\x0a\x0b\x0a\x04loss\x15", 13) + raw(2.0F)) == 1;
    SS_CHECK(reached);
    (void)readOf({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
