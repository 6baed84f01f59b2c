#include "app/gui/Departure.h"

#include <QCoreApplication>
#include <QPixmap>
#include <QTimer>
#include <cstdio>
#include <utility>

#include "app/gui/MainWindow.h"
#include "app/gui/wiring/RunController.h"
#include "app/workbench/process/StandardError.h"
#include "core/base/Format.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {

Departure::Departure(MainWindow& window, RunController& runs, QObject* parent) : QObject(parent), m_window(window), m_runs(runs) {
    connect(&window, &MainWindow::closeRequested, this, &Departure::leave);
    connect(&runs, &RunController::ended, this, &Departure::runEnded);
    connect(&runs, &RunController::phaseChanged, this, [this] {
        if (m_runs.busy()) return;
        if (const int said = std::exchange(m_said, 0); said != 0 && m_window.notice().saying() == said) m_window.notice().hide();
        if (m_leaving) close();
    });
}

void Departure::leave() {
    if (m_leaving) return;
    const bool measures = m_runs.measuring() && m_runs.phase() != RunController::Phase::Stopping;
    if (measures && m_said == 0 && !m_atOnce) return sayWhatIsMeasured();
    m_leaving = true;
    m_window.saveLayout();
    if (m_runs.busy())
        m_runs.stop();
    else
        close();
}

// A run goes on from its checkpoint some other day; of an experiment there is only what it has measured.
void Departure::sayWhatIsMeasured() {
    m_window.notice().say(NoticeBar::Kind::Warning,
                          QString("Something is being measured on page %1. Closing ends it; what is measured so far is kept among the sessions. "
                                  "Close the window again to leave.")
                              .arg(m_runs.measuredOn()));
    m_said = m_window.notice().saying();
}

void Departure::leaveAtOnce() {
    m_atOnce = true;
    leave();
}

// What a former run lost stood in the log, and nobody was leaving.
void Departure::runEnded(const RunSummary& summary) {
    if (!m_leaving || summary.lostCheckpoints == 0 || summary.keptStep == summary.steps) return;
    m_lost = QString("The checkpoint of step %1 could not be written; the log says why. The weights of this run are lost%2.")
                 .arg(QString::fromStdString(format::count(summary.steps)),
                      summary.keptStep < 0 ? QString()
                                           : QString(" but for those of step %1").arg(QString::fromStdString(format::count(summary.keptStep))));
}

void Departure::leaveWithPicture(const QString& file, double afterSeconds) {
    QTimer::singleShot(static_cast<int>(afterSeconds * 1000), this, [this, file] {
        if (!m_window.grab().save(file)) {
            std::fprintf(standard_error::own(), "The picture could not be written to %s; choose a folder that exists and a name that ends in .png.\n",
                         qPrintable(file));
            m_exitCode = 1;
        }
        leaveAtOnce();
    });
}

void Departure::close() {
    // Queued: inside a close event another close() is ignored, and how the run ended is told just after that it has.
    QMetaObject::invokeMethod(
        this,
        [this] {
            if (!m_lost.isEmpty() && !m_atOnce) {
                m_window.notice().say(NoticeBar::Kind::Error, m_lost + " Close the window again to leave.");
                m_lost.clear();
                m_leaving = false;
                return;
            }
            if (!m_lost.isEmpty()) {
                std::fprintf(standard_error::own(), "stepscope: %s\n", qPrintable(m_lost));
                m_exitCode = kExitLost;
            }
            m_window.allowClosing();
            m_window.close();
            QCoreApplication::exit(m_exitCode);
        },
        Qt::QueuedConnection);
}

}  // namespace stepscope
