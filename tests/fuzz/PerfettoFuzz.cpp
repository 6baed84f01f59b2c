// Any bytes as a trace in Perfetto's format, cut into pieces of any size: what is kept can be encoded, nested and read again, or it is one sentence.
#include "TracePieces.h"
#include "sessions/importers/PerfettoFile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope::importing;
    stepscope::readInPieces(bytes, size, [](std::string_view text, std::size_t piece, TraceBuilder& trace) {
        (void)looksLikePerfetto(text);
        return readPerfettoBytes(text, piece, trace);
    });
    return 0;
}
