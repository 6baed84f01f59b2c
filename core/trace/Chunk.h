// Chunk: a block of bulk data of one session: slices of a trace, the pairs of an experiment, anything of which there is too much for an
// Event each. Immutable once it is made, handed on by pointer (EventSink::publishChunk), stored as it is by the recorder, and read back
// by kind, lane and range of time (sessions/SessionStore.h). What the bytes mean is between who writes a kind and who reads it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/base/Units.h"

namespace stepscope {

struct Chunk {
    static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
    static constexpr std::size_t kMaxKind = 64;

    std::string kind;        // the format of the bytes with its version, "slices/1": stored, never renamed
    std::int64_t lane = 0;   // which of the parallel streams of a kind: a thread, a GPU's stream, an arm
    TimeNs begin, end;       // half-open, of the session's clock: nothing in it lies outside
    std::int64_t count = 0;  // records in it
    std::vector<std::byte> bytes;
};

using ChunkPtr = std::shared_ptr<const Chunk>;

// Whether it can be stored: a kind of lower-case letters, digits, '-', '.' and '/', a range that does not run backwards, not too large.
Status checkChunk(const Chunk& chunk);

}  // namespace stepscope
