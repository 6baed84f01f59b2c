#include "sessions/EventTime.h"

#include "core/events/Event.h"

namespace stepscope {

TimeNs timeOf(const Event& event) {
    return std::visit(Visitor{
                          [](const SessionStarted&) { return TimeNs{}; },
                          [](const StepDone& e) { return e.at; },
                          [](const ValidationDone& e) { return e.at; },
                          [](const SwitchApplied& e) { return e.at; },
                          [](const SwitchRefused& e) { return e.at; },
                          [](const DeviceSample& e) { return e.at; },
                          [](const LogLine& e) { return e.at; },
                          [](const StateChanged& e) { return e.at; },
                          [](const CheckpointSaved& e) { return e.at; },
                          [](const TextGenerated& e) { return e.at; },
                          [](const Preparing& e) { return e.at; },
                          [](const RecorderWaited& e) { return e.at; },
                          [](const CaptureDone& e) { return e.at; },
                          [](const ExperimentBegan& e) { return e.at; },
                          [](const BlockDone& e) { return e.at; },
                          [](const ExperimentJudged& e) { return e.at; },
                          [](const StudyBegan& e) { return e.at; },
                          [](const StudyRow& e) { return e.at; },
                      },
                      event);
}

}  // namespace stepscope
