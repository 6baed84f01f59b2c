// The loss chart: every step faint, smoothed bold, validation as diamonds on a dashed line.
#include <algorithm>

#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

constexpr double kFaint = 0.5;  // of every single step, under the smoothed line

class LossContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Loss"); }
    QString help() const override {
        return QStringLiteral(
            "Cross-entropy in nats per token. Faint: every step (smallest and largest per pixel). Bold: exponential moving "
            "average with bias correction, about the last 20 steps. Diamonds: validation.");
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
        const StepColumns& steps = request.history->steps();
        const Places places = stepPlaces(*request.history, request.axis);
        const RowRange rows = visibleRows(places, request.x);
        const Line validation = visibleValidation(request);

        VisibleValues visible;
        visible.add(steps.loss, rows, request.logarithmicY);
        visible.add(steps.smoothedLoss, rows, request.logarithmicY);
        for (const Point& point : validation) visible.add(point.y);
        const Scale y = niceScale(visible.low, visible.high, request.logarithmicY, false);

        const auto lines = [&](const Column& column) {
            return toShares(decimate(places, column, request.x, request.pixels, request.logarithmicY), request.x, y);
        };
        const QColor train = request.colour(SeriesRole::Train);
        canvas.setLine(m_raw, lines(steps.loss), {faint(train, request.ground, kFaint), 1.0});
        canvas.setLine(m_smoothed, lines(steps.smoothedLoss), {train, 2.0});
        const QColor colour = request.colour(SeriesRole::Validation);
        const Line points = toShares(validation, request.x, y);
        canvas.setLine(m_validation, points.size() > 1 ? std::vector<Line>{points} : std::vector<Line>{}, {colour, 1.25, Qt::DashLine});
        canvas.setDots(m_points, points, colour);
        return y;
    }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        const QColor train = request.colour(SeriesRole::Train);
        std::vector<LegendItem> items{{LegendItem::Mark::Faint, faint(train, request.ground, kFaint), QStringLiteral("train"), {}},
                                      {LegendItem::Mark::Bold, train, QStringLiteral("smoothed"), {}},
                                      {LegendItem::Mark::Diamond, request.colour(SeriesRole::Validation), QStringLiteral("validation"), {}}};
        if (!row) return items;
        items[0].value = readOut(request.history->steps().loss[*row], Quantity::Number);
        items[1].value = readOut(request.history->steps().smoothedLoss[*row], Quantity::Number);
        if (const ValidationPoint* point = validationBefore(*request.history, *row)) items[2].value = readOut(point->loss, Quantity::Number);
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        const double x = request.history->x(request.axis, row);
        return {{x, request.history->steps().loss[row], faint(request.colour(SeriesRole::Train), request.ground, kFaint)},
                {x, request.history->steps().smoothedLoss[row], request.colour(SeriesRole::Train)}};
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

    bool m_made = false;
    ChartCanvas::Shape m_raw = 0, m_smoothed = 0, m_validation = 0, m_points = 0;
};

}  // namespace

std::unique_ptr<ChartContent> makeLossContent() {
    return std::make_unique<LossContent>();
}

}  // namespace stepscope
