// Any bytes as a Chrome trace, cut into pieces of any size: what is kept can be encoded, nested and read again, or it is one sentence.
#include "TracePieces.h"
#include "sessions/importers/ChromeTrace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    stepscope::readInPieces(bytes, size, stepscope::importing::readChromeTraceBytes);
    return 0;
}
