// What mouse and keys do on a timeline: the wheel zooms about the pointer, dragging pans, with shift it selects a range; keys as people know them
// from other viewers of traces.
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/timeline/TimelineView.h"

namespace stepscope {

namespace {
constexpr double kClick = 4;  // pixels that a click may wander
}

void TimelineView::zoom(double factor, double x) {
    const double at = m_from + (x - lanesRect().left()) * m_nsPerPixel;
    m_nsPerPixel = std::clamp(m_nsPerPixel * factor, kLeastNsPerPixel, mostNsPerPixel());
    m_from = at - (x - lanesRect().left()) * m_nsPerPixel;
    m_following = false;
    changed();
}

void TimelineView::pan(double pixels) {
    m_from += pixels * m_nsPerPixel;
    m_following = false;
    changed();
}

void TimelineView::scrollTo(int y) {
    m_scroll = y;
    changed();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    m_pressed = m_last = event->position();
    const QRect lanes = lanesRect();
    if (m_pressed.y() < 30 && m_pressed.x() >= lanes.left()) {
        m_drag = Drag::Overview;
        m_from = overviewTime(m_pressed.x()) - lanes.width() * m_nsPerPixel / 2;
        m_following = false;
        return changed();
    }
    m_drag = (event->modifiers() & Qt::ShiftModifier) != 0 ? Drag::Range : Drag::Pan;
    if (m_drag != Drag::Range) return;
    m_rangeFrom = timeAt(m_pressed.x());
    m_formerRange = m_range;
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    const QPointF at = event->position();
    m_cursor = at.x();
    if (m_drag == Drag::Overview) {
        m_from = overviewTime(at.x()) - lanesRect().width() * m_nsPerPixel / 2;
        changed();
    } else if (m_drag == Drag::Range) {
        const qint64 now = timeAt(at.x());
        m_range = std::pair(std::min(m_rangeFrom, now), std::max(m_rangeFrom, now));
        Q_EMIT rangeChanged();
        update();
    } else if (m_drag == Drag::Pan && (at - m_pressed).manhattanLength() > kClick) {
        setCursor(Qt::ClosedHandCursor);
        m_scroll -= static_cast<int>(at.y() - m_last.y());
        pan(m_last.x() - at.x());
    } else {
        update();
    }
    m_last = at;
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
    unsetCursor();
    const Drag drag = std::exchange(m_drag, Drag::None);
    const bool click = (event->position() - m_pressed).manhattanLength() <= kClick;
    if (drag == Drag::Range && click) {  // a hand that trembled: what was selected stays, and its sums beside it
        m_range = m_formerRange;
        Q_EMIT rangeChanged();
        update();
    } else if (drag == Drag::Range && m_range && m_range->second > m_range->first) {
        Q_EMIT sumsWanted(m_range->first, m_range->second);
    }
    if (drag == Drag::Pan && click) clickAt(event->position().toPoint());
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->position().x() < lanesRect().left() || event->position().y() < lanesRect().top()) return;
    if (m_selected && m_selected->slice.duration > 0) {
        m_nsPerPixel = static_cast<double>(m_selected->slice.duration) * 1.1 / lanesRect().width();
        m_from = static_cast<double>(m_selected->slice.start) - static_cast<double>(m_selected->slice.duration) * 0.05;
        m_following = false;
        changed();
    }
}

void TimelineView::clickAt(QPoint at) {
    const QRect lanes = lanesRect();
    if (at.y() < lanes.top()) return;
    Q_EMIT clicked();
    const TimelineRow* row = m_layout.rowAt(at.y() - lanes.top() + m_scroll);
    if (row == nullptr || row->kind != TimelineRow::Kind::Lane) {
        clearSelection();
        return;
    }
    const TraceLane& lane = m_content.lanes.lanes[static_cast<std::size_t>(row->place)];
    if (at.x() < lanes.left()) return setFolded(lane.lane, !m_folded.contains(lane.lane));
    Q_EMIT sliceWanted(lane.lane, row->depth, timeAt(at.x()), static_cast<qint64>(2 * m_nsPerPixel));
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    const QPoint by = event->angleDelta();
    if ((event->modifiers() & Qt::ShiftModifier) != 0 || std::abs(by.x()) > std::abs(by.y()))
        pan(-(by.x() != 0 ? by.x() : by.y()) / 2.0);
    else if ((event->modifiers() & Qt::ControlModifier) != 0 || event->position().x() < lanesRect().left())
        scrollTo(m_scroll - by.y() / 2);
    else
        zoom(std::pow(1.0015, -by.y()), std::max<double>(lanesRect().left(), event->position().x()));
    event->accept();
}

bool TimelineView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QRect lanes = lanesRect();
        if (help->pos().y() < 30 && help->pos().x() >= lanes.left() && m_content.captures.size() > 1) {
            QToolTip::showText(help->globalPos(),
                               QString("%1 captures: Page Up and Page Down go from one to the next")
                                   .arg(QString::fromStdString(format::count(static_cast<std::int64_t>(m_content.captures.size())))),
                               this);
            return true;
        }
        const TimelineRow* row = help->pos().y() < lanes.top() ? nullptr : m_layout.rowAt(help->pos().y() - lanes.top() + m_scroll);
        if (row == nullptr || row->kind != TimelineRow::Kind::Lane) {
            QToolTip::hideText();
            return true;
        }
        const TraceLane& lane = m_content.lanes.lanes[static_cast<std::size_t>(row->place)];
        if (help->pos().x() < lanes.left()) {
            const QString lost = lostWords(lane.lane);
            QToolTip::showText(
                help->globalPos(),
                QString("%1, %2 slices%3")
                    .arg(laneTitle(lane, true), QString::fromStdString(format::count(lane.slices)), lost.isEmpty() ? lost : ", " + lost),
                this);
            return true;
        }
        RowPicture picture;
        composeRow([this](const TilePlace& place) { return m_shelf.find(place); }, spanOf(lane), row->depth,
                   {m_from + (help->pos().x() - lanes.left() - 2) * m_nsPerPixel, m_nsPerPixel, 5}, picture);
        QString text;
        bool under = false;  // what lies under the pointer goes before what is a pixel or two beside it
        for (const auto& bar : picture.bars) {
            const bool covers = bar.left <= 2.5 && bar.right > 2.5;
            if (bar.slice.style >= m_looks.size() || (under && !covers)) continue;
            under = covers;
            text = QString("%1, %2").arg(m_looks[bar.slice.style].name, timeText(static_cast<double>(bar.slice.duration)));
        }
        qint64 count = 0;
        for (const auto& column : picture.columns) count = cappedSum(count, column.count);
        if (text.isEmpty() && count > 0)
            text = QString("%1 slices, each narrower than a pixel: zoom in").arg(QString::fromStdString(format::count(count)));
        QToolTip::showText(help->globalPos(), text, this);
        return true;
    }
    if (event->type() == QEvent::Leave) {
        m_cursor = -1;
        update();
    }
    return QWidget::event(event);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
    const double middle = m_cursor >= lanesRect().left() ? m_cursor : lanesRect().center().x();
    const double far = lanesRect().width() * 0.15;
    const QString text = event->text();
    if (text == "/") return Q_EMIT searchWanted();
    if (text == "?") return Q_EMIT helpWanted();
    if (text == "[" || text == "]") return Q_EMIT flowWanted(text == "]");
    switch (event->key()) {
        case Qt::Key_W:
        case Qt::Key_Plus:
            return zoom(1 / 1.4, middle);
        case Qt::Key_S:
        case Qt::Key_Minus:
            return zoom(1.4, middle);
        case Qt::Key_A:
        case Qt::Key_Left:
            return pan(-far);
        case Qt::Key_D:
        case Qt::Key_Right:
            return pan(far);
        case Qt::Key_Up:
            return scrollTo(m_scroll - 57);
        case Qt::Key_Down:
            return scrollTo(m_scroll + 57);
        case Qt::Key_F:
        case Qt::Key_Home:
            return fit();
        case Qt::Key_N:
        case Qt::Key_F3:
            return Q_EMIT nextWanted((event->modifiers() & Qt::ShiftModifier) == 0);
        case Qt::Key_M: {
            const qint64 at = m_selected ? m_selected->slice.start : timeAt(middle);
            const auto near =
                std::ranges::find_if(m_marks, [&](qint64 mark) { return std::fabs(static_cast<double>(mark - at)) < 4 * m_nsPerPixel; });
            if (near == m_marks.end())
                m_marks.push_back(at);
            else
                m_marks.erase(near);
            return update();
        }
        case Qt::Key_PageUp:
        case Qt::Key_PageDown:
            if (event->modifiers() == Qt::NoModifier && showCapture(event->key() == Qt::Key_PageDown)) return;
            return QWidget::keyPressEvent(event);
        case Qt::Key_Escape:
            return clearSelection();
        default:
            return QWidget::keyPressEvent(event);
    }
}

}  // namespace stepscope
