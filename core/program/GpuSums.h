// GpuSums: what of a step's gradients and weights lies on GPUs, added up and handed round between them by NCCL, on a stream of its own behind what
// backward has put onto its. A GPU that works with others does not notice that one of them is gone: so while it works, the workers go on meeting over
// Collectives, where that is noticed at once, and the sentence names who was lost. Made by core/program's user, used by DataParallel.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/workers/Collectives.h"
#include "core/workers/nccl/NcclGroup.h"

namespace stepscope {

class GpuSums {
public:
    // All workers call it at the same place. device: this worker's GPU, no two workers' the same one; patience: for the slowest. Where one of them
    // cannot, all of them get a sentence. The group outlives it. A test may name a CPU and a library that works on its memory.
    static Result<std::unique_ptr<GpuSums>> join(Collectives& group, at::Device device, std::chrono::milliseconds patience,
                                                 const NcclLibrary& library = ncclLibrary());
    ~GpuSums();
    GpuSums(const GpuSums&) = delete;
    GpuSums& operator=(const GpuSums&) = delete;

    int ncclVersion() const { return m_library.version; }  // 22809 for 2.28.9
    // Whether it is for tensors there.
    bool takes(at::Device device) const { return device == m_device; }

    // What the calling thread's current stream has been given so far; null on a CPU.
    std::shared_ptr<c10::Event> mark() const;

    // The next two put work under way behind `behind`; what goes wrong finish() tells all workers too. All workers call them in the same order, with
    // as many values; by one thread at a time. The tensors stay where they are until finish() has returned.
    // Every worker's values added up in place: float32 or bfloat16, contiguous.
    Status sum(const std::vector<at::Tensor>& values, const c10::Event* behind);
    // Of float32 values in as many parts as there are workers, bounds[rank] to bounds[rank + 1] of each: everybody's own part, in everybody's whole.
    Status handRound(const at::Tensor& whole, const std::vector<std::int64_t>& bounds);

    // Returns when the GPUs of all workers have come to the end of all that was put under way; allGiven: whether this worker's has. All call it
    // together. After an error nothing can be done together any more.
    Status finish(const std::function<bool()>& allGiven);
    // This worker cannot give what the others wait for: they hear of it in finish(), and so does it.
    void fail(Error why);
    // Ends what is under way, and returns when this worker's GPU writes nothing of it any more.
    void abandon();

private:
    enum class Reached : std::int32_t { UnderWay = 1, Done = 2, Late = 3, Failed = 4 };

    GpuSums(Collectives& group, at::Device device, std::chrono::milliseconds patience, const NcclLibrary& library);
    Status put(const c10::Event* behind, const std::function<Status(void* stream)>& work);
    Status meetUntilDone(const std::function<bool()>& allGiven);
    Status meet(Reached own, std::vector<Reached>& all);
    Reached look(const std::function<bool()>& allGiven);
    Error whyEnded(const std::vector<Reached>& all);

    Collectives& m_group;
    at::Device m_device;
    std::chrono::milliseconds m_patience;
    const NcclLibrary& m_library;
    std::optional<c10::Stream> m_stream;  // of the sums; none on a CPU
    std::optional<c10::Event> m_end;      // of what was put there last
    std::unique_ptr<NcclGroup> m_nccl;
    Status m_ended;      // what finish() has told
    std::mutex m_mutex;  // of the next
    Status m_failure;    // of this worker
};

}  // namespace stepscope
