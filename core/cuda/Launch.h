// How rows, columns and lists are cut into blocks and threads: pure arithmetic, tested without a GPU. Included by the .cu files and by
// tests/core/cuda.
#pragma once
#include <cstdint>

#include "core/base/HostDevice.h"

namespace stepscope::launch {

STEPSCOPE_HOST_DEVICE constexpr std::int64_t ceilDivide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

struct Range {
    std::int64_t begin, end;
};
// Part `index` of [0, count) cut into `parts` whose sizes differ by one at most.
STEPSCOPE_HOST_DEVICE constexpr Range part(std::int64_t count, std::int64_t parts, std::int64_t index) {
    return {count * index / parts, count * (index + 1) / parts};
}

constexpr std::int64_t clamp(std::int64_t value, std::int64_t least, std::int64_t most) {
    return value < least ? least : value > most ? most : value;
}

// Into how many chunks rows are cut so that column sums can be taken chunk by chunk: none worth less than `rowsWorthwhile`.
constexpr std::int64_t rowChunks(std::int64_t rows, std::int64_t rowsWorthwhile, std::int64_t most) {
    return clamp(ceilDivide(rows, rowsWorthwhile), 1, most);
}

constexpr int kWarp = 32;
// Threads of a block that shares `pieces` equal pieces of work, about `each` a thread: whole warps, 1024 at most.
constexpr int threadsFor(std::int64_t pieces, std::int64_t each) {
    return static_cast<int>(clamp(ceilDivide(ceilDivide(pieces, each), kWarp) * kWarp, kWarp, 1024));
}

// The second and third dimension of a grid end here; what is left is taken by striding.
constexpr std::int64_t kMostGridY = 65535;

// Elements of 16 bytes' worth go together where rows begin at multiples of them, else one by one.
constexpr bool packs(std::int64_t columns, int width) {
    return columns % width == 0;
}

// Number of the last entry of begins[0..count) that is <= place; begins ascend from 0.
STEPSCOPE_HOST_DEVICE int entryAt(const std::int32_t* begins, int count, std::int32_t place) {
    int low = 0, high = count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (begins[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

}  // namespace stepscope::launch
