// DataParallel: one worker's side of steps that several workers make together, each on sequences of its own. It hears from a Program which gradients
// are final (GradientRanges.h) and adds them up with the others', in buckets, on a thread of its own while backward goes on; and it hands numbers
// round. What lies on a GPU is added up there (GpuSums.h). One a run: Programs come and go under it. Trainer thread.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/events/RunPlan.h"
#include "core/kernels/isa/Bf16.h"
#include "core/program/GpuSums.h"
#include "core/program/GradientRanges.h"
#include "core/workers/Collectives.h"

namespace stepscope {

// The others are not there any more. Thrown on the trainer thread; the State is as it was before the step, unless it holds a part of the moments:
// then some of its weights may be of the step already.
class WorkersApart : public std::runtime_error {
public:
    explicit WorkersApart(Error error) : std::runtime_error(error.sentence), m_error(std::move(error)) {}
    const Error& error() const { return m_error; }

private:
    Error m_error;
};

// What came from a worker is nothing that this program says.
WorkersApart strangeWords(std::size_t worker);

// What a worker wants at the boundary between two steps; of all workers' the last one in this order holds. Change: the first one has been asked for
// something that all hear next (ofFirst) and do before they agree once more, on a stop too.
enum class Wish { GoOn, Wait, Stop, Change };

class DataParallel final : public GradientSubscriber {
public:
    // The group outlives it.
    explicit DataParallel(Collectives& group, std::int64_t bucketBytes = kGradientBucket);
    ~DataParallel() override;
    DataParallel(const DataParallel&) = delete;
    DataParallel& operator=(const DataParallel&) = delete;

    int rank() const { return m_group.place().rank; }
    int size() const { return m_group.place().size; }

    // From the next gradients that are final on. Float32 unless it was said; Bf16: each worker's gradients are rounded to bfloat16 once, added up by
    // Collectives::sumBf16() and widened again, so that a gradient g of the workers' g_r is within ((1 + 2^-8)^W - 1) * sum |g_r| of their sum. All
    // workers say the same before the same step.
    void addUpIn(SumPrecision precision) { m_sums = precision; }
    // Before the first step: what lies on `gpu`'s device is added up and handed round there from now on. All workers do the same.
    void addUpOn(std::unique_ptr<GpuSums> gpu) { m_gpu = std::move(gpu); }
    const GpuSums* gpu() const { return m_gpu.get(); }  // null: there is none

    void onFinal(const FinalGradients& range) noexcept override;
    // Numbers that are no gradients, float32, added up with them in every precision: before a step's first range, by all workers. There when reduce()
    // has returned.
    void addUpToo(const at::Tensor& numbers);
    void reduce() override;  // throws WorkersApart
    // For who lets go of a Program whose step broke before reduce(): what was handed on is added up where it lies, so it has to stay until then. On a
    // GPU nobody waits for that: nothing is added up there any more.
    void settle();

    // The losses of all micro-batches of a step, in the order of their sequences: workers take micro-batches in turn. Throws WorkersApart, as the
    // next four.
    std::vector<double> losses(const std::vector<double>& own);
    // Whether this worker has something to agree on behind the next step, and whether any had behind the newest: goes round with the losses, so that
    // a boundary at which nobody has costs no exchange of its own. Before the first step all have. With it goes how many bytes of a capture this
    // worker holds for the first one, and comes how many all others together held before the newest step.
    void meetNext(bool asks, std::int64_t holds = 0) {
        m_asksToMeet = asks;
        m_holds = holds;
    }
    bool somebodyMeets() const { return m_somebodyMeets; }
    std::int64_t othersHold() const { return m_othersHold; }
    // Every worker's numbers, as many of each, by rank; the same with every worker.
    std::vector<double> gather(const std::vector<double>& own);
    std::vector<std::byte> gatherBytes(const std::vector<std::byte>& own);
    Wish agree(Wish own);  // throws WorkersApart, too, where one says what is no wish
    // The first worker's text, with everybody; what the others give is not looked at. At most kLongestText bytes.
    static constexpr std::size_t kLongestText = 64 << 10;
    std::string ofFirst(const std::string& own);
    // Whether every worker could; its own reason where this one could not. For what a worker alone must not do.
    Status agree(const Status& own);

    // Of float32 values in as many parts as there are workers, bounds[rank] to bounds[rank + 1] of each: everybody's own part, in everybody's memory
    // of the whole. Throws WorkersApart, with some parts there and others not.
    void handRound(const at::Tensor& whole, const std::vector<std::int64_t>& bounds);
    // The same from a worker's part alone, wherever it lies, into memory of the host; undefined: this worker wants none.
    void bringTogether(const at::Tensor& own, const std::vector<std::int64_t>& bounds, const at::Tensor& whole);

    // How long steps have waited so far: for sums that backward did not hide, and for the others' losses.
    std::chrono::nanoseconds waited() const { return m_waited; }

private:
    // Ranges that follow each other in the layout, from the last to the first.
    struct Bucket {
        std::int64_t offset = 0, count = 0;
        std::vector<at::Tensor> gradients;  // in the layout's order
        std::vector<std::int64_t> offsets;  // theirs in it
        SumPrecision sums = SumPrecision::Float32;
        // On a GPU alone: the gradients rounded, where that is how they are added up, and the point behind which all of them are there.
        std::vector<at::Tensor> halves;
        std::shared_ptr<c10::Event> ready;
        bool inPlace() const;
    };
    void passParts(const at::Tensor& own, const std::vector<std::int64_t>& bounds, float* whole);
    bool onGpu(const Bucket& bucket) const { return m_gpu != nullptr && m_gpu->takes(bucket.gradients.front().device()); }
    void hand() noexcept;
    void queue(Bucket bucket);
    Status makeReady(Bucket& bucket) noexcept;
    Status reduceOnGpu();
    void work(const std::stop_token& stop);
    Status addUp(const Bucket& bucket);
    Status addUpOnGpu(const Bucket& bucket);
    Status addUp(float* values, std::int64_t count, SumPrecision precision);

    Collectives& m_group;
    std::int64_t m_bucketCount;  // elements
    Bucket m_open;               // of the trainer thread, as the next
    SumPrecision m_sums = SumPrecision::Float32;
    std::unique_ptr<GpuSums> m_gpu;
    bool m_givenToGpu = false;  // something of this step
    bool m_asksToMeet = true, m_somebodyMeets = true;
    std::int64_t m_holds = 0, m_othersHold = 0;  // bytes
    std::chrono::nanoseconds m_waited{};
    std::vector<float> m_own, m_all;  // of parts that go round
    std::vector<float> m_flat;        // of the own thread: a bucket whose gradients lie apart,
    std::vector<Bf16> m_halves;       // and one that is added up in bf16

    std::atomic<std::size_t> m_unsummed{0};  // as long as the queue

    std::mutex m_mutex;  // of all below
    std::condition_variable_any m_handed;
    std::condition_variable m_idle;
    std::vector<Bucket> m_queue;     // the one being added up is still in it
    std::vector<Bucket> m_underWay;  // on a GPU
    Status m_state;
    std::jthread m_thread;  // last: it uses everything above
};

}  // namespace stepscope
