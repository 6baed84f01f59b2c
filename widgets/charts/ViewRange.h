// ViewRange: which part of the run every chart of a page shows, and where the cursor is: the one shared view state.
// Charts turn the mouse into calls here and redraw on its signals. GUI thread.
#pragma once
#include <QObject>
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

    bool following() const { return m_following; }
    void fit();                                    // everything, and follow
    void zoom(double factor, double anchorShare);  // factor < 1 looks closer; the place under the anchor stays
    void pan(double shares);                       // > 0 looks further right, in widths of the view
    void show(double x);                           // brings a place into view, keeping the width

    std::optional<double> cursor() const { return m_cursor; }
    void setCursor(std::optional<double> x);

Q_SIGNALS:
    void changed();
    void cursorChanged();
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
};

}  // namespace stepscope
