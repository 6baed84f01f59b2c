#include "widgets/style/SeriesColours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stepscope {
namespace {

QColor orange(bool) {
    return QColor(0xe69f00);
}
QColor sky(bool dark) {
    return dark ? QColor(0x7fcaf5) : QColor(0x56b4e9);
}
QColor green(bool dark) {
    return dark ? QColor(0x1fb98b) : QColor(0x009e73);
}
QColor yellow(bool dark) {
    return dark ? QColor(0xf0e442) : QColor(0xe3d52f);
}  // on white the original is too pale
QColor blue(bool dark) {
    return dark ? QColor(0x2f8bd6) : QColor(0x0072b2);
}
QColor vermilion(bool dark) {
    return dark ? QColor(0xee7733) : QColor(0xd55e00);
}
QColor purple(bool dark) {
    return dark ? QColor(0xd98bb4) : QColor(0xcc79a7);
}
QColor grey(bool dark) {
    return dark ? QColor(0x5d646b) : QColor(0xb4b9be);
}

}  // namespace

QColor seriesColour(SeriesRole role, bool dark) {
    switch (role) {
        case SeriesRole::Train:
        case SeriesRole::A:
            return blue(dark);
        case SeriesRole::Validation:
        case SeriesRole::B:
            return vermilion(dark);
        case SeriesRole::Batch:
            return yellow(dark);
        case SeriesRole::Copy:
            return orange(dark);
        case SeriesRole::Forward:
            return sky(dark);
        case SeriesRole::Backward:
            return blue(dark);
        case SeriesRole::Clip:
            return purple(dark);
        case SeriesRole::Optimizer:
            return green(dark);
        case SeriesRole::Communication:
            return vermilion(dark);
        case SeriesRole::Idle:
            return grey(dark);
        case SeriesRole::LearningRate:
            return purple(dark);
        case SeriesRole::GradientNorm:
            return blue(dark);
        case SeriesRole::Threshold:
            return vermilion(dark);
        case SeriesRole::LossScale:
            return orange(dark);
        case SeriesRole::Skipped:
            return vermilion(dark);
        case SeriesRole::Throughput:
            return green(dark);
        case SeriesRole::Cpu:
            return blue(dark);
        case SeriesRole::OtherProcesses:
            return orange(dark);
        case SeriesRole::Steal:
            return vermilion(dark);
        case SeriesRole::Gpu:
            return green(dark);
        case SeriesRole::Memory:
            return blue(dark);
        case SeriesRole::GpuMemory:
            return green(dark);
        case SeriesRole::PageFaults:
            return orange(dark);
    }
    return grey(dark);
}

namespace {

constexpr std::size_t kHues = 7;
// Those of Okabe and Ito, as far as a line of that colour is seen on the ground: on white orange, sky and purple are deeper here.
constexpr std::array<QRgb, kHues> kOnLight{0x0072b2, 0xd55e00, 0x008a64, 0xb9578f, 0xa87200, 0x3f8fd2, 0x6b6f74};
constexpr std::array<QRgb, kHues> kOnDark{0x4ba3e3, 0xee7733, 0x1fb98b, 0xd98bb4, 0xe6b24c, 0x7fcaf5, 0xa9b0b7};
constexpr std::array<double, 3> kDeeper{0, 0.38, 0.62};  // towards black on light ground, towards white on dark

}  // namespace

QColor overlayColour(std::size_t place, bool dark) {
    const QColor hue(dark ? kOnDark[place % kHues] : kOnLight[place % kHues]);
    return faint(dark ? QColor(Qt::white) : QColor(Qt::black), hue, kDeeper[place / kHues % kDeeper.size()]);
}

Qt::PenStyle overlayDash(std::size_t place) {
    constexpr std::array kDashes{Qt::SolidLine, Qt::DashLine, Qt::DotLine};
    return kDashes[place / kHues % kDashes.size()];
}

SeriesRole roleOf(Phase phase) {
    switch (phase) {
        case Phase::Batch:
            return SeriesRole::Batch;
        case Phase::Copy:
            return SeriesRole::Copy;
        case Phase::Forward:
            return SeriesRole::Forward;
        case Phase::Backward:
            return SeriesRole::Backward;
        case Phase::Clip:
            return SeriesRole::Clip;
        case Phase::Optimizer:
            return SeriesRole::Optimizer;
        case Phase::Waiting:
            return SeriesRole::Communication;
    }
    return SeriesRole::Idle;
}

QColor faint(const QColor& colour, const QColor& ground, double share) {
    const auto mix = [share](double over, double under) { return static_cast<float>(over * share + under * (1 - share)); };
    return QColor::fromRgbF(mix(colour.redF(), ground.redF()), mix(colour.greenF(), ground.greenF()), mix(colour.blueF(), ground.blueF()));
}

double contrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& colour) {
        const auto linear = [](double share) { return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4); };
        return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
    };
    const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
    return (light + 0.05) / (dark + 0.05);
}

QColor faintButReadable(const QColor& colour, const QColor& ground) {
    constexpr double kLeast = 3.1;  // a little more than 3: antialiasing takes some
    for (double share = 0.4; share < 1; share += 0.02)
        if (const QColor mixed = faint(colour, ground, share); contrast(mixed, ground) >= kLeast) return mixed;
    return colour;
}

}  // namespace stepscope
