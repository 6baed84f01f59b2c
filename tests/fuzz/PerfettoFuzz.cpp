// Any bytes as a trace in Perfetto's format, cut into pieces of any size: what is kept can be encoded, nested and read again, or it is one sentence.
#include "core/base/Check.h"
#include "core/trace/SliceCodec.h"
#include "sessions/importers/PerfettoFile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const std::size_t piece = size > 0 ? 1 + bytes[0] % 64 : 1;
    importing::TraceBuilder trace("/tmp");
    trace.beginFile(0);
    const std::string_view text(reinterpret_cast<const char*>(bytes) + (size > 0 ? 1 : 0), size > 0 ? size - 1 : 0);
    (void)importing::looksLikePerfetto(text);
    const Status read = importing::readPerfettoBytes(text, piece, trace);
    if (!read) SS_CHECK(!read.error().sentence.empty() && read.error().sentence.ends_with('.'));
    const Status done = trace.finish([](const importing::TraceBuilder::Encode& encode) {
        const Chunk chunk = encode();
        SS_CHECK(checkChunk(chunk));
        if (!isSlices(chunk.kind)) return true;
        const auto block = decodeSlices(chunk);
        SS_CHECK(block && block->invalid == 0);
        return true;
    });
    SS_CHECK(done);
    return 0;
}
