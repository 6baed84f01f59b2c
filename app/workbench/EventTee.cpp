// See EventTee.h.
#include "app/workbench/EventTee.h"

#include "core/analysis/Statistics.h"

#include <span>

namespace stepscope {
namespace {

constexpr std::size_t kWarmUpSteps = 3;  // left out of the median: allocation, caches, code paths met for the first time

}  // namespace

void EventTee::publish(Event event) {
    note(event);
    if (m_recorder) m_recorder->publish(event);
    m_listener.publish(std::move(event));
}

void EventTee::record(std::shared_ptr<Recorder> recorder) { m_recorder = std::move(recorder); }

void EventTee::note(const Event& event) {
    std::lock_guard lock(m_mutex);
    std::visit(Visitor{
                   [&](const StepDone& done) {
                       if (m_stepMs.empty()) m_summary.lossFirst = done.loss;
                       m_summary.lossLast = done.loss;
                       m_summary.steps = done.step;
                       m_stepMs.push_back(done.duration.milliseconds());
                       m_tokensPerStep = done.tokens;
                   },
                   [&](const ValidationDone& done) { m_summary.validationLoss = done.loss; },
                   [&](const StateChanged& changed) {
                       m_summary.state = changed.state;
                       m_summary.why = changed.why;
                   },
                   [&](const SessionStarted& started) { m_summary.session = started.session; },
                   [](const SwitchApplied&) {},
                   [](const SwitchRefused&) {},
                   [](const DeviceSample&) {},
                   [](const LogLine&) {},
                   [](const CheckpointSaved&) {},
                   [](const TextGenerated&) {},
                   [](const Preparing&) {},
                   [](const RecorderWaited&) {},
               },
               event);
}

RunSummary EventTee::summary() const {
    std::lock_guard lock(m_mutex);
    RunSummary summary = m_summary;
    const std::size_t skip = m_stepMs.size() > kWarmUpSteps ? kWarmUpSteps : 0;
    summary.msPerStepMedian = median(std::span(m_stepMs).subspan(skip));
    summary.tokensPerSecond = static_cast<double>(m_tokensPerStep) / (summary.msPerStepMedian / 1e3);
    return summary;
}

}  // namespace stepscope
