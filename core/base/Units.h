// Units that the compiler knows: nanoseconds since the session began, and bytes.
// One clock for the whole program: every TimeNs of an Event counts from the start of its session.
#pragma once
#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

namespace stepscope {

// A number that nobody knows.
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct TimeNs {
    std::int64_t ns = 0;

    auto operator<=>(const TimeNs&) const = default;
    TimeNs operator+(TimeNs other) const { return {ns + other.ns}; }
    TimeNs operator-(TimeNs other) const { return {ns - other.ns}; }
    TimeNs& operator+=(TimeNs other) {
        ns += other.ns;
        return *this;
    }
    double milliseconds() const { return static_cast<double>(ns) / 1e6; }
    double seconds() const { return static_cast<double>(ns) / 1e9; }
    static TimeNs fromSeconds(double s) { return {static_cast<std::int64_t>(s * 1e9)}; }
};

struct Bytes {
    std::int64_t count = 0;

    auto operator<=>(const Bytes&) const = default;
    Bytes operator+(Bytes other) const { return {count + other.count}; }
    double gigabytes() const { return static_cast<double>(count) / 1e9; }
};

// The clock of one session: construct it when the session begins, now() is ns since then (monotonic).
class SessionClock {
public:
    SessionClock() : m_origin(std::chrono::steady_clock::now()) {}
    TimeNs now() const { return {std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - m_origin).count()}; }
    // Of a session that another process began: it is this time now. Before anybody else reads the clock.
    void set(TimeNs time) { m_origin = std::chrono::steady_clock::now() - std::chrono::nanoseconds(time.ns); }

private:
    std::chrono::steady_clock::time_point m_origin;
};

}  // namespace stepscope
