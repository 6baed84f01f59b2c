// Live flips and what they did: the strip below the charts while and after one is measured, and for each switch its chip and the
// sentence on its card, from the live run and at start from the stored sessions. GUI thread.
#pragma once
#include <QObject>

#include "app/gui/FlipMeter.h"
#include "core/events/SwitchCatalogue.h"
#include "sessions/MeasuredFlips.h"

namespace stepscope {

class LiveFeed;
class MainWindow;
class RunController;
class SessionsReader;
class Stage;

class FlipWiring : public QObject {
    Q_OBJECT
public:
    FlipWiring(MainWindow& window, RunController& runs, SessionsReader& reader, Stage& stage, QObject* parent = nullptr);

private:
    void follow(LiveFeed& feed);
    void forget();
    // inPassing: while steps run, so not more often than needed.
    void showReading(bool inPassing);
    // Says of the switch what its flip did; of several flips together nothing, for nobody knows which did it.
    void tellReading(const FlipReading& reading);
    void tellSwitch(const SwitchApplied& flip, const FlipEffect& effect, const QString& where);
    const SwitchInfo* find(const std::string& id);

    MainWindow& m_window;
    RunController& m_runs;
    Stage& m_stage;
    FlipMeter m_meter;
    SwitchCatalogue m_catalogue;
    int m_countTold = -1;  // of the steps after it, in tens
    bool m_told = true;    // what the meter reads is measured to its end, and said
};

}  // namespace stepscope
