// How numbers are written for a person, everywhere the same: three significant digits, SI units, narrow no-break spaces in thousands.
// Called by the command line, the window and the log.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>

#include "core/base/Units.h"

namespace stepscope::format {

std::string significant(double value, int digits = 3);        // "24.4", "0.00125", "1 240" (U+202F), "n/a" when not finite
std::string amount(double value);                             // how many on average: "253", "16.4", "0.07": no zeros at the end
std::string change(double value, int decimals);               // "+0.0012", "−0.0012" (U+2212), "0.0000" where that is all there is of it
std::string count(std::int64_t value);                        // "12 345" with U+202F, at which no line breaks, between groups of three
std::string milliseconds(double ms);                          // "24.4 ms", "1.25 s", "812 µs"
std::string bytes(Bytes value);                               // "1.21 GB" (SI, powers of 1000)
std::string bytes(std::same_as<double> auto value);           // the same of a measured one; "unknown" when not finite, below 0 or too large
std::string rate(double perSecond, const std::string& unit);  // "62.8 K tok/s"
std::string duration(TimeNs value);                           // "02:11", "1:02:11"
std::string percent(double fraction);                         // 0.97 -> "97 %"

}  // namespace stepscope::format
