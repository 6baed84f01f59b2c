#include "app/gui/diagnose/TimeWiring.h"

#include <memory>
#include <utility>

#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/SessionsReader.h"
#include "app/gui/wiring/TimeForecast.h"
#include "app/workbench/diagnose/Estimate.h"
#include "app/workbench/diagnose/TimeLook.h"
#include "core/base/Format.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

constexpr int kLookUpMs = 250;
constexpr double kTimingSeconds = 10;  // that the timed steps may take, three of them at least

TimeForecast forecastOf(const StoredForecast& from, const RunConfig& config, const QString& where = "this machine") {
    const auto clockTime = [](double seconds) {
        return QString::fromStdString(seconds < 1 ? format::milliseconds(seconds * 1e3)
                                                  : format::duration(TimeNs::fromSeconds(std::min(seconds, 9e8))));
    };
    const QString sentence = QString("about %1 for %2 steps").arg(clockTime(from.seconds), QString::fromStdString(format::count(config.steps)));
    const bool disturbed = !from.disturbed.empty();
    const QString beside = disturbed ? sentence + ". " +
                                           QString("It was timed while %1, so it may be shorter on a quiet machine, and it is not kept. ")
                                               .arg(QString::fromStdString(from.disturbed))
                                     : QString();
    return {disturbed ? QString("about %1, machine busy").arg(clockTime(from.seconds)) : sentence,
            beside + QString("Between %1 and %2, from %3 on %4, validations and the checkpoints that were timed included. Texts come on top.")
                         .arg(clockTime(from.low), clockTime(from.high), QString::fromStdString(from.source), where),
            true};
}

}  // namespace

TimeWiring::TimeWiring(ExperimentPanel& panel, SessionsPanel& sessions, RunController& runs, SessionsReader& reader, QObject* parent)
    : QObject(parent), m_panel(panel), m_sessions(sessions), m_runs(runs), m_reader(reader) {
    m_soon.setSingleShot(true);
    m_soon.setInterval(kLookUpMs);
    connect(&m_soon, &QTimer::timeout, this, &TimeWiring::lookUp);
    connect(&panel, &ExperimentPanel::edited, this, &TimeWiring::refresh);
    connect(&panel, &ExperimentPanel::timeRequested, this, &TimeWiring::timeNow);
    connect(&sessions.model(), &QAbstractItemModel::modelReset, this, &TimeWiring::tell);
    connect(&sessions.model(), &QAbstractItemModel::dataChanged, this, &TimeWiring::tell);
    connect(&runs, &RunController::engineReady, this, &TimeWiring::refresh);
    connect(&runs, &RunController::phaseChanged, this, [this] {
        // A run that has ended has left its time in the database.
        if (std::exchange(m_busy, m_runs.busy()) && !m_busy) return refresh();
        if (m_busy) m_cancel = true;
        offer();
    });
}

TimeWiring::~TimeWiring() {
    m_cancel = true;
    ++m_newest;
}

// Of other settings from here on.
void TimeWiring::refresh() {
    ++m_newest;
    m_cancel = true;
    m_timing = m_known = m_counted = m_answered = false;
    m_panel.setTimeForecast("time: …", "What is known of such runs is being looked up.", /*isKnown=*/false);
    m_soon.start();
    offer();
}

// From the list, whose runs say less: nothing of validations and checkpoints. So only where the database has nothing better, and never before it has
// answered: two times that follow each other would be of one run.
void TimeWiring::tell() {
    if (m_timing || m_counted || !m_answered) return;
    // The list tells of this machine's runs.
    if (m_runs.elsewhere()) return sayElsewhere();
    const TimeForecast forecast = forecastTime(m_panel.config(), m_sessions.model());
    if (forecast.known || !m_known) m_panel.setTimeForecast(forecast.sentence, forecast.source, forecast.known);
    m_known = m_known || forecast.known;
    offer();
}

void TimeWiring::sayElsewhere() {
    m_panel.setTimeForecast(
        "time: not known yet",
        QString("Runs are trained on %1: it is known as soon as a run there has measured it; steps that are timed here would tell "
                "of this machine.")
            .arg(QString::fromStdString(m_runs.elsewhere()->host)),
        /*isKnown=*/false);
    offer();
}

void TimeWiring::offer() {
    m_panel.setTimeOffered(!m_runs.elsewhere() && !m_known && !m_timing && (m_answered || m_counted) && !m_runs.busy() &&
                           m_runs.workbench() != nullptr);
}

// What was timed without a run is in no list; and of a run it knows what validations and checkpoints took.
void TimeWiring::lookUp() {
    if (m_timing || m_runs.workbench() == nullptr) return;
    m_thread.post([this, number = m_newest.load(), config = m_panel.config(), workbench = m_runs.workbench(), database = m_reader.database()] {
        if (number != m_newest) return;
        const auto complete = workbench->complete(config);
        const auto found = complete ? knownForecast(workbench->machine(), *complete, database) : std::nullopt;
        answer(this, [this, number, found, config] {
            if (number != m_newest || m_timing) return;
            m_answered = true;
            if (!found) return tell();
            const TimeForecast forecast =
                forecastOf(*found, config, m_runs.elsewhere() ? QString::fromStdString(m_runs.elsewhere()->host) : QString("this machine"));
            m_known = m_counted = true;
            m_panel.setTimeForecast(forecast.sentence, forecast.source, forecast.known);
            offer();
        });
    });
}

// Of steps that were timed beside other programs nothing is stored, and what is looked up then is older and another number.
void TimeWiring::take(const TimeEstimate& estimate) {
    refresh();
    m_soon.stop();
    m_counted = true;
    m_known = estimate.disturbed.empty();
    const StoredForecast found{.source = std::to_string(estimate.timed) + " timed steps",
                               .seconds = estimate.seconds,
                               .low = estimate.low,
                               .high = estimate.high,
                               .disturbed = estimate.disturbed};
    const TimeForecast forecast = forecastOf(found, m_panel.config());
    m_panel.setTimeForecast(forecast.sentence, forecast.source, forecast.known);
    offer();
}

void TimeWiring::timeNow() {
    if (m_timing || m_runs.busy() || m_runs.workbench() == nullptr || m_runs.elsewhere()) return;
    m_timing = true;
    m_cancel = false;
    offer();
    m_panel.setTimeForecast("timing a few steps …", "On weights of their own; nothing is recorded but the time of a step.", /*isKnown=*/false);
    m_thread.post([this, number = m_newest.load(), config = m_panel.config(), workbench = m_runs.workbench(), database = m_reader.database()] {
        const auto complete = workbench->complete(config);
        const auto found = std::make_shared<const Result<StoredForecast>>(
            complete ? timeForecast(workbench->machine(), *complete, database, kTimingSeconds, m_cancel) : Result<StoredForecast>(complete.error()));
        answer(this, [this, number, config, found] {
            if (number != m_newest) return;
            m_timing = false;
            m_counted = found->ok();
            m_known = m_counted && (*found)->disturbed.empty();  // else it may be asked again
            const TimeForecast forecast =
                *found ? forecastOf(**found, config) : TimeForecast{"time: could not be found out", QString::fromStdString(found->error().sentence)};
            m_panel.setTimeForecast(forecast.sentence, forecast.source, forecast.known);
            offer();
        });
    });
}

}  // namespace stepscope
