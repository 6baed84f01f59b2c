#include "widgets/panels/workers/WorkersMap.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {
namespace {

// Colours span at least this share of the slowest: what differs by less is drawn alike, as it is.
constexpr double kLeastSpan = 0.1;
// Of the columns, that may lie beyond the ends: a first step that took seconds does not make all others equal.
constexpr double kBeyond = 0.01;

QString stepsText(const WorkerGrid::Column& column) {
    const auto number = [](std::int64_t step) { return QString::fromStdString(format::count(step)); };
    return column.first == column.last ? "step " + number(column.first) : QString("steps %1 to %2").arg(number(column.first), number(column.last));
}

}  // namespace

QString workerTime(double ns) {
    return std::isfinite(ns) ? QString::fromStdString(format::milliseconds(ns / 1e6)) : QString("–");
}

WorkersMap::WorkersMap(QWidget* parent) : QWidget(parent) {
    setFont(smallFont(font()));
    setAccessibleName("Heat map of workers and steps");
    offerPicture(*this, "workers", [this] { return asCsv(); });
}

void WorkersMap::setGrid(WorkerGrid grid) {
    m_grid = std::move(grid);
    std::vector<double> sorted;
    for (const double mean : m_grid.mean)
        if (std::isfinite(mean)) sorted.push_back(mean);
    std::ranges::sort(sorted);
    m_low = m_high = 0;
    if (!sorted.empty()) {
        const auto beyond = static_cast<std::size_t>(kBeyond * static_cast<double>(sorted.size()));
        m_high = sorted[sorted.size() - 1 - beyond];
        m_low = std::min(sorted[beyond], (1 - kLeastSpan) * m_high);
    }
    setMinimumHeight(static_cast<int>(std::min<std::int64_t>(m_grid.workers, 100'000)) * rowHigh() + footHigh());
    updateGeometry();
    update();
}

QString WorkersMap::asCsv() const {
    CsvText csv({"Worker", "First step", "Last step", "Mean (ms)", "Slowest (ms)"});
    for (std::int64_t worker = 0; worker < m_grid.workers; ++worker)
        for (std::size_t column = 0; column < m_grid.columns.size(); ++column)
            csv.row({QString::number(worker), QString::number(m_grid.columns[column].first), QString::number(m_grid.columns[column].last),
                     csvNumber(1e-6 * m_grid.at(m_grid.mean, worker, column)), csvNumber(1e-6 * m_grid.at(m_grid.most, worker, column))});
    return csv.text();
}

QSize WorkersMap::sizeHint() const {
    return {640, minimumHeight()};
}

int WorkersMap::nameWide() const {
    return fontMetrics().horizontalAdvance(QString("worker %1").arg(std::max<std::int64_t>(m_grid.workers - 1, 10))) + 8;
}

QRectF WorkersMap::cells() const {
    return {static_cast<double>(nameWide()), 0, std::max(1.0, static_cast<double>(width() - nameWide())),
            static_cast<double>(m_grid.workers) * rowHigh()};
}

void WorkersMap::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    const QColor ground = palette().color(QPalette::Base), full = seriesColour(SeriesRole::B, isDark(palette()));
    painter.fillRect(rect(), ground);
    if (m_grid.columns.empty()) return;
    const QRectF where = cells();
    const double wide = where.width() / static_cast<double>(m_grid.columns.size());
    const auto firstRow = std::max<std::int64_t>(0, event->rect().top() / rowHigh());
    const auto lastRow = std::min<std::int64_t>(m_grid.workers, event->rect().bottom() / rowHigh() + 1);
    for (std::int64_t worker = firstRow; worker < lastRow; ++worker) {
        const double top = static_cast<double>(worker) * rowHigh();
        painter.setPen(mutedText(palette()));
        painter.drawText(QRectF(0, top, nameWide() - 6, rowHigh() - 1), Qt::AlignRight | Qt::AlignVCenter, QString("worker %1").arg(worker));
        // Several columns of a pixel would be drawn over each other: the one that took longest is seen.
        for (std::size_t column = 0; column < m_grid.columns.size();) {
            const double left = where.left() + static_cast<double>(column) * wide;
            double longest = m_grid.at(m_grid.mean, worker, column);
            std::size_t next = column + 1;
            for (; next < m_grid.columns.size() && where.left() + static_cast<double>(next) * wide < left + 1; ++next)
                longest = std::fmax(longest, m_grid.at(m_grid.mean, worker, next));
            const QRectF cell(left, top, where.left() + static_cast<double>(next) * wide - left, rowHigh() - 1);
            column = next;
            if (!std::isfinite(longest)) {
                painter.fillRect(cell, palette().color(QPalette::AlternateBase));
                continue;
            }
            const double share = m_high > m_low ? std::clamp((longest - m_low) / (m_high - m_low), 0.0, 1.0) : 0;
            painter.fillRect(cell, faint(full, ground, 0.06 + 0.94 * share));
        }
    }
    painter.setPen(mutedText(palette()));
    const QRectF foot(where.left(), where.bottom(), where.width(), footHigh());
    painter.drawText(foot, Qt::AlignLeft | Qt::AlignVCenter, stepsText({m_grid.columns.front().first, m_grid.columns.front().first}));
    painter.drawText(foot, Qt::AlignRight | Qt::AlignVCenter, stepsText({m_grid.columns.back().last, m_grid.columns.back().last}));
}

QString WorkersMap::cellFacts(std::int64_t worker, std::size_t column) const {
    const double mean = m_grid.at(m_grid.mean, worker, column), most = m_grid.at(m_grid.most, worker, column);
    const WorkerGrid::Column& steps = m_grid.columns[column];
    const QString head = QString("worker %1, %2").arg(worker).arg(stepsText(steps));
    if (!std::isfinite(mean)) return head + "\nmade none of them";
    if (steps.first == steps.last) return head + '\n' + workerTime(mean);
    return head + QString("\n%1 a step, at most %2").arg(workerTime(mean), workerTime(most));
}

bool WorkersMap::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QRectF where = cells();
        if (m_grid.columns.empty() || !where.contains(help->pos())) {
            QToolTip::hideText();
            return true;
        }
        const auto column = static_cast<std::size_t>((help->pos().x() - where.left()) / where.width() * static_cast<double>(m_grid.columns.size()));
        QToolTip::showText(help->globalPos(), cellFacts(help->pos().y() / rowHigh(), std::min(column, m_grid.columns.size() - 1)), this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace stepscope
