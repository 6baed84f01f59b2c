// Share: a half-open range of units, and how units are dealt out among workers that work at the same time. Any thread.
#pragma once
#include <cstdint>

namespace stepscope {

struct Share {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};

// The part of worker `worker` of `workers` when `count` units are dealt out evenly.
inline Share share(std::int64_t count, int worker, int workers) {
    return {count * worker / workers, count * (worker + 1) / workers};
}

}  // namespace stepscope
