#include "widgets/charts/Ticks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/Format.h"

namespace stepscope {
namespace {

constexpr double kDay = 86400;
// A double holds about sixteen digits: values closer to each other than this, of the larger of them, differ by rounding only.
constexpr double kSame = 1e-9;
// Where an axis ends, whatever a stranger's file holds: the length of it is a number, too, and of a logarithmic one, from the reciprocal on, the
// ratio.
constexpr double kFurthest = 1e300, kFurthestPower = 1e140;

QString superscript(int number) {
    static const QString kDigits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
    QString text;
    for (const QChar c : QString::number(number)) text += c == '-' ? QStringLiteral("⁻") : QString(kDigits[c.digitValue()]);
    return text;
}

QString grouped(double value, int decimals) {
    if (decimals <= 0) return QString::fromStdString(format::count(std::llround(value)));
    QString text = QString::number(value, 'f', decimals);
    const auto whole = QString::fromStdString(format::count(static_cast<std::int64_t>(value)));
    const bool lostSign = value < 0 && !whole.startsWith('-');
    return (lostSign ? QStringLiteral("-") : QString()) + whole + text.mid(text.indexOf('.'));
}

double niceStep(double span, int most) {
    const double rough = span / std::max(1, most);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0})
        if (factor * power >= rough * (1 - 1e-9)) return factor * power;
    return 10 * power;
}

double niceTimeStep(double span, int most) {
    static constexpr std::array kSteps{1., 2., 5., 10., 15., 30., 60., 120., 300., 600., 900., 1800., 3600., 7200., 10800., 21600., 43200., kDay};
    const double rough = span / std::max(1, most);
    if (rough <= 0.5) return niceStep(span, most);
    for (const double step : kSteps)
        if (step >= rough * (1 - 1e-9)) return step;
    return kDay * niceStep(span / kDay, most);
}

QString timeLabel(double seconds, double step) {
    if (step < 1) return grouped(seconds, std::max(1, static_cast<int>(std::ceil(-std::log10(step) - 1e-9))));
    return QString::fromStdString(format::duration(TimeNs::fromSeconds(seconds)));
}

struct Prefix {
    double factor = 1;
    QString unit;
};

// The prefix that makes the largest magnitude of the axis a short number.
Prefix prefixFor(double largest, Quantity quantity) {
    const auto pick = [&](std::initializer_list<std::pair<double, const char*>> choices) {
        Prefix best{choices.begin()->first, QString::fromUtf8(choices.begin()->second)};
        for (const auto& [factor, unit] : choices)
            if (largest >= factor) best = {factor, QString::fromUtf8(unit)};
        return best;
    };
    switch (quantity) {
        case Quantity::Bytes:
            return pick({{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}});
        case Quantity::TokenRate:
            return pick({{1, "tok/s"}, {1e3, "K tok/s"}, {1e6, "M tok/s"}, {1e9, "G tok/s"}});
        case Quantity::Tokens:
            return pick({{1, "tokens"}, {1e3, "K tokens"}, {1e6, "M tokens"}, {1e9, "G tokens"}, {1e12, "T tokens"}});
        case Quantity::Milliseconds:
            return largest >= 5000 ? Prefix{1000, "s"} : largest < 0.5 ? Prefix{1e-3, "µs"} : Prefix{1, "ms"};
        case Quantity::Percent:
            return {1, "%"};
        case Quantity::Watts:
            return pick({{1, "W"}, {1e3, "kW"}});
        case Quantity::Joules:
            return pick({{1, "J"}, {1e3, "kJ"}, {1e6, "MJ"}, {1e9, "GJ"}});
        case Quantity::Seconds:
            return {1, largest < 5 ? "s" : "m:s"};
        case Quantity::Count:
            return {1, "step"};
        case Quantity::Events:
            return {1, ""};
        case Quantity::Number:
            break;
    }
    if (largest >= 0.01 && largest < 1e5) return {};
    const int exponent = static_cast<int>(std::floor(std::log10(largest) + 1e-9));
    return {std::pow(10.0, exponent), QStringLiteral("×10") + superscript(exponent)};
}

AxisTicks linearTicks(const Scale& scale, Quantity quantity, int most) {
    if (!(scale.low < scale.high) || !std::isfinite(scale.high - scale.low)) return {};
    const Prefix prefix = prefixFor(std::max(std::abs(scale.low), std::abs(scale.high)), quantity);
    const double span = (scale.high - scale.low) / prefix.factor;
    double step = quantity == Quantity::Seconds ? niceTimeStep(span, most) : niceStep(span, most);
    if (quantity == Quantity::Count || quantity == Quantity::Events) step = std::max(1.0, step);
    if (!(step > 0) || !std::isfinite(step)) return {};
    const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));

    AxisTicks made{{}, prefix.unit};
    const double low = scale.low / prefix.factor, high = scale.high / prefix.factor;
    // Counted, and of numbers that one more is told from: where a step is less than the last digit of them, adding it would go on for ever.
    constexpr int kMostTicks = 1000;
    constexpr double kMostSteps = 1e15;
    const double first = std::ceil(low / step - 1e-9);
    if (!(std::abs(first) < kMostSteps)) return made;
    for (int i = 0; i < kMostTicks && (first + i) * step <= high + step * 1e-9; ++i) {
        const double value = (first + i) * step + 0.0;  // + 0.0: no "-0"
        made.ticks.push_back({value * prefix.factor, quantity == Quantity::Seconds ? timeLabel(value, step) : grouped(value, decimals)});
    }
    return made;
}

// Labels a little closer than asked for, until there are as many as a scale needs to be read: one says nothing about it.
AxisTicks atLeast(std::size_t least, const Scale& scale, Quantity quantity, int most) {
    AxisTicks made = linearTicks(scale, quantity, most);
    for (int more = most + 1; made.ticks.size() < least && more <= most + 24; ++more) made = linearTicks(scale, quantity, more);
    return made;
}

QString logLabel(double value, Quantity quantity) {
    if (quantity == Quantity::Seconds && value >= 60) return timeLabel(value, 1);
    if (value >= 1000 && (quantity == Quantity::Tokens || quantity == Quantity::TokenRate)) {
        const Prefix prefix = prefixFor(value, quantity);
        return grouped(value / prefix.factor, 0) + QStringLiteral("\u202F") + prefix.unit.left(1);
    }
    const int exponent = static_cast<int>(std::floor(std::log10(value) + 1e-9));
    if (exponent < -3 || exponent > 6) {
        const double factor = value / std::pow(10.0, exponent);
        return (factor < 1.5 ? QString() : grouped(factor, 0) + QStringLiteral("·")) + QStringLiteral("10") + superscript(exponent);
    }
    return grouped(value, std::max(0, -exponent)) + (quantity == Quantity::Seconds ? QStringLiteral("\u202Fs") : QString());
}

// Powers of ten, with 2 and 5 between them where asked for.
AxisTicks decades(const Scale& scale, Quantity quantity, int every, bool between) {
    AxisTicks made{{},
                   quantity == Quantity::Tokens      ? QStringLiteral("tokens")
                   : quantity == Quantity::TokenRate ? QStringLiteral("tok/s")
                   : quantity == Quantity::Seconds   ? QString()
                                                     : prefixFor(1, quantity).unit};
    if (!(scale.low > 0) || !std::isfinite(scale.high)) return made;  // every power of ten is below infinity
    for (int exponent = static_cast<int>(std::floor(std::log10(scale.low))); std::pow(10.0, exponent) <= scale.high; ++exponent) {
        for (const double factor : {1.0, 2.0, 5.0}) {
            if (factor > 1 ? !between : exponent % every != 0) continue;
            const double value = factor * std::pow(10.0, exponent);
            if (value >= scale.low * (1 - 1e-9) && value <= scale.high * (1 + 1e-9)) made.ticks.push_back({value, logLabel(value, quantity)});
        }
    }
    return made;
}

AxisTicks logTicks(const Scale& scale, Quantity quantity, int most, std::size_t least) {
    if (!(scale.low > 0) || !std::isfinite(scale.high)) return {};
    const double decadesShown = std::log10(scale.high) - std::log10(scale.low);
    if (decadesShown < 0.7) return atLeast(least, scale, quantity, most);  // no power of ten need lie inside
    const int every = std::max(1, static_cast<int>(std::ceil(decadesShown / std::max(1, most))));
    AxisTicks made = decades(scale, quantity, every, decadesShown * 3 <= most);
    if (made.ticks.size() < least) made = decades(scale, quantity, 1, false);
    if (made.ticks.size() < least) made = decades(scale, quantity, 1, true);
    return made.ticks.size() >= least ? made : atLeast(least, scale, quantity, most);
}

}  // namespace

AxisTicks makeTicks(const Scale& scale, Quantity quantity, int most, int least) {
    most = std::max(2, most);
    const auto wanted = static_cast<std::size_t>(std::clamp(least, 2, 4));
    return scale.logarithmic ? logTicks(scale, quantity, most, wanted) : atLeast(wanted, scale, quantity, most);
}

Scale niceScale(double low, double high, bool logarithmic, bool fromZero) {
    if (!std::isfinite(low) || !std::isfinite(high) || low > high) return logarithmic ? Scale{0.1, 10, true} : Scale{0, 1, false};
    if (logarithmic) {
        if (low <= 0) return {0.1, 10, true};
        low = std::clamp(low, 1 / kFurthestPower, kFurthestPower);
        high = std::clamp(high, 1 / kFurthestPower, kFurthestPower);
        if (high / low < 1.02) return {low / 1.05, high * 1.05, true};
        const double room = std::pow(high / low, 0.04);
        return {low / room, high * room, true};
    }
    low = std::clamp(low, -kFurthest, kFurthest);
    high = std::clamp(high, -kFurthest, kFurthest);
    if (fromZero) low = std::min(low, 0.0);
    const double largest = std::max(std::abs(low), std::abs(high));
    if (high - low <= std::max(kSame * largest, 1 / kFurthest)) {
        const double room = largest > 1 / kFurthest ? largest * 0.1 : 1;
        low = fromZero && low == 0 ? 0 : low - room;
        high += room;
    }
    const double half = niceStep(high - low, 5) / 2;
    const double snappedLow = fromZero && low == 0 ? 0 : std::floor(low / half + 1e-9) * half;
    double snappedHigh = std::ceil(high / half - 1e-9) * half;
    if (snappedHigh - high < (high - low) * 0.02) snappedHigh += half;  // a line at the very edge is half cut off
    return {snappedLow, snappedHigh, false};
}

bool canFollow(const Scale& wanted, const Scale& now) {
    constexpr double kClosest = 1e-6, kMostDecades = 30;
    const auto span = [](const Scale& scale) {
        return scale.logarithmic ? std::log10(scale.high) - std::log10(scale.low)
                                 : (scale.high - scale.low) / std::max(std::abs(scale.high), std::abs(scale.low));
    };
    const double furthest = wanted.logarithmic ? kFurthestPower : kFurthest;
    if (!(wanted.high <= furthest) || !(wanted.low >= (wanted.logarithmic ? 1 / furthest : -furthest))) return false;
    if (wanted.logarithmic && span(wanted) > std::max(kMostDecades, span(now))) return false;
    return span(wanted) > std::min(kClosest, span(now) * (1 - 1e-3));
}

QString readOut(double value, Quantity quantity) {
    if (!std::isfinite(value)) return QStringLiteral("–");
    switch (quantity) {
        case Quantity::Number:
            if (value != 0 && std::abs(value) < 0.01) {
                int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
                if (std::abs(value) / std::pow(10.0, exponent) >= 9.995) ++exponent;  // 9.999 would read 10.00
                return QString::number(value / std::pow(10.0, exponent), 'f', 2) + QStringLiteral("·10") + superscript(exponent);
            }
            return QString::fromStdString(format::significant(value, 4));
        case Quantity::Count:
            return QString::fromStdString("step " + format::count(std::llround(value)));
        case Quantity::Events:
            return QString::fromStdString(format::count(std::llround(value)));
        case Quantity::Tokens:
            return QString::fromStdString(format::rate(value, "tokens"));
        case Quantity::Seconds:
            return QString::fromStdString(value < 60 ? format::significant(value) + "\u202Fs" : format::duration(TimeNs::fromSeconds(value)));
        case Quantity::Milliseconds:
            return QString::fromStdString(format::milliseconds(value));
        case Quantity::Bytes:
            return QString::fromStdString(format::bytes(value));
        case Quantity::TokenRate:
            return QString::fromStdString(format::rate(value, "tok/s"));
        case Quantity::Percent:
            return QString::fromStdString(format::percent(value / 100));
        case Quantity::Watts:
            return QString::fromStdString(format::significant(value) + "\u202FW");
        case Quantity::Joules: {
            const Prefix prefix = prefixFor(value, quantity);
            return QString::fromStdString(format::significant(value / prefix.factor)) + QStringLiteral("\u202F") + prefix.unit;
        }
    }
    return {};
}

}  // namespace stepscope
