// ForwardPlaces: where in the model each node of autograd came from. LibTorch gives an operation the number that the next node of its thread will
// have; the backward function has its node's number. So the last operation that began with a number is the innermost, and the one that made the node:
// its layer and role are the backward function's. Kept for the newest numbers of each thread that listens (OperationStream.cpp).
#pragma once
#include <cstdint>
#include <optional>

#include "core/base/StepPlace.h"

namespace stepscope::forward_places {

struct Origin {
    std::int64_t sequence = -1;
    StepPlace place;
    std::int64_t beginNs = 0;
};

// An operation of the calling thread that may make the node `sequence` (not negative).
void note(std::int64_t sequence, const StepPlace& place, std::int64_t beginNs);
// thread: as autograd numbers the one that the forward operation ran on.
std::optional<Origin> find(std::uint64_t thread, std::int64_t sequence);

}  // namespace stepscope::forward_places
