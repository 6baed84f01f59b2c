// The step-time chart: phases stacked in the order in which a step runs them. Where a pixel holds many steps it shows their
// mean, because only means add up to the mean step. On a logarithmic axis the phases are lines beside the total: a stack of logarithms adds up to
// nothing.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

constexpr std::size_t kLayers = kPhases + 1;  // the phases, and what belongs to none
constexpr std::size_t kCopy = static_cast<std::size_t>(Phase::Copy), kWaiting = static_cast<std::size_t>(Phase::Waiting);
// Less than this a step is 0.00: on a CPU nothing is copied, one worker waits for no other, and no place is wasted on it.
constexpr double kShownMs = 0.005;
const QString kTotal = QStringLiteral("total");

QString nameOf(std::size_t layer) {
    return layer < kPhases ? QString::fromUtf8(toString(static_cast<Phase>(layer))) : QStringLiteral("other");
}

const SumColumn& columnOf(const RunHistory& history, std::size_t layer) {
    return layer < kPhases ? history.steps().phaseMs[layer] : history.steps().otherMs;
}

class StepTimeContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Step time"); }
    QString help() const override {
        return QStringLiteral(
            "Wall time of a step by phase, stacked; mean per pixel; on a logarithmic axis each phase is a line of its own. Validation, checkpoints "
            "and "
            "pauses are not part of a step. Where a few steps took more than twice as long as the slowest twentieth, the axis ends below them: an "
            "arrow says how far they reach.");
    }
    Quantity quantity() const override { return Quantity::Milliseconds; }
    bool canBeLogarithmic() const override { return true; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            for (auto& layer : m_layers) layer = canvas.addArea();
            for (auto& line : m_lines) line = canvas.addLine();
            m_made = true;
        }
        m_beyond.reset();
        m_unitMs = 1;
        const Pixels pixels = request.hasSteps() ? collect(request) : Pixels{};
        const Scale y = request.yOr(scaleFor(request, pixels));
        const QString unit = makeTicks(y, quantity(), 4).unit;
        m_unitMs = unit == "s" ? 1000 : unit == "µs" ? 1e-3 : 1;
        if (!pixels.total.empty() && !request.logarithmicY && !request.y && highest(pixels.total) > y.high) m_beyond = highest(pixels.total);
        // Painted from the tallest down: each area reaches the axis and the next covers its lower part.
        for (std::size_t i = 0; i < kLayers; ++i) {
            const std::size_t layer = kLayers - 1 - i;
            const bool stacked = !request.logarithmicY && drawn(request, layer);
            canvas.setArea(m_layers[i], stacked ? toShares(pixels.tops[layer], request.x, y) : Line{}, {}, colour(request, layer));
            const bool lined = request.logarithmicY && drawn(request, layer);
            canvas.setLine(m_lines[layer], lined ? toShares(positive(pixels.alone[layer]), request.x, y) : std::vector<Line>{},
                           {colour(request, layer), 1.25});
        }
        const bool total = request.logarithmicY && request.shows(kTotal);
        canvas.setLine(m_lines[kLayers], total ? toShares(positive(pixels.total), request.x, y) : std::vector<Line>{}, {request.ink, 2.0});
        return y;
    }

    std::optional<double> beyond() const override { return m_beyond; }

    QString whyEmpty(const DrawRequest& request) const override {
        if (request.hasSteps())
            if (QString why = whyNotSaid(request, request.history->steps().stepMs, QStringLiteral("how long a step took")); !why.isEmpty())
                return why;
        return ChartContent::whyEmpty(request);
    }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        static const std::array<QString, kLayers> kShort{QStringLiteral("batch"), QStringLiteral("copy"), QStringLiteral("fwd"),
                                                         QStringLiteral("bwd"),   QStringLiteral("clip"), QStringLiteral("opt"),
                                                         QStringLiteral("wait"),  QStringLiteral("other")};
        std::vector<LegendItem> items;
        if (row)
            items.push_back({.mark = request.logarithmicY ? LegendItem::Mark::Bold : LegendItem::Mark::None,
                             .colour = request.ink,
                             .name = kTotal,
                             .value = number(request.history->steps().stepMs[*row]),
                             .series = request.logarithmicY ? kTotal : QString()});
        for (std::size_t layer = 0; layer < kLayers; ++layer) {
            if (!happens(layer)) continue;
            items.push_back({.mark = LegendItem::Mark::Area,
                             .colour = colour(request, layer),
                             .name = nameOf(layer),
                             .value = row ? number(columnOf(*request.history, layer)[*row]) : QString(),
                             .shortName = kShort[layer],
                             .shortValue = row ? shortNumber(columnOf(*request.history, layer)[*row]) : QString(),
                             .series = nameOf(layer)});
        }
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        double height = request.logarithmicY ? request.history->steps().stepMs[row] : 0;
        for (std::size_t layer = 0; layer < kLayers && !request.logarithmicY; ++layer)
            if (drawn(request, layer)) height += columnOf(*request.history, layer)[row];
        return {{request.history->x(request.axis, row), height, request.colour(SeriesRole::Idle)}};
    }

    ValueTable values(const RunHistory& history) const override {
        QStringList names{QStringLiteral("step_ms")};
        std::vector<std::size_t> layers;
        for (std::size_t layer = 0; layer < kLayers; ++layer) {
            // A column that runs of one worker never had.
            if (layer == kWaiting && !(columnOf(history, layer).sum(0, history.rows()) > 0)) continue;
            names += nameOf(layer) + QStringLiteral("_ms");
            layers.push_back(layer);
        }
        return stepTable(history, names, [&history, layers](std::size_t column, std::size_t row) {
            return column == 0 ? history.steps().stepMs[row] : columnOf(history, layers[column - 1])[row];
        });
    }

private:
    // One point a pixel column: of each layer by itself, of the stack up to it, and of all of it: of what is shown where that is stacked, else of the
    // whole step, whose line is named so.
    struct Pixels {
        std::array<Line, kLayers> alone, tops;
        Line total;
    };

    Pixels collect(const DrawRequest& request) {
        const RunHistory& history = *request.history;
        const Places places = stepPlaces(history, request.axis);
        const RowRange all = visibleRows(places, request.x);
        const auto some = [&](std::size_t layer) {
            return columnOf(history, layer).sum(all.begin, all.end) >= kShownMs * static_cast<double>(all.end - all.begin);
        };
        m_copies = some(kCopy);
        m_waits = some(kWaiting);
        Pixels pixels;
        const auto add = [&](RowRange rows, double x) {
            double height = 0, whole = 0;
            for (std::size_t layer = 0; layer < kLayers; ++layer) {
                const double mean = columnOf(history, layer).mean(rows.begin, rows.end);
                if (drawn(request, layer)) height += mean;
                whole += mean;
                pixels.alone[layer].push_back({x, mean});
                pixels.tops[layer].push_back({x, height});
            }
            pixels.total.push_back({x, request.logarithmicY ? whole : height});
        };
        if (all.begin < all.end && places.at(all.begin) < request.x.low) add({all.begin, all.begin + 1}, places.at(all.begin));
        for (const RowRange& rows : pixelColumns(places, request.x, request.pixels)) add(rows, places.at(rows.begin + (rows.end - rows.begin) / 2));
        if (all.begin < all.end && places.at(all.end - 1) > request.x.high) add({all.end - 1, all.end}, places.at(all.end - 1));
        if (pixels.total.size() == 1)  // one step is a bar, not nothing
            for (Line& top : pixels.tops) top = {{top[0].x - barHalf(request), top[0].y}, {top[0].x + barHalf(request), top[0].y}};
        return pixels;
    }

    Scale scaleFor(const DrawRequest& request, const Pixels& pixels) const {
        if (!request.logarithmicY) {
            std::vector<double> heights;
            for (const Point& point : pixels.total) heights.push_back(point.y);
            const double high = robustHigh(std::move(heights));
            return niceScale(0, high > 0 ? high : 1, false, true);
        }
        // The phases below a hundredth of the step would take most of the axis for what nobody looks at.
        const double floor = highest(pixels.total) * 0.01;
        VisibleValues visible;
        if (request.shows(kTotal))
            for (const Point& point : pixels.total) visible.add(point.y);
        for (std::size_t layer = 0; layer < kLayers; ++layer)
            if (drawn(request, layer))
                for (const Point& point : pixels.alone[layer])
                    if (point.y > floor) visible.add(point.y);
        return niceScale(visible.low, visible.high, true, false);
    }

    bool drawn(const DrawRequest& request, std::size_t layer) const { return request.shows(nameOf(layer)) && happens(layer); }
    bool happens(std::size_t layer) const { return (layer != kCopy || m_copies) && (layer != kWaiting || m_waits); }
    static double highest(const Line& line) {
        double most = 0;
        for (const Point& point : line) most = std::max(most, point.y);
        return most;
    }
    static std::vector<Line> positive(const Line& line) {
        std::vector<Line> runs(1);
        for (const Point& point : line) {
            if (point.y > 0)
                runs.back().push_back(point);
            else if (!runs.back().empty())
                runs.emplace_back();
        }
        return runs;
    }
    static QColor colour(const DrawRequest& request, std::size_t layer) {
        return request.colour(layer < kPhases ? roleOf(static_cast<Phase>(layer)) : SeriesRole::Idle);
    }
    // The unit stands once, beside the title: that of the axis.
    QString number(double ms) const {
        if (!std::isfinite(ms)) return QStringLiteral("–");
        const double value = ms / m_unitMs;
        return QString::number(value, 'f', value < 10 ? 2 : value < 100 ? 1 : 0);
    }
    QString shortNumber(double ms) const {
        const double value = ms / m_unitMs;
        return QString::number(value, 'f', value < 0.095 ? 2 : value < 9.5 ? 1 : 0);
    }
    static double barHalf(const DrawRequest& request) {
        return (request.x.high - request.x.low) / static_cast<double>(std::max<std::size_t>(1, request.pixels));
    }

    bool m_made = false;
    bool m_copies = false, m_waits = false;  // in what is in sight
    double m_unitMs = 1;                     // of the axis
    std::optional<double> m_beyond;
    std::array<ChartCanvas::Shape, kLayers> m_layers{};
    std::array<ChartCanvas::Shape, kLayers + 1> m_lines{};  // the last: the total
};

}  // namespace

std::unique_ptr<ChartContent> makeStepTimeContent() {
    return std::make_unique<StepTimeContent>();
}

}  // namespace stepscope
