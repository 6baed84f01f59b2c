// How a chart is drawn. The mouse is in ChartViewMouse.cpp.
#include "widgets/charts/ChartView.h"

#include <QAccessible>
#include <QPaintEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/analysis/overlay/RunsOverlay.h"
#include "widgets/charts/RedrawBudget.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"

namespace stepscope {

Quantity quantityOf(XAxis axis) {
    return axis == XAxis::Step       ? Quantity::Count
           : axis == XAxis::Tokens   ? Quantity::Tokens
           : axis == XAxis::WallTime ? Quantity::Seconds
           : axis == XAxis::Energy   ? Quantity::Joules
                                     : Quantity::Number;
}

ChartView::ChartView(std::unique_ptr<ChartContent> content, ViewRange* range, QWidget* parent)
    : QWidget(parent), m_content(std::move(content)), m_range(range), m_canvas(std::make_unique<ChartCanvas>()) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(m_content->title() + tr(" chart"));
    setAccessibleDescription(m_content->help());
    connect(m_range, &ViewRange::changed, this, &ChartView::invalidate);
    connect(m_range, &ViewRange::selectionChanged, this, qOverload<>(&QWidget::update));
    connect(m_range, &ViewRange::cursorChanged, this, [this] {
        update();
        if (QAccessible::isActive()) setAccessibleDescription(readOutText());
    });
}

ChartView::~ChartView() = default;

void ChartView::setFeed(const RunHistory* history, const RunConfig* planned) {
    m_history = history;
    m_planned = planned;
    invalidate();
}

void ChartView::setOverlay(const RunsOverlay* overlay, std::unique_ptr<ChartContent> content) {
    m_overlay = overlay;
    if (content != nullptr) {
        if (m_kept.content == nullptr) m_kept = {std::move(m_content), std::move(m_canvas), m_y};
        m_content = std::move(content);
        m_canvas = std::make_unique<ChartCanvas>();
        m_y.reset();
    } else if (m_kept.content != nullptr) {
        m_content = std::move(m_kept.content);
        m_canvas = std::move(m_kept.canvas);
        m_y = m_kept.y;
        m_kept = {};
    }
    setAccessibleName(m_content->title() + tr(" chart"));
    setAccessibleDescription(m_content->help());
    invalidate();
    update();
}

void ChartView::setLogarithmicY(bool logarithmic) {
    logarithmic = logarithmic && m_content->canBeLogarithmic();
    if (logarithmic == m_logarithmicY) return;
    m_logarithmicY = logarithmic;
    m_y.reset();
    invalidate();
}

void ChartView::setSmoothing(std::size_t half) {
    if (half == m_smoothing) return;
    m_smoothing = half;
    invalidate();
}

void ChartView::setHeadRows(int rows) {
    if (rows == m_headRows) return;
    m_headRows = rows;
    invalidate();
}

void ChartView::setHidden(const QString& series, bool hidden) {
    if (hidden)
        m_hidden.insert(series);
    else
        m_hidden.erase(series);
    invalidate();
    update();
}

void ChartView::zoomY(double factor, double anchorShare) {
    const Scale now = m_y.value_or(m_front.axes.y);
    m_y = Scale{now.fromShare(anchorShare * (1 - factor)), now.fromShare(anchorShare + (1 - anchorShare) * factor), now.logarithmic};
    if (!canFollow(*m_y, now)) m_y = now;
    invalidate();
}

void ChartView::panY(double shares) {
    const Scale now = m_y.value_or(m_front.axes.y);
    m_y = Scale{now.fromShare(shares), now.fromShare(1 + shares), now.logarithmic};
    if (!canFollow(*m_y, now)) m_y = now;
    invalidate();
}

void ChartView::fitY() {
    if (!m_y) return;
    m_y.reset();
    invalidate();
}

int ChartView::headWidth() const {
    std::vector<LegendItem> items = m_content->legend(request(), std::nullopt);
    for (LegendItem& item : items)
        if (item.value.isEmpty()) item.value = QStringLiteral("000.0");
    return static_cast<int>(ChartFrame::headWidth(font(), m_content->title(), items)) + 1;
}

ChartFrame ChartView::frame() const {
    return frame(size(), palette());
}

// The lane of the marks is there before the first mark: nothing moves when it comes.
ChartFrame ChartView::frame(QSize size, const QPalette& palette) const {
    constexpr int kRoomForTwo = 220;
    return ChartFrame::of(size, font(), palette, m_headRows, size.height() < kRoomForTwo ? 1 : 2);
}

DrawRequest ChartView::request(const View& view, const QPalette& palette) const {
    DrawRequest request;
    request.history = m_history;
    request.planned = m_planned;
    request.overlay = m_overlay;
    if (m_overlay != nullptr) request.cursor = m_range->cursor();
    request.axis = view.axis;
    request.x = view.x;
    request.logarithmicY = m_logarithmicY;
    request.y = m_y;
    request.hidden = &m_hidden;
    request.smoothing = m_smoothing;
    request.dark = isDark(palette);
    request.ground = palette.color(QPalette::Base);
    request.ink = palette.color(QPalette::Text);
    return request;
}

ChartView::Picture ChartView::paintPicture(QPainter& painter, const ChartFrame& frame, const View& view, const QPalette& palette) {
    DrawRequest request = this->request(view, palette);
    request.pixels = static_cast<std::size_t>(frame.plot.width());
    Picture drawn;
    drawn.view = view;
    const Scale y = m_content->fill(*m_canvas, request);
    drawn.whyEmpty = m_content->whyEmpty(request);
    drawn.axes = makeAxes(frame, request.x, quantityOf(request.axis), y, m_content->quantity(), m_content->rightAxis());
    if (!drawn.whyEmpty.isEmpty()) {
        ChartAxes bare = drawn.axes;  // an invented y axis would look like a measurement
        bare.yTicks.ticks.clear();
        if (request.axis == XAxis::WallTime && m_history != nullptr && !m_history->knowsTimes()) bare.xTicks.ticks.clear();
        paintAxes(painter, frame, bare);
        paintEmpty(painter, frame, drawn.whyEmpty);
        drawn.axes.yTicks.unit.clear();
        return drawn;
    }
    paintAxes(painter, frame, drawn.axes);
    m_canvas->render(painter, frame.plot);
    paintRightAxis(painter, frame, drawn.axes);
    if (m_history != nullptr) paintTurns(painter, frame, request.x, request.axis, *m_history);
    if (m_history != nullptr) paintMarkers(painter, frame, request.x, request.axis, m_history->markers());
    drawn.beyond = m_content->beyond();
    if (drawn.beyond) paintBeyond(painter, frame, readOut(*drawn.beyond, m_content->quantity()));
    return drawn;
}

void ChartView::redraw(const View& view) {
    m_stale = false;
    const ChartFrame frame = this->frame();
    const double ratio = devicePixelRatioF();
    const QSize pixels = (QSizeF(size()) * ratio).toSize();
    QPixmap canvas = std::exchange(m_back.pixels, {});
    if (canvas.size() != pixels) canvas = QPixmap(pixels);
    canvas.setDevicePixelRatio(ratio);
    canvas.fill(palette().color(QPalette::Base));
    if (frame.plot.width() < 16 || frame.plot.height() < 16) {
        m_back = {};
        m_back.view = view;
    } else {
        QPainter painter(&canvas);
        m_back = paintPicture(painter, frame, view, palette());
    }
    m_back.pixels = std::move(canvas);
    m_waiting = true;
}

void ChartView::redraw() {
    redraw(m_range->view());
    m_range->setShown(m_range->view());
    show();
}

bool ChartView::isDrawnFor(const View& view) const {
    const Picture& newest = m_waiting ? m_back : m_front;
    return newest.view == view && newest.pixels.deviceIndependentSize().toSize() == size();
}

void ChartView::show() {
    if (!std::exchange(m_waiting, false)) return;
    std::swap(m_front, m_back);
    update();
}

void ChartView::paintOn(QPainter& painter, QSize size, const QPalette& palette) {
    const ChartFrame frame = this->frame(size, palette);
    painter.fillRect(QRect(QPoint(), size), palette.color(QPalette::Base));
    const View view = m_range->view();
    const Picture drawn = paintPicture(painter, frame, view, palette);
    auto row = m_history != nullptr && m_history->rows() > 0 ? std::optional(m_history->rows() - 1) : std::nullopt;
    std::vector<LegendItem> items = m_content->legend(request(view, palette), row);
    std::erase_if(items, [&](const LegendItem& item) { return isHidden(item); });
    paintHead(painter, frame, planHead(frame, m_content->title(), drawn.axes.yTicks.unit, items));
    invalidate();  // the canvas has another size now
}

const Markers& ChartView::markers() const {
    static const Markers none;
    if (m_overlay != nullptr) return m_overlay->marks();
    return m_history != nullptr ? m_history->markers() : none;
}

std::optional<std::size_t> ChartView::cursorRow() const {
    if (m_history == nullptr || m_history->rows() == 0 || !m_range->cursor()) return std::nullopt;
    // A replay that jumped back may have fewer rows by now.
    if (const auto row = m_range->cursorRow()) return std::min(*row, m_history->rows() - 1);
    return m_history->rowAt(m_range->axis(), *m_range->cursor());
}

std::vector<LegendItem> ChartView::legend() const {
    auto row = cursorRow();
    if (!row && m_history != nullptr && m_history->rows() > 0) row = m_history->rows() - 1;
    std::vector<LegendItem> items = m_content->legend(request(), row);
    for (LegendItem& item : items) item.hidden = isHidden(item);
    return items;
}

// Of an overlay it is the line that is hidden, in every chart, and the content says so.
bool ChartView::isHidden(const LegendItem& item) const {
    if (m_overlay != nullptr) return item.hidden;
    return !item.series.isEmpty() && m_hidden.contains(item.series);
}

HeadPlan ChartView::head(const ChartFrame& frame) const {
    QString unit = m_front.axes.yTicks.unit;
    if (m_logarithmicY && m_front.whyEmpty.isEmpty()) unit += unit.isEmpty() ? tr("log") : tr(", log");
    return planHead(frame, m_content->title(), unit, legend());
}

// What follows the mouse over several runs: the line pointed at, its flips, and a dot on every line. None of it is in the picture, so that
// pointing never draws the lines anew.
void ChartView::paintOverlayCursor(QPainter& painter, const ChartFrame& frame, const View& view) {
    if (!m_front.whyEmpty.isEmpty() || view.axis != m_range->axis()) return;
    DrawRequest request = this->request(view, palette());
    request.pixels = static_cast<std::size_t>(frame.plot.width());
    if (const PointedLine line = m_content->pointedLine(request); !line.runs.empty()) {
        painter.save();
        painter.setClipRect(frame.plot);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(line.colour, 3.0, Qt::SolidLine, Qt::FlatCap, Qt::BevelJoin));
        for (const Line& run : toShares(line.runs, view.x, m_front.axes.y)) {
            QPolygonF points;
            for (const Point& point : run)
                points << QPointF(frame.plot.left() + point.x * frame.plot.width(), frame.plot.bottom() - point.y * frame.plot.height());
            painter.drawPolyline(points);
        }
        painter.restore();
        paintMarkers(painter, frame, view.x, view.axis, markers());
    }
    if (!m_range->cursor()) return;
    const double at = *m_range->cursor();
    std::vector<CursorDot> dots;
    for (const LineValue& value : m_content->valuesAt(request, at))
        if (std::isfinite(value.value)) dots.push_back({at, value.value, value.colour});
    paintCursor(painter, frame, m_front.axes, at, readOut(at, quantityOf(view.axis)), dots);
}

QString ChartView::seriesNear(QPointF place) const {
    constexpr double kNear = 14;
    const ChartFrame frame = this->frame();
    if (m_overlay == nullptr || !m_front.whyEmpty.isEmpty() || !frame.plot.contains(place)) return {};
    QString series;
    double nearest = kNear;
    for (const LineValue& value : m_content->valuesAt(request(), placeAt(place.x()))) {
        const double y = frame.plot.bottom() - m_front.axes.y.toShare(value.value) * frame.plot.height();
        if (const double apart = std::abs(y - place.y()); apart < nearest) {
            nearest = apart;
            series = value.series;
        }
    }
    return series;
}

QString ChartView::readOutText() const {
    QStringList parts;
    for (const LegendItem& item : legend()) {
        if (item.hidden) continue;
        parts += item.value.isEmpty() ? item.name : item.name + ' ' + item.value;
    }
    QString text = m_content->title();
    if (m_overlay != nullptr && m_range->cursor()) text += tr(" at ") + readOut(*m_range->cursor(), quantityOf(m_range->axis()));
    if (const auto row = cursorRow()) text += tr(" at ") + readOut(m_history->x(XAxis::Step, *row), Quantity::Count);
    return text + QStringLiteral(": ") + parts.join(QStringLiteral(", "));
}

void ChartView::paintOverlays(QPainter& painter, const ChartFrame& frame) {
    paintHead(painter, frame, head(frame));
    const View& view = *m_front.view;
    if (m_overlay != nullptr) paintOverlayCursor(painter, frame, view);
    const bool current = view.axis == m_range->axis();
    if (const auto& selection = m_range->selection(); selection && current) paintSelection(painter, frame, view.x, selection->from, selection->to);
    if (m_drag == Drag::Box) paintRubberBand(painter, frame, QRectF(m_dragFrom, m_dragTo).normalized() & frame.plot);
    if (const auto row = cursorRow(); row && m_front.whyEmpty.isEmpty()) {
        const double at = m_history->x(view.axis, *row);
        QString label = readOut(m_history->x(XAxis::Step, *row), Quantity::Count);
        if (view.axis != XAxis::Step) label += QStringLiteral(" · ") + readOut(at, quantityOf(view.axis));
        paintCursor(painter, frame, m_front.axes, at, label, m_content->dots(request(view, palette()), *row));
    }
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(accentColour(isDark(palette())));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void ChartView::paintEvent(QPaintEvent*) {
    const TimeNs begin = threadTime();
    QPainter painter(this);
    const QSize drawn = m_front.pixels.isNull() ? QSize() : m_front.pixels.deviceIndependentSize().toSize();
    // A chart that comes into sight shows no part of the run that the others do not show.
    const bool fits = m_front.view.has_value() && m_front.view == m_range->shown();
    if (drawn != size() || !fits) painter.fillRect(rect(), palette().color(QPalette::Base));
    if (fits && drawn == size()) {
        painter.drawPixmap(0, 0, m_front.pixels);
        paintOverlays(painter, frame());
    } else if (fits && !m_front.pixels.isNull()) {
        // Between a resize and its redraw the old picture stands at its place; the budget brings the new one.
        painter.drawPixmap(rect(), m_front.pixels);
    } else {
        const ChartFrame frame = this->frame();
        paintHead(painter, frame, planHead(frame, m_content->title(), {}, {}));
    }
    m_paintCost += threadTime() - begin;
}

TimeNs ChartView::takePaintCost() {
    return std::exchange(m_paintCost, TimeNs{});
}

void ChartView::resizeEvent(QResizeEvent*) {
    invalidate();
    Q_EMIT touched();
}

}  // namespace stepscope
