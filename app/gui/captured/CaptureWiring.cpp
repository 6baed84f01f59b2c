#include "app/gui/captured/CaptureWiring.h"

#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "widgets/panels/run/CaptureDialog.h"

namespace stepscope {

CaptureWiring::CaptureWiring(QWidget& over, RunController& runs, RunWiring& running, LiveFeed& live, QObject* parent)
    : QObject(parent), m_dialog(new CaptureDialog(&over)) {
    connect(m_dialog, &CaptureDialog::captureRequested, this, [&runs](qint64 steps) { runs.send(Capture{.steps = steps}); });
    connect(m_dialog, &CaptureDialog::slowestRequested, this, [&runs](bool on) { runs.send(Capture{.slowest = on}); });
    connect(&running, &RunWiring::takesCommandsChanged, m_dialog, &CaptureDialog::setReady);
    connect(&live, &LiveFeed::captured, m_dialog, &CaptureDialog::setResult);
    m_dialog->setReady(running.takesCommands());
}

void CaptureWiring::ask() {
    m_dialog->open();
}

}  // namespace stepscope
