// ChartContent: what one chart of the page Live shows: which columns become which lines, the y axis, the words and numbers
// of its head, and why it is empty. ChartView is the widget around it. One subclass a chart. GUI thread.
#pragma once
#include <QColor>
#include <QPointF>
#include <QString>
#include <QStringList>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/RunHistory.h"
#include "widgets/charts/ChartCanvas.h"
#include "widgets/charts/Ticks.h"
#include "widgets/style/SeriesColours.h"

namespace stepscope {

class RunsOverlay;

struct DrawRequest {
    const RunHistory* history = nullptr;   // null: no run chosen
    const RunConfig* planned = nullptr;    // of the next run
    const RunsOverlay* overlay = nullptr;  // stored runs instead of the history; null: none
    std::optional<double> cursor{};        // along x, of an overlay
    XAxis axis = XAxis::Step;
    Scale x;
    std::size_t pixels = 0;  // width of the plot
    bool logarithmicY = false;
    std::optional<Scale> y;                           // what a person zoomed to; none = what the data ask for
    const std::set<QString>* hidden = nullptr;        // series that are not drawn, and that the y axis need not hold
    std::size_t smoothing = CentredSmoothing::kHalf;  // steps on either side of the bold loss line; 0 = no such line
    bool dark = false;
    QColor ground, ink;

    bool shows(const QString& series) const { return hidden == nullptr || !hidden->contains(series); }
    Scale yOr(const Scale& automatic) const { return y.value_or(automatic); }
    bool hasSteps() const { return history != nullptr && history->rows() > 0; }
    QColor colour(SeriesRole role) const { return seriesColour(role, dark); }
};

struct LegendItem {
    enum class Mark { None, Line, Bold, Faint, Dashed, Dotted, Diamond, Area };
    Mark mark = Mark::Line;  // None: a number about the whole chart
    QColor colour;
    QString name;
    QString value;                            // at the cursor, else the latest; may be empty
    QString shortName = {}, shortValue = {};  // where room is scarce; empty = as they are
    QString series = {};                      // by which it is hidden; empty = cannot be
    bool hidden = false;                      // of an overlay as its line is; else set by ChartView
};

struct CursorDot {
    double x = 0, y = 0;  // in units of the axes
    QColor colour;
};

// What one line of an overlay has under the cursor.
struct LineValue {
    QString series, name;
    QColor colour;
    LegendItem::Mark mark = LegendItem::Mark::Line;
    double value = kUnknown;
};

// The line of an overlay that a person points at, to be drawn over the picture.
struct PointedLine {
    std::vector<Line> runs;  // in units of the axes
    QColor colour;
};

// A second axis for a line of another unit. Its few labels stand inside the plot at the right edge, in the line's colour, so that plots below
// each other keep their places.
struct RightAxis {
    Scale scale;
    Quantity quantity = Quantity::Number;
    QColor colour;
    QString unit{};  // where the quantity has none of its own
};

// The values behind a chart, all of them, for files and the clipboard: one row a step or a device sample.
struct ValueTable {
    QStringList names;  // of the columns beside those of the place
    std::size_t rows = 0;
    std::function<RunPlace(std::size_t row)> place;
    std::function<double(std::size_t column, std::size_t row)> at;
};

class ChartContent {
public:
    virtual ~ChartContent() = default;

    virtual QString title() const = 0;
    virtual QString help() const = 0;                                  // tool tip: what exactly is drawn, over how many steps
    virtual QString helpHere(const DrawRequest&) const { return {}; }  // what is to be said of this run beside that
    virtual Quantity quantity() const = 0;
    virtual bool canBeLogarithmic() const { return false; }

    // Fills the canvas for the visible range and returns the y axis it used.
    virtual Scale fill(ChartCanvas& canvas, const DrawRequest& request) = 0;
    virtual std::optional<RightAxis> rightAxis() const { return std::nullopt; }  // of the last fill
    // The largest visible value of the last fill where the axis ends below it: a few slow steps must not press the others flat.
    virtual std::optional<double> beyond() const { return std::nullopt; }
    // A sentence that says why there is nothing to see and what to do; empty when there is something.
    virtual QString whyEmpty(const DrawRequest& request) const;
    // `row`: the step under the cursor, or the last one; none before the first step.
    virtual std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const = 0;
    virtual std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const = 0;
    virtual ValueTable values(const RunHistory& history) const = 0;

    // Of an overlay alone (DrawRequest::overlay).
    virtual std::vector<LineValue> valuesAt(const DrawRequest& request, double x) const;
    virtual PointedLine pointedLine(const DrawRequest& request) const;
    virtual std::string csv(const DrawRequest& request) const;  // every row in the visible part
};

std::unique_ptr<ChartContent> makeLossContent();
std::unique_ptr<ChartContent> makeLearningRateContent();
std::unique_ptr<ChartContent> makeGradientNormContent();
std::unique_ptr<ChartContent> makeStepTimeContent();
std::unique_ptr<ChartContent> makeThroughputContent();
std::unique_ptr<ChartContent> makeUtilisationContent();
std::unique_ptr<ChartContent> makeMemoryContent();

// What the contents share.
Places stepPlaces(const RunHistory& history, XAxis axis);
Places devicePlaces(const RunHistory& history, XAxis axis);
ValueTable stepTable(const RunHistory& history, QStringList names, std::function<double(std::size_t column, std::size_t row)> at);
Line toShares(const Line& line, const Scale& x, const Scale& y);
std::vector<Line> toShares(const std::vector<Line>& lines, const Scale& x, const Scale& y);
// Why a chart of steps has nothing to show though there are some: "What was imported says nothing of a learning rate.". Empty where the column has a
// value, or where there are no steps.
QString whyNotSaid(const DrawRequest& request, const Column& column, const QString& what);
bool isImport(const RunHistory* history);  // of another program's log or trace: nobody here knows its settings
// Row of the device sample nearest to the step's time, none before the first sample.
std::optional<std::size_t> deviceRow(const RunHistory& history, std::optional<std::size_t> stepRow);

// Where an axis may end so that a few values far above the others (the first steps, a pause of the machine) do not press them flat: the highest of
// those within twice the 95th percentile.
double robustHigh(std::vector<double> values);

// Grows to hold the visible values of a column.
struct VisibleValues {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
    void add(double value);
    void add(const Column& column, RowRange rows, bool positiveOnly);
};

}  // namespace stepscope
