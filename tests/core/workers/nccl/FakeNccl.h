// What the fake NCCL does, set by a test that has opened it: its fakeNccl() gives the one of the library. Its workers are threads of one process, its
// GPUs' memory that of the process.
#pragma once
#include <dlfcn.h>

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

// Of this process; as it is when a test begins.
inline FakeNccl& fakeAsNew(const char* library) {
    void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    FakeNccl& fake = *reinterpret_cast<FakeNccl* (*)()>(::dlsym(handle, "fakeNccl"))();
    fake.keyFails = false;
    fake.failsOf = -1;
    fake.lastError = "";
    fake.sums = fake.handedRound = 0;
    return fake;
}

}  // namespace stepscope

// libnccl.so.2's symbols beside this one.
extern "C" stepscope::FakeNccl* fakeNccl();
