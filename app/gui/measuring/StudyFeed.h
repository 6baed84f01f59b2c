// StudyFeed: where the events of a ladder or a search that this window measures enter it. publish() comes from any thread and never waits; here they
// are taken once a second, because whatever the window draws takes time from what is being measured. GUI thread object.
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <memory>

#include "core/analysis/StudyHistory.h"
#include "core/base/Channel.h"
#include "core/events/EventSink.h"

namespace stepscope {

class StudyFeed : public QObject, public EventSink {
    Q_OBJECT
public:
    static constexpr int kTickMs = 1000;

    explicit StudyFeed(QObject* parent = nullptr);
    ~StudyFeed() override;

    void publish(Event event) override;
    void begin();  // another study: forgets the former one
    void end();    // takes what is left; nothing more comes

    const std::shared_ptr<StudyHistory>& history() const { return m_history; }
    std::int64_t session() const { return m_session; }  // 0: none, or not recorded
    const QString& name() const { return m_name; }
    const QString& doing() const { return m_doing; }  // what is being prepared
    double elapsed() const { return m_since.isValid() ? static_cast<double>(m_since.elapsed()) / 1000 : 0; }

Q_SIGNALS:
    void grew();                               // once a second between begin() and end()
    void began();                              // its session is known
    void said(const stepscope::Event& event);  // a line of its log

private:
    void tick();

    Channel<Event> m_channel;
    QTimer m_timer;
    QElapsedTimer m_since;
    std::shared_ptr<StudyHistory> m_history;
    std::int64_t m_session = 0;
    QString m_name, m_doing;
    std::vector<Event> m_batch;
};

}  // namespace stepscope
