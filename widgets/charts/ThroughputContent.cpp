// The throughput chart: median and p10..p90 of tokens per second over the last 100 steps.
#include <algorithm>

#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

class ThroughputContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Throughput"); }
    QString help() const override {
        return QStringLiteral("Tokens per second of step time over the last 100 steps: line = median, band = 10th to 90th percentile.");
    }
    Quantity quantity() const override { return Quantity::TokenRate; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            m_band = canvas.addArea();
            m_median = canvas.addLine();
            m_made = true;
        }
        if (!request.hasSteps()) {
            canvas.setArea(m_band, {}, {}, {});
            canvas.setLine(m_median, {}, {});
            return niceScale(0, 1000, false, true);
        }
        const StepColumns& steps = request.history->steps();
        const Places places = stepPlaces(*request.history, request.axis);
        VisibleValues visible;
        visible.add(steps.rateP90, visibleRows(places, request.x), false);
        const Scale y = niceScale(0, visible.high, false, true);

        Line low, high;
        for (const RowRange& rows : pixelColumns(places, request.x, request.pixels)) {
            const auto lowest = steps.rateP10.extremes(rows.begin, rows.end), highest = steps.rateP90.extremes(rows.begin, rows.end);
            if (!lowest.any || !highest.any) continue;
            const double x = places.at(rows.begin + (rows.end - rows.begin) / 2);
            low.push_back({x, steps.rateP10[lowest.low]});
            high.push_back({x, steps.rateP90[highest.high]});
        }
        if (low.size() < 2) low.clear(), high.clear();
        const QColor colour = request.colour(SeriesRole::Throughput);
        canvas.setArea(m_band, toShares(high, request.x, y), toShares(low, request.x, y), faint(colour, request.ground, 0.25));
        canvas.setLine(m_median, toShares(decimate(places, steps.rateP50, request.x, request.pixels, false), request.x, y), {colour, 1.5});
        return y;
    }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        const QColor colour = request.colour(SeriesRole::Throughput);
        std::vector<LegendItem> items{{LegendItem::Mark::Line, colour, QStringLiteral("median"), {}},
                                      {LegendItem::Mark::Area, faint(colour, request.ground, 0.35), QStringLiteral("p10–p90"), {}}};
        if (!row) return items;
        const StepColumns& steps = request.history->steps();
        items[0].value = readOut(steps.rateP50[*row], Quantity::TokenRate);
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        return {{request.history->x(request.axis, row), request.history->steps().rateP50[row], request.colour(SeriesRole::Throughput)}};
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
