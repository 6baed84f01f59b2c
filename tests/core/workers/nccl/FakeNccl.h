// What the fake NCCL does, set by a test that has opened it: its fakeNccl() gives the one of the library. Its workers are threads of one process, its
// GPUs' memory that of the process.
#pragma once
#include <atomic>

namespace stepscope {

struct FakeNccl {
    bool keyFails = false;
    int failsOf = -1, failsAt = 0;             // what the worker of this rank puts under way for the failsAt-th time, from 1, meets
    int failsWith = 6;                         // this error: "remote error"
    const char* lastError = "";                // NCCL's own words about it
    std::atomic<int> sums{0}, handedRound{0};  // carried out, once for all workers
    std::atomic<int> alive{0};                 // workers that have joined and not left
};

}  // namespace stepscope

// libnccl.so.2's symbols beside this one.
extern "C" stepscope::FakeNccl* fakeNccl();
