#include "core/data/Zstd.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/Format.h"

namespace stepscope {
namespace {

// No text packs so well: what does was made to fill the memory, or the disk.
constexpr std::size_t kMostTimes = 1000, kUnasked = std::size_t{64} << 20;
constexpr std::size_t kMostTimesOfMany = 100;                  // of what is more than kMostUnpacked
constexpr std::size_t kPackedAtOnce = std::size_t{256} << 10;  // empty blocks give nothing, however many there are

}  // namespace

Status eachUnpacked(std::string_view packed, const std::string& name, const std::function<bool()>& cancelled,
                    const std::function<Result<bool>(std::string_view)>& take, std::size_t most) {
    const auto refused = [&](const std::string& what, std::string cause = {}) {
        return makeError(ErrorCode::BadInput, fmt::format("{} {}", name, what), std::move(cause));
    };
    const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), &ZSTD_freeDStream);
    ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 31);

    std::size_t given = 0;
    std::vector<char> block(ZSTD_DStreamOutSize());
    ZSTD_inBuffer in{packed.data(), 0, 0};
    // 0 where a frame has just ended. Without input a block that came out full may still be followed by another.
    std::size_t wanted = packed.empty() ? 1 : 0;
    for (bool full = false; in.pos < packed.size() || full;) {
        if (cancelled()) return makeError(ErrorCode::Cancelled, fmt::format("Reading {} was cancelled.", name));
        in.size = std::min(packed.size(), in.pos + kPackedAtOnce);
        ZSTD_outBuffer out{block.data(), block.size(), 0};
        wanted = ZSTD_decompressStream(stream.get(), &out, &in);
        if (ZSTD_isError(wanted)) {
            const char* why = ZSTD_getErrorName(wanted);
            if (given == 0 && !packed.starts_with("\x28\xB5\x2F\xFD"))
                return refused("is not packed with zstd, though its name ends in .zst; give it the name of what it is.", why);
            return refused(fmt::format("is damaged near byte {} ({}); fetch it again, and try it with zstd -t.", in.pos, why), why);
        }
        given += out.pos;
        if (given > most)
            return refused(fmt::format("unpacks to more than {}, which would have to lie in RAM; unpack it with zstd -d and give the file.",
                                       format::bytes({static_cast<std::int64_t>(most)})));
        if (const std::size_t times = given > kMostUnpacked ? kMostTimesOfMany : kMostTimes; given > kUnasked && given > times * in.pos)
            return refused(fmt::format("unpacks to more than {} times its size, as no text does; unpack it with zstd -d and look at it.", times));
        const auto goOn = take({block.data(), out.pos});
        if (!goOn) return goOn.error();
        if (!*goOn) return {};
        full = out.pos == out.size && wanted != 0;
    }
    if (wanted != 0) return refused(fmt::format("is cut short: after {} bytes it is not at its end; fetch it again.", packed.size()));
    return {};
}

Result<std::string> unpackZstd(std::string_view packed, const std::string& name, const std::function<bool()>& cancelled, std::size_t most,
                               Beyond beyond) {
    std::string text;
    const std::function<Result<bool>(std::string_view)> keep = [&](std::string_view piece) -> Result<bool> {
        text += piece.substr(0, most - text.size());
        return text.size() < most || beyond == Beyond::Refused;
    };
    const Status done = eachUnpacked(packed, name, cancelled, keep, beyond == Beyond::Refused ? most : std::string::npos);
    if (!done) return done.error();
    return text;
}

}  // namespace stepscope
