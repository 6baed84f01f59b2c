// EventTee: hands each Event to the recorder first (it may wait, lossless) and then to the listener; keeps what the run's summary
// needs, and says at the run's end what its loss tells of the learning rate. The trainer, sampler and generator publish through it.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "app/workbench/Workbench.h"
#include "app/workbench/diagnose/RunForecast.h"
#include "core/analysis/LrRange.h"
#include "core/analysis/Thinned.h"
#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"
#include "sessions/record/Recorder.h"

namespace stepscope {

class EventTee final : public EventSink {
public:
    // hasLastWords: of events that come from another process, its own tee has said what there is to say at the end.
    explicit EventTee(EventSink& listener, bool hasLastWords = true) : m_listener(listener), m_hasLastWords(hasLastWords) {}

    void publish(Event event) override;
    void publishChunk(ChunkPtr chunk) override;
    // To the listener alone: what the recorder says of itself, on its own thread, must not wait for the recorder.
    void tell(Event event);
    // What is not stored, and why: an error of the log, said once, whether the recorder gave up in the middle or when all was over.
    void tellUnstored(const Error& error, TimeNs at);
    // From here on events are recorded too. Called once, before the first event that matters.
    void record(std::shared_ptr<Recorder> recorder);
    RunSummary summary() const;
    RunTook took() const;
    std::int64_t lastStep() const;  // 0 = none yet

private:
    void note(const Event& event);
    bool isMeasuring() const { return m_measured.began() && !m_asked.judged.over; }
    bool isChosenByTurns(const SwitchApplied& applied) const;
    std::shared_ptr<Recorder> recorder() const;
    std::optional<LogLine> lastWords(const StateChanged& end) const;

    EventSink& m_listener;
    const bool m_hasLastWords;
    std::shared_ptr<Recorder> m_recorder;
    mutable std::mutex m_mutex;
    RunSummary m_summary;
    std::shared_ptr<const SessionInfo> m_info;
    RunConfig m_config;                   // as it is now
    Thinned<double> m_stepMs, m_tokenMs;  // of each step; of a token of it
    Thinned<LrRangePoint> m_curve;        // since the loss last changed its meaning
    std::int64_t m_curveFrom = 0;         // the step before its first
    RunTook m_took;
    ExperimentAnswer m_asked;      // the newest experiment; over once it is among the summary's
    ExperimentHistory m_measured;  // its blocks, and the machine meanwhile
    bool m_flippedSince = false;   // since it began
    std::string m_unstored;        // the sentence that was told of it
};

// Into a summary, once all has ended: why it failed, or that it was interrupted, as the list of sessions calls it, as its end is not stored.
void sayWhy(RunSummary& summary, const Error& failure, const Status& stored);

}  // namespace stepscope
