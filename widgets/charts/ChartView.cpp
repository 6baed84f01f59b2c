// See ChartView.h: drawing. The mouse is in ChartViewMouse.cpp.
#include "widgets/charts/ChartView.h"

#include <QAccessible>
#include <QPaintEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/charts/RedrawBudget.h"
#include "widgets/charts/ViewRange.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"

namespace stepscope {

Quantity quantityOf(XAxis axis) {
    return axis == XAxis::Step       ? Quantity::Count
           : axis == XAxis::Tokens   ? Quantity::Tokens
           : axis == XAxis::WallTime ? Quantity::Seconds
                                     : Quantity::Number;
}

ChartView::ChartView(std::unique_ptr<ChartContent> content, ViewRange* range, QWidget* parent)
    : QWidget(parent), m_content(std::move(content)), m_range(range) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(m_content->title() + tr(" chart"));
    setAccessibleDescription(m_content->help());
    connect(m_range, &ViewRange::changed, this, &ChartView::invalidate);
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

void ChartView::setLogarithmicY(bool logarithmic) {
    logarithmic = logarithmic && m_content->canBeLogarithmic();
    if (logarithmic == m_logarithmicY) return;
    m_logarithmicY = logarithmic;
    invalidate();
}

void ChartView::setHeadRows(int rows) {
    if (rows == m_headRows) return;
    m_headRows = rows;
    invalidate();
}

int ChartView::headWidth() const {
    std::vector<LegendItem> items = m_content->legend(request(), std::nullopt);
    for (LegendItem& item : items)
        if (item.value.isEmpty()) item.value = QStringLiteral("000.0");
    return static_cast<int>(ChartFrame::headWidth(font(), m_content->title(), items)) + 1;
}

ChartFrame ChartView::frame() const {
    return ChartFrame::of(size(), font(), palette(), m_headRows, m_markerRows);
}

DrawRequest ChartView::request() const {
    DrawRequest request;
    request.history = m_history;
    request.planned = m_planned;
    request.axis = m_range->axis();
    request.x = m_range->scale();
    request.logarithmicY = m_logarithmicY;
    request.dark = isDark(palette());
    request.ground = palette().color(QPalette::Base);
    return request;
}

int ChartView::markerRows() const {
    constexpr int kRoomForTwo = 220;
    if (m_history == nullptr) return 0;
    const auto& markers = m_history->markers();
    const bool any = std::any_of(markers.begin(), markers.end(), [](const Marker& marker) { return marker.kind != Marker::Kind::Validation; });
    return !any ? 0 : height() < kRoomForTwo ? 1 : 2;
}

void ChartView::redraw() {
    m_stale = false;
    m_markerRows = markerRows();
    const ChartFrame frame = this->frame();
    if (frame.plot.width() < 16 || frame.plot.height() < 16) return;
    DrawRequest request = this->request();
    request.pixels = static_cast<std::size_t>(frame.plot.width());

    const double ratio = devicePixelRatioF();
    const QSize pixels = (QSizeF(size()) * ratio).toSize();
    if (m_picture.size() != pixels) m_picture = QPixmap(pixels);
    m_picture.setDevicePixelRatio(ratio);
    m_picture.fill(request.ground);

    const Scale y = m_content->fill(m_canvas, request);
    m_whyEmpty = m_content->whyEmpty(request);
    m_axes = makeAxes(frame, request.x, quantityOf(request.axis), y, m_content->quantity(), m_content->rightAxis());
    QPainter painter(&m_picture);
    if (!m_whyEmpty.isEmpty()) {
        ChartAxes bare = m_axes;  // an invented y axis would look like a measurement
        bare.yTicks.ticks.clear();
        paintAxes(painter, frame, bare);
        paintEmpty(painter, frame, m_whyEmpty);
        m_axes.yTicks.unit.clear();
    } else {
        paintAxes(painter, frame, m_axes);
        m_canvas.render(painter, frame.plot);
        paintRightAxis(painter, frame, m_axes);
        if (m_history != nullptr) paintMarkers(painter, frame, request.x, request.axis, m_history->markers());
    }
    painter.end();
    update();
}

std::optional<std::size_t> ChartView::cursorRow() const {
    if (m_history == nullptr || m_history->rows() == 0 || !m_range->cursor()) return std::nullopt;
    return m_history->rowAt(m_range->axis(), *m_range->cursor());
}

std::vector<LegendItem> ChartView::legend() const {
    auto row = cursorRow();
    if (!row && m_history != nullptr && m_history->rows() > 0) row = m_history->rows() - 1;
    return m_content->legend(request(), row);
}

QString ChartView::readOutText() const {
    QStringList parts;
    for (const LegendItem& item : legend()) parts += item.value.isEmpty() ? item.name : item.name + ' ' + item.value;
    QString text = m_content->title();
    if (const auto row = cursorRow()) text += tr(" at ") + readOut(m_history->x(XAxis::Step, *row), Quantity::Count);
    return text + QStringLiteral(": ") + parts.join(QStringLiteral(", "));
}

void ChartView::paintOverlays(QPainter& painter, const ChartFrame& frame) {
    paintHead(painter, frame, m_content->title(), m_axes.yTicks.unit, legend());
    if (const auto row = cursorRow(); row && m_whyEmpty.isEmpty()) {
        ChartAxes axes = m_axes;
        axes.x = m_range->scale();
        const double at = m_history->x(m_range->axis(), *row);
        QString label = readOut(m_history->x(XAxis::Step, *row), Quantity::Count);
        if (m_range->axis() != XAxis::Step) label += QStringLiteral(" · ") + readOut(at, quantityOf(m_range->axis()));
        paintCursor(painter, frame, axes, at, label, m_content->dots(request(), *row));
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
    const QSize drawn = m_picture.isNull() ? QSize() : m_picture.deviceIndependentSize().toSize();
    // Between a resize and its redraw the old picture stands at its place; the budget brings the new one.
    if (drawn != size()) painter.fillRect(rect(), palette().color(QPalette::Base));
    if (drawn == size()) {
        painter.drawPixmap(0, 0, m_picture);
        paintOverlays(painter, frame());
    } else if (!m_picture.isNull()) {
        painter.drawPixmap(rect(), m_picture);
    }
    m_paintCost += threadTime() - begin;
}

TimeNs ChartView::takePaintCost() {
    return std::exchange(m_paintCost, TimeNs{});
}

void ChartView::resizeEvent(QResizeEvent*) {
    invalidate();
}

}  // namespace stepscope
