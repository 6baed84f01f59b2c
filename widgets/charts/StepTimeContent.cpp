// The step-time chart: phases stacked in the order in which a step runs them. Where a pixel holds many steps it shows their
// mean, because only means add up to the mean step.
#include <algorithm>
#include <array>

#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

constexpr std::size_t kLayers = kPhases + 1;  // the phases, and what belongs to none
QString nameOf(std::size_t layer) {
    return layer < kPhases ? QString::fromUtf8(toString(static_cast<Phase>(layer))) : QStringLiteral("other");
}

constexpr double kShownMs = 0.005;  // less than this a step is 0.00: on a CPU nothing is copied, and no place wasted on it

class StepTimeContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Step time"); }
    QString help() const override {
        return QStringLiteral("Wall time of a step by phase, stacked; mean per pixel. Validation, checkpoints and pauses are not part of a step.");
    }
    Quantity quantity() const override { return Quantity::Milliseconds; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            for (auto& layer : m_layers) layer = canvas.addArea();
            m_made = true;
        }
        std::array<Line, kLayers> tops;
        double highest = 0;
        if (request.hasSteps()) {
            const RunHistory& history = *request.history;
            const Places places = stepPlaces(history, request.axis);
            const auto addColumn = [&](RowRange rows, double x) {
                double height = 0;
                for (std::size_t layer = 0; layer < kLayers; ++layer) {
                    height += column(history, layer).mean(rows.begin, rows.end);
                    tops[layer].push_back({x, height});
                }
                highest = std::max(highest, height);
            };
            const RowRange all = visibleRows(places, request.x);
            if (all.begin < all.end && places.at(all.begin) < request.x.low) addColumn({all.begin, all.begin + 1}, places.at(all.begin));
            for (const RowRange& rows : pixelColumns(places, request.x, request.pixels))
                addColumn(rows, places.at(rows.begin + (rows.end - rows.begin) / 2));
            if (all.begin < all.end && places.at(all.end - 1) > request.x.high) addColumn({all.end - 1, all.end}, places.at(all.end - 1));
            const double copies = history.steps().phaseMs[static_cast<std::size_t>(Phase::Copy)].sum(all.begin, all.end);
            m_copies = copies >= kShownMs * static_cast<double>(all.end - all.begin);
        }
        if (tops[0].size() == 1)  // one step is a bar, not nothing
            for (Line& top : tops) top = {{top[0].x - barHalf(request), top[0].y}, {top[0].x + barHalf(request), top[0].y}};
        const Scale y = niceScale(0, highest > 0 ? highest : 1, false, true);
        // Painted from the tallest down: each area reaches the axis and the next covers its lower part.
        for (std::size_t i = 0; i < kLayers; ++i) {
            const std::size_t layer = kLayers - 1 - i;
            const bool drawn = layer != static_cast<std::size_t>(Phase::Copy) || m_copies;
            canvas.setArea(m_layers[i], drawn ? toShares(tops[layer], request.x, y) : Line{}, {}, colour(request, layer));
        }
        return y;
    }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        static const std::array<QString, kLayers> kShort{QStringLiteral("batch"), QStringLiteral("copy"), QStringLiteral("fwd"),
                                                         QStringLiteral("bwd"),   QStringLiteral("clip"), QStringLiteral("opt"),
                                                         QStringLiteral("other")};
        std::vector<LegendItem> items;
        if (row) items.push_back({LegendItem::Mark::None, {}, QStringLiteral("total"), number(request.history->steps().stepMs[*row])});
        for (std::size_t layer = 0; layer < kLayers; ++layer) {
            if (layer == static_cast<std::size_t>(Phase::Copy) && !m_copies) continue;
            items.push_back({LegendItem::Mark::Area, colour(request, layer), nameOf(layer),
                             row ? number(column(*request.history, layer)[*row]) : QString(), kShort[layer],
                             row ? shortNumber(column(*request.history, layer)[*row]) : QString()});
        }
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        return {{request.history->x(request.axis, row), request.history->steps().stepMs[row], request.colour(SeriesRole::Idle)}};
    }

private:
    static const SumColumn& column(const RunHistory& history, std::size_t layer) {
        return layer < kPhases ? history.steps().phaseMs[layer] : history.steps().otherMs;
    }
    static QColor colour(const DrawRequest& request, std::size_t layer) {
        return request.colour(layer < kPhases ? roleOf(static_cast<Phase>(layer)) : SeriesRole::Idle);
    }
    // The unit stands once, beside the title.
    static QString number(double ms) { return QString::number(ms, 'f', ms < 10 ? 2 : ms < 100 ? 1 : 0); }
    static QString shortNumber(double ms) { return QString::number(ms, 'f', ms < 0.095 ? 2 : ms < 9.5 ? 1 : 0); }
    static double barHalf(const DrawRequest& request) {
        return (request.x.high - request.x.low) / static_cast<double>(std::max<std::size_t>(1, request.pixels));
    }

    bool m_made = false;
    bool m_copies = false;
    std::array<ChartCanvas::Shape, kLayers> m_layers{};
};

}  // namespace

std::unique_ptr<ChartContent> makeStepTimeContent() {
    return std::make_unique<StepTimeContent>();
}

}  // namespace stepscope
