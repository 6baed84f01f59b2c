// Numbers and amounts as a person reads them.
#include "core/base/Format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace stepscope::format {
namespace {

constexpr const char* kNarrow = "\u202F";
constexpr double kNextUnit = 999.5;  // from here on three digits are those of the next unit: 999.7 ms is 1.00 s, not 1 000 ms

std::string grouped(std::string digits) {
    const bool negative = !digits.empty() && digits.front() == '-';
    const auto end = std::min(digits.find('.'), digits.size());
    for (std::size_t i = end; i > 3 + (negative ? 1u : 0u);) {
        i -= 3;
        digits.insert(i, kNarrow);
    }
    return digits;
}

}  // namespace

std::string significant(double value, int digits) {
    if (!std::isfinite(value)) return "n/a";
    if (value == 0) return "0";
    // Of what it is rounded to: 9.996 is 10.0, with as many digits as 9.99.
    std::string rounded = fmt::format("{:.{}e}", value, digits - 1);
    const int magnitude = std::stoi(rounded.substr(rounded.find('e') + 1));
    if (magnitude < -6 || magnitude > 14) return rounded;
    const int decimals = std::max(0, digits - 1 - magnitude);
    return grouped(fmt::format("{:.{}f}", value, decimals));
}

std::string change(double value, int decimals) {
    std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
    const bool none = digits.find_first_of("123456789") == std::string::npos;
    return none ? digits : (value < 0 ? "\u2212" : "+") + digits;
}

std::string amount(double value) {
    std::string digits = significant(value);
    if (digits.find('e') != std::string::npos || digits.find('.') == std::string::npos) return digits;
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
    return digits;
}

std::string count(std::int64_t value) {
    return grouped(std::to_string(value));
}

std::string milliseconds(double ms) {
    if (!std::isfinite(ms)) return "n/a";
    if (std::abs(ms) >= kNextUnit) return significant(ms / 1000) + kNarrow + "s";
    if (std::abs(ms) < kNextUnit / 1000 && ms != 0) return significant(ms * 1000) + kNarrow + "µs";
    return significant(ms) + kNarrow + "ms";
}

std::string bytes(Bytes value) {
    static constexpr std::array<const char*, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
    double amount = static_cast<double>(value.count);
    std::size_t unit = 0;
    while (std::abs(amount) >= kNextUnit && unit + 1 < kUnits.size()) {
        amount /= 1000;
        ++unit;
    }
    return (unit == 0 ? count(value.count) : significant(amount)) + kNarrow + kUnits[unit];
}

std::string bytes(std::same_as<double> auto value) {
    constexpr double kTooMany = 0x1p63;  // the first that no Bytes holds; the largest double below it fits
    return value >= 0 && value < kTooMany ? bytes(Bytes{static_cast<std::int64_t>(value)}) : "unknown";
}
template std::string bytes<double>(double value);

std::string rate(double perSecond, const std::string& unit) {
    if (!std::isfinite(perSecond)) return "n/a";
    static constexpr std::array<const char*, 5> kPrefixes{"", "K", "M", "G", "T"};
    std::size_t prefix = 0;
    while (std::abs(perSecond) >= kNextUnit && prefix + 1 < kPrefixes.size()) {
        perSecond /= 1000;
        ++prefix;
    }
    // A symbol carries its prefix, GB/s; a word stands beside it, K tok/s.
    const bool symbol = unit == "B/s" || unit == "FLOP/s";
    return significant(perSecond) + kNarrow + (symbol && prefix == 1 ? "k" : kPrefixes[prefix]) + (prefix > 0 && !symbol ? " " : "") + unit;
}

std::string duration(TimeNs value) {
    const auto total = static_cast<std::int64_t>(std::llround(value.seconds()));
    const auto hours = total / 3600, minutes = total / 60 % 60, seconds = total % 60;
    return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, seconds) : fmt::format("{:02}:{:02}", minutes, seconds);
}

std::string percent(double fraction) {
    return std::isfinite(fraction) ? fmt::format("{:.0f}{}%", fraction * 100, kNarrow) : "n/a";
}

}  // namespace stepscope::format
