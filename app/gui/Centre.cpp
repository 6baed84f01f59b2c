#include "app/gui/Centre.h"

#include <QEvent>
#include <QStackedWidget>
#include <QTabWidget>
#include <QVBoxLayout>

#include "core/base/Check.h"
#include "widgets/panels/run/TransportBar.h"

namespace stepscope {

Centre::Centre(QTabWidget* pages, TransportBar* transport)
    : m_stack(pages->findChild<QStackedWidget*>(QString(), Qt::FindDirectChildrenOnly)), m_transport(transport) {
    SS_CHECK(m_stack != nullptr);  // a tab widget keeps its pages in one
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(pages);
    transport->setParent(this);
    transport->hide();
    transport->installEventFilter(this);
    m_stack->installEventFilter(this);
}

// The pages keep clear of it by the margin of their stack, which the tab widget leaves alone.
void Centre::place() {
    const int height = m_transport->isVisibleTo(this) ? m_transport->sizeHint().height() : 0;
    if (m_stack->contentsMargins().top() != height) m_stack->setContentsMargins(0, height, 0, 0);
    m_transport->setGeometry(QRect(m_stack->mapTo(this, QPoint()), QSize(m_stack->width(), height)));
}

bool Centre::eventFilter(QObject* watched, QEvent* event) {
    const bool comesOrGoes = event->type() == QEvent::Show || event->type() == QEvent::Hide;
    const bool moved = event->type() == QEvent::Resize || event->type() == QEvent::Move || event->type() == QEvent::LayoutRequest;
    if (watched == m_transport ? comesOrGoes : moved) {
        place();
        m_transport->raise();
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace stepscope
