#include "app/gui/Centre.h"

#include <QEvent>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include "widgets/panels/run/TransportBar.h"

namespace stepscope {
namespace {
constexpr int kGap = 6;  // beside the tabs
}

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
    const int left = corner.x() + (last < 0 ? 0 : tabs->tabRect(last).right() + 1) + kGap;
    const QWidget* button = m_pages->cornerWidget(Qt::TopRightCorner);
    const int right = button != nullptr ? button->mapTo(this, QPoint()).x() : width();
    m_transport->setGeometry(left, 0, std::max(0, right - left), corner.y() + tabs->height());
}

void Centre::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    place();
}

bool Centre::eventFilter(QObject* watched, QEvent* event) {
    const bool ofTabs = event->type() == QEvent::Resize || event->type() == QEvent::Move || event->type() == QEvent::LayoutRequest;
    if (watched == m_transport ? event->type() == QEvent::Show : ofTabs) {
        place();
        m_transport->raise();
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace stepscope
