// "Measure properly": a switch of the live run is measured in turns (the command Measure) when the strip's button or a row's menu asks for it. Shows
// what the pairs say in the strip while they come, asks for agreement where the loss may move, and tells FlipWiring what was found. GUI thread.
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <optional>

#include "app/gui/measuring/MeasureWords.h"
#include "core/events/RunEvents.h"

namespace stepscope {

class ExperimentPanel;
class FlipWiring;
class RunController;
class RunWiring;
class Stage;

class MeasureWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        ExperimentPanel& experiment;
        FlipStrip& flipStrip;
    };
    MeasureWiring(const Panels& panels, RunController& runs, RunWiring& running, FlipWiring& flips, Stage& stage, QObject* parent = nullptr);

    // `value` beside the one that the live run has; of a flip the value before it. Says so where nothing runs.
    void ask(const std::string& id, const Value& value, bool afterFlip);

private:
    void send(bool lossMayMove);
    void refused(const SwitchRefused& refusal);
    void take(const Event& event);
    void act();  // the strip's button
    void show(const FlipStripReading& reading);
    // Of one whose other value was found faster: it is used from here on, or the old one stays.
    void settle(bool changed);
    void release();

    Panels m_panels;
    RunController& m_runs;
    RunWiring& m_running;
    FlipWiring& m_flips;
    Stage& m_stage;
    std::optional<Measured> m_asked;  // until it is over or refused
    bool m_mayAgree = false, m_begun = false;
    struct Decided {
        Measured asked;
        std::size_t rows = 0;  // of the run's history: with the next one it is known which value it goes on with
    };
    std::optional<Decided> m_decided;  // for the faster value, and not known yet whether the run goes on with it
    ExperimentHistory m_history;
    QElapsedTimer m_shown;  // at most once a second while steps are compared
};

}  // namespace stepscope
