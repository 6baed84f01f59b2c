// The order in which the parts of a gradient become final in backward, the same for every Program, and who is told of it. A reduction over several
// workers can begin with the last layers while backward is still busy with the first ones. Trainer thread, unless said otherwise.
#pragma once
#include <functional>
#include <vector>

#include "core/model/ParameterLayout.h"

namespace stepscope {

struct GradientRange {
    std::int64_t offset = 0, count = 0;  // elements of the flat layout, with the gaps between parameters
    std::size_t firstSlot = 0, slots = 0;
};

// An untied head, the matrices of the blocks from the last to the first, the embeddings (a tied one is the head's too), and then all biases and
// norms. Together they are the whole layout.
std::vector<GradientRange> gradientRanges(const ParameterLayout& layout);

struct FinalGradients {
    std::int64_t offset = 0, count = 0;  // as in GradientRange
    std::vector<at::Tensor> parameters;  // the gradients of the range's parameters in the layout's order; what is written there is what is used
    std::vector<std::int64_t> offsets;   // of the same parameters in the layout
};

class GradientSubscriber {
public:
    virtual ~GradientSubscriber() = default;
    // Each range once a step, in the order of gradientRanges(), from the backward pass of the last micro-batch on; in fp16 still multiplied by the
    // loss scale. On a GPU they are final on the current stream. On the thread that runs backward, which waits for it.
    virtual void onFinal(const FinalGradients& range) noexcept = 0;
    // After the last range: returns when the gradients may be measured, clipped and used.
    virtual void reduce() {}
};

// What a Program has for its subscriber: buffers what is final before its turn.
class GradientAnnouncer {
public:
    using GradientOf = std::function<at::Tensor(std::size_t slot)>;

    void subscribe(GradientSubscriber* subscriber) { m_subscriber = subscriber; }
    bool hasSubscriber() const { return m_subscriber != nullptr; }

    // Around the backward pass of the last micro-batch; between them the next two count, from one thread at a time. end() announces what is left.
    void begin(const ParameterLayout& layout, GradientOf gradientOf);
    void slotIsFinal(std::size_t slot);
    void rangeIsFinal(std::size_t range);
    void end();

private:
    void announce();

    GradientSubscriber* m_subscriber = nullptr;
    GradientOf m_gradientOf;
    std::vector<GradientRange> m_ranges;
    std::vector<std::int64_t> m_offsets;  // of each slot
    std::vector<std::size_t> m_rangeOf;   // of each slot
    std::vector<std::size_t> m_missing;   // of each range: slots that are not final yet
    std::size_t m_next = 0;               // range to be announced
    bool m_open = false;
};

}  // namespace stepscope
