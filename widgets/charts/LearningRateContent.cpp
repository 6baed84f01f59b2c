// The learning-rate chart: what was used as a solid line, the schedule ahead dashed; before the run, the schedule alone.
#include <algorithm>
#include <cmath>

#include "core/events/ConfigNumbers.h"
#include "core/events/Schedule.h"
#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

class LearningRateContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Learning rate"); }
    QString help() const override {
        return QStringLiteral("Solid: the rate of every step so far. Dashed: the schedule ahead, from the same function that training uses.");
    }
    Quantity quantity() const override { return Quantity::Number; }
    bool canBeLogarithmic() const override { return true; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            m_ahead = canvas.addLine();
            m_past = canvas.addLine();
            m_made = true;
        }
        VisibleValues visible;
        std::vector<Line> past;
        if (request.hasSteps()) {
            const Places places = stepPlaces(*request.history, request.axis);
            visible.add(request.history->steps().learningRate, visibleRows(places, request.x), request.logarithmicY);
            past = decimate(places, request.history->steps().learningRate, request.x, request.pixels, request.logarithmicY);
        }
        const Line ahead = schedule(request);
        for (const Point& point : ahead) visible.add(point.y);
        const Scale y = request.yOr(niceScale(visible.low, visible.high, request.logarithmicY, true));
        const QColor colour = request.colour(SeriesRole::LearningRate);
        canvas.setLine(m_past, toShares(past, request.x, y), {colour, 1.75});
        canvas.setLine(m_ahead, ahead.empty() ? std::vector<Line>{} : toShares(std::vector<Line>{ahead}, request.x, y), {colour, 1.25, Qt::DashLine});
        return y;
    }

    QString whyEmpty(const DrawRequest& request) const override {
        if (!schedule(request).empty()) return {};
        if (request.hasSteps())
            if (QString why = whyNotSaid(request, request.history->steps().learningRate, QStringLiteral("a learning rate")); !why.isEmpty())
                return why;
        // Of a run that has ended, or whose settings nobody knows, no schedule is to come.
        const RunHistory* history = request.history;
        const bool comes = !isImport(history) && !(history != nullptr && history->state() && ended(history->state()->state));
        if (comes && !request.hasSteps() && request.axis == XAxis::WallTime)
            return QStringLiteral("How long the schedule takes is known after the first step.");
        if (comes && request.axis == XAxis::Energy && (history == nullptr || !history->knowsEnergy()))
            return QStringLiteral("What the schedule takes is known when the first sample of the power has come.");
        return ChartContent::whyEmpty(request);
    }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        const QColor colour = request.colour(SeriesRole::LearningRate);
        std::vector<LegendItem> items;
        if (row)
            items.push_back(
                {LegendItem::Mark::Bold, colour, QStringLiteral("used"), readOut(request.history->steps().learningRate[*row], Quantity::Number)});
        items.push_back({LegendItem::Mark::Dashed, colour, row ? QStringLiteral("ahead") : QStringLiteral("planned"), {}});
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        return {{request.history->x(request.axis, row), request.history->steps().learningRate[row], request.colour(SeriesRole::LearningRate)}};
    }

    ValueTable values(const RunHistory& history) const override {
        return stepTable(history, {QStringLiteral("learning_rate")},
                         [&history](std::size_t, std::size_t row) { return history.steps().learningRate[row]; });
    }

private:
    // One step's length along the x axis as far as it can be known; 0 = cannot.
    static double stepLength(const DrawRequest& request, const RunConfig& config) {
        if (request.axis == XAxis::Step) return 1;
        if (request.axis == XAxis::LearningRate) return 0;  // a rate against itself: nothing to foretell
        if (request.hasSteps()) {
            const RunPlace last = request.history->last();
            const double done = last.step - static_cast<double>(request.history->info()->firstStep);
            return done > 0 ? last.on(request.axis) / done : 0;
        }
        return request.axis == XAxis::Tokens ? batchShape(config).tokens() : 0;
    }

    static Line schedule(const DrawRequest& request) {
        const bool started = request.history != nullptr && request.history->started();
        if (!started && request.planned == nullptr) return {};
        if (started && request.history->state() && ended(request.history->state()->state)) return {};
        if (isImport(request.history)) return {};  // the settings that a history has of it are nobody's
        const RunConfig& config = started ? request.history->config() : *request.planned;
        const RunPlace last = started ? request.history->last() : RunPlace{};
        const double length = stepLength(request, config);
        if (length <= 0) return {};

        const double here = request.axis == XAxis::Step ? last.step : last.on(request.axis);
        const double end = here + (static_cast<double>(config.steps) - last.step) * length;
        const double from = std::max(request.x.low, here), to = std::min(request.x.high, end);
        if (from >= to) return {};
        Line line;
        const auto points = std::max<std::size_t>(2, request.pixels / 2);
        const double left = request.x.toShare(from), right = request.x.toShare(to);
        double before = -1;
        for (std::size_t i = 0; i <= points; ++i) {
            const double x = std::clamp(request.x.fromShare(left + (right - left) * static_cast<double>(i) / static_cast<double>(points)), from, to);
            const double step =
                std::clamp(std::round(last.step + (x - here) / length), 1.0, static_cast<double>(std::max<std::int64_t>(1, config.steps)));
            if (step == before) continue;
            before = step;
            const double rate = learningRate(config, static_cast<std::int64_t>(step));
            if (!request.logarithmicY || rate > 0) line.push_back({i == 0 ? x : here + (step - last.step) * length, rate});
        }
        return line;
    }

    bool m_made = false;
    ChartCanvas::Shape m_past = 0, m_ahead = 0;
};

}  // namespace

std::unique_ptr<ChartContent> makeLearningRateContent() {
    return std::make_unique<LearningRateContent>();
}

}  // namespace stepscope
