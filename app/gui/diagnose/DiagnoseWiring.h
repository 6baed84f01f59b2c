// The page Diagnose and the engine: looks at the settings of the panel when asked to, never beside a run or an experiment, and gives way to one that
// begins; finds a batch size; begins a range test; hands what is to be tested to the page Compare. GUI thread; the engine is asked on a thread of its
// own.
#pragma once
#include <QObject>
#include <atomic>

#include "app/gui/process/BackThread.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/diagnose/Estimate.h"
#include "widgets/panels/compare/CompareTypes.h"
#include "widgets/panels/diagnose/DiagnoseTypes.h"

class QTabWidget;

namespace stepscope {

class DiagnosePage;
class ExperimentPanel;
class RunController;
class RunWiring;
class SessionsReader;
class Stage;
struct BatchSearch;
struct Diagnosis;

class DiagnoseWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        ExperimentPanel& experiment;
        QTabWidget& pages;
        DiagnosePage& page;
    };
    DiagnoseWiring(const Panels& panels, RunController& runs, RunWiring& running, SessionsReader& reader, Stage& stage, QObject* parent = nullptr);
    ~DiagnoseWiring() override;

    bool looking() const { return m_looking; }

Q_SIGNALS:
    void testRequested(const stepscope::CompareQuestion& question);
    void guideRequested(const QString& chapter);
    void timed(const stepscope::TimeEstimate& estimate);  // of the panel's settings

private:
    void look();
    void findBatch();
    void findRate();
    void rangeEnded();
    void use(const QString& key, const QString& value);
    void test(int advice);
    void begin(const QString& doing);
    void say(std::uint64_t number, const QString& doing);
    template <class Work, class Show>
    void ask(Work work, Show show);
    void failed(const Error& error);
    void edited();
    void showBusy();
    RunConfig settings() const;

    Panels m_panels;
    RunController& m_runs;
    RunWiring& m_running;
    SessionsReader& m_reader;
    Stage& m_stage;
    DiagnoseView m_view;
    RunConfig m_looked;  // the settings that m_view is of
    bool m_looking = false;
    std::uint64_t m_number = 0;  // of the newest look
    std::atomic<bool> m_cancel = false;
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
