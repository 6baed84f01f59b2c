#include "core/trace/WorkerClock.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepscope {
namespace {

constexpr std::int64_t kNoClockBound = std::numeric_limits<std::int64_t>::max();
constexpr double kLargestOffset = 9e18;  // fits into 64 bits

// What processes say of their clocks is a stranger's: differences stay within bounds.
std::int64_t clockDifference(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a, b, &difference) ? (a < b ? std::numeric_limits<std::int64_t>::min() : kNoClockBound) : difference;
}
std::int64_t clockSum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? std::numeric_limits<std::int64_t>::min() : kNoClockBound) : sum;
}
std::int64_t wholeNs(double ns) {
    return static_cast<std::int64_t>(std::llround(std::clamp(ns, -kLargestOffset, kLargestOffset)));
}
// Rounded away from nothing, so that a bound stays one.
std::int64_t boundNs(double ns) {
    return static_cast<std::int64_t>(std::ceil(std::clamp(ns, 0.0, kLargestOffset)));
}
double farthest(std::int64_t from, std::int64_t to, std::int64_t at) {
    return std::max(std::abs(static_cast<double>(from) - static_cast<double>(at)), std::abs(static_cast<double>(to) - static_cast<double>(at)));
}

// The offset as one reading has it: the clocks may drift either way from there.
ClockLine levelThrough(const ClockReading& reading, std::int64_t from, std::int64_t to) {
    return {.at = reading.at,
            .offset = reading.offset,
            .drift = 0,
            .error = boundNs(static_cast<double>(reading.error) + kMostDrift * farthest(from, to, reading.at))};
}

// Between the two the errors are mixed as the offsets are; beyond them the drift's own error comes on top.
ClockLine lineThrough(const ClockReading& a, const ClockReading& b, const ClockDrift& drift, std::int64_t from, std::int64_t to) {
    const auto errorAt = [&](std::int64_t time) {
        if (time < a.at) return static_cast<double>(a.error) + drift.error * static_cast<double>(clockDifference(a.at, time));
        if (time > b.at) return static_cast<double>(b.error) + drift.error * static_cast<double>(clockDifference(time, b.at));
        return static_cast<double>(std::max(a.error, b.error));
    };
    // Rounding of the offset, once.
    return {.at = a.at, .offset = a.offset, .drift = drift.drift, .error = boundNs(std::max(errorAt(from), errorAt(to)) + 1)};
}

}  // namespace

std::vector<ClockReading> clockReadings(const std::vector<std::vector<std::int64_t>>& stamps) {
    const std::size_t workers = stamps.empty() ? 0 : stamps.front().size();
    if (stamps.size() < 3 || workers == 0) return {};
    std::vector<ClockReading> best(workers);
    for (std::size_t worker = 0; worker < workers; ++worker) {
        best[worker].error = kNoClockBound;
        // The first one's stamp of an exchange was there before a worker came to the next one, and when it comes to the one behind that it has the
        // worker's: between these two times of its own the worker's clock was read.
        for (std::size_t i = 0; i + 2 < stamps.size(); ++i) {
            const std::int64_t before = stamps[i][0], own = stamps[i + 1][worker], after = stamps[i + 2][0];
            const std::int64_t trip = clockDifference(after, before);
            if (trip < 0) continue;
            const std::int64_t error = trip / 2 + trip % 2;
            if (error < best[worker].error) best[worker] = {.at = own, .offset = clockDifference(clockSum(before, trip / 2), own), .error = error};
        }
        if (best[worker].error == kNoClockBound) best[worker] = {.at = stamps[1][worker], .offset = 0, .error = kNoClockBound};
    }
    best.front() = {.at = best.front().at, .offset = 0, .error = 0};  // its own
    return best;
}

std::int64_t ClockLine::operator()(std::int64_t time) const {
    return clockSum(time, clockSum(offset, wholeNs(drift * static_cast<double>(clockDifference(time, at)))));
}

bool ClockDrift::told() const {
    return error <= kMostDrift && std::abs(drift) - error <= kMostDrift;
}

ClockDrift driftBetween(const ClockReading& earlier, const ClockReading& later) {
    const double baseline = static_cast<double>(later.at) - static_cast<double>(earlier.at);
    if (!(baseline > 0)) return {.drift = 0, .error = std::numeric_limits<double>::infinity()};
    return {.drift = (static_cast<double>(later.offset) - static_cast<double>(earlier.offset)) / baseline,
            .error = (static_cast<double>(later.error) + static_cast<double>(earlier.error)) / baseline};
}

void WorkerClock::add(const ClockReading& reading) {
    if (!m_readings.empty() && reading.at <= m_readings.back().at) return;
    if (m_readings.size() == kMostReadings) m_readings.erase(m_readings.begin());
    m_readings.push_back(reading);
}

ClockLine WorkerClock::over(std::int64_t from, std::int64_t to) const {
    ClockLine best{.at = from, .offset = 0, .drift = 0, .error = kNoClockBound};
    const auto keep = [&](const ClockLine& line) {
        if (line.error < best.error) best = line;
    };
    for (const ClockReading& one : m_readings) keep(levelThrough(one, from, to));
    for (std::size_t b = 1; b < m_readings.size(); ++b)
        for (std::size_t a = 0; a < b; ++a)
            if (const ClockDrift drift = driftBetween(m_readings[a], m_readings[b]); drift.told())
                keep(lineThrough(m_readings[a], m_readings[b], drift, from, to));
    return best;
}

}  // namespace stepscope
