// NcclGroup: the GPUs of several workers, joined by NCCL: what lies on them is added up and handed round there. Calls put work onto a stream and
// return when NCCL has taken it; whether the GPUs have come to the end of it the stream tells, and what went wrong meanwhile state(). Nobody waits
// longer than the patience, and nobody waits who has been abandoned. Owned by core/program; torch-free and CUDA-free.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/Result.h"
#include "core/workers/nccl/NcclLibrary.h"

namespace stepscope {

// Elements beside each other, in the memory of a GPU.
struct NcclSlice {
    void* values = nullptr;
    std::int64_t count = 0;
};

class NcclGroup {
public:
    // All workers call it, each with its own GPU as the thread's current one; key: the same with all. library: one that can be used. patience: of all
    // calls but this one, which takes joinsWithin at most.
    static Result<std::unique_ptr<NcclGroup>> join(const NcclLibrary& library, const NcclKey& key, int rank, int size,
                                                   std::chrono::milliseconds patience, std::chrono::milliseconds joinsWithin);
    ~NcclGroup();  // does not wait for the others
    NcclGroup(const NcclGroup&) = delete;
    NcclGroup& operator=(const NcclGroup&) = delete;

    // The next two are called by all workers in the same order, of as many slices of the same lengths; by one thread at a time.
    // Every worker's values added up in place; the same bits with every worker.
    Status sum(const std::vector<NcclSlice>& slices, NcclType type, void* stream);
    // parts: one of each worker, by rank, in this worker's memory: its own with all others, and theirs here. Float32.
    Status handRound(const std::vector<NcclSlice>& parts, void* stream);

    // An error once NCCL has met one, of the GPUs or of the line between them. Any thread, as the next.
    Status state();
    // The group is worth nothing from here on: what runs on the GPU for it ends, and so does whoever waits in one of the above.
    void abandon();

private:
    NcclGroup(const NcclLibrary& library, std::chrono::milliseconds patience) : m_library(library), m_patience(patience) {}
    template <class Calls>
    Status together(const char* aim, std::chrono::milliseconds within, const Calls& calls);
    template <class Calls>
    Status grouped(const char* aim, const Calls& calls);
    Error failed(NcclResult result);  // of the call asked last; under the lock

    const NcclLibrary& m_library;
    std::chrono::milliseconds m_patience;
    std::mutex m_mutex;  // of all below
    NcclComm* m_comm = nullptr;
    const char* m_aim = "find each other";  // what was asked last: an error may come long after the call, to whoever looks first
    bool m_abandoned = false;
};

}  // namespace stepscope
