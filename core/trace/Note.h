// A sentence that belongs to what was captured, as a chunk of kind "note/1": why kernels are missing, say. Text in UTF-8, at most 4096 bytes.
#pragma once
#include <string>

#include "core/trace/Chunk.h"

namespace stepscope {

constexpr const char* kNote = "note/1";
// What it is about, as its lane.
constexpr std::int64_t kCaptureNotes = 0, kCounterNotes = 1;  // slices; the processor's own counters

ChunkPtr noteChunk(const std::string& sentence, TimeNs at, std::int64_t lane = kCaptureNotes);
// The bytes are a stranger's: control characters become spaces, and what is longer is cut.
std::string noteOf(const Chunk& chunk);

}  // namespace stepscope
