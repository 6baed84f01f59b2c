// Points are bounded over all lines together, so that twenty runs cost no more to draw than one does.
#include "widgets/charts/overlay/OverlayContent.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/analysis/overlay/OverlayCurves.h"
#include "core/analysis/overlay/RunsOverlay.h"
#include "widgets/style/SeriesColours.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostPoints = 5000;  // of all lines of a chart
constexpr std::size_t kFewLines = 7;       // more are drawn one pixel wide: clearer, and Qt has a quick way for such pens
constexpr std::size_t kFewestColumns = 60;
constexpr std::size_t kNamedLines = 20;

struct Described {
    const char *title, *help, *column;
    Quantity quantity;
    bool fromZero, mayBeLogarithmic;
};
// By RunMetric.
constexpr std::array<Described, 7> kDescribed{{
    {"Loss", "Cross-entropy in nats per token, smoothed as the slider in the bar says; without smoothing the smallest and largest a pixel.", "loss",
     Quantity::Number, false, true},
    {"Learning rate", "The rate of every step.", "learning_rate", Quantity::Number, true, true},
    {"Gradient norm", "Global norm of all gradients before clipping, logarithmic, smoothed as the loss is.", "gradient_norm", Quantity::Number, false,
     false},
    {"Step time",
     "Wall time of a step, the mean over what a pixel holds and at least the steps that the slider in the bar asks for. The phases of one run are "
     "stacked when it is replayed: stacks of several runs would cover each other.",
     "step_ms", Quantity::Milliseconds, true, true},
    {"Throughput", "Tokens per second of step time: the mean over what a pixel holds and at least the steps that the slider in the bar asks for.",
     "tokens_per_second", Quantity::TokenRate, true, true},
    {"Utilisation", "Of the GPU where a run had one, else what the run took of all cores that it could use.", "utilisation_pct", Quantity::Percent,
     true, false},
    {"Memory", "The most that tensors held during a step; of runs that do not know, what the process held after it.", "bytes", Quantity::Bytes, true,
     false},
}};

class OverlayContent : public ChartContent {
public:
    explicit OverlayContent(RunMetric metric) : m_metric(metric), m_described(kDescribed[static_cast<std::size_t>(metric)]) {}

    QString title() const override { return QString::fromUtf8(m_described.title); }
    QString help() const override {
        return QString::fromUtf8(m_described.help) +
               QStringLiteral(" One line a session; grouped: the median of those that reach there, and a band that holds them.");
    }
    Quantity quantity() const override { return m_described.quantity; }
    bool canBeLogarithmic() const override { return m_described.mayBeLogarithmic; }
    std::optional<double> beyond() const override { return m_beyond; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        m_beyond.reset();
        m_any = false;
        const bool logarithmic = isLogarithmic(request);
        const auto& lines = request.overlay->lines();
        while (m_lines.size() < lines.size()) {
            m_bands.push_back(canvas.addArea());
            m_lines.push_back(canvas.addLine());
        }
        std::vector<GroupCurve> curves;
        VisibleValues visible;
        std::vector<double> heights;
        const CurveView view = viewOf(request, columns(request, lines.size()));
        for (const OverlayLine& line : lines) {
            GroupCurve& curve = curves.emplace_back();
            if (line.hidden || line.runs.empty()) continue;
            if (line.of == 1)
                curve.median = curveOf(*line.runs[0], m_metric, view);
            else
                curve = groupCurve(line.runs, m_metric, view);
            for (const Line& run : curve.median)
                for (const Point& point : run) heights.push_back(point.y);
            for (const Line* edge : {&curve.low, &curve.high})
                for (const Point& point : *edge) visible.add(point.y);
        }
        for (const double height : heights) visible.add(height);
        m_any = std::isfinite(visible.low);
        const Scale y = request.yOr(scaleFor(visible, heights, logarithmic));
        if (m_described.fromZero && !logarithmic && !request.y && m_any && visible.high > y.high) m_beyond = visible.high;
        for (std::size_t i = 0; i < m_lines.size(); ++i) {
            const bool used = i < curves.size();
            const QColor colour = used ? overlayColour(lines[i].colour, request.dark) : QColor();
            const bool band = used && curves[i].low.size() > 1;
            canvas.setArea(m_bands[i], band ? toShares(curves[i].high, request.x, y) : Line{}, band ? toShares(curves[i].low, request.x, y) : Line{},
                           used ? faint(colour, request.ground, 0.22) : colour);
            canvas.setLine(m_lines[i], used ? toShares(curves[i].median, request.x, y) : std::vector<Line>{},
                           {colour,
                            band                       ? 2.0
                            : lines.size() > kFewLines ? 1.0
                                                       : 1.5,
                            used ? overlayDash(lines[i].colour) : Qt::SolidLine});
        }
        return y;
    }

    QString whyEmpty(const DrawRequest& request) const override {
        const auto& lines = request.overlay->lines();
        if (lines.empty()) return QStringLiteral("Reading the sessions…");
        if (std::ranges::all_of(lines, &OverlayLine::hidden)) return QStringLiteral("All lines are hidden. A click on a name shows it again.");
        if (m_any) return {};
        if (std::ranges::all_of(lines, [&](const OverlayLine& line) { return line.hidden || leftOut(line, request.axis) == line.runs.size(); }))
            return request.axis == XAxis::WallTime
                       ? QStringLiteral("None of these sessions tells when its steps were. Choose steps as the x axis.")
                       : QStringLiteral("None of these sessions tells how many tokens its steps had. Choose steps as the x axis.");
        const bool before = request.overlay->last(request.axis)<request.x.low, after = request.overlay->first(request.axis)> request.x.high;
        if (before || after) return QStringLiteral("No steps in this part of the runs. Press F to see all of them.");
        return QStringLiteral("None of these sessions stored this.");
    }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t>) const override {
        std::vector<LegendItem> items;
        for (const OverlayLine& line : request.overlay->lines()) {
            if (items.size() == kNamedLines) break;
            LegendItem item{
                .mark = overlayMark(line.colour), .colour = overlayColour(line.colour, request.dark), .name = QString::fromStdString(line.label)};
            item.shortName = QString::fromStdString(line.shortLabel);
            if (const std::size_t out = leftOut(line, request.axis); out > 0) {
                const QString what = request.axis == XAxis::WallTime ? QStringLiteral("no times") : QStringLiteral("no tokens");
                item.name += line.of == 1 ? QStringLiteral(" (%1)").arg(what) : QStringLiteral(" (%1 with %2)").arg(out).arg(what);
            }
            item.series = QString::fromStdString(line.series);
            item.hidden = line.hidden;
            if (request.cursor && !line.hidden) {
                const double value = valueOf(line, request, *request.cursor);
                item.value = std::isfinite(value) ? readOut(value, quantity()) : QString();
            }
            items.push_back(std::move(item));
        }
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest&, std::size_t) const override { return {}; }
    ValueTable values(const RunHistory&) const override { return {}; }

    std::vector<LineValue> valuesAt(const DrawRequest& request, double x) const override {
        std::vector<LineValue> values;
        for (const OverlayLine& line : request.overlay->lines()) {
            if (line.hidden) continue;
            values.push_back({QString::fromStdString(line.series), QString::fromStdString(line.label), overlayColour(line.colour, request.dark),
                              overlayMark(line.colour), valueOf(line, request, x)});
        }
        return values;
    }

    PointedLine pointedLine(const DrawRequest& request) const override {
        const OverlayLine* line = request.overlay->emphasised();
        if (line == nullptr || line->runs.empty()) return {};
        const CurveView view = viewOf(request, std::max<std::size_t>(1, request.pixels));
        const QColor colour = overlayColour(line->colour, request.dark);
        if (line->of == 1) return {curveOf(*line->runs[0], m_metric, view), colour};
        return {groupCurve(line->runs, m_metric, view).median, colour};
    }

    std::string csv(const DrawRequest& request) const override {
        // Two steps may have ended at one moment, as in an imported log without times; each has a number of its own.
        const XAxis along = m_metric == RunMetric::Utilisation ? request.axis : XAxis::Step;
        std::string text = std::string("session,label,step,tokens,seconds,") + m_described.column + "\n";
        for (const OverlaidSlot& slot : request.overlay->slots()) {
            if (slot.run == nullptr || slot.hidden) continue;
            std::string label = slot.label;
            std::ranges::replace(label, '"', '\'');
            const OverlaidRun& run = *slot.run;
            const bool timed = !run.placedOnly();
            if (request.axis == XAxis::WallTime && !timed) continue;
            for (std::size_t row = 0; row < run.rows(); ++row) {
                const double x = run.places(request.axis)[row];
                if (x < request.x.low || x > request.x.high) continue;
                text += std::to_string(slot.session) + ",\"" + label + "\"," + std::to_string(std::llround(run.step[row])) + ',' +
                        std::to_string(std::llround(run.tokens[row])) + ',';
                if (timed) write(text, run.seconds[row]);
                text += ',';
                if (const double value = valueAt(run, m_metric, along, run.places(along)[row], 0); std::isfinite(value)) write(text, value);
                text += '\n';
            }
        }
        return text;
    }

private:
    // How many of its runs cannot be drawn along this axis, because nobody knows their places on it.
    static std::size_t leftOut(const OverlayLine& line, XAxis axis) {
        return static_cast<std::size_t>(std::ranges::count_if(line.runs, [axis](const OverlaidRun* run) { return !run->knows(axis); }));
    }

    static void write(std::string& text, double value) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 9).ptr;
        text.append(digits.data(), end);
    }

    bool isLogarithmic(const DrawRequest& request) const { return request.logarithmicY || m_metric == RunMetric::GradientNorm; }

    CurveView viewOf(const DrawRequest& request, std::size_t columns) const {
        return {request.axis, request.x, columns, request.smoothing, isLogarithmic(request)};
    }

    // Smoothed lines have one point a column, the others two.
    std::size_t columns(const DrawRequest& request, std::size_t lines) const {
        const bool one = m_metric == RunMetric::StepTime || m_metric == RunMetric::Throughput ||
                         (request.smoothing > 0 && (m_metric == RunMetric::Loss || m_metric == RunMetric::GradientNorm));
        const std::size_t each = kMostPoints / std::max<std::size_t>(1, lines) / (one ? 1 : 2);
        return std::min(request.pixels, std::max(kFewestColumns, each));
    }

    Scale scaleFor(const VisibleValues& visible, const std::vector<double>& heights, bool logarithmic) const {
        if (!std::isfinite(visible.low)) return niceScale(logarithmic ? 0.1 : 0, 1, logarithmic, !logarithmic);
        if (m_metric == RunMetric::Utilisation) return {0, 100, false};
        if (!m_described.fromZero || logarithmic) return niceScale(visible.low, visible.high, logarithmic, false);
        if (m_metric != RunMetric::StepTime) return niceScale(0, visible.high, false, true);
        const double high = robustHigh(heights);
        return niceScale(0, high > 0 ? high : 1, false, true);
    }

    double valueOf(const OverlayLine& line, const DrawRequest& request, double x) const {
        std::vector<double> values;
        for (const OverlaidRun* run : line.runs)
            if (const double value = valueAt(*run, m_metric, request.axis, x, request.smoothing); std::isfinite(value)) values.push_back(value);
        return values.size() == 1 ? values[0] : median(values);
    }

    RunMetric m_metric;
    const Described& m_described;
    bool m_any = false;  // of the last fill
    std::optional<double> m_beyond;
    std::vector<ChartCanvas::Shape> m_bands, m_lines;
};

}  // namespace

LegendItem::Mark overlayMark(std::size_t colour) {
    switch (overlayDash(colour)) {
        case Qt::DashLine:
            return LegendItem::Mark::Dashed;
        case Qt::DotLine:
            return LegendItem::Mark::Dotted;
        default:
            return LegendItem::Mark::Line;
    }
}

std::unique_ptr<ChartContent> makeOverlayContent(RunMetric metric) {
    return std::make_unique<OverlayContent>(metric);
}

}  // namespace stepscope
