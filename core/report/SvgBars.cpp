// Bars of ratios, and of shares.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/report/Html.h"
#include "core/report/Svg.h"

namespace stepscope::report {
namespace {

constexpr double kBarsWidth = 860, kNames = 250, kValues = 190, kRow = 24, kFoot = 40;
constexpr std::size_t kMostBars = 200;    // the table beside the picture has them all
constexpr std::size_t kNameLetters = 34;  // as many as fit
constexpr double kFarthest = 6.9;         // of the logarithm: ratios beyond 1000 end at the edge

bool measured(double ratio) {
    return std::isfinite(ratio) && ratio > 0;
}

std::string cut(const std::string& text, std::size_t letters) {
    const std::string plain = plainText(text);
    std::size_t count = 0, at = 0;
    for (; at < plain.size(); ++at) {
        if ((static_cast<unsigned char>(plain[at]) & 0xC0) == 0x80) continue;  // within a letter
        if (count++ == letters) break;
    }
    return at < plain.size() ? plain.substr(0, at) + "…" : plain;
}

struct Axis {
    double low = 0, high = 0;
    void hold(double ratio) {
        if (!measured(ratio)) return;
        low = std::min(low, std::max(-kFarthest, std::log(ratio)));
        high = std::max(high, std::min(kFarthest, std::log(ratio)));
    }
    double x(double ratio) const { return kNames + (std::clamp(std::log(ratio), low, high) - low) / (high - low) * (kBarsWidth - kNames - kValues); }
};

}  // namespace

std::string toSvg(const BarPicture& picture) {
    if (picture.bars.empty()) return "";
    const std::size_t count = std::min(picture.bars.size(), kMostBars);
    Axis axis;
    for (std::size_t i = 0; i < count; ++i) {
        axis.hold(picture.bars[i].ratio);
        axis.hold(picture.bars[i].low);
        axis.hold(picture.bars[i].high);
    }
    axis.high = std::max(axis.high, 0.05);
    const double height = static_cast<double>(count) * kRow + kFoot, foot = height - kFoot + 6;
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kBarsWidth, height, escaped(picture.label));
    double last = -1e9;
    for (const double tick : {0.001, 0.01, 0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0}) {
        if (std::log(tick) < axis.low - 1e-9 || std::log(tick) > axis.high + 1e-9) continue;
        const double x = axis.x(tick);
        const bool one = tick == 1.0;
        if (x - last < 36 && !one) continue;
        last = x;
        svg += fmt::format(
            "<line class=\"{0}\" x1=\"{1:.1f}\" x2=\"{1:.1f}\" y1=\"0\" y2=\"{2}\"/><text x=\"{1:.1f}\" y=\"{3}\" "
            "text-anchor=\"middle\">{4:g}</text>\n",
            one ? "one" : "axis", x, foot - 4, foot + 10, tick);
    }
    for (std::size_t i = 0; i < count; ++i) {
        const RatioBar& bar = picture.bars[i];
        const double top = static_cast<double>(i) * kRow, middle = top + kRow / 2;
        svg += fmt::format("<text class=\"name\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kNames - 8, middle + 4,
                           escaped(cut(bar.name, kNameLetters)));
        if (!measured(bar.ratio)) {
            svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", axis.x(1) + 6, middle + 4, escaped(cut(bar.note, 80)));
            continue;
        }
        const double one = axis.x(1), end = axis.x(bar.ratio);
        const bool bounded = measured(bar.low) && measured(bar.high);
        svg += fmt::format("<rect class=\"bar{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>\n", bar.strong ? " strong" : "",
                           !bounded        ? " open"
                           : bar.ratio < 1 ? " slower"
                                           : "",
                           std::min(one, end), top + 5, std::max(1.0, std::abs(end - one)), kRow - 10);
        std::string value = fmt::format("×{:.2f}", bar.ratio);
        if (bounded) {
            svg += fmt::format("<line class=\"whisker\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", axis.x(bar.low),
                               axis.x(bar.high), middle);
            value += fmt::format(" [{:.2f}, {:.2f}]", bar.low, bar.high);
        }
        svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\">{}</text>\n", kBarsWidth - kValues + 12, middle + 4, value);
    }
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (kNames + kBarsWidth - kValues) / 2, height - 6,
                       escaped(picture.label + (count < picture.bars.size() ? fmt::format("; the first {} of {}", count, picture.bars.size()) : "")));
    return svg + "</svg>\n";
}

std::string toSvg(const SharePicture& picture) {
    const std::size_t count = std::min(picture.bars.size(), kMostBars);
    double longest = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (measured(picture.bars[i].share)) longest = std::max(longest, picture.bars[i].share);
    if (longest <= 0) return "";
    constexpr double kRoom = kBarsWidth - kNames - kValues;
    const double height = static_cast<double>(count) * kRow + kFoot;
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kBarsWidth, height, escaped(picture.label));
    for (std::size_t i = 0; i < count; ++i) {
        const ShareBar& bar = picture.bars[i];
        const double top = static_cast<double>(i) * kRow, baseline = top + kRow / 2 + 4;
        const double length = measured(bar.share) ? std::max(1.0, bar.share / longest * kRoom) : 0;
        svg += fmt::format("<text class=\"name\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kNames - 8, baseline,
                           escaped(cut(bar.name, kNameLetters)));
        if (length > 0)
            svg += fmt::format("<rect class=\"bar\" x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>\n", kNames, top + 5, length, kRow - 10);
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kNames + length + 8, baseline, escaped(cut(bar.value, kNameLetters)));
    }
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", kNames + kRoom / 2, height - 6, escaped(picture.label));
    return svg + "</svg>\n";
}

}  // namespace stepscope::report
