// The loss chart: every step faint, smoothed bold, validation as diamonds on a dashed line.
#include <algorithm>
#include <cmath>

#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

const QString kRaw = QStringLiteral("train"), kSmoothed = QStringLiteral("smoothed"), kValidation = QStringLiteral("validation");

// Of every single step, under the smoothed line: as faint as can still be seen well.
QColor rawColour(const DrawRequest& request) {
    return faintButReadable(request.colour(SeriesRole::Train), request.ground);
}

class LossContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Loss"); }
    QString help() const override {
        return QStringLiteral(
            "Cross-entropy in nats per token. Faint: every step (smallest and largest per pixel). Bold: smoothed without lag, a line fitted to the "
            "steps around each (how many: the slider in the bar; near the beginning and the live edge fewer on that side). Diamonds: validation.");
    }
    Quantity quantity() const override { return Quantity::Number; }
    bool canBeLogarithmic() const override { return true; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            m_raw = canvas.addLine();
            m_smoothed = canvas.addLine();
            m_validation = canvas.addLine();
            m_points = canvas.addDots();
            m_made = true;
        }
        if (request.history == nullptr) {
            for (const auto shape : {m_raw, m_smoothed, m_validation}) canvas.setLine(shape, {}, {});
            canvas.setDots(m_points, {}, {});
            return niceScale(1, 10, request.logarithmicY, false);
        }
        m_half = request.smoothing;
        const StepColumns& steps = request.history->steps();
        const Places places = stepPlaces(*request.history, request.axis);
        const RowRange rows = visibleRows(places, request.x);
        const Line validation = visibleValidation(request);

        const bool smooth = request.smoothing > 0 && request.shows(kSmoothed);
        const std::vector<Line> average = smooth ? smoothed(request, places) : std::vector<Line>{};
        VisibleValues visible;
        if (request.shows(kRaw)) visible.add(steps.loss, rows, request.logarithmicY);
        for (const Line& line : average)
            for (const Point& point : line) visible.add(point.y);
        if (request.shows(kValidation))
            for (const Point& point : validation) visible.add(point.y);
        const Scale y = request.yOr(niceScale(visible.low, visible.high, request.logarithmicY, false));

        std::vector<Line> raw;
        if (request.shows(kRaw)) raw = decimate(places, steps.loss, request.x, request.pixels, request.logarithmicY);
        canvas.setLine(m_raw, toShares(raw, request.x, y), {rawColour(request), 1.0});
        canvas.setLine(m_smoothed, toShares(average, request.x, y), {request.colour(SeriesRole::Train), 2.0});
        const QColor colour = request.colour(SeriesRole::Validation);
        const Line points = request.shows(kValidation) ? toShares(validation, request.x, y) : Line{};
        canvas.setLine(m_validation, points.size() > 1 ? std::vector<Line>{points} : std::vector<Line>{}, {colour, 1.25, Qt::DashLine});
        canvas.setDots(m_points, points, colour);
        return y;
    }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        const QColor train = request.colour(SeriesRole::Train);
        const auto item = [](LegendItem::Mark mark, const QColor& colour, const QString& name, const QString& value) {
            return LegendItem{.mark = mark, .colour = colour, .name = name, .value = value, .series = name};
        };
        const auto number = [&](double value) { return row ? readOut(value, Quantity::Number) : QString(); };
        std::vector<LegendItem> items{item(LegendItem::Mark::Faint, rawColour(request), kRaw, number(row ? request.history->steps().loss[*row] : 0))};
        if (request.smoothing > 0) items.push_back(item(LegendItem::Mark::Bold, train, kSmoothed, number(row ? smoothedAt(request, *row) : 0)));
        const ValidationPoint* point = row ? validationBefore(*request.history, *row) : nullptr;
        items.push_back(
            item(LegendItem::Mark::Diamond, request.colour(SeriesRole::Validation), kValidation, point ? number(point->loss) : QString()));
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        const double x = request.history->x(request.axis, row);
        std::vector<CursorDot> dots;
        if (request.shows(kRaw)) dots.push_back({x, request.history->steps().loss[row], rawColour(request)});
        if (request.smoothing > 0 && request.shows(kSmoothed)) dots.push_back({x, smoothedAt(request, row), request.colour(SeriesRole::Train)});
        return dots;
    }

    ValueTable values(const RunHistory& history) const override {
        const std::size_t half = m_half;
        return stepTable(history, {QStringLiteral("loss"), QStringLiteral("loss_smoothed"), QStringLiteral("validation_loss")},
                         [&history, half](std::size_t column, std::size_t row) {
                             if (column == 0) return history.steps().loss[row];
                             if (column == 1) return half > 0 ? history.steps().smoothedLoss.at(row, half) : kUnknown;
                             const ValidationPoint* point = validationBefore(history, row);
                             return point != nullptr && point->place.step == static_cast<double>(history.steps().step[row]) ? point->loss : kUnknown;
                         });
    }

private:
    // The latest validation at or before a step: what the weights were last known to reach.
    static const ValidationPoint* validationBefore(const RunHistory& history, std::size_t row) {
        const auto& points = history.validation();
        const auto step = static_cast<double>(history.steps().step[row]);
        const auto after = std::upper_bound(points.begin(), points.end(), step, [](double s, const ValidationPoint& p) { return s < p.place.step; });
        return after == points.begin() ? nullptr : &*(after - 1);
    }

    // Diamonds closer than their own width would only smear: the last of each few pixels stands for them.
    static Line visibleValidation(const DrawRequest& request) {
        constexpr std::size_t kPixelsADiamond = 8;
        const auto& all = request.history->validation();
        const Places places{all.size(), [&](std::size_t row) { return all[row].place.on(request.axis); }};
        Line line;
        for (const RowRange& rows : pixelColumns(places, request.x, std::max<std::size_t>(1, request.pixels / kPixelsADiamond))) {
            const ValidationPoint& point = all[rows.end - 1];
            if (!request.logarithmicY || point.loss > 0) line.push_back({point.place.on(request.axis), point.loss});
        }
        return line;
    }

    static double smoothedAt(const DrawRequest& request, std::size_t row) {
        const StepColumns& steps = request.history->steps();
        return std::isfinite(steps.loss[row]) ? steps.smoothedLoss.at(row, request.smoothing) : kUnknown;
    }

    // One point a pixel, over at least what the pixel holds: fewer would show every hundredth step's noise.
    static std::vector<Line> smoothed(const DrawRequest& request, const Places& places) {
        std::vector<Line> lines(1);
        const auto add = [&](RowRange rows) {
            const std::size_t row = rows.begin + (rows.end - rows.begin) / 2;
            DrawRequest wide = request;
            wide.smoothing = std::max(request.smoothing, (rows.end - rows.begin) / 2);
            const double value = smoothedAt(wide, row);
            if (std::isfinite(value) && (!request.logarithmicY || value > 0))
                lines.back().push_back({places.at(row), value});
            else if (!lines.back().empty())
                lines.emplace_back();
        };
        const RowRange all = visibleRows(places, request.x);
        if (all.begin < all.end && places.at(all.begin) < request.x.low) add({all.begin, all.begin + 1});
        for (const RowRange& rows : pixelColumns(places, request.x, request.pixels)) add(rows);
        if (all.begin < all.end && places.at(all.end - 1) > request.x.high) add({all.end - 1, all.end});
        if (lines.back().empty()) lines.pop_back();
        return lines;
    }

    bool m_made = false;
    std::size_t m_half = CentredSmoothing::kHalf;  // of the last fill
    ChartCanvas::Shape m_raw = 0, m_smoothed = 0, m_validation = 0, m_points = 0;
};

}  // namespace

std::unique_ptr<ChartContent> makeLossContent() {
    return std::make_unique<LossContent>();
}

}  // namespace stepscope
