#include "app/gui/SidePanels.h"

#include <QEvent>
#include <QSplitter>
#include <QTabWidget>
#include <QToolButton>
#include <algorithm>

#include "widgets/panels/LineIcon.h"

namespace stepscope {
namespace {

constexpr int kCentre = 1;

int placeOf(int side) {
    return side == 0 ? 0 : 2;
}

}  // namespace

SidePanels::SidePanels(QSplitter* panels, QTabWidget* tabs, QObject* parent) : QObject(parent), m_panels(panels) {
    for (const int side : {0, 1}) {
        panels->setCollapsible(placeOf(side), true);
        auto* button = m_buttons[static_cast<std::size_t>(side)] = new QToolButton;
        button->setIcon(lineIcon(side == 0 ? "panel-left" : "panel-right"));
        button->setShortcut(QKeySequence(side == 0 ? "Ctrl+B" : "Ctrl+Shift+B"));
        button->setCheckable(true);
        button->setAutoRaise(true);
        button->setFocusPolicy(Qt::TabFocus);
        button->setAccessibleName(side == 0 ? "Experiment panel" : "Sessions panel");
        tabs->setCornerWidget(button, side == 0 ? Qt::TopLeftCorner : Qt::TopRightCorner);
        connect(button, &QToolButton::clicked, this, [this, side](bool shown) { setFolded(side, !shown); });
    }
    connect(panels, &QSplitter::splitterMoved, this, &SidePanels::refresh);
    panels->installEventFilter(this);
    refresh();
}

bool SidePanels::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize || event->type() == QEvent::Show) QMetaObject::invokeMethod(this, &SidePanels::refresh, Qt::QueuedConnection);
    return QObject::eventFilter(watched, event);
}

bool SidePanels::isFolded(int side) const {
    return m_panels->sizes().value(placeOf(side)) == 0;
}

void SidePanels::setFolded(int side, bool folded) {
    QList<int> sizes = m_panels->sizes();
    int& panel = sizes[placeOf(side)];
    int& remembered = m_widths[static_cast<std::size_t>(side)];
    if (panel > 0) remembered = panel;
    const int width = folded ? 0 : remembered;
    sizes[kCentre] = std::max(1, sizes[kCentre] + panel - width);
    panel = width;
    m_panels->setSizes(sizes);
    refresh();
}

void SidePanels::refresh() {
    for (const int side : {0, 1}) {
        const bool folded = isFolded(side);
        QToolButton* button = m_buttons[static_cast<std::size_t>(side)];
        button->setChecked(!folded);
        button->setToolTip(
            QString("%1 (%2)").arg(side == 0 ? "The experiment at the left" : "The sessions at the right", button->shortcut().toString()));
    }
}

}  // namespace stepscope
