// Slice: something that had a begin and an end in one lane of a traced program, a thread or a stream of a device: an operation, a step, a kernel.
// SliceBlock: a few thousand of them of one lane with their names, as they are recorded or imported, stored (SliceCodec.h), added up
// (core/analysis/captures/OperationSummary.h) and exported. A block stands for itself: whoever has one needs no other to read it, and what is asked
// of many comes out the same however they were cut into blocks.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

enum class SliceKind : std::uint8_t {  // stored as numbers: never renumbered
    Operation,                         // LibTorch's
    Own,                               // of our own kernels, one a thread that shares it
    Backward,                          // a node of autograd: the backward function of a forward operation
    Step,
    Phase,
    Evaluation,
    Annotation,        // a range that the traced program named itself: record_function, NVTX
    Python,            // a Python function
    Runtime,           // a call of the CUDA or HIP runtime
    Driver,            //   or of the driver below it
    Kernel,            // on a device, as are the five below
    Memcpy,            // a copy, SliceArguments::bytes large
    Memset,            //
    Synchronisation,   // a stream, an event or a context that is waited for
    DeviceAnnotation,  // an Annotation as its kernels spanned it
    Overhead,          // the profiler's own, on a thread or a device
    Other,             // of an imported trace; its category is "cat" of SliceArguments::extra
};
constexpr int kSliceKinds = 17;
inline bool isOperation(SliceKind kind) {
    return kind <= SliceKind::Backward;
}
// What keeps a device busy.
inline bool isDeviceWork(SliceKind kind) {
    return kind == SliceKind::Kernel || kind == SliceKind::Memcpy || kind == SliceKind::Memset;
}

constexpr std::int64_t kNoStep = -1;
// Of a run of ours, which counts its updates from 1 and says 0 outside of them.
inline std::int64_t stepOfRun(std::int64_t number) {
    return number > 0 ? number : kNoStep;
}

struct Slice {
    std::int64_t start = 0;     // ns of the session's clock
    std::int64_t duration = 0;  // ns
    std::int64_t called = 0;    // ns of it spent in what it called, on the same thread: the rest is its own
    std::uint32_t name = 0;     // a place in SliceBlock::strings, as are phase and role; 0: none
    std::uint32_t phase = 0;
    std::uint32_t role = 0;
    std::uint32_t arguments = 0;  // a place in SliceBlock::arguments; 0: none
    std::int32_t depth = 0;       // how many slices of its thread it lies in
    std::int32_t layer = -1;      // -1: of none
    SliceKind kind = SliceKind::Operation;
    bool recomputed = false;         // forward work that is run again in the backward pass
    std::int64_t step = kNoStep;     // the number of the update; a trace of another program may begin at 0
    std::int64_t sequence = -1;      // autograd's number: a backward function has that of its forward operation; -1: none
    std::int64_t forwardThread = 0;  // of a backward function: where its forward operation ran (SliceThread::number); 0: unknown
    std::int64_t forwardStart = 0;   //   and when that began, where it was seen; 0: unknown
    std::int64_t correlation = 0;    // joins a launch with what it launched; 0: none
    std::int64_t external = 0;       // joins what was launched with the operation that had it launched (Kineto's External id); 0: none

    std::int64_t self() const { return duration - called; }
    bool operator==(const Slice&) const = default;
};

// What operations were called with and kernels launched with; few kinds of it, many calls.
struct SliceArguments {
    std::string text;                     // one word an argument: Float[4,12], {Float[3];Float[4]}, int, float, true, false, -; see argumentsOf()
    std::int64_t flops = 0;               // of one call, 0: unknown
    std::int64_t bytes = 0;               // read and written by one call, of a copy its size, 0: unknown
    std::array<std::int64_t, 3> grid{};   // of a kernel's launch, in blocks x, y, z; 0: unknown
    std::array<std::int64_t, 3> block{};  //   and in threads
    std::int64_t registers = 0;           // of one thread of a kernel, 0: unknown
    std::int64_t sharedBytes = 0;         // of one block of a kernel
    std::string extra;                    // what else an imported trace says of it, a JSON object without line breaks; empty: nothing
    bool operator==(const SliceArguments&) const = default;
};

// A lane: where slices nest. A thread of the host, or a stream of a device.
struct SliceThread {
    std::int64_t process = 0, thread = 0;  // as the system numbers them; of a device its ordinal and the number of the stream
    std::int64_t number = 0;               // as autograd numbers threads; 0: unknown
    std::string name;
    std::int64_t lane = 0;     // told from the session's other lanes by this; 0: by `thread`
    std::int64_t device = -1;  // ordinal of the device whose stream it is; -1: a thread of the host
    std::int64_t rank = 0;     // which of the workers of a distributed run
    std::string processName;   // empty: unknown

    std::int64_t laneNumber() const { return lane != 0 ? lane : thread; }
    bool operator==(const SliceThread&) const = default;
};

// The lanes of a worker's captures, of slices and of samples, lie together, so that no two workers of one run have the same: 2^52 of them, from here
// on. A thread of the first one's has its own number, its streams and calls are above 2^40; of others as much more. Of 2048 workers and more they
// are below 0, and no two are the same either. (Before, threads of others were at 2^32 times their rank: such sessions read as they did.)
constexpr std::int64_t kLanesOfWorker = std::int64_t{1} << 52;
inline std::int64_t lanesFrom(std::int64_t rank) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(rank) * static_cast<std::uint64_t>(kLanesOfWorker));
}
// Where a worker of this rank has a lane that it names so, whatever rank it named it with.
inline std::int64_t laneOfWorker(std::int64_t lane, std::int64_t rank) {
    return lanesFrom(rank) + (lane & (kLanesOfWorker - 1));
}

// How captures begin the names of the threads that a planned step is shared among, beside the one that runs it: "worker 1". No other thread that a
// capture records is called so.
constexpr std::string_view kTeamLanePrefix = "worker ";
inline bool isTeamLane(const SliceThread& thread) {
    return thread.device < 0 && thread.name.starts_with(kTeamLanePrefix);
}

struct SliceBlock {
    SliceThread thread;
    std::int64_t lost = 0;     // slices of this thread that could not be kept since the block before
    std::int64_t invalid = 0;  //   and that ended before they began, or were shorter than what they called
    std::vector<std::string> strings{std::string()};
    std::vector<SliceArguments> arguments{SliceArguments()};
    std::vector<Slice> slices;

    bool operator==(const SliceBlock&) const = default;
};

// An argument of SliceArguments::text.
struct SliceArgument {
    std::string type;                             // "Float", "int", "-"; of a list that of its first element
    std::vector<std::vector<std::int64_t>> dims;  // of a tensor one, of a list one an element, else none
    bool list = false;
};
// Whatever the text is: what cannot be read is an argument without a type.
std::vector<SliceArgument> argumentsOf(const std::string& text);
// Of what it computes with: of its first tensor, or of the two that are multiplied where that is what their product is added to. "Float", "BFloat16";
// empty: there is none.
std::string elementType(const std::string& text);

}  // namespace stepscope
