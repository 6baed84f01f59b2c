// Collectives: what the workers of a run do together. Each is called by all of them in the same order, each from one thread at a time; it returns
// when the result is there. What goes wrong is one sentence, and nothing can be done together afterwards. WorkerGroup does it between processes;
// tests play the others. Torch-free.
#pragma once
#include <cstdint>

#include "core/base/Result.h"
#include "core/workers/WorkerPlace.h"

namespace stepscope {

class Collectives {
public:
    virtual ~Collectives() = default;
    virtual const WorkerPlace& place() const = 0;

    // Every worker's values added up, in place; the same bits with every worker.
    virtual Status sum(float* values, std::int64_t count) = 0;
    // The same of bfloat16 numbers, given as their bits (the upper half of a float32); each sum of two is rounded to nearest, ties to even, in an
    // order that is the group's.
    virtual Status sumBf16(std::uint16_t* bits, std::int64_t count) = 0;
    // Every worker's bytes, as many of each, by rank.
    virtual Status gather(const void* own, std::int64_t bytes, void* all) = 0;
};

}  // namespace stepscope
