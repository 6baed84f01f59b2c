// Blocks of bulk data as one worker says them to the first one, in pieces of any length, and back. What is heard is a stranger's: lengths are checked
// before memory is taken. Torch-free; one thread at a time.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "core/trace/Chunk.h"

namespace stepscope {

constexpr std::size_t kMostSaidBytes = std::size_t{8} << 20;  // of one block; longer ones are not said

// Behind what is there. Of at most kMostSaidBytes.
void sayChunk(const Chunk& chunk, std::vector<std::byte>& into);

class HeardChunks {
public:
    // The next `count` bytes; `take` is given each block that is whole with them. What cannot be ends it: nothing is taken from there on.
    void hear(const std::byte* bytes, std::size_t count, const std::function<void(const Chunk&)>& take);
    // Whether all that came could be read, and nothing of a block is missing.
    bool whole() const { return m_good && m_pending.empty(); }

private:
    std::vector<std::byte> m_pending;  // of a block that is not whole
    bool m_good = true;
};

}  // namespace stepscope
