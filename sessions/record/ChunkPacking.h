// The bytes of a Chunk as they are stored: one zstd frame with a checksum of its content. Packed on the recorder thread, outside of its
// transaction; unpacked on a reader's.
#pragma once
#include <string>

#include "core/trace/Chunk.h"

namespace stepscope {

std::string packed(const Chunk& chunk);

// Refuses, before it takes memory, what says that it is larger than Chunk::kMaxBytes or other than `bytes`; and what does not unpack. A frame is a
// stranger's.
Result<std::vector<std::byte>> unpacked(const void* frame, std::size_t size, std::int64_t bytes);

}  // namespace stepscope
