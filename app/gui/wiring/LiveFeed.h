// LiveFeed: where the events of a run, or of a replay, enter the window. publish() comes from any thread and never waits; on the
// GUI thread a timer drains them every 33 ms into a RunHistory and a log and tells the widgets once. The timer runs only while
// something arrives; a tick works at most 8 ms, so that a replay of 100 000 steps does not freeze the window.
#pragma once
#include <QObject>
#include <QTimer>
#include <atomic>
#include <memory>
#include <variant>

#include "core/analysis/RunHistory.h"
#include "core/base/Channel.h"
#include "core/events/CaptureDone.h"
#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"
#include "sessions/Replayer.h"

namespace stepscope {

class LogModel;
struct LogEntry;

class LiveFeed : public QObject, public EventSink {
    Q_OBJECT
public:
    static constexpr int kTickMs = 33;
    static constexpr int kHiddenTickMs = 500;  // nobody looks: only keep up

    explicit LiveFeed(QObject* parent = nullptr);
    ~LiveFeed() override;

    void publish(Event event) override;
    // A replay jumped back: what is later is forgotten, and nothing told anew. From any thread; takes its turn among the events.
    void rewind(const Replayer::Jump& jump);

    const std::shared_ptr<RunHistory>& history() const { return m_history; }
    LogModel& log() { return *m_log; }
    void setHidden(bool hidden);
    bool isAwake() const { return m_timer.isActive(); }
    void forget();  // what was shown belongs to nobody any more; a new, empty history

Q_SIGNALS:
    void started();  // another session begins
    void rewound();  // a replay jumped back: the history and the log are as they were there
    void stateChanged(const stepscope::StateChanged& change);
    void switchApplied(const stepscope::SwitchApplied& applied);
    void switchRefused(const stepscope::SwitchRefused& refused);
    void logged(const stepscope::LogLine& line);
    void textGenerated(const stepscope::TextGenerated& text);
    void sampled(const stepscope::DeviceSample& sample);
    void experimented(const stepscope::Event& event);  // ExperimentBegan, BlockDone, ExperimentJudged
    void captured(const stepscope::CaptureDone& capture);
    void checkpointSaved(const stepscope::CheckpointSaved& saved);
    void grew();  // at most once a tick

private:
    void wake();
    void tick();
    using Rewind = std::shared_ptr<const Replayer::Jump>;
    using Item = std::variant<Event, Rewind>;
    void push(Item item);
    bool isSample(std::size_t place) const;  // of m_batch
    void take(const Event& event);
    void take(const Rewind& back);
    void tell(const Event& event);
    static bool isQuestion(const Event& event);
    std::int64_t startOf(const Event& event);  // what its time counts from, as Unix milliseconds

    Channel<Item> m_channel;
    std::atomic<bool> m_awake = false;  // a wake() is on its way or the timer runs
    QTimer m_timer;
    std::vector<Item> m_batch;
    std::size_t m_next = 0;  // of m_batch, still to take
    std::shared_ptr<RunHistory> m_history;
    LogModel* m_log;
    std::vector<LogEntry> m_lines;           // of this tick
    std::optional<std::int64_t> m_prepares;  // since when a run is prepared that has no session yet
    bool m_over = true;                      // the session that is shown has ended, or there is none
};

}  // namespace stepscope
