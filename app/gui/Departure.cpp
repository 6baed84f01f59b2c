#include "app/gui/Departure.h"

#include <QCoreApplication>
#include <QPixmap>
#include <QTimer>
#include <cstdio>

#include "app/gui/MainWindow.h"
#include "app/gui/wiring/RunController.h"
#include "app/workbench/process/StandardError.h"

namespace stepscope {

Departure::Departure(MainWindow& window, RunController& runs, QObject* parent) : QObject(parent), m_window(window), m_runs(runs) {
    connect(&window, &MainWindow::closeRequested, this, &Departure::leave);
    connect(&runs, &RunController::phaseChanged, this, [this] {
        if (m_leaving && !m_runs.busy()) close();
    });
}

void Departure::leave() {
    if (m_leaving) return;
    m_leaving = true;
    m_window.saveLayout();
    if (m_runs.busy())
        m_runs.stop();
    else
        close();
}

void Departure::leaveWithPicture(const QString& file, double afterSeconds) {
    QTimer::singleShot(static_cast<int>(afterSeconds * 1000), this, [this, file] {
        if (!m_window.grab().save(file)) {
            std::fprintf(standard_error::own(), "The picture could not be written to %s; choose a folder that exists and a name that ends in .png.\n",
                         qPrintable(file));
            m_exitCode = 1;
        }
        leave();
    });
}

void Departure::close() {
    // Queued: inside a close event another close() is ignored.
    QMetaObject::invokeMethod(
        this,
        [this] {
            m_window.allowClosing();
            m_window.close();
            QCoreApplication::exit(m_exitCode);
        },
        Qt::QueuedConnection);
}

}  // namespace stepscope
