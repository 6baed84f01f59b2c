// Any bytes as the file that keeps what a machine can do at most: known numbers above 0, or nothing.
#include <cmath>
#include <string_view>

#include "core/base/Check.h"
#include "core/prediction/MachinePeaks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const auto peaks = readPeaks(std::string_view(reinterpret_cast<const char*>(bytes), size), "m");
    if (!peaks) return 0;
    for (const double value : {peaks->float32, peaks->bf16, peaks->fp16, peaks->bytesPerSecond, peaks->secondsAPage})
        SS_CHECK(std::isnan(value) || (value > 0 && value < 1e18));
    SS_CHECK(readPeaks(writePeaks("m", *peaks), "m"));
    return 0;
}
