#include "widgets/panels/experiment/WheelGuard.h"

#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QScrollBar>
#include <QTabBar>

namespace stepscope {

WheelGuard::WheelGuard(QObject* parent) : QObject(parent) {
    qApp->installEventFilter(this);
}

bool WheelGuard::holdsValue(const QWidget* widget) {
    if (qobject_cast<const QScrollBar*>(widget) != nullptr) return false;
    return qobject_cast<const QComboBox*>(widget) != nullptr || qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
           qobject_cast<const QAbstractSlider*>(widget) != nullptr || qobject_cast<const QTabBar*>(widget) != nullptr;
}

// Ignored, it goes on to the parent: the panel scrolls.
bool WheelGuard::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::Wheel) return false;
    const auto* widget = qobject_cast<const QWidget*>(watched);
    if (widget == nullptr || !holdsValue(widget)) return false;
    event->ignore();
    return true;
}

}  // namespace stepscope
