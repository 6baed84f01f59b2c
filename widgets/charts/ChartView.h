// ChartView: one chart of a page. redraw() makes a picture of the data (Qt Charts, axes, markers) when LivePage's budget
// allows; show() puts it up; paintEvent only copies the picture and draws head, cursor and selection over it, so hovering and exposing cost
// next to nothing. What mouse and keys do is in ChartViewMouse.cpp; what it gives away as a file in ChartExport.h. GUI thread.
#pragma once
#include <QPixmap>
#include <QWidget>
#include <memory>
#include <optional>
#include <set>

#include "core/base/Units.h"
#include "widgets/charts/ChartFrame.h"
#include "widgets/charts/ViewRange.h"

namespace stepscope {

class ChartView : public QWidget {
    Q_OBJECT
public:
    enum class Tool { Move, Box, Select };  // what a drag in the plot does

    ChartView(std::unique_ptr<ChartContent> content, ViewRange* range, QWidget* parent = nullptr);
    ~ChartView() override;

    // Both outlive the view or are replaced before they go; null = none.
    void setFeed(const RunHistory* history, const RunConfig* planned);
    // Stored runs instead of the feed: `content` draws them, with a y axis of its own. Both null: back to the feed. The overlay outlives that.
    void setOverlay(const RunsOverlay* overlay, std::unique_ptr<ChartContent> content);
    bool overlaid() const { return m_overlay != nullptr; }
    std::vector<LineValue> valuesAt(double x) const { return m_content->valuesAt(request(), x); }
    QString seriesNear(QPointF place) const;  // of an overlay, the line within a few pixels; empty = none
    std::string overlayCsv() const { return m_content->csv(request()); }
    void setLogarithmicY(bool logarithmic);  // of charts that can
    bool logarithmicY() const { return m_logarithmicY; }
    void setSmoothing(std::size_t half);  // steps on either side
    void setHeadRows(int rows);
    int headWidth() const;  // that one row would need
    void setTool(Tool tool) { m_tool = tool; }

    void zoomY(double factor, double anchorShare);  // factor < 1 looks closer
    void panY(double shares);                       // > 0 looks further up
    void fitY();
    bool zoomedY() const { return m_y.has_value(); }
    void setHidden(const QString& series, bool hidden);
    const std::set<QString>& hidden() const { return m_hidden; }
    std::vector<LegendItem> legend() const;  // at the cursor, else of the last step

    void invalidate() { m_stale = true; }
    bool stale() const { return m_stale; }
    // Makes the next picture, of the view that `view` names; it stays behind the one that is up until show().
    void redraw(const View& view);
    void redraw();                            // of the range's view, and shows it
    bool isDrawnFor(const View& view) const;  // the newest picture is of this view and of the widget's size
    void show();
    TimeNs takePaintCost();  // of paintEvents since the last call

    // The whole chart as it would look at this size, by painting it anew; vectors stay vectors. Of the range's view.
    void paintOn(QPainter& painter, QSize size, const QPalette& palette);

    const ChartContent& content() const { return *m_content; }
    const RunHistory* history() const { return m_history; }
    View view() const { return m_range->view(); }  // that it will show next
    QRectF plot() const { return frame().plot; }
    QRectF titleArea() const;                       // of the head, without what is in the legend
    QRectF legendBox(const QString& series) const;  // empty where it is not seen
    // Of the picture that is up.
    const Scale& yScale() const { return m_front.axes.y; }
    const Scale& xScale() const { return m_front.axes.x; }
    const AxisTicks& yTicks() const { return m_front.axes.yTicks; }
    const AxisTicks& xTicks() const { return m_front.axes.xTicks; }
    const AxisTicks& rightTicks() const { return m_front.axes.rightTicks; }
    std::optional<double> beyond() const { return m_front.beyond; }
    QString readOutText() const;  // the head as one line: "Loss: train 2.913, smoothed 2.950"
    QString whyEmpty() const { return m_front.whyEmpty; }

    QSize sizeHint() const override { return {360, 170}; }
    QSize minimumSizeHint() const override { return {140, 104}; }

Q_SIGNALS:
    void touched();                         // the person zooms or pans here: answer at once
    void selected(double from, double to);  // a stretch was selected, in places of the axis
    void enlargeWanted();                   // double click on the title
    void flipsWanted();                     // click on the marks' labels
    void menuWanted(QPoint global);
    void hideWanted(const QString& series, bool hidden);  // of an overlay, where a line is hidden in every chart
    void pointed(QPointF place);                          // of an overlay: the mouse is there
    void pointedAway();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Picture {
        QPixmap pixels;
        std::optional<View> view;  // none: never drawn
        ChartAxes axes;
        QString whyEmpty;
        std::optional<double> beyond;
    };
    enum class Drag { None, Pan, PanY, Box, Select };

    ChartFrame frame() const;
    ChartFrame frame(QSize size, const QPalette& palette) const;
    DrawRequest request(const View& view, const QPalette& palette) const;
    DrawRequest request() const { return request(m_range->view(), palette()); }
    // Fills and paints everything but head and overlays; returns what it drew with.
    Picture paintPicture(QPainter& painter, const ChartFrame& frame, const View& view, const QPalette& palette);
    std::optional<std::size_t> cursorRow() const;
    void paintOverlayCursor(QPainter& painter, const ChartFrame& frame, const View& view);
    const Markers& markers() const;
    HeadPlan head(const ChartFrame& frame) const;
    bool isHidden(const LegendItem& item) const;
    const LegendItem* itemAt(const HeadPlan& head, QPointF place) const;
    Drag dragAt(QPointF place, Qt::KeyboardModifiers modifiers) const;
    void pointAt(QPointF place);
    void finishDrag(QPointF place);
    double shareAt(double pixel) const;
    double shareAtY(double pixel) const;
    double placeAt(double pixel) const;  // along x, of the picture that is up
    void paintOverlays(QPainter& painter, const ChartFrame& frame);

    std::unique_ptr<ChartContent> m_content;
    ViewRange* m_range;
    const RunHistory* m_history = nullptr;
    const RunConfig* m_planned = nullptr;
    const RunsOverlay* m_overlay = nullptr;
    struct Kept {  // of the feed, while an overlay is shown
        std::unique_ptr<ChartContent> content;
        std::unique_ptr<ChartCanvas> canvas;
        std::optional<Scale> y;
    };
    Kept m_kept;
    bool m_logarithmicY = false;
    std::size_t m_smoothing = CentredSmoothing::kHalf;
    std::optional<Scale> m_y;  // as the person zoomed it
    std::set<QString> m_hidden;
    int m_headRows = 2;
    Tool m_tool = Tool::Move;
    std::unique_ptr<ChartCanvas> m_canvas;
    Picture m_front, m_back;
    bool m_waiting = false;  // m_back holds a picture that is not up yet
    bool m_stale = true;
    TimeNs m_paintCost;
    Drag m_drag = Drag::None;
    QPointF m_dragFrom, m_dragTo;
};

Quantity quantityOf(XAxis axis);

}  // namespace stepscope
