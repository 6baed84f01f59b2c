// The words of the enumerations, as stored and as shown.
#include "core/base/Check.h"
#include "core/base/StepPlace.h"
#include "core/events/RunEvents.h"
#include "core/events/SwitchCatalogue.h"

namespace stepscope {

const char* toString(Phase phase) {
    static_assert(static_cast<int>(Activity::Waiting) == static_cast<int>(Phase::Waiting) + 1);
    return toString(static_cast<Activity>(static_cast<int>(phase) + 1));  // phases are activities in the same order, after None
}

const char* toString(RunState state) {
    switch (state) {
        case RunState::Preparing:
            return "preparing";
        case RunState::Running:
            return "running";
        case RunState::Paused:
            return "paused";
        case RunState::Finished:
            return "finished";
        case RunState::Stopped:
            return "stopped";
        case RunState::Failed:
            return "failed";
        case RunState::Interrupted:
            return "interrupted";
    }
    SS_CHECK(false);
}

std::string resumedFromWords(const SessionInfo& info) {
    return info.goesOnWith > 0 ? "session " + std::to_string(info.goesOnWith) : info.resumedFrom;
}

const char* toString(SessionKind kind) {
    switch (kind) {
        case SessionKind::Run:
            return "run";
        case SessionKind::Experiment:
            return "experiment";
        case SessionKind::Trace:
            return "imported";
        case SessionKind::Ladder:
            return "ladder";
        case SessionKind::Tune:
            return "tune";
    }
    SS_CHECK(false);
}

const char* toString(SwitchGroup group) {
    switch (group) {
        case SwitchGroup::Device:
            return "Device";
        case SwitchGroup::Precision:
            return "Precision";
        case SwitchGroup::Kernels:
            return "Kernels";
        case SwitchGroup::Memory:
            return "Memory";
        case SwitchGroup::Batch:
            return "Batch";
        case SwitchGroup::Optimizer:
            return "Optimizer";
        case SwitchGroup::Data:
            return "Data";
        case SwitchGroup::Loop:
            return "Loop";
    }
    SS_CHECK(false);
}

}  // namespace stepscope
