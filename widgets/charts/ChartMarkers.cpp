// The vertical marks of flips, checkpoints and validations, and along the foot whose steps they are while two values take turns.
#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "widgets/charts/ChartFrame.h"
#include "widgets/charts/MarkerLayout.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

constexpr double kMarkerReach = 5;

// What is drawn: one place each, flips at the same place together.
struct Mark {
    double x = 0;
    QString label;
    bool flip = false;
    bool important = false;           // a flip or a suggestion
    std::size_t first = 0, last = 0;  // numbers of its flips within the run, from 1
};

bool isImportant(Marker::Kind kind) {
    return kind == Marker::Kind::Switch || kind == Marker::Kind::Suggestion || kind == Marker::Kind::Measured;
}

// Validations, which are many, are only notches in the axis: `notch` is called with their places.
template <class Notch>
std::vector<Mark> visibleMarks(const Markers& markers, const Scale& x, XAxis axis, double width, Notch notch) {
    std::vector<Mark> marks;
    for (const FoldedMarker& folded : foldMarkers(
             markers, axis, [&x](double place) { return x.toShare(place); }, width)) {
        if (folded.kind == Marker::Kind::Validation) {
            notch(folded.x);
            continue;
        }
        const bool flip = folded.kind == Marker::Kind::Switch, important = isImportant(folded.kind);
        QString label = QString::fromStdString(markers[folded.index].label);
        if (important && folded.count() > 1) label += QStringLiteral(" +%1").arg(folded.count() - 1);
        marks.push_back({folded.x, std::move(label), flip, important, folded.first + 1, folded.last + 1});
    }
    return marks;
}

QString numbers(std::size_t first, std::size_t last) {
    return first == last ? QString::number(first) : QStringLiteral("%1–%2").arg(first).arg(last);
}

class MarkerPainter {
public:
    MarkerPainter(QPainter& painter, const ChartFrame& frame)
        : m_painter(painter),
          m_frame(frame),
          m_metrics(frame.labelFont),
          m_rowHeight(std::floor(m_metrics.height())),
          m_rows(static_cast<int>(frame.markerLane.height() / m_rowHeight)),
          m_strong(frame.palette.color(QPalette::Text)),
          m_quiet(mutedText(frame.palette)),
          m_ground(frame.palette.color(QPalette::Base)) {
        m_painter.setRenderHint(QPainter::Antialiasing, false);
        m_painter.setFont(frame.labelFont);
    }

    void notch(double at) {
        m_painter.setPen(m_quiet);
        m_painter.drawLine(QPointF(m_frame.plot.left() + at, m_frame.plot.bottom() - 3), QPointF(m_frame.plot.left() + at, m_frame.plot.bottom()));
    }

    void paint(const std::vector<Mark>& marks) {
        const std::vector<PlacedMarker> placed = place(marks, m_rows, false);
        const bool whole = std::all_of(placed.begin(), placed.end(), [&](const PlacedMarker& one) {
            return !marks[one.request].flip || (one.row >= 0 && one.labelWidth >= widthOf(marks[one.request].label));
        });
        if (whole) return paintLabels(marks, placed, 0);
        // Names that are cut or missing name nothing: numbers instead, and the list of flips says what they are.
        paintLabels(marks, place(marks, m_rows - 1, true), 1);
        paintFlags(marks);
    }

private:
    double widthOf(const QString& label) const { return m_metrics.horizontalAdvance(label) + 2; }

    std::vector<PlacedMarker> place(const std::vector<Mark>& marks, int rows, bool flagged) const {
        std::vector<MarkerRequest> requests;
        for (const Mark& mark : marks) requests.push_back({mark.x, flagged && mark.flip ? 0 : widthOf(mark.label), mark.important});
        return placeMarkers(requests, m_frame.plot.width(), rows);
    }

    void paintLabels(const std::vector<Mark>& marks, const std::vector<PlacedMarker>& placed, int firstRow) {
        const QRectF& plot = m_frame.plot;
        std::vector<PlacedMarker> labelled;  // few: labels have a width
        std::ranges::copy_if(placed, std::back_inserter(labelled), [](const PlacedMarker& one) { return one.row >= 0; });
        for (const PlacedMarker& one : placed) {
            const Mark& mark = marks[one.request];
            const bool strong = mark.important;
            m_painter.setPen(QPen(faint(strong ? m_strong : m_quiet, m_ground, 0.7), 1, strong ? Qt::DashLine : Qt::DotLine));
            // Up to its label, unless another label is in the way.
            const bool blocked = std::ranges::any_of(labelled, [&](const PlacedMarker& other) {
                return other.row > one.row && one.x >= other.labelLeft && one.x <= other.labelLeft + other.labelWidth;
            });
            const double rowTop = m_frame.markerLane.top() + (one.row + firstRow) * m_rowHeight;
            m_painter.drawLine(QPointF(plot.left() + one.x, one.row < 0 || blocked ? plot.top() : rowTop + 2),
                               QPointF(plot.left() + one.x, plot.bottom()));
            if (one.row < 0) continue;
            m_painter.setPen(strong ? m_strong : m_quiet);
            m_painter.drawText(QRectF(plot.left() + one.labelLeft, rowTop, one.labelWidth, m_rowHeight), Qt::AlignVCenter | Qt::AlignLeft,
                               m_metrics.elidedText(mark.label, Qt::ElideRight, one.labelWidth));
        }
    }

    void paintFlags(const std::vector<Mark>& marks) {
        std::vector<const Mark*> flips;
        std::vector<double> places;
        for (const Mark& mark : marks) {
            if (!mark.flip) continue;
            flips.push_back(&mark);
            places.push_back(mark.x);
        }
        const auto text = [&](std::size_t first, std::size_t last) { return numbers(flips[first]->first, flips[last]->last); };
        const auto width = [&](std::size_t first, std::size_t last) { return m_metrics.horizontalAdvance(text(first, last)) + 6; };
        m_painter.setRenderHint(QPainter::Antialiasing);
        for (const PlacedFlag& flag : placeFlags(places, width, m_frame.plot.width())) {
            const QRectF box(m_frame.plot.left() + flag.left, m_frame.markerLane.top() + 0.5, flag.width, m_rowHeight - 1);
            m_painter.setPen(Qt::NoPen);
            m_painter.setBrush(faint(m_strong, m_ground, 0.8));
            m_painter.drawRoundedRect(box, 2, 2);
            m_painter.setPen(m_ground);
            m_painter.drawText(box, Qt::AlignCenter, text(flag.first, flag.last));
        }
        m_painter.setRenderHint(QPainter::Antialiasing, false);
    }

    QPainter& m_painter;
    const ChartFrame& m_frame;
    QFontMetricsF m_metrics;
    double m_rowHeight;
    int m_rows;
    QColor m_strong, m_quiet, m_ground;
};

}  // namespace

void paintMarkers(QPainter& painter, const ChartFrame& frame, const Scale& x, XAxis axis, const Markers& markers) {
    MarkerPainter marker(painter, frame);
    marker.paint(visibleMarks(markers, x, axis, frame.plot.width(), [&](double at) { marker.notch(at); }));
}

void paintTurns(QPainter& painter, const ChartFrame& frame, const Scale& x, XAxis axis, const RunHistory& history) {
    if (history.turns().empty() || history.rows() == 0) return;
    constexpr double kHeight = 3;  // B stands upon A: which is which is seen without colours too
    const QColor ground = frame.palette.color(QPalette::Base);
    const bool dark = isDark(frame.palette);
    painter.setRenderHint(QPainter::Antialiasing, false);
    const auto placeOf = [&](std::int64_t step) {
        const double at = x.toShare(history.x(axis, history.rowAt(XAxis::Step, static_cast<double>(step))));
        return frame.plot.left() + std::clamp(at, 0.0, 1.0) * frame.plot.width();
    };
    const std::vector<TurnBlock>& turns = history.turns();
    const auto rightOf = [&](const TurnBlock& block) { return placeOf(block.lastStep); };
    const auto paint = [&](double left, double right, const TurnBlock& block) {
        const bool ofB = block.arm == Arm::B;
        const QColor colour = seriesColour(ofB ? SeriesRole::B : SeriesRole::A, dark);
        painter.fillRect(QRectF(left, frame.plot.bottom() - (ofB ? 2 : 1) * kHeight, right - left, kHeight),
                         block.counts ? colour : faint(colour, ground, 0.4));
    };
    // Those within a pixel are one, so that their number costs nothing.
    auto block = std::ranges::upper_bound(turns, frame.plot.left(), {}, rightOf);
    while (block != turns.end()) {
        const double left = placeOf(block->firstStep - 1);
        if (left >= frame.plot.right()) break;
        auto next = std::next(block);
        double right = rightOf(*block);
        if (right - left < 1) {
            next = std::ranges::upper_bound(next, turns.end(), left + 1, {}, rightOf);
            right = rightOf(*std::prev(next));
        }
        if (right > left) paint(left, right, *block);
        block = next;
    }
}

MarkerRange markersNear(const ChartFrame& frame, const Scale& x, XAxis axis, const Markers& markers, double pixel) {
    const auto shareOf = [&x](double place) { return x.toShare(place); };
    const auto shareAt = [&](double at) { return (at - frame.plot.left()) / frame.plot.width(); };
    return markersBetween(markers, axis, shareOf, shareAt(pixel - kMarkerReach), shareAt(pixel + kMarkerReach));
}

}  // namespace stepscope
