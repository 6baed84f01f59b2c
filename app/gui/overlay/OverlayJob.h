// OverlayJob: reads the runs that are to lie over each other, several at a time, on threads of its own, so that neither the window nor its list of
// sessions waits. Each is handed over as soon as it is whole. One set at a time: begin() and cancel() end the one before. GUI thread object.
#pragma once
#include <QObject>
#include <QTimer>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/process/BackThread.h"
#include "sessions/findings/OverlaidReader.h"

namespace stepscope {

class OverlayJob : public QObject {
    Q_OBJECT
public:
    explicit OverlayJob(std::string database, QObject* parent = nullptr);
    ~OverlayJob() override;

    void begin(const std::vector<std::int64_t>& sessions);
    void cancel();
    bool busy() const { return m_state != nullptr; }
    // What can be said of two that were read, beside each other: compared() brings it. Once all are read; of others nothing comes.
    void compare(std::int64_t a, std::int64_t b);
    // Letting go of some hundred megabytes takes a while too.
    void release(std::shared_ptr<void> held);

Q_SIGNALS:
    void read(const std::shared_ptr<const stepscope::OverlaidRun>& run);
    void failed(qint64 session, const QString& sentence);
    void progressed(double share);  // of all of them, 0 to 1
    // All have been read or have failed. Of two that were read, what can be said of them beside each other; else empty.
    void finished(const QString& sentence, const QString& more);
    void compared(qint64 a, qint64 b, const QString& sentence, const QString& more);

private:
    struct State;
    void work(const std::shared_ptr<State>& state);
    void finish(const std::shared_ptr<State>& state);

    std::string m_database;
    std::shared_ptr<State> m_state;  // of the set being read; null: none
    std::shared_ptr<State> m_kept;   // of the set that was read; its facts stay as they are
    QTimer m_watch;
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
