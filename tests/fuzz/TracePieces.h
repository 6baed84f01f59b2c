// Between the fuzzers of the traces that are read piece by piece: any bytes as one, cut into pieces of any size.
#pragma once
#include "core/base/Check.h"
#include "core/trace/SliceCodec.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope {

// The first byte chooses the size of the pieces; read(text, piece, trace) reads the rest. What is kept can be encoded, nested and read again, or it
// is one sentence.
template <class Read>
void readInPieces(const std::uint8_t* bytes, std::size_t size, Read read) {
    const std::size_t piece = size > 0 ? 1 + bytes[0] % 64 : 1;
    importing::TraceBuilder trace("/tmp");
    trace.beginFile(0);
    const std::string_view text(reinterpret_cast<const char*>(bytes) + (size > 0 ? 1 : 0), size > 0 ? size - 1 : 0);
    const Status done = read(text, piece, trace);
    if (!done) SS_CHECK(!done.error().sentence.empty() && done.error().sentence.ends_with('.'));
    SS_CHECK(trace.finish([](const importing::TraceBuilder::Encode& encode) {
        const Chunk chunk = encode();
        SS_CHECK(checkChunk(chunk));
        if (!isSlices(chunk.kind)) return true;
        const auto block = decodeSlices(chunk);
        SS_CHECK(block && block->invalid == 0);
        return true;
    }));
}

}  // namespace stepscope
