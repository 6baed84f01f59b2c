#include "app/gui/Centre.h"

#include <QEvent>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/panels/run/TransportBar.h"

namespace stepscope {
namespace {
constexpr int kGap = 6;  // beside the tabs
constexpr int kLeastTabs = 160;
}  // namespace

Centre::Centre(QTabWidget* pages, TransportBar* transport) : m_pages(pages), m_transport(transport) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(pages);
    transport->setParent(this);
    transport->hide();
    transport->installEventFilter(this);
    pages->tabBar()->installEventFilter(this);
}

void Centre::place() {
    const QTabBar* tabs = m_pages->tabBar();
    const int last = tabs->count() - 1;
    const QPoint corner = tabs->mapTo(this, QPoint());
    const QWidget* button = m_pages->cornerWidget(Qt::TopRightCorner);
    const int right = button != nullptr ? button->mapTo(this, QPoint()).x() : width();
    fitTabs(right - corner.x());
    // What is scrolled out of sight has a place beyond the tab bar's end.
    const int tabsEnd = last < 0 ? 0 : std::min(tabs->tabRect(last).right() + 1, tabs->width());
    const int left = corner.x() + tabsEnd + kGap;
    m_transport->setGeometry(left, 0, std::max(0, right - left), corner.y() + tabs->height());
}

// In a small window the tabs scroll while a replay needs room beside them.
void Centre::fitTabs(int room) {
    QTabBar* tabs = m_pages->tabBar();
    const bool tight = m_transport->isVisibleTo(this) && tabs->sizeHint().width() + kGap + m_transport->leastWidth() > room;
    const int most = tight ? std::max(kLeastTabs, room - kGap - m_transport->leastWidth()) : QWIDGETSIZE_MAX;
    if (tabs->maximumWidth() != most) tabs->setMaximumWidth(most);
}

void Centre::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    place();
}

bool Centre::eventFilter(QObject* watched, QEvent* event) {
    const bool ofTabs = event->type() == QEvent::Resize || event->type() == QEvent::Move || event->type() == QEvent::LayoutRequest;
    if (watched == m_transport ? event->type() == QEvent::Show || event->type() == QEvent::Hide : ofTabs) {
        place();
        m_transport->raise();
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace stepscope
