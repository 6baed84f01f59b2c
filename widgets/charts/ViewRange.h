// ViewRange: which part of the run every chart of a page shows, and where the cursor is: the one shared view state.
// Charts turn the mouse into calls here and redraw on its signals. GUI thread.
#pragma once
#include <QObject>
#include <functional>
#include <optional>

#include "core/analysis/Decimate.h"
#include "core/analysis/RunHistory.h"

namespace stepscope {

// What there is to see along x, in units of the current axis.
struct Extent {
    double first = 0;          // where the run begins
    double leastPositive = 1;  // where a logarithmic axis begins
    double last = 0;           // the live edge
    double planned = 0;        // where the run will end; 0 = unknown
    double unit = 1;           // about one step: nothing finer than a few of these is shown
    bool growing = false;      // a live run: room is left ahead of the edge
};

// A part of the run along one axis.
struct View {
    XAxis axis = XAxis::Step;
    Scale x;

    bool operator==(const View& other) const {
        return axis == other.axis && x.low == other.x.low && x.high == other.x.high && x.logarithmic == other.x.logarithmic;
    }
};

// Places along the axis between which a person selected.
struct Stretch {
    double from = 0, to = 0;
    bool operator==(const Stretch&) const = default;
};

class ViewRange : public QObject {
    Q_OBJECT
public:
    explicit ViewRange(QObject* parent = nullptr);

    XAxis axis() const { return m_axis; }
    void setAxis(XAxis axis, const Extent& extent);  // fits: places do not carry over
    bool logarithmic() const { return m_logarithmic; }
    void setLogarithmic(bool logarithmic);

    // Called as data grow. While following, the visible part moves on in jumps, so that most redraws keep their axis.
    void setExtent(const Extent& extent);
    Scale scale() const;
    View view() const { return {m_axis, scale()}; }
    // What every picture shows at this moment: the view, or the one before it while the charts draw the next, one after the other (LivePage).
    const std::optional<View>& shown() const { return m_shown; }
    void setShown(const View& view) { m_shown = view; }

    bool following() const { return m_following; }
    void fit();                                    // everything, and follow
    void zoom(double factor, double anchorShare);  // factor < 1 looks closer; the place under the anchor stays
    void pan(double shares);                       // > 0 looks further right, in widths of the view
    void show(double x);                           // brings a place into view, keeping the width
    void showOnly(double low, double high);        // as near to it as the run allows

    std::optional<double> cursor() const { return m_cursor; }
    void setCursor(std::optional<double> x);
    // Which row the cursor is on: one answer for all charts, found when it is set and again when settleCursor() is called. A cursor ahead of the live
    // edge goes on with it, and charts that are painted one after the other must not each find another step.
    std::optional<std::size_t> cursorRow() const { return m_cursorRow; }
    void setRows(std::function<std::optional<std::size_t>(double x)> rowAt) { m_rowAt = std::move(rowAt); }
    void settleCursor();
    const std::optional<Stretch>& selection() const { return m_selection; }
    void setSelection(std::optional<Stretch> selection);

Q_SIGNALS:
    void changed();
    void cursorChanged();
    void selectionChanged();
    void followingChanged(bool following);

private:
    Scale whole() const;  // as far as one can zoom out
    void setWindow(double lowShare, double highShare);
    void setFollowing(bool following);
    double edge() const;

    XAxis m_axis = XAxis::Step;
    bool m_logarithmic = false;
    Extent m_extent;
    bool m_following = true;
    double m_low = 0, m_high = 1;
    std::optional<double> m_cursor;
    std::optional<std::size_t> m_cursorRow;
    std::function<std::optional<std::size_t>(double)> m_rowAt;
    std::optional<Stretch> m_selection;
    std::optional<View> m_shown;
};

}  // namespace stepscope
