// HeldSteps: steps that were observed and may be kept, each with its blocks of bulk data. What comes behind the step that it is of (kernels, which
// CUPTI hands over a few times a second, and samples, by the block) is cut by step when it is known which steps are kept; what is of none of them is
// let go of unread. SlowestCapture has one. No clock, no threads of its own; torch-free.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/base/Units.h"
#include "core/trace/Chunk.h"

namespace stepscope {

class HeldSteps {
public:
    struct Held {
        TimeNs begin, end;               // of the session's clock
        std::vector<ChunkPtr> chunks{};  // in the order in which they came
    };
    using Wanted = std::function<bool(std::int64_t step)>;

    // Steps come in order. What is of one alone comes with it.
    void add(std::int64_t step, Held held);
    // Of one step or several; slices, or samples.
    void addLate(ChunkPtr chunk) { m_late.push_back(std::move(chunk)); }
    // Lets go of all steps that are not wanted, but for the newest where `andNewest`: it may turn out the neighbour of the next.
    void drop(const Wanted& wanted, bool andNewest);
    // Cuts what came late to the steps that are held, as far as it lies before the newest one, of which it is not known yet whether it is wanted;
    // all: to its end. Afterwards nothing that was looked at is there but what is of those steps.
    void sortIn(bool all);

    std::size_t bytes() const;  // of all that is held
    const std::map<std::int64_t, Held>& steps() const { return m_steps; }
    std::map<std::int64_t, Held> take();

private:
    bool concerns(const Chunk& chunk, const Held& held) const;
    std::optional<std::int64_t> nearest(const Chunk& chunk) const;
    std::optional<std::int64_t> stepAt(std::int64_t ns, std::int64_t before) const;
    void cutSlices(const Chunk& chunk);
    void cutSamples(const Chunk& chunk);

    std::map<std::int64_t, Held> m_steps;
    std::vector<ChunkPtr> m_late;
    std::optional<std::int64_t> m_newest;
};

// How much of a block there was, where there is no room for it: the same lane without its slices, allocations or samples, which it counts as lost.
// Null: of another kind, or nobody's.
ChunkPtr onlyLost(const Chunk& chunk);

}  // namespace stepscope
