// steadyNow(): nanoseconds of the steady clock, as captures note when something began. Any thread.
#pragma once
#include <chrono>
#include <cstdint>

namespace stepscope {

inline std::int64_t steadyNow() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace stepscope
