// What the contents of all charts share.
#include "widgets/charts/ChartContent.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/Statistics.h"
#include "core/events/SessionInfo.h"

namespace stepscope {

Places stepPlaces(const RunHistory& history, XAxis axis) {
    return {history.rows(), [&history, axis](std::size_t row) { return history.x(axis, row); }};
}

Places devicePlaces(const RunHistory& history, XAxis axis) {
    const auto& places = history.device().place;
    return {places.size(), [&places, axis](std::size_t row) { return places[row].on(axis); }};
}

ValueTable stepTable(const RunHistory& history, QStringList names, std::function<double(std::size_t, std::size_t)> at) {
    return {std::move(names), history.rows(), [&history](std::size_t row) { return history.place(row); }, std::move(at)};
}

double robustHigh(std::vector<double> values) {
    if (values.empty()) return 0;
    const double bound = 2 * quantile(values, 0.95);
    double high = 0;
    for (const double value : values)
        if (value <= bound) high = std::max(high, value);
    return high;
}

Line toShares(const Line& line, const Scale& x, const Scale& y) {
    Line shares;
    shares.reserve(line.size());
    for (const Point& point : line) {
        // Far outside is as good as just outside, and keeps the rasteriser away from huge coordinates.
        const Point share{std::clamp(x.toShare(point.x), -4.0, 5.0), std::clamp(y.toShare(point.y), -4.0, 5.0)};
        if (std::isfinite(share.x) && std::isfinite(share.y)) shares.push_back(share);
    }
    return shares;
}

std::vector<Line> toShares(const std::vector<Line>& lines, const Scale& x, const Scale& y) {
    std::vector<Line> shares;
    for (const Line& line : lines)
        if (Line moved = toShares(line, x, y); !moved.empty()) shares.push_back(std::move(moved));
    return shares;
}

bool isImport(const RunHistory* history) {
    return history != nullptr && history->info() && history->info()->kind == SessionKind::Trace;
}

QString whyNotSaid(const DrawRequest& request, const Column& column, const QString& what) {
    if (!request.hasSteps() || column.extremes(0, column.size()).any) return {};
    return (isImport(request.history) ? QStringLiteral("What was imported says nothing of %1.") : QStringLiteral("This session says nothing of %1."))
        .arg(what);
}

std::optional<std::size_t> deviceRow(const RunHistory& history, std::optional<std::size_t> stepRow) {
    const auto& places = history.device().place;
    if (places.empty()) return std::nullopt;
    if (!stepRow || *stepRow + 1 == history.rows()) return places.size() - 1;
    const double seconds = history.steps().seconds[*stepRow];
    const auto after = std::lower_bound(places.begin(), places.end(), seconds, [](const RunPlace& place, double s) { return place.seconds < s; });
    if (after == places.begin()) return 0;
    if (after == places.end() || seconds - (after - 1)->seconds < after->seconds - seconds)
        return static_cast<std::size_t>(after - places.begin()) - 1;
    return static_cast<std::size_t>(after - places.begin());
}

void VisibleValues::add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
}

void VisibleValues::add(const Column& column, RowRange rows, bool positiveOnly) {
    const Column::Extremes found = column.extremes(rows.begin, rows.end, positiveOnly);
    if (!found.any) return;
    add(column[found.low]);
    add(column[found.high]);
}

std::vector<LineValue> ChartContent::valuesAt(const DrawRequest&, double) const {
    return {};
}

PointedLine ChartContent::pointedLine(const DrawRequest&) const {
    return {};
}

std::string ChartContent::csv(const DrawRequest&) const {
    return {};
}

QString ChartContent::whyEmpty(const DrawRequest& request) const {
    if (request.hasSteps()) {
        if (request.axis == XAxis::WallTime && !request.history->knowsTimes())
            return QStringLiteral("What was imported does not tell when its steps were. Choose steps as the x axis.");
        const Places places = stepPlaces(*request.history, request.axis);
        const bool before = places.at(places.count - 1)<request.x.low, after = places.at(0)> request.x.high;
        return before || after ? QStringLiteral("No steps in this part of the run. Press F to see all of it.") : QString();
    }
    if (request.history == nullptr || !request.history->started()) return QStringLiteral("No steps yet. Press Run.");
    if (const auto& info = request.history->info(); info && info->kind == SessionKind::Trace)
        return QStringLiteral("This is an imported trace: the pages Operations and Timeline show what it holds.");
    if (const auto& state = request.history->state(); state && ended(state->state)) {
        if (state->state == RunState::Failed)
            return QStringLiteral("The run failed before its first step: %1").arg(QString::fromStdString(state->why));
        return QStringLiteral("This run ended before its first step. Press Run to start another.");
    }
    if (const auto& preparing = request.history->preparing())
        return QStringLiteral("Preparing: %1. The first step follows.").arg(QString::fromStdString(preparing->what));
    return QStringLiteral("Waiting for the first step.");
}

}  // namespace stepscope
