#include "widgets/charts/ViewRange.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stepscope {
namespace {

constexpr double kClosestSteps = 4;

// The next round length at or above `length`.
double roundLength(double length) {
    const double power = std::pow(10.0, std::floor(std::log10(length)));
    for (const double factor : {1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (factor * power >= length) return factor * power;
    return 10 * power;
}

}  // namespace

ViewRange::ViewRange(QObject* parent) : QObject(parent) {
    fit();
}

double ViewRange::edge() const {
    const double least = kClosestSteps * m_extent.unit;
    const double done = m_extent.last - m_extent.first;
    if (!m_extent.growing) return m_extent.first + std::max(done > 0 ? done : m_extent.planned - m_extent.first, least);
    const double planned = m_extent.planned - m_extent.first;
    const double shown = roundLength(std::max({done * 1.03, planned / 20, least}));
    return m_extent.first + std::max(planned > 0 ? std::min(shown, planned) : shown, done);
}

Scale ViewRange::whole() const {
    Scale whole{m_extent.first, std::max(edge(), m_extent.planned), m_logarithmic};
    if (m_logarithmic) whole.low = std::max(whole.low, m_extent.leastPositive);
    if (whole.high <= whole.low) whole.high = m_logarithmic ? whole.low * 10 : whole.low + kClosestSteps * m_extent.unit;
    return whole;
}

Scale ViewRange::scale() const {
    return {m_low, m_high, m_logarithmic};
}

void ViewRange::setAxis(XAxis axis, const Extent& extent) {
    m_axis = axis;
    m_extent = extent;
    setCursor(std::nullopt);
    setSelection(std::nullopt);
    fit();
}

void ViewRange::setLogarithmic(bool logarithmic) {
    if (logarithmic == m_logarithmic) return;
    m_logarithmic = logarithmic;
    fit();
}

void ViewRange::setExtent(const Extent& extent) {
    m_extent = extent;
    if (m_following) fit();
}

void ViewRange::fit() {
    const Scale all = whole();
    const double high = std::max(edge(), m_logarithmic ? all.low * 2 : all.low + m_extent.unit);
    const bool moved = all.low != m_low || high != m_high;
    m_low = all.low;
    m_high = high;
    setFollowing(true);
    if (moved) Q_EMIT changed();
}

void ViewRange::setWindow(double lowShare, double highShare) {
    const Scale before = scale();
    const Scale all = whole();
    double low = before.fromShare(lowShare), high = before.fromShare(highShare);
    // Pushed back inside as it is, so that panning against an end does not zoom.
    double lowPlace = all.toShare(low), highPlace = all.toShare(high);
    const double width = std::min(1.0, highPlace - lowPlace);
    lowPlace = std::clamp(lowPlace, 0.0, 1.0 - width);
    low = all.fromShare(lowPlace);
    high = all.fromShare(lowPlace + width);
    if (high - low < kClosestSteps * m_extent.unit) return;
    if (low == m_low && high == m_high) return;
    m_low = low;
    m_high = high;
    setFollowing(false);
    Q_EMIT changed();
}

void ViewRange::zoom(double factor, double anchorShare) {
    setWindow(anchorShare * (1 - factor), anchorShare + (1 - anchorShare) * factor);
}

void ViewRange::pan(double shares) {
    setWindow(shares, 1 + shares);
}

void ViewRange::show(double x) {
    const double share = scale().toShare(x);
    if (share < 0 || share > 1) pan(share - 0.5);
}

void ViewRange::showOnly(double low, double high) {
    const double least = kClosestSteps * m_extent.unit * 1.001;  // nothing finer is shown
    if (high - low < least) low = (low + high - least) / 2;
    low = std::max(low, whole().low);
    high = std::max(high, low + least);
    setWindow(scale().toShare(low), scale().toShare(high));
}

void ViewRange::setFollowing(bool following) {
    if (following == m_following) return;
    m_following = following;
    Q_EMIT followingChanged(following);
}

void ViewRange::setCursor(std::optional<double> x) {
    if (x == m_cursor) return;
    m_cursor = x;
    m_cursorRow = m_cursor && m_rowAt ? m_rowAt(*m_cursor) : std::nullopt;
    Q_EMIT cursorChanged();
}

void ViewRange::settleCursor() {
    const auto row = m_cursor && m_rowAt ? m_rowAt(*m_cursor) : std::nullopt;
    if (row == m_cursorRow) return;
    m_cursorRow = row;
    Q_EMIT cursorChanged();
}

void ViewRange::setSelection(std::optional<Stretch> selection) {
    if (selection && selection->to < selection->from) std::swap(selection->from, selection->to);
    if (selection == m_selection) return;
    m_selection = selection;
    Q_EMIT selectionChanged();
}

}  // namespace stepscope
