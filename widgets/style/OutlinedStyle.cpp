#include "widgets/style/OutlinedStyle.h"

#include <QPainter>
#include <QStyleOption>

#include "widgets/style/Theme.h"

namespace stepscope {

OutlinedStyle::OutlinedStyle() : QProxyStyle("Fusion") {}

void OutlinedStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool focused = option->state.testFlag(State_HasFocus) && option->state.testFlag(State_KeyboardFocusChange);
    if (element != PE_IndicatorCheckBox || focused || !isDark(option->palette)) return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing, false);
    painter->setBrush(Qt::NoBrush);
    painter->setPen(option->palette.color(option->state.testFlag(State_Enabled) ? QPalette::Active : QPalette::Disabled, QPalette::PlaceholderText));
    painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
    painter->restore();
}

int OutlinedStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
    const int usual = QProxyStyle::pixelMetric(metric, option, widget);
    return metric == PM_TabBarTabHSpace ? usual / 3 : usual;
}

}  // namespace stepscope
