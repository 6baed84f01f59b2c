// The chart of the gradients: their norm before clipping on a logarithmic axis, with the norm from which it clips; in fp16 the loss scale on an axis
// of its own, with a diamond where an overflow left a step out.
#include <algorithm>
#include <cmath>

#include "core/events/ConfigNumbers.h"
#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

double clipsAt(const DrawRequest& request) {
    return request.history != nullptr ? clipNorm(request.history->config()) : 0;
}

const QString kNorm = QStringLiteral("norm"), kClip = QStringLiteral("clips at"), kScale = QStringLiteral("loss scale"),
              kSkipped = QStringLiteral("skipped");

bool any(const Column& column) {
    return column.extremes(0, column.size()).any;
}

class GradientNormContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Gradient norm"); }
    QString help() const override {
        return QStringLiteral(
            "Global norm of all gradients before clipping, logarithmic. Dotted: the norm above which they are scaled down (grad-clip, as it is set "
            "now). "
            "With amp=fp16 also the loss scale (right axis), and a diamond at each step whose update an overflow left out.");
    }
    Quantity quantity() const override { return Quantity::Number; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            m_lossScale = canvas.addLine();
            m_clip = canvas.addLine();
            m_norm = canvas.addLine();
            m_skipped = canvas.addDots();
            m_made = true;
        }
        m_right.reset();
        m_y = request.yOr(niceScale(0.1, 10, true, false));
        if (!request.hasSteps()) {
            for (const auto shape : {m_lossScale, m_clip, m_norm}) canvas.setLine(shape, {}, {});
            canvas.setDots(m_skipped, {}, {});
            return m_y;
        }
        const StepColumns& steps = request.history->steps();
        const Places places = stepPlaces(*request.history, request.axis);
        const RowRange rows = visibleRows(places, request.x);
        const double clip = request.shows(kClip) ? clipsAt(request) : 0;
        VisibleValues norms, scales;
        if (request.shows(kNorm)) norms.add(steps.gradientNorm, rows, true);
        if (clip > 0) norms.add(clip);
        m_y = request.yOr(niceScale(norms.low, norms.high, true, false));
        const auto lines = [&](const Column& column, const Scale& y) {
            return toShares(decimate(places, column, request.x, request.pixels, true), request.x, y);
        };
        canvas.setLine(m_norm, request.shows(kNorm) ? lines(steps.gradientNorm, m_y) : std::vector<Line>{},
                       {request.colour(SeriesRole::GradientNorm), 1.5});
        const double threshold = m_y.toShare(clip);
        canvas.setLine(m_clip, clip > 0 ? std::vector<Line>{{{0, threshold}, {1, threshold}}} : std::vector<Line>{},
                       {request.colour(SeriesRole::Threshold), 1.25, Qt::DotLine});

        scales.add(steps.lossScale, rows, true);
        if ((request.shows(kScale) || request.shows(kSkipped)) && scales.low > 0 && std::isfinite(scales.high))
            m_right = {niceScale(scales.low, scales.high, true, false), Quantity::Events, request.colour(SeriesRole::LossScale),
                       QStringLiteral("loss scale")};
        canvas.setLine(m_lossScale, m_right && request.shows(kScale) ? lines(steps.lossScale, m_right->scale) : std::vector<Line>{},
                       {request.colour(SeriesRole::LossScale), 1.25, Qt::DashLine});
        canvas.setDots(m_skipped, m_right && request.shows(kSkipped) ? toShares(skippedSteps(request, places), request.x, m_right->scale) : Line{},
                       request.colour(SeriesRole::Skipped));
        return m_y;
    }

    std::optional<RightAxis> rightAxis() const override { return m_right; }

    QString whyEmpty(const DrawRequest& request) const override {
        if (!request.hasSteps() || any(request.history->steps().gradientNorm) || any(request.history->steps().lossScale))
            return ChartContent::whyEmpty(request);
        if (isImport(request.history)) return whyNotSaid(request, request.history->steps().gradientNorm, QStringLiteral("a gradient norm"));
        return QStringLiteral("No norm is taken while grad-clip is 0. Set it to a large number to see the norm without clipping.");
    }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        const auto item = [](LegendItem::Mark mark, const QColor& colour, const QString& name, const QString& value) {
            return LegendItem{.mark = mark, .colour = colour, .name = name, .value = value, .series = name};
        };
        std::vector<LegendItem> items{item(LegendItem::Mark::Line, request.colour(SeriesRole::GradientNorm), kNorm, {})};
        if (const double clip = clipsAt(request); clip > 0)
            items.push_back(item(LegendItem::Mark::Dotted, request.colour(SeriesRole::Threshold), kClip, readOut(clip, Quantity::Number)));
        if (!row) return items;
        const StepColumns& steps = request.history->steps();
        items[0].value = readOut(steps.gradientNorm[*row], Quantity::Number);
        if (!any(steps.lossScale)) return items;
        items.push_back(
            item(LegendItem::Mark::Dashed, request.colour(SeriesRole::LossScale), kScale, readOut(steps.lossScale[*row], Quantity::Number)));
        items.back().shortName = QStringLiteral("scale");
        items.push_back(item(LegendItem::Mark::Diamond, request.colour(SeriesRole::Skipped), kSkipped,
                             QString::number(std::llround(steps.skipped.sum(0, *row + 1)))));
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        const StepColumns& steps = request.history->steps();
        const double x = request.history->x(request.axis, row);
        std::vector<CursorDot> dots;
        if (request.shows(kNorm)) dots.push_back({x, steps.gradientNorm[row], request.colour(SeriesRole::GradientNorm)});
        if (m_right && request.shows(kScale)) dots.push_back({x, m_y.fromShare(m_right->scale.toShare(steps.lossScale[row])), m_right->colour});
        return dots;
    }

    ValueTable values(const RunHistory& history) const override {
        return stepTable(history, {QStringLiteral("gradient_norm"), QStringLiteral("loss_scale"), QStringLiteral("skipped")},
                         [&history](std::size_t column, std::size_t row) {
                             const StepColumns& steps = history.steps();
                             return column == 0 ? steps.gradientNorm[row] : column == 1 ? steps.lossScale[row] : steps.skipped[row];
                         });
    }

private:
    // One point a few pixels at most, at the scale that overflowed.
    static Line skippedSteps(const DrawRequest& request, const Places& places) {
        constexpr std::size_t kPixelsADiamond = 8;
        const StepColumns& steps = request.history->steps();
        Line points;
        for (const RowRange& rows : pixelColumns(places, request.x, std::max<std::size_t>(1, request.pixels / kPixelsADiamond))) {
            if (steps.skipped.sum(rows.begin, rows.end) == 0) continue;
            std::size_t row = rows.end - 1;
            while (steps.skipped[row] == 0) --row;
            points.push_back({places.at(row), steps.lossScale[row]});
        }
        return points;
    }

    bool m_made = false;
    ChartCanvas::Shape m_norm = 0, m_clip = 0, m_lossScale = 0, m_skipped = 0;
    Scale m_y;
    std::optional<RightAxis> m_right;
};

}  // namespace

std::unique_ptr<ChartContent> makeGradientNormContent() {
    return std::make_unique<GradientNormContent>();
}

}  // namespace stepscope
