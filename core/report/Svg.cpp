#include "core/report/Svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/report/Html.h"

namespace stepscope::report {
namespace {

constexpr double kWidth = 860, kHeight = 300, kLeft = 56, kRight = 12, kTop = 14, kBottom = 30;
constexpr double kLeastSpan = 0.02;  // of the logarithm, to either side of what is shown

struct Frame {
    double low = 0, high = 0;  // logarithms
    std::size_t pairs = 1;
    double x(double pair) const { return kLeft + (pair + 0.5) / static_cast<double>(pairs) * (kWidth - kLeft - kRight); }
    double y(double ratio) const {
        const double share = (std::clamp(std::log(ratio), low, high) - low) / (high - low);
        return kHeight - kBottom - share * (kHeight - kTop - kBottom);
    }
    bool holds(double ratio) const { return std::log(ratio) >= low && std::log(ratio) <= high; }
};

// 1 and every pair that counts, but not the extremes of the first intervals, which are wide.
Frame frameOf(const PairPicture& picture) {
    Frame frame;
    frame.pairs = std::max<std::size_t>(1, picture.dots.size());
    for (const PairDot& dot : picture.dots) {
        if (dot.leftOut || !isRatio(dot.ratio)) continue;
        frame.low = std::min(frame.low, std::log(dot.ratio));
        frame.high = std::max(frame.high, std::log(dot.ratio));
    }
    const double zone = std::log1p(std::max(0.0, picture.delta));
    frame.low = std::min(frame.low, -zone);
    frame.high = std::max(frame.high, zone);
    const double room = std::max(kLeastSpan, 0.12 * (frame.high - frame.low));
    frame.low -= room;
    frame.high += room;
    return frame;
}

// Round ratios along the axis: 0.5, 0.8, 1, 1.25, ... as far apart as eyes like them.
std::vector<double> ticksOf(const Frame& frame) {
    std::vector<double> ticks;
    const double decades = (frame.high - frame.low) / std::log(10.0);
    if (decades > 3) {  // powers of ten, as many as have room
        const int every = std::max(1, static_cast<int>(std::ceil(decades / 8)));
        for (int power = -every * 400; power <= 400; power += every)
            if (const double at = std::pow(10.0, power); isRatio(at) && frame.holds(at)) ticks.push_back(at);
        return ticks;
    }
    for (const double step : {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 100.0}) {
        ticks.clear();
        const double low = std::exp(frame.low), high = std::exp(frame.high);
        if ((high - low) / step > 400) continue;
        for (double at = std::ceil(low / step) * step; at <= high + 1e-12; at += step)
            if (isRatio(at)) ticks.push_back(at);
        bool apart = true;
        for (std::size_t i = 1; i < ticks.size(); ++i) apart = apart && frame.y(ticks[i - 1]) - frame.y(ticks[i]) >= 22;
        if (apart && ticks.size() <= 10) break;
    }
    return ticks;
}

}  // namespace

std::string toSvg(const PairPicture& picture) {
    if (picture.dots.empty()) return "";
    const Frame frame = frameOf(picture);
    const double right = kWidth - kRight, bottom = kHeight - kBottom;
    std::string svg = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Each pair of blocks: time per token of A as a multiple of B's\">\n", kWidth, kHeight);
    const double column = (right - kLeft) / static_cast<double>(frame.pairs);
    for (std::size_t i = 0; i < picture.dots.size(); ++i)
        if (picture.dots[i].group % 2 != 0)
            svg += fmt::format("<rect class=\"group\" x=\"{:.1f}\" y=\"{}\" width=\"{:.2f}\" height=\"{:.1f}\"/>\n",
                               kLeft + static_cast<double>(i) * column, kTop, column, bottom - kTop);
    const double zone = 1 + std::max(0.0, picture.delta);
    svg += fmt::format("<rect class=\"zone\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/>\n", kLeft, frame.y(zone), right - kLeft,
                       frame.y(1 / zone) - frame.y(zone));
    for (const double tick : ticksOf(frame))
        svg += fmt::format(
            "<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
            "text-anchor=\"end\">{5:g}</text>\n",
            kLeft, right, frame.y(tick), kLeft - 6, frame.y(tick) + 4, std::round(tick * 1e6) / 1e6);
    svg += fmt::format("<line class=\"one\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", kLeft, right, frame.y(1));
    std::string above, below;
    for (std::size_t i = 0; i < picture.dots.size(); ++i) {
        const PairDot& dot = picture.dots[i];
        if (!isRatio(dot.low) || !isRatio(dot.high)) continue;
        above += fmt::format("{:.1f},{:.1f} ", frame.x(static_cast<double>(i)), frame.y(dot.high));
        below = fmt::format("{:.1f},{:.1f} ", frame.x(static_cast<double>(i)), frame.y(dot.low)) + below;
    }
    if (!above.empty()) svg += "<polygon class=\"band\" points=\"" + above + below + "\"/>\n";
    for (std::size_t i = 0; i < picture.dots.size(); ++i) {
        const PairDot& dot = picture.dots[i];
        if (!isRatio(dot.ratio)) continue;
        const double x = frame.x(static_cast<double>(i)), y = frame.y(dot.ratio);
        svg += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>pair {}: {:.4f}{}{}</title></circle>\n",
                           dot.leftOut ? "left" : "dot", x, y, i + 1, dot.ratio, dot.leftOut ? ", left out" : "",
                           frame.holds(dot.ratio) ? "" : ", beyond the axis");
    }
    svg += fmt::format("<text x=\"{}\" y=\"{}\">pairs of blocks, in their order</text>\n", kLeft, kHeight - 8);
    const auto side = [&](double y, const std::string& what) {
        if (!what.empty()) svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", right - 4, y, escaped(what));
    };
    side(kTop + 12, picture.aboveOne);
    side(bottom - 6, picture.belowOne);
    return svg + "</svg>\n";
}

}  // namespace stepscope::report
