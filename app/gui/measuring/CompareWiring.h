// The page Compare and the engine: looks at a question as it is asked, measures it, shows it while it goes on and any stored experiment as it was
// when live. Nothing is measured beside a run: that is stopped, or waited for. GUI thread; the engine and the database are asked on a thread of its
// own.
#pragma once
#include <QObject>
#include <QTimer>
#include <atomic>
#include <optional>
#include <string>

#include "app/gui/measuring/CompareCheck.h"
#include "app/gui/measuring/PlaceTimelines.h"
#include "app/gui/process/BackThread.h"
#include "app/gui/wiring/LogSentences.h"

class QTabWidget;

namespace stepscope {

class ComparePage;
class ExperimentFeed;
class ExperimentPanel;
class NoticeBar;
class RunController;
class RunWiring;
class SessionsReader;
class Stage;

class CompareWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        ExperimentPanel& experiment;
        QTabWidget& pages;
        ComparePage& page;
        NoticeBar& notice;
    };
    CompareWiring(const Panels& panels, RunController& runs, RunWiring& running, SessionsReader& reader, Stage& stage, ExperimentFeed& feed,
                  QObject* parent = nullptr);
    ~CompareWiring() override;

    // Asks this of the settings at the left and measures it as soon as it was looked at.
    void test(const stepscope::CompareQuestion& question);
    // Puts settings into the panel at the left and the question into the form, for a person to look at and measure.
    void ask(const stepscope::RunConfig& settings, const stepscope::CompareQuestion& question);
    // An experiment, stored or going on, on its page. number: which of those that the session holds, from 1; 0: the newest.
    void open(qint64 session, qint64 number = 0);

Q_SIGNALS:
    void guideRequested(const QString& chapter);

private:
    void connectForm();
    void fill(const CompareQuestion& question);
    void connectResult();
    void lookSoon();
    void measureReady();
    void look();  // at the question as it stands
    void measure(ExperimentRequest request);
    void measureWhenFree();
    void repeat();
    void useB();
    void askOnPreset(const QString& preset);
    void report(const QString& path);
    void ended(const RunSummary& summary);
    void failed(const QString& sentence);
    void showLive();
    void predictMemory();  // of what was measured, for the bars below the verdict
    void refreshLive();
    void read();  // m_stored
    void showStored(CompareView view);
    void lookForEarlier();
    void showBusy();

    Panels m_panels;
    RunController& m_runs;
    RunWiring& m_running;
    SessionsReader& m_reader;
    Stage& m_stage;
    ExperimentFeed& m_feed;
    ComparePage& m_page;
    QTimer m_soon;                             // an edit is followed by the next one
    std::atomic<std::uint64_t> m_newest = 0;   // number of the newest question
    std::optional<ExperimentRequest> m_ready;  // the question as it stands, where it can be measured
    std::optional<CompareQuestion> m_asked;    // by test(), for the form when it has been given the settings
    bool m_looking = true;                     // it is being looked at
    bool m_wanted = false;                     // and measured as soon as it was
    bool m_waiting = false;                    // for the end of a run
    CompareView m_live;                        // the newest one that this window measured
    std::int64_t m_began = 0;                  //   since then, Unix milliseconds
    std::int64_t m_stored = 0;                 // the session that is shown instead; 0 = none
    std::int64_t m_number = 0;                 //   and which of its experiments, from 1; 0 = the newest
    bool m_storedGoesOn = false;               // another program still measures it
    CompareView m_storedView;
    ExperimentSentences m_sentences;  // for the log
    PlaceTimelines m_places;          // of the reasons, in both captures
    BackThread m_thread;              // last: joined first
};

}  // namespace stepscope
