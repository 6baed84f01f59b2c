// Any bytes as what another worker says of its capture, in pieces of any length: they are blocks that can be said again, or nothing.
#include <algorithm>

#include "core/base/Check.h"
#include "core/train/workers/SaidChunks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    if (size == 0) return 0;
    const std::size_t piece = 1 + bytes[0];
    const auto* data = reinterpret_cast<const std::byte*>(bytes + 1);
    std::vector<std::byte> again;
    HeardChunks heard;
    for (std::size_t at = 0; at < size - 1; at += piece)
        heard.hear(data + at, std::min(piece, size - 1 - at), [&](const Chunk& chunk) {
            SS_CHECK(checkChunk(chunk));
            sayChunk(chunk, again);
        });
    std::size_t blocks = 0;
    HeardChunks echo;
    echo.hear(again.data(), again.size(), [&](const Chunk&) { ++blocks; });
    SS_CHECK(echo.whole() && (again.empty() || blocks > 0));
    return 0;
}
