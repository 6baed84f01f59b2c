#include "app/gui/ChartClock.h"

#include <QEvent>

#include "widgets/charts/LivePage.h"
#include "widgets/charts/ViewRange.h"

namespace stepscope {
namespace {

constexpr int kTickMs = 33;
// Long enough for the redraw budget to have drawn each chart once after the last event.
constexpr qint64 kSleepAfterMs = 4000;

}  // namespace

ChartClock::ChartClock(LivePage& page, QObject* parent) : QObject(parent), m_page(page) {
    m_timer.setInterval(kTickMs);
    connect(&m_timer, &QTimer::timeout, this, &ChartClock::tick);
    connect(&page.range(), &ViewRange::changed, this, &ChartClock::wake);
    connect(&page.range(), &ViewRange::cursorChanged, this, &ChartClock::wake);
    page.installEventFilter(this);
    wake();
}

void ChartClock::wake() {
    m_sinceWoken.start();
    if (!m_timer.isActive() && m_page.isVisible()) m_timer.start();
}

void ChartClock::tick() {
    if (!m_page.isVisible() || m_page.window()->isMinimized() || m_sinceWoken.elapsed() > kSleepAfterMs) return m_timer.stop();
    m_page.tick();
}

bool ChartClock::eventFilter(QObject* watched, QEvent* event) {
    switch (event->type()) {
        case QEvent::Show:
        case QEvent::Resize:
        case QEvent::PaletteChange:
        case QEvent::KeyPress:
        case QEvent::WindowActivate:
            wake();
            break;
        default:
            break;
    }
    return QObject::eventFilter(watched, event);
}

}  // namespace stepscope
