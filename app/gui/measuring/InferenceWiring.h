// The page Inference and the engine: which weights are measured (those of a file that was chosen, the newest checkpoint of the session that is looked
// at, or the run in progress, which is paused for it at a step and keeps a checkpoint), and the answer as it comes. GUI thread; the engine is asked
// on a thread of its own.
#pragma once
#include <QObject>
#include <atomic>
#include <optional>
#include <string>

#include "app/gui/process/BackThread.h"
#include "core/events/RunEvents.h"
#include "widgets/panels/inference/InferenceTypes.h"

namespace stepscope {

class InferencePage;
class RunController;
class RunWiring;
class Stage;

class InferenceWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        InferencePage& page;
    };
    InferenceWiring(const Panels& panels, RunController& runs, RunWiring& running, Stage& stage, std::string database, QObject* parent = nullptr);
    ~InferenceWiring() override;

    bool measuring() const { return m_measuring; }
    void lookAgain();  // the session that is looked at may have another checkpoint now
    // That file's or folder's weights; empty: those of the session again.
    void choose(const QString& path);

Q_SIGNALS:
    void guideRequested(const QString& chapter);

private:
    struct Source {  // a session's newest checkpoint
        std::int64_t session = 0;
        std::string path;
        std::int64_t step = 0;
        QString why;  // there is none
    };
    // The live run, while it is asked to hold still.
    struct Held {
        InferenceQuestion question;
        bool waits = false;      // for the checkpoint and the pause
        bool wasPaused = false;  // by a person, so it stays so
        std::string path;        // of the checkpoint
        std::int64_t step = 0;
    };

    void showSource();
    void start(const InferenceQuestion& question);
    void hold(const InferenceQuestion& question);
    void liveStateChanged(const StateChanged& change);
    void beginHeld();
    void measure(const InferenceQuestion& question, const std::string& from, bool besideAPausedRun);
    void prune(const PruneWish& wish);
    void begin(const QString& doing, const QString& whose);
    void takeUp(const QString& doing);
    QString whoseNow() const;  // weights would be measured
    void end(const QString& failure);
    void letGo();
    bool liveInView() const;

    Panels m_panels;
    RunController& m_runs;
    RunWiring& m_running;
    Stage& m_stage;
    std::string m_database;
    QString m_chosen;  // a file or a folder
    Source m_source;
    std::int64_t m_asked = 0;  // session whose checkpoint is being looked for
    std::optional<Held> m_held;
    InferenceView m_view;
    std::optional<InferenceView> m_before;  // what stood there when the measurement began
    bool m_measuring = false;
    std::uint64_t m_number = 0;  // of the newest measurement
    std::atomic<bool> m_cancel{false};
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
