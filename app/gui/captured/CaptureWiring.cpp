#include "app/gui/captured/CaptureWiring.h"

#include <algorithm>
#include <cmath>

#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "core/analysis/RunHistory.h"
#include "core/base/Format.h"
#include "core/events/ProfileSchedule.h"
#include "widgets/panels/run/CaptureDialog.h"

namespace stepscope {
namespace {

constexpr double kHearing = 0.2;  // s
constexpr std::size_t kRecentSteps = 20;
constexpr std::size_t kMostMeasured = 100;  // captures that costs are measured by
constexpr int kLookMs = 1000;

}  // namespace

CaptureWiring::CaptureWiring(QWidget& over, RunController& runs, RunWiring& running, LiveFeed& live, QObject* parent)
    : QObject(parent), m_dialog(new CaptureDialog(&over)) {
    connect(m_dialog, &CaptureDialog::captureRequested, this, [&runs](qint64 steps) { runs.send(Capture{.steps = steps}); });
    connect(m_dialog, &CaptureDialog::scheduleRequested, this, [this, &runs, &live](const ProfileSchedule& wanted) { schedule(wanted, runs, live); });
    connect(m_dialog, &CaptureDialog::slowestRequested, this, [&runs](bool on) { runs.send(Capture{.slowest = on}); });
    connect(&running, &RunWiring::takesCommandsChanged, m_dialog, &CaptureDialog::setReady);
    connect(m_dialog, &CaptureDialog::endRequested, this, [&runs] { runs.send(StopCapture{}); });
    connect(&live, &LiveFeed::captured, m_dialog, &CaptureDialog::setResult);
    connect(&live, &LiveFeed::captured, this, [this, &live](const CaptureDone& capture) {
        if (m_captured.size() == kMostMeasured) m_captured.erase(m_captured.begin());
        m_captured.push_back(capture);
        m_captured.back().rows = nullptr;
        showLevels(live);
    });
    connect(&live, &LiveFeed::logged, this, [this](const LogLine& line) {
        if (line.subject.kind == Subject::Kind::Capture) m_dialog->setRefused(QString::fromStdString(line.text));
    });
    connect(&live, &LiveFeed::started, this, [this] {
        m_captured.clear();
        m_dialog->setLevels({});
    });
    m_look.setInterval(kLookMs);
    connect(&m_look, &QTimer::timeout, this, [this, &live] {
        if (m_dialog->isVisible())
            showLevels(live);
        else
            m_look.stop();
    });
    m_dialog->setReady(running.takesCommands());
}

void CaptureWiring::schedule(const ProfileSchedule& wanted, RunController& runs, const LiveFeed& live) {
    if (const Status good = checkSchedule(wanted); !good) return m_dialog->setProblem(QString::fromStdString(good.error().sentence));
    const RunHistory& run = *live.history();
    const auto& step = run.steps().step;
    const auto& seconds = run.steps().seconds;
    std::int64_t made = run.info() ? run.info()->firstStep : 0;
    if (!step.empty()) {
        made = step.back();
        // Steps that it makes before it hears of this, as fast as its newest ones.
        const auto recent = std::min<std::size_t>(step.size(), kRecentSteps);
        const double took = seconds.back() - seconds[seconds.size() - recent];
        if (recent > 1 && took > 0)
            made += static_cast<std::int64_t>(
                std::min(static_cast<double>(kMostCapturedSteps), std::ceil(kHearing * static_cast<double>(recent - 1) / took)));
    }
    const std::vector<Capture> rounds = capturesOf(wanted, made);
    const std::int64_t last = rounds.back().firstStep + rounds.back().steps - 1;
    if (const std::int64_t end = run.config().steps; last > end)
        return m_dialog->setProblem(
            QString("The last round would end at step %1, and the run ends at step %2: wait for fewer steps, or make fewer rounds.")
                .arg(QString::fromStdString(format::count(last)), QString::fromStdString(format::count(end))));
    for (const Capture& round : rounds) runs.send(round);
    m_dialog->setRounds(rounds);
}

void CaptureWiring::showLevels(const LiveFeed& live) {
    if (!m_captured.empty()) m_dialog->setLevels(levelsOfRun(*live.history(), m_captured));
}

void CaptureWiring::ask() {
    m_dialog->open();
    m_look.start();
}

}  // namespace stepscope
