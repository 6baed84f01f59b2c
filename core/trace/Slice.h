// Slice: something that had a begin and an end on one thread of a traced program: an operation, a step, a phase. SliceBlock: a few thousand of them
// of one thread with their names, as they are recorded, stored (SliceCodec.h), added up (core/analysis/OperationSummary.h) and exported. A block
// stands for itself: whoever has one needs no other to read it, and what is asked of many comes out the same however they were cut into blocks.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stepscope {

enum class SliceKind : std::uint8_t {  // stored as numbers: never renumbered
    Operation,                         // LibTorch's
    Own,                               // of our own kernels, one a thread that shares it
    Backward,                          // a node of autograd: the backward function of a forward operation
    Step,
    Phase,
    Evaluation,
};
constexpr int kSliceKinds = 6;
inline bool isOperation(SliceKind kind) {
    return kind <= SliceKind::Backward;
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
    std::int64_t step = 0;           // the number of the update; 0: unknown
    std::int64_t sequence = -1;      // autograd's number: a backward function has that of its forward operation; -1: none
    std::int64_t forwardThread = 0;  // of a backward function: where its forward operation ran (SliceThread::number); 0: unknown
    std::int64_t forwardStart = 0;   //   and when that began, where it was seen; 0: unknown
    std::int64_t correlation = 0;    // joins a launch with what it launched; 0: none

    std::int64_t self() const { return duration - called; }
    bool operator==(const Slice&) const = default;
};

// What operations were called with; few kinds of it, many calls.
struct SliceArguments {
    std::string text;        // one word an argument: Float[4,12], {Float[3];Float[4]}, int, float, true, false, -; see argumentsOf()
    std::int64_t flops = 0;  // of one call, 0: unknown
    std::int64_t bytes = 0;  // read and written by one call, 0: unknown
    bool operator==(const SliceArguments&) const = default;
};

struct SliceThread {
    std::int64_t process = 0, thread = 0;  // as the system numbers them
    std::int64_t number = 0;               // as autograd numbers threads; 0: unknown
    std::string name;
    bool operator==(const SliceThread&) const = default;
};

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

}  // namespace stepscope
