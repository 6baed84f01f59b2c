// StandingEvents: what a moment of a session inherits from before it, of the kinds of which only the newest counts. Read from the store by index
// where a replay jumps (sessions/Replayer), taken by RunHistory::rewind.
#pragma once
#include <optional>

#include "core/events/RunEvents.h"

namespace stepscope {

struct StandingEvents {  // each: the last of its kind until then
    std::optional<StateChanged> state;
    std::optional<Preparing> preparing;
    std::optional<TextGenerated> text;
};

}  // namespace stepscope
