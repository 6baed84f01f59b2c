// What the two sides say when the line to an engine that outlives it is taken up again (app/workbench/engine/detached): what each has heard, so that
// nothing is lost and nothing happens twice. What is read is a stranger's. Pure functions; any thread.
#pragma once
#include <cstdint>

#include "sessions/wire/Frame.h"

namespace stepscope {

class LayoutWords;

struct Attach {
    std::uint64_t number = 0;  // of the newest event or chunk that this side has; 0: none
    bool anew = false;         // this side does not know it: the one before it is gone, and what the engine was told to be stored is all that is sure
};
FrameBytes attachToBytes(const Attach& attach);
Result<Attach> attachFromBytes(const FrameBytes& payload);

struct Attached {
    std::uint64_t commands = 0;  // number of the newest command that was heard; 0: none
    std::uint64_t behind = 0;    // what follows is behind the event or chunk of that number
};
FrameBytes attachedToBytes(const Attached& attached);
Result<Attached> attachedFromBytes(const FrameBytes& payload);

struct Safe {
    std::uint64_t number = 0;  // up to which events and chunks are stored
    bool all = false;          // so is how it ended: nothing need be kept
};
FrameBytes safeToBytes(const Safe& safe);
Result<Safe> safeFromBytes(const FrameBytes& payload);

void addLineLayout(LayoutWords& layout);  // for addWireLayout()

}  // namespace stepscope
