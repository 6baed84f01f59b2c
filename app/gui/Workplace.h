// Everything behind the window, made in the order it depends on each other and taken down in reverse. Made by main() and by the
// window's tests. GUI thread.
#pragma once
#include "app/gui/Departure.h"
#include "app/gui/MainWindow.h"
#include "app/gui/Stage.h"
#include "app/gui/WindowActions.h"
#include "app/gui/captured/CaptureWiring.h"
#include "app/gui/captured/OperationsWiring.h"
#include "app/gui/captured/PanesWiring.h"
#include "app/gui/captured/SideBySideWiring.h"
#include "app/gui/captured/TimelineWiring.h"
#include "app/gui/diagnose/DiagnoseWiring.h"
#include "app/gui/diagnose/TimeWiring.h"
#include "app/gui/measuring/CompareWiring.h"
#include "app/gui/measuring/ExperimentFeed.h"
#include "app/gui/measuring/InferenceWiring.h"
#include "app/gui/measuring/LadderWiring.h"
#include "app/gui/measuring/MeasureWiring.h"
#include "app/gui/measuring/StudyFeed.h"
#include "app/gui/overlay/OverlayWiring.h"
#include "app/gui/process/Options.h"
#include "app/gui/process/QuitSignals.h"
#include "app/gui/stored/CapturesWiring.h"
#include "app/gui/stored/CheckpointsWiring.h"
#include "app/gui/stored/ExportWiring.h"
#include "app/gui/stored/QueryWiring.h"
#include "app/gui/stored/WorkersWiring.h"
#include "app/gui/wiring/DemoWiring.h"
#include "app/gui/wiring/ExperimentWiring.h"
#include "app/gui/wiring/FilesWiring.h"
#include "app/gui/wiring/FlipWiring.h"
#include "app/gui/wiring/ImportWiring.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/ReplayController.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsReader.h"
#include "app/gui/wiring/SessionsWiring.h"
#include "app/gui/wiring/TextWiring.h"

namespace stepscope {

class Workplace : public QObject {
    Q_OBJECT
public:
    explicit Workplace(const Options& options);
    ~Workplace() override;
    void open();                         // shows the window, then begins everything that takes time
    void warn(const QString& sentence);  // a line of the log that is shown

    MainWindow& window() { return m_window; }
    RunController& runs() { return m_runs; }
    Stage& stage() { return m_stage; }
    SessionsReader& reader() { return m_reader; }
    ReplayController& replay() { return m_replay; }
    CaptureWiring& capture() { return m_capture; }
    InferenceWiring& inference() { return m_inference; }
    ImportWiring& import() { return m_import; }
    DemoWiring& demo() { return m_demo; }
    OverlayWiring& overlay() { return m_overlay; }
    ExportWiring& exports() { return m_exports; }
    CapturesWiring& captures() { return m_captures; }
    CheckpointsWiring& checkpoints() { return m_checkpoints; }
    WorkersWiring& workers() { return m_workers; }
    SideBySideWiring& sideBySide() { return m_sideBySide; }

private:
    void startDemo(const EngineAnswer& answer);

    Options m_options;
    MainWindow m_window;
    LiveFeed m_live, m_replayed;
    ExperimentFeed m_measured;
    StudyFeed m_studied;
    RunController m_runs;
    SessionsReader m_reader;
    ReplayController m_replay;
    Stage m_stage;
    RunWiring m_running;
    TextWiring m_text;
    ExperimentWiring m_experiment;
    FilesWiring m_files;
    TimeWiring m_time;
    FlipWiring m_flips;
    MeasureWiring m_inTurns;
    SessionsWiring m_sessions;
    OverlayWiring m_overlay;
    CompareWiring m_compare;
    LadderWiring m_ladder;
    DiagnoseWiring m_diagnose;
    InferenceWiring m_inference;
    CaptureWiring m_capture;
    OperationsWiring m_operations;
    TimelineWiring m_timeline;
    PanesWiring m_panes;
    QueryWiring m_query;
    ExportWiring m_exports;
    CapturesWiring m_captures;
    CheckpointsWiring m_checkpoints;
    WorkersWiring m_workers;
    SideBySideWiring m_sideBySide;
    ImportWiring m_import;
    DemoWiring m_demo;
    WindowActions m_actions;
    Departure m_departure;
    QuitSignals m_signals;
};

}  // namespace stepscope
