#include "sessions/record/ChunkPacking.h"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>
#include <stdexcept>

namespace stepscope {
namespace {

constexpr int kLevel = 1;  // the recorder keeps up with what is written

}  // namespace

std::string packed(const Chunk& chunk) {
    thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
    if (!context) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    std::string frame(ZSTD_compressBound(chunk.bytes.size()), '\0');
    const std::size_t size = ZSTD_compress2(context.get(), frame.data(), frame.size(), chunk.bytes.data(), chunk.bytes.size());
    if (ZSTD_isError(size) != 0) throw std::runtime_error(ZSTD_getErrorName(size));
    frame.resize(size);
    frame.shrink_to_fit();
    return frame;
}

Result<std::vector<std::byte>> unpacked(const void* frame, std::size_t size, std::int64_t bytes) {
    const auto damaged = [](const std::string& cause) { return makeError(ErrorCode::Damaged, "A block of bulk data does not unpack.", cause); };
    if (bytes < 0 || bytes > static_cast<std::int64_t>(Chunk::kMaxBytes)) return damaged(fmt::format("{} bytes", bytes));
    const auto says = ZSTD_getFrameContentSize(frame, size);
    if (says != static_cast<unsigned long long>(bytes)) return damaged(fmt::format("the frame says {}, the row {}", says, bytes));
    std::vector<std::byte> content(static_cast<std::size_t>(bytes));
    const std::size_t got = ZSTD_decompress(content.data(), content.size(), frame, size);
    if (ZSTD_isError(got) != 0) return damaged(ZSTD_getErrorName(got));
    if (got != content.size()) return damaged("too short");
    return content;
}

}  // namespace stepscope
