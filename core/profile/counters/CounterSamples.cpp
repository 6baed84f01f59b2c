#include "core/profile/counters/CounterSamples.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "core/trace/Slice.h"

namespace stepscope {
namespace {

constexpr std::int64_t kCounterLanes = std::int64_t{1} << 51;  // told from those of other samples

}  // namespace

CountedKinds CountedKinds::of(const ThreadCounters& counters) {
    return {.instructions = counters.has(HardwareCounter::Instructions),
            .misses = counters.has(HardwareCounter::Misses),
            .stalled = counters.has(HardwareCounter::Stalled)};
}

std::string CountedKinds::missing() const {
    if (instructions && misses && stalled) return {};
    std::string text = "This processor does not count";
    const char* before = " ";
    for (const auto& [there, what] :
         {std::pair(instructions, "instructions"), std::pair(misses, "cache misses"), std::pair(stalled, "stalled cycles")})
        if (!there) text += fmt::format("{}{}", std::exchange(before, ", "), what);
    return text + ".";
}

void CountedSum::add(const CountedSum& other) {
    counted.add(other.counted);
    ns += other.ns;
}

CounterSamples::CounterSamples(std::int64_t rank, std::string process, double cacheLine)
    : m_rank(rank), m_process(std::move(process)), m_cacheLine(cacheLine) {}

double CounterSamples::thisCacheLine() {
    const long bytes = ::sysconf(_SC_LEVEL3_CACHE_LINESIZE);
    return bytes > 0 ? static_cast<double>(bytes) : 64.0;
}

void CounterSamples::addPhase(std::int64_t lane, const std::string& thread, const CounterDelta& counted, TimeNs at, double seconds) {
    SampleBlock& block = m_blocks[lane];
    if (block.name.empty()) {
        block = emptyBlock(lane, thread.empty() ? std::string("hardware counters") : fmt::format("hardware counters, {}", thread));
        for (const auto& [name, unit] :
             {std::pair("instructions per cycle", ""), std::pair("fetched past the last cache", "B/s"), std::pair("stalled cycles", "%")})
            block.series.push_back({thread.empty() ? std::string(name) : fmt::format("{}, {}", name, thread), unit});
    }
    const auto add = [&](std::uint32_t series, std::optional<double> value) {
        if (value) block.samples.push_back({at.ns, series, *value});
    };
    const auto cycles = counted.of(HardwareCounter::Cycles);
    const auto ofCycles = [&](bool there, HardwareCounter counter) -> std::optional<double> {
        const auto value = counted.of(counter);
        if (!there || !value || !cycles || *cycles <= 0) return std::nullopt;
        return *value / *cycles;
    };
    add(1, ofCycles(m_kinds.instructions, HardwareCounter::Instructions));
    if (const auto misses = counted.of(HardwareCounter::Misses); m_kinds.misses && misses && seconds > 0) add(2, *misses * m_cacheLine / seconds);
    if (const auto stalled = ofCycles(m_kinds.stalled, HardwareCounter::Stalled)) add(3, 100 * *stalled);
}

std::vector<SampleBlock> CounterSamples::take(bool all) {
    std::vector<SampleBlock> taken;
    for (auto& [lane, block] : m_blocks)
        if (!block.samples.empty() && (all || block.samples.size() >= kFullBlock)) {
            SampleBlock rest = block;
            rest.samples.clear();
            taken.push_back(std::exchange(block, std::move(rest)));
        }
    return taken;
}

SampleBlock CounterSamples::operations(const std::map<std::string, CountedSum>& sums, TimeNs at) const {
    SampleBlock block = emptyBlock(kOperationLane, {});
    block.name = kCountedOperations;
    for (const auto& [name, sum] : sums) {
        const auto add = [&](bool there, const char* unit, std::optional<double> value) {
            if (!there || !value) return;
            block.series.push_back({name, unit});
            block.samples.push_back({at.ns, static_cast<std::uint32_t>(block.series.size() - 1), *value});
        };
        add(true, "cycles", sum.counted.of(HardwareCounter::Cycles));
        add(m_kinds.instructions, "instructions", sum.counted.of(HardwareCounter::Instructions));
        const auto misses = sum.counted.of(HardwareCounter::Misses);
        add(m_kinds.misses, "B", misses ? std::optional(*misses * m_cacheLine) : std::nullopt);
        add(m_kinds.stalled, "stalled cycles", sum.counted.of(HardwareCounter::Stalled));
        add(true, "ns", sum.ns);
    }
    return block;
}

SampleBlock CounterSamples::emptyBlock(std::int64_t lane, const std::string& name) const {
    return {.lane = laneOfWorker(kCounterLanes + lane, m_rank),
            .process = ::getpid(),
            .rank = m_rank,
            .name = m_process.empty() ? name : fmt::format("{}, {}", name, m_process)};
}

}  // namespace stepscope
