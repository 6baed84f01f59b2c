// Live flips and what they did: the strip beside the log while and after one is measured, and for each switch its chip and the
// sentence on its card, from the live run and at start from the stored sessions, as long as the panel shows the context they were measured in. GUI
// thread.
#pragma once
#include <QObject>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "app/gui/measuring/MeasureWords.h"
#include "app/gui/wiring/EndWords.h"
#include "app/workbench/Workbench.h"
#include "core/analysis/flips/FlipMeter.h"
#include "core/events/SwitchCatalogue.h"
#include "sessions/findings/MeasuredFlips.h"
#include "sessions/findings/MeasuredTurns.h"
#include "widgets/panels/compare/CompareTypes.h"

namespace stepscope {

class ExperimentPanel;
class FlipStrip;
class LiveFeed;
class RunController;
class SessionsReader;
class Stage;

class FlipWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        ExperimentPanel& experiment;
        FlipStrip& flipStrip;
    };
    FlipWiring(const Panels& panels, RunController& runs, SessionsReader& reader, Stage& stage, QObject* parent = nullptr);

    // While a measurement has the strip: nothing of flips is shown in it.
    void hold(bool held);
    // The strip's button, while what it shows is a flip's: that switch, of several the newest one's, the value before beside the one it has now. In
    // the run, or where that trains no more, on the page Compare.
    void askToMeasure();
    // The same of any flip of the run that is shown, by its place in RunHistory::flips(): in the run where one of its two values is still used there.
    void askToMeasureFlip(int flip);
    // What a measurement in turns found, for the switch's chip and card and for the summary of the run.
    void learn(const Measured& asked, const ExperimentJudged& judged, double delta);
    QString titleOf(const std::string& id);

Q_SIGNALS:
    // value: that takes turns with the one the run has; afterFlip: the run has flipped from it to that one.
    void measureRequested(const std::string& id, const stepscope::Value& value, bool afterFlip);
    // settings: of the run whose flip it is, as they were then.
    void compareRequested(const stepscope::RunConfig& settings, const stepscope::CompareQuestion& question);

private:
    void follow(LiveFeed& feed);
    void forget();
    // inPassing: while steps run, so not more often than needed.
    void showReading(bool inPassing);
    // Says of the switch what its flip did; of several flips together nothing, for nobody knows which did it.
    void tellReading(const FlipReading& reading);
    void know(const SwitchApplied& flip, const std::string& context, const FlipEffect& effect, const QString& where);
    void know(const MeasuredTurns& measured);
    void knowTurns(const Measured& asked, const ExperimentJudged& judged, double delta, const std::string& context, const QString& where);
    // Two values that take part in nothing but this flip: what was found of them before it, for the strip.
    void lookBack(LiveFeed& feed, const SwitchApplied& flip);
    // Each switch has the badge of the context that the panel shows, or none.
    void showBadges();
    const SwitchInfo* find(const std::string& id);
    // What askToMeasure() would do now, as the strip's button.
    void offer(FlipStripReading& strip, const FlipReading& reading);
    bool canTakeTurns(const FlipReading& reading) const;
    void sumUp();  // of a run that has ended, once everything it said is here

    struct Badge {
        QString chip, sentence;
        bool inTurns = false;  // and something can be said: no flip takes its place, for it measures with less certainty
    };

    Panels m_panels;
    RunController& m_runs;
    Stage& m_stage;
    FlipMeter m_meter;
    std::map<std::pair<std::string, std::string>, Badge> m_badges;  // by switch and context
    std::vector<MeasuredPair> m_pairs;                              // measured properly, here and before
    std::optional<MeasuredPair> m_before;                           // of the newest flip, as it was known when it was made
    SwitchCatalogue m_catalogue;
    std::vector<TurnsVerdict> m_turns;  // of the live run
    std::optional<RunSummary> m_ended;
    int m_countTold = -1;        // of the steps after it, in tens
    std::size_t m_lookFrom = 0;  // rows of the history; nothing is new before
    bool m_held = false;
    bool m_told = true;  // what the meter reads is measured to its end, and said
};

}  // namespace stepscope
