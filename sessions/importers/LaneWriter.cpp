#include "sessions/importers/LaneWriter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kBlock = 16384;                      // records
constexpr std::size_t kBlockBytes = std::size_t{4} << 20;  // of texts
constexpr std::int32_t kDeepest = 60'000;                  // what a block holds is a little more
constexpr std::int64_t kMostLooks = 100'000'000;           // under a second of looking for what holds slices that overlap
constexpr std::int64_t kLooksEach = 256;                   // and some for each slice, so that long traces have their share
constexpr int kLevels = 4;                                 // of calls, in which a part of one is looked for

SliceArguments argumentsFrom(const std::string& blob) {
    SliceArguments arguments;
    std::size_t at = 1;
    if (!blob.empty() && blob[0] == 'L') {
        std::array<std::int64_t, 10> numbers{};
        if (blob.size() < 1 + sizeof numbers) return arguments;
        std::memcpy(numbers.data(), blob.data() + 1, sizeof numbers);
        at += sizeof numbers;
        arguments.flops = numbers[0];
        arguments.bytes = numbers[1];
        arguments.grid = {numbers[2], numbers[3], numbers[4]};
        arguments.block = {numbers[5], numbers[6], numbers[7]};
        arguments.registers = numbers[8];
        arguments.sharedBytes = numbers[9];
    }
    const auto line = blob.find('\n', at);
    if (line == std::string::npos) return arguments;
    arguments.text = blob.substr(at, line - at);
    arguments.extra = blob.substr(line + 1);
    return arguments;
}

}  // namespace

void LaneWriter::beginLane(std::uint32_t lane) {
    m_lane = lane;
    const auto& one = m_trace.m_lanes[lane];
    m_base = m_trace.m_files[one.file].baseNs;
    m_rounded = m_trace.m_files[one.file].roundedNs;
    m_callsTwice = m_trace.m_files[one.file].source == "nsys";
    m_arrow = static_cast<std::size_t>(std::ranges::lower_bound(m_trace.m_arrows, lane, {}, [](const auto& arrow) { return arrow.lane; }) -
                                       m_trace.m_arrows.begin());
    m_block = {};
    m_block.thread = one.thread;
    m_samples = {.lane = one.thread.lane, .process = one.thread.process, .rank = one.thread.rank, .name = one.thread.processName};
    m_allocations = {.lane = one.thread.lane, .process = one.thread.process, .rank = one.thread.rank};
}

std::uint32_t LaneWriter::stringOf(std::uint32_t text) {
    if (text == TextStore::kNone) return 0;
    auto& strings = m_trace.m_lanes[m_lane].use == TraceBuilder::LaneUse::Allocations ? m_allocations.strings : m_block.strings;
    const auto [found, added] = m_strings.try_emplace(text, static_cast<std::uint32_t>(strings.size()));
    if (added) {
        strings.push_back(m_trace.m_names.text(text));
        m_bytes += strings.back().size();
    }
    return found->second;
}

std::uint32_t LaneWriter::argumentsOf(std::uint32_t number) {
    if (number == TextStore::kNone) return 0;
    const auto [found, added] = m_arguments.try_emplace(number, static_cast<std::uint32_t>(m_block.arguments.size()));
    if (added) {
        const std::string blob = m_trace.m_arguments.text(number);
        m_bytes += blob.size();
        m_block.arguments.push_back(argumentsFrom(blob));
    }
    return found->second;
}

bool LaneWriter::take(const Record& record) {
    std::int64_t start = 0, end = 0;
    if (__builtin_add_overflow(record.start, m_base, &start) || __builtin_sub_overflow(start, m_origin, &start) ||
        __builtin_add_overflow(start, record.duration, &end)) {
        m_trace.skip("a time that does not fit");
        return true;
    }
    m_trace.m_lastEnd = std::max(m_trace.m_lastEnd, end);
    switch (m_trace.m_lanes[m_lane].use) {
        case TraceBuilder::LaneUse::Samples: {
            const std::uint64_t key = static_cast<std::uint64_t>(record.name) << 32 | record.role;
            const auto [found, added] = m_series.try_emplace(key, static_cast<std::uint32_t>(m_samples.series.size()));
            if (added) {
                m_samples.series.push_back({m_trace.m_names.text(record.name), m_trace.m_names.text(record.role)});
                m_bytes += m_samples.series.back().name.size();
            }
            m_samples.samples.push_back({start, found->second, std::bit_cast<double>(record.correlation)});
            return m_samples.samples.size() < kBlock && m_bytes < kBlockBytes ? true : flush();
        }
        case TraceBuilder::LaneUse::Allocations:
            m_allocations.allocations.push_back({.at = start,
                                                 .address = static_cast<std::uint64_t>(record.correlation),
                                                 .bytes = record.sequence,
                                                 .device = record.layer,
                                                 .totalAllocated = std::max<std::int64_t>(-1, record.step),
                                                 .totalReserved = std::max<std::int64_t>(-1, record.forwardThread),
                                                 .kind = stringOf(record.name),
                                                 .owner = stringOf(record.role)});
            return m_allocations.allocations.size() < kBlock && m_bytes < kBlockBytes ? true : flush();
        default:
            return takeSlice(record, start);
    }
}

// Nsight Systems tells many calls of the runtime twice, one within the other with one correlation: what was called, and the versioned function below
// it. Both are kept, so that they are as many and take as long as in the file; only the outer one launches, and one of another name is the driver's.
void LaneWriter::toldTwice(Record& record) const {
    if (!m_callsTwice || record.correlation == 0 || record.kind != SliceKind::Runtime) return;
    int levels = 0;
    for (auto one = m_open.rbegin(); one != m_open.rend() && levels < kLevels; ++one, ++levels) {
        if (one->record.kind != SliceKind::Runtime || one->record.correlation != record.correlation) continue;
        if (one->record.name != record.name) record.kind = SliceKind::Driver;
        record.correlation = 0;
        return;
    }
}

// A launch is joined with its kernel by one call of the host: whoever counts would count the kernel once for each. The driver's part of a call of the
// runtime says nothing of it, as in captures, also where rounding makes it the outer one.
void LaneWriter::launchesOnce(Record& record) {
    const bool driver = record.kind == SliceKind::Driver;
    if (record.correlation == 0 || (!driver && record.kind != SliceKind::Runtime)) return;
    const SliceKind other = driver ? SliceKind::Runtime : SliceKind::Driver;
    int levels = 0;
    for (auto one = m_open.rbegin(); one != m_open.rend() && levels < kLevels; ++one, ++levels)
        if (one->record.kind == other && one->record.correlation == record.correlation) (driver ? record : one->record).correlation = 0;
}

// Among what is open and not nested: what holds it whole, but for what rounding makes of its end, at a depth that nobody else has now.
LaneWriter::Open* LaneWriter::holderOf(Open& open) {
    const std::int64_t start = open.record.start;
    Open* within = nullptr;
    for (auto& one : m_open) {
        const std::int64_t beyond = open.end - one.end;
        if (beyond > 0 && (beyond > m_rounded || one.end - start <= beyond)) continue;
        if (within == nullptr || one.depth > within->depth) within = &one;
    }
    // A neighbour that ends a rounding after this one begins: the time is counted here, not twice.
    for (auto& one : m_open)
        if (&one != within && one.end - start <= m_rounded) charge(one, start, std::min(one.end, open.end));
    const std::int32_t first = within == nullptr ? 0 : within->depth + 1;
    std::vector<bool> taken(m_open.size() + 1, false);
    for (const auto& one : m_open)
        if (one.depth >= first && static_cast<std::size_t>(one.depth - first) < taken.size())
            taken[static_cast<std::size_t>(one.depth - first)] = true;
    open.depth = first + static_cast<std::int32_t>(std::ranges::find(taken, false) - taken.begin());
    m_looked += 3 * static_cast<std::int64_t>(m_open.size());
    return within;
}

// What several cover together counts once.
void LaneWriter::charge(Open& outer, std::int64_t from, std::int64_t to) {
    from = std::max(from, outer.covered);
    if (to > from) outer.called += to - from;
    outer.covered = std::max(outer.covered, to);
}

bool LaneWriter::takeSlice(const Record& record, std::int64_t start) {
    Open open{.record = record, .end = start + record.duration, .covered = start};
    open.record.start = start;
    if (!closeUpTo(start)) return false;
    ++m_taken;
    toldTwice(open.record);
    launchesOnce(open.record);
    open.step = m_trace.stepOf(m_trace.m_lanes[m_lane].file, record);
    const auto& arrows = m_trace.m_arrows;
    while (m_arrow < arrows.size() && arrows[m_arrow].lane == m_lane && arrows[m_arrow].at < record.start) ++m_arrow;
    if (record.sequence >= 0 && m_arrow < arrows.size() && arrows[m_arrow].lane == m_lane && arrows[m_arrow].at == record.start) {
        const std::int64_t from = arrows[m_arrow++].from;
        if (__builtin_add_overflow(from, m_base, &open.forwardStart) || __builtin_sub_overflow(open.forwardStart, m_origin, &open.forwardStart) ||
            open.forwardStart < 0)
            open.forwardStart = 0;
    }
    Open* within = m_open.empty() ? nullptr : &m_open.back();
    // Where times are rounded, a backward function begins with the step of the engine that it lies in: the arrow is its own.
    if (record.kind == SliceKind::Backward && open.forwardStart == 0 && within != nullptr && within->record.kind == SliceKind::Operation &&
        within->record.start == start && within->record.sequence == record.sequence)
        open.forwardStart = std::exchange(within->forwardStart, 0);
    if (within != nullptr && (m_tangled || within->end < open.end)) {
        if (m_looked > kMostLooks + kLooksEach * m_taken) {
            m_trace.skip("slices that overlap too many others of their lane");
            return true;
        }
        m_soonest = std::min(m_tangled ? m_soonest : within->end, open.end);
        m_tangled = true;
        within = holderOf(open);
    } else if (within != nullptr) {
        open.depth = within->depth + 1;
    }
    if (open.depth > kDeepest) {
        m_trace.skip("nested more than 60000 deep");
        return true;
    }
    if (within != nullptr) {
        charge(*within, start, std::min(open.end, within->end));
        open.phase = within->phase;
        if (isOperation(record.kind) && record.phase == TextStore::kNone) open.record.phase = open.phase;
    }
    if (record.kind == SliceKind::Annotation && record.phase != TextStore::kNone) open.phase = record.phase;
    m_open.push_back(open);
    return true;
}

bool LaneWriter::closeUpTo(std::int64_t at) {
    if (!m_tangled) {
        while (!m_open.empty() && m_open.back().end <= at) {
            if (!close(m_open.back())) return false;
            m_open.pop_back();
        }
        return true;
    }
    if (at < m_soonest) return true;
    m_looked += 2 * static_cast<std::int64_t>(m_open.size());
    m_soonest = std::numeric_limits<std::int64_t>::max();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_open.size(); ++i) {
        if (m_open[i].end <= at) {
            if (!close(m_open[i])) return false;
        } else {
            m_soonest = std::min(m_soonest, m_open[i].end);
            m_open[kept++] = m_open[i];
        }
    }
    m_open.resize(kept);
    untangle();
    return true;
}

void LaneWriter::untangle() {
    m_tangled = false;
    for (std::size_t i = 1; i < m_open.size() && !m_tangled; ++i)
        m_tangled = m_open[i].end > m_open[i - 1].end || m_open[i].depth <= m_open[i - 1].depth;
}

// Many may end at once, each with texts of its own: the block is bounded here, where it grows.
bool LaneWriter::close(const Open& open) {
    const Record& record = open.record;
    m_block.slices.push_back({.start = record.start,
                              .duration = record.duration,
                              .called = open.called,
                              .name = stringOf(record.name),
                              .phase = stringOf(record.phase),
                              .role = stringOf(record.role),
                              .arguments = argumentsOf(record.arguments),
                              .depth = open.depth,
                              .layer = record.layer,
                              .kind = record.kind,
                              .recomputed = record.recomputed,
                              .step = open.step,
                              .sequence = record.sequence,
                              .forwardThread = record.forwardThread,
                              .forwardStart = open.forwardStart,
                              .correlation = record.correlation,
                              .external = record.external});
    return m_block.slices.size() < kBlock && m_bytes < kBlockBytes ? true : flush();
}

bool LaneWriter::endLane() {
    bool go = true;
    for (std::size_t i = 0; i < m_open.size() && go; ++i) go = close(m_open[i]);
    m_open.clear();
    m_tangled = false;
    return go && flush();
}

bool LaneWriter::flush() {
    bool go = true;
    if (!m_block.slices.empty()) {
        SliceBlock next;
        next.thread = m_block.thread;
        auto block = std::make_shared<SliceBlock>(std::move(m_block));
        go = m_out([block] { return encodeSlices(std::move(*block)); });
        m_block = std::move(next);
    }
    if (!m_samples.samples.empty()) {
        SampleBlock next{
            .lane = m_samples.lane, .process = m_samples.process, .device = m_samples.device, .rank = m_samples.rank, .name = m_samples.name};
        auto block = std::make_shared<SampleBlock>(std::move(m_samples));
        go = m_out([block] { return encodeSamples(std::move(*block)); }) && go;
        m_samples = std::move(next);
    }
    if (!m_allocations.allocations.empty()) {
        AllocationBlock next{
            .lane = m_allocations.lane, .process = m_allocations.process, .thread = m_allocations.thread, .rank = m_allocations.rank};
        auto block = std::make_shared<AllocationBlock>(std::move(m_allocations));
        go = m_out([block] { return encodeAllocations(std::move(*block)); }) && go;
        m_allocations = std::move(next);
    }
    m_strings.clear();
    m_arguments.clear();
    m_series.clear();
    m_bytes = 0;
    return go;
}

}  // namespace stepscope::importing
