// ExperimentFeed: where the events of an experiment that this window measures enter it. publish() comes from any thread and never waits; here they
// are taken once a second and no more often, because whatever the window draws takes time from what is being measured. GUI thread object.
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <memory>

#include "core/analysis/ExperimentHistory.h"
#include "core/base/Channel.h"
#include "core/events/EventSink.h"

namespace stepscope {

class ExperimentFeed : public QObject, public EventSink {
    Q_OBJECT
public:
    static constexpr int kTickMs = 1000;

    explicit ExperimentFeed(QObject* parent = nullptr);
    ~ExperimentFeed() override;

    void publish(Event event) override;
    void publishChunk(ChunkPtr chunk) override;
    void begin();  // another experiment: forgets the former one
    void end();    // takes what is left; nothing more comes

    const std::shared_ptr<ExperimentHistory>& history() const { return m_history; }
    std::int64_t session() const { return m_session; }  // 0: none, or not recorded
    const QString& name() const { return m_name; }      // of the session
    const QString& doing() const { return m_doing; }    // what is being prepared
    bool piloting() const;                              // no pair has been begun
    double elapsed() const;                             // seconds since it began to measure; 0: not yet

Q_SIGNALS:
    void grew();                               // once a second between begin() and end()
    void said(const stepscope::Event& event);  // a line of its log
    void began();                              // it is known what is asked, as ExperimentBegan has it

private:
    void tick();
    void take(const Event& event);

    Channel<Event> m_channel;
    Channel<ChunkPtr> m_chunks;
    QTimer m_timer;
    QElapsedTimer m_since;
    std::shared_ptr<ExperimentHistory> m_history;
    std::int64_t m_session = 0;
    QString m_name, m_doing;
    std::vector<Event> m_batch;
    std::vector<ChunkPtr> m_chunkBatch;
};

}  // namespace stepscope
