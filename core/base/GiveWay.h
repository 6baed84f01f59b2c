// giveWayUntil(): waits for something that other threads do within a millisecond or two. A thread that sleeps until it is told lets its processor
// fall asleep too, and in a virtual machine waking both takes longer than what was waited for. So it stays awake and lets every other thread go
// first, and the caller sleeps where it took longer.
#pragma once
#include <chrono>
#include <thread>

namespace stepscope {

constexpr std::chrono::milliseconds kGivesWay{2};

// Whether `done` came true; asked from this thread alone, again and again.
template <class Done>
bool giveWayUntil(Done done, std::chrono::nanoseconds most = kGivesWay) {
    const auto until = std::chrono::steady_clock::now() + most;
    while (!done()) {
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace stepscope
