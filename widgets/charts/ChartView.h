// ChartView: one chart of a page. redraw() makes a picture of the data (Qt Charts, axes, markers) when LivePage's budget
// allows; paintEvent only copies that picture and draws head and cursor over it, so hovering and exposing cost next to
// nothing. Mouse: wheel zooms x, drag pans, double click fits, hovering moves the shared cursor. GUI thread.
#pragma once
#include <QPixmap>
#include <QWidget>
#include <memory>
#include <optional>

#include "core/base/Units.h"
#include "widgets/charts/ChartFrame.h"

namespace stepscope {

class ViewRange;

class ChartView : public QWidget {
    Q_OBJECT
public:
    ChartView(std::unique_ptr<ChartContent> content, ViewRange* range, QWidget* parent = nullptr);
    ~ChartView() override;

    // Both outlive the view or are replaced before they go; null = none.
    void setFeed(const RunHistory* history, const RunConfig* planned);
    void setLogarithmicY(bool logarithmic);  // of charts that can
    bool logarithmicY() const { return m_logarithmicY; }
    void setHeadRows(int rows);
    int headWidth() const;  // that one row would need

    void invalidate() { m_stale = true; }
    bool stale() const { return m_stale; }
    void redraw();
    TimeNs takePaintCost();  // of paintEvents since the last call

    const ChartContent& content() const { return *m_content; }
    QRectF plot() const { return frame().plot; }
    const Scale& yScale() const { return m_axes.y; }
    const AxisTicks& yTicks() const { return m_axes.yTicks; }
    const AxisTicks& xTicks() const { return m_axes.xTicks; }
    const AxisTicks& rightTicks() const { return m_axes.rightTicks; }
    QString readOutText() const;  // the head as one line: "Loss: train 2.913, smoothed 2.950"
    QString whyEmpty() const { return m_whyEmpty; }

    QSize sizeHint() const override { return {360, 170}; }
    QSize minimumSizeHint() const override { return {200, 104}; }

Q_SIGNALS:
    void touched();  // the person zooms or pans here: answer at once

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;

private:
    ChartFrame frame() const;
    DrawRequest request() const;
    int markerRows() const;
    std::optional<std::size_t> cursorRow() const;
    std::vector<LegendItem> legend() const;
    double shareAt(double pixel) const;
    void paintOverlays(QPainter& painter, const ChartFrame& frame);

    std::unique_ptr<ChartContent> m_content;
    ViewRange* m_range;
    const RunHistory* m_history = nullptr;
    const RunConfig* m_planned = nullptr;
    bool m_logarithmicY = false;
    int m_headRows = 2;
    int m_markerRows = 0;  // of the picture
    ChartCanvas m_canvas;
    ChartAxes m_axes;  // of the picture
    QPixmap m_picture;
    QString m_whyEmpty;
    bool m_stale = true;
    TimeNs m_paintCost;
    std::optional<double> m_dragFrom;
};

Quantity quantityOf(XAxis axis);

}  // namespace stepscope
