#include "core/profile/counters/ThreadCounters.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace stepscope {
namespace {

constexpr std::array<std::uint64_t, kHardwareCounters> kEvents{PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_MISSES,
                                                               PERF_COUNT_HW_STALLED_CYCLES_BACKEND};
constexpr std::size_t kHead = 3;  // how many, enabled, running: before the counts of a group

perf_event_attr attributesOf(std::size_t counter) {
    perf_event_attr made{};
    made.type = PERF_TYPE_HARDWARE;
    made.size = sizeof made;
    made.config = kEvents[counter];
    made.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    // Of the program alone: that is what perf_event_paranoid 2, the usual one, lets everybody count.
    made.exclude_kernel = 1;
    made.exclude_hv = 1;
    return made;
}

}  // namespace

std::string whyNoCounters(int error, std::optional<int> paranoid) {
    constexpr const char* kRest = "times are recorded all the same";
    if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
        return fmt::format("Hardware counters: this machine exposes no counters, as most virtual machines do not; {}.", kRest);
    if (error == ENOSYS || !paranoid) return fmt::format("Hardware counters: this kernel has none (perf_event_open is not there); {}.", kRest);
    if ((error == EACCES || error == EPERM) && *paranoid > 2)
        return fmt::format(
            "Hardware counters: perf_event_paranoid = {} forbids it; `sudo sysctl kernel.perf_event_paranoid=2` allows them until the next start; "
            "{}.",
            *paranoid, kRest);
    if (error == EACCES || error == EPERM)
        return fmt::format(
            "Hardware counters: the system forbids it, although perf_event_paranoid = {} would not; in a container allow perf_event_open (docker run "
            "--cap-add PERFMON with a seccomp profile that has it); {}.",
            *paranoid, kRest);
    if (error == EMFILE || error == ENFILE)
        return fmt::format("Hardware counters: too many open files, as each thread takes {} of them; raise `ulimit -n`; {}.", kHardwareCounters,
                           kRest);
    return fmt::format("Hardware counters: they cannot be opened ({}); {}.", std::strerror(error), kRest);
}

void CounterDelta::add(const CounterDelta& other) {
    for (std::size_t i = 0; i < counted.size(); ++i) counted[i] += other.counted[i];
    enabled += other.enabled;
    running += other.running;
}

void CounterDelta::subtract(const CounterDelta& other) {
    for (std::size_t i = 0; i < counted.size(); ++i) counted[i] -= other.counted[i];
    enabled -= other.enabled;
    running -= other.running;
}

std::optional<double> CounterDelta::of(HardwareCounter counter) const {
    if (running <= 0) return enabled > 0 ? std::nullopt : std::optional(0.0);
    return counted[static_cast<std::size_t>(counter)] * (enabled / running);
}

std::optional<CounterDelta> countedBetween(const CounterReading& before, const CounterReading& after) {
    if (!before.good || !after.good || after.enabled < before.enabled || after.running < before.running) return std::nullopt;
    CounterDelta delta{.enabled = static_cast<double>(after.enabled - before.enabled),
                       .running = static_cast<double>(after.running - before.running)};
    for (std::size_t i = 0; i < delta.counted.size(); ++i) {
        if (after.raw[i] < before.raw[i]) return std::nullopt;
        delta.counted[i] = static_cast<double>(after.raw[i] - before.raw[i]);
    }
    return delta;
}

Result<std::unique_ptr<ThreadCounters>> ThreadCounters::open(PerfCalls& calls, int thread) {
    std::unique_ptr<ThreadCounters> made(new ThreadCounters(calls));
    for (std::size_t i = 0; i < kEvents.size(); ++i) {
        perf_event_attr counter = attributesOf(i);
        const int descriptor = calls.open(counter, thread, i == 0 ? -1 : made->m_descriptors[0]);
        if (descriptor >= 0) {
            made->m_descriptors[i] = descriptor;
            made->m_places[i] = made->m_open++;
            continue;
        }
        // A processor that does not count stalls counts the rest; without a descriptor for one, the group is not what it says.
        if (i == 0 || descriptor == -EMFILE || descriptor == -ENFILE)
            return makeError(ErrorCode::Unsupported, whyNoCounters(-descriptor, calls.paranoid()));
    }
    return made;
}

ThreadCounters::~ThreadCounters() {
    for (std::size_t i = m_descriptors.size(); i-- > 0;)
        if (m_descriptors[i] >= 0) m_calls.close(m_descriptors[i]);
}

CounterReading ThreadCounters::read() const {
    std::array<std::uint64_t, kHead + kHardwareCounters> words{};
    const auto wanted = static_cast<std::int64_t>((kHead + static_cast<std::size_t>(m_open)) * sizeof words[0]);
    CounterReading reading;
    if (m_calls.read(m_descriptors[0], words) != wanted || words[0] != static_cast<std::uint64_t>(m_open)) return reading;
    reading.enabled = words[1];
    reading.running = words[2];
    for (std::size_t i = 0; i < m_places.size(); ++i)
        if (m_places[i] >= 0) reading.raw[i] = words[kHead + static_cast<std::size_t>(m_places[i])];
    reading.good = true;
    return reading;
}

}  // namespace stepscope
