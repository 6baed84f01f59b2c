// Lists of parameters for one launch of many blocks, for AdamW.cu and AdamWEightBit.cu: a list travels in the kernel's arguments, so that no table
// has to be copied to the device, and a block takes one chunk of one parameter. Included by *.cu only.
#pragma once
#include <cuda_runtime.h>

#include "core/cuda/Launch.h"

namespace stepscope {

// Parameter: something with `count` elements. Chunk: elements a block takes.
template <class Parameter, int Most, std::int64_t Chunk>
struct ParameterList {
    Parameter parameters[Most];
    std::int32_t firstChunk[Most];  // of each parameter; chunks are numbered through the list
    std::int32_t count, chunks;

    // function(list, chunks before it) for all parameters, in as few lists as take them; one without elements is none. Returns the number of chunks.
    template <class Function>
    static std::int64_t each(const Parameter* parameters, std::int64_t count, Function function) {
        std::int64_t before = 0;
        ParameterList list{};
        for (std::int64_t begin = 0; begin < count; begin += Most, before += list.chunks) {
            list.count = list.chunks = 0;
            for (; list.count < Most && begin + list.count < count; ++list.count) {
                list.parameters[list.count] = parameters[begin + list.count];
                list.firstChunk[list.count] = list.chunks;
                list.chunks += static_cast<std::int32_t>(launch::ceilDivide(list.parameters[list.count].count, Chunk));
            }
            if (list.chunks > 0) function(list, before);
        }
        return before;
    }

    __device__ __forceinline__ int parameterOf(std::int32_t chunk) const { return launch::entryAt(firstChunk, count, chunk); }
    // Elements of parameters[which] that are `chunk`'s.
    __device__ __forceinline__ launch::Range rangeOf(int which, std::int32_t chunk) const {
        const std::int64_t begin = (chunk - firstChunk[which]) * Chunk, all = parameters[which].count;
        return {begin, begin + Chunk < all ? begin + Chunk : all};
    }
};

}  // namespace stepscope
