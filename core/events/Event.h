// Events: the one typed stream. A live run and a replay publish the same structs through the same door (EventSink);
// the recorder stores them, the window draws them. Visitors have no catch-all arm, so the compiler lists every place
// where a new event must be handled.
#pragma once
#include <variant>

#include "core/base/Visitor.h"
#include "core/events/CaptureDone.h"
#include "core/events/EventSink.h"
#include "core/events/Experiment.h"
#include "core/events/RunEvents.h"
#include "core/events/Study.h"

namespace stepscope {

using AnyEvent =
    std::variant<SessionStarted, StepDone, ValidationDone, SwitchApplied, SwitchRefused, DeviceSample, LogLine, StateChanged, CheckpointSaved,
                 TextGenerated, Preparing, RecorderWaited, CaptureDone, ExperimentBegan, BlockDone, ExperimentJudged, StudyBegan, StudyRow>;

// A type of its own and not a name for the variant, so that headers can speak of it without having seen the structs.
struct Event : AnyEvent {
    using AnyEvent::variant;
    // Events are not compared. The variant's own operators would be tried by Qt's meta types, and not all that it holds has them.
    bool operator==(const Event&) const = delete;
    bool operator<(const Event&) const = delete;
};

}  // namespace stepscope
