// The throughput chart: median and p10..p90 of tokens per second over the last 100 steps.
#include <algorithm>

#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

const QString kMedian = QStringLiteral("median"), kBand = QStringLiteral("p10–p90");

class ThroughputContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Throughput"); }
    QString help() const override {
        return QStringLiteral("Tokens per second of step time over the last 100 steps: line = median, band = 10th to 90th percentile.");
    }
    Quantity quantity() const override { return Quantity::TokenRate; }
    bool canBeLogarithmic() const override { return true; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            m_band = canvas.addArea();
            m_median = canvas.addLine();
            m_made = true;
        }
        if (!request.hasSteps()) {
            canvas.setArea(m_band, {}, {}, {});
            canvas.setLine(m_median, {}, {});
            return request.yOr(niceScale(100, 1000, request.logarithmicY, true));
        }
        const StepColumns& steps = request.history->steps();
        const Places places = stepPlaces(*request.history, request.axis);
        VisibleValues visible;
        const RowRange rows = visibleRows(places, request.x);
        for (const Column* column : {&steps.rateP10, &steps.rateP50, &steps.rateP90})
            if (request.shows(column == &steps.rateP50 ? kMedian : kBand)) visible.add(*column, rows, request.logarithmicY);
        const Scale y =
            request.yOr(request.logarithmicY ? niceScale(visible.low, visible.high, true, false) : niceScale(0, visible.high, false, true));

        Line low, high;
        for (const RowRange& rows : pixelColumns(places, request.x, request.pixels)) {
            const auto lowest = steps.rateP10.extremes(rows.begin, rows.end), highest = steps.rateP90.extremes(rows.begin, rows.end);
            if (!lowest.any || !highest.any || !request.shows(kBand)) continue;
            const double x = places.at(rows.begin + (rows.end - rows.begin) / 2);
            low.push_back({x, steps.rateP10[lowest.low]});
            high.push_back({x, steps.rateP90[highest.high]});
        }
        if (low.size() < 2) low.clear(), high.clear();
        const QColor colour = request.colour(SeriesRole::Throughput);
        canvas.setArea(m_band, toShares(high, request.x, y), toShares(low, request.x, y), faint(colour, request.ground, 0.25));
        std::vector<Line> median;
        if (request.shows(kMedian)) median = toShares(decimate(places, steps.rateP50, request.x, request.pixels, request.logarithmicY), request.x, y);
        canvas.setLine(m_median, median, {colour, 1.5});
        return y;
    }

    QString whyEmpty(const DrawRequest& request) const override {
        if (request.hasSteps())
            if (QString why = whyNotSaid(request, request.history->steps().tokensPerSecond, QStringLiteral("tokens a second")); !why.isEmpty())
                return why;
        return ChartContent::whyEmpty(request);
    }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        const QColor colour = request.colour(SeriesRole::Throughput);
        std::vector<LegendItem> items{
            {.mark = LegendItem::Mark::Line, .colour = colour, .name = kMedian, .value = {}, .series = kMedian},
            {.mark = LegendItem::Mark::Area, .colour = faint(colour, request.ground, 0.35), .name = kBand, .value = {}, .series = kBand}};
        if (!row) return items;
        const StepColumns& steps = request.history->steps();
        items[0].value = readOut(steps.rateP50[*row], Quantity::TokenRate);
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        if (!request.shows(kMedian)) return {};
        return {{request.history->x(request.axis, row), request.history->steps().rateP50[row], request.colour(SeriesRole::Throughput)}};
    }

    ValueTable values(const RunHistory& history) const override {
        return stepTable(history,
                         {QStringLiteral("tokens_per_second"), QStringLiteral("median_of_100_steps"), QStringLiteral("p10"), QStringLiteral("p90")},
                         [&history](std::size_t column, std::size_t row) {
                             const StepColumns& steps = history.steps();
                             return column == 0   ? steps.tokensPerSecond[row]
                                    : column == 1 ? steps.rateP50[row]
                                    : column == 2 ? steps.rateP10[row]
                                                  : steps.rateP90[row];
                         });
    }

private:
    bool m_made = false;
    ChartCanvas::Shape m_band = 0, m_median = 0;
};

}  // namespace

std::unique_ptr<ChartContent> makeThroughputContent() {
    return std::make_unique<ThroughputContent>();
}

}  // namespace stepscope
