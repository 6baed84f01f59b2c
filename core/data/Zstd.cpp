#include "core/data/Zstd.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/Format.h"

namespace stepscope {
namespace {

// No text packs so well: what does was made to fill the memory.
constexpr std::size_t kMostTimes = 1000, kUnasked = std::size_t{64} << 20;
constexpr std::size_t kPackedAtOnce = std::size_t{256} << 10;  // empty blocks give nothing, however many there are

}  // namespace

Result<std::string> unpackZstd(std::string_view packed, const std::string& name, const std::atomic<bool>& cancelled, std::size_t most,
                               Beyond beyond) {
    const std::function<bool()> isCancelled = [&cancelled] { return cancelled.load(); };
    return unpackZstd(packed, name, isCancelled, most, beyond);
}

Result<std::string> unpackZstd(std::string_view packed, const std::string& name, const std::function<bool()>& cancelled, std::size_t most,
                               Beyond beyond) {
    const auto refused = [&](const std::string& what, std::string cause = {}) {
        return makeError(ErrorCode::BadInput, fmt::format("{} {}", name, what), std::move(cause));
    };
    const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), &ZSTD_freeDStream);
    ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 31);

    std::string text;
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
            if (text.empty() && !packed.starts_with("\x28\xB5\x2F\xFD"))
                return refused("is not packed with zstd, though its name ends in .zst; give it the name of what it is.", why);
            return refused(fmt::format("is damaged near byte {} ({}); fetch it again, and try it with zstd -t.", in.pos, why), why);
        }
        if (text.size() + out.pos > most && beyond == Beyond::LeftOut) return text.append(block.data(), most - text.size());
        if (text.size() + out.pos > most)
            return refused(fmt::format("unpacks to more than {}, which would have to lie in RAM; unpack it with zstd -d and give the file.",
                                       format::bytes({static_cast<std::int64_t>(most)})));
        if (text.size() + out.pos > kUnasked && text.size() + out.pos > kMostTimes * in.pos)
            return refused("unpacks to more than 1000 times its size, as no text does; unpack it with zstd -d and look at it.");
        text.append(block.data(), out.pos);
        full = out.pos == out.size && wanted != 0;
    }
    if (wanted != 0) return refused(fmt::format("is cut short: after {} bytes it is not at its end; fetch it again.", packed.size()));
    return text;
}

}  // namespace stepscope
