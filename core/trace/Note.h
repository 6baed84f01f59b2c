// A sentence that belongs to what was captured, as a chunk of kind "note/1": why kernels are missing, say. Text in UTF-8, at most 4096 bytes.
#pragma once
#include <string>

#include "core/trace/Chunk.h"

namespace stepscope {

constexpr const char* kNote = "note/1";

ChunkPtr noteChunk(const std::string& sentence, TimeNs at);
// The bytes are a stranger's: control characters become spaces, and what is longer is cut.
std::string noteOf(const Chunk& chunk);

}  // namespace stepscope
