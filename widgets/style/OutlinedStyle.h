// Fusion, with boxes to check that are seen in the dark (there its own frames are a darker shade of a dark window) and with narrower tabs, so that
// all pages of a window 1280 wide are named. Set by applyStyle(); GUI thread.
#pragma once
#include <QProxyStyle>

namespace stepscope {

class OutlinedStyle : public QProxyStyle {
    Q_OBJECT
public:
    OutlinedStyle();
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
};

}  // namespace stepscope
