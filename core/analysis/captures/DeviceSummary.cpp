#include "core/analysis/captures/DeviceSummary.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace stepscope {
namespace {

constexpr std::int64_t kRegistersAtOnce = 256;  // a warp is given registers in such portions
constexpr std::int64_t kWarpsAtOnce = 4;        // and so many warps together
// More than any GPU has: a file may say any number, and these are multiplied.
constexpr std::int64_t kMostRegisters = 1 << 16;  // of a thread
constexpr std::int64_t kMostWarp = 1 << 10;       // threads

std::int64_t product(const std::array<std::int64_t, 3>& of) {
    std::int64_t all = 1;
    for (const std::int64_t one : of) {
        if (one <= 0 || all > (std::int64_t{1} << 62) / one) return 0;
        all *= one;
    }
    return all;
}
std::int64_t roundedUp(std::int64_t value, std::int64_t to) {
    return (value + to - 1) / to * to;
}

// Of times and sizes that a file may have made as large as they can be: no further than a number holds.
std::int64_t sumOf(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}
std::int64_t timeBetween(std::int64_t from, std::int64_t to) {  // 0 where `to` is the earlier
    std::int64_t time = 0;
    if (to <= from) return 0;
    return __builtin_sub_overflow(to, from, &time) ? std::numeric_limits<std::int64_t>::max() : time;
}
void grow(TimeNs& into, std::int64_t time) {
    into.ns = sumOf(into.ns, time);
}

// The length of the union of half-open ranges.
std::int64_t lengthOf(std::vector<std::pair<std::int64_t, std::int64_t>> ranges) {
    std::ranges::sort(ranges);
    std::int64_t length = 0, end = std::numeric_limits<std::int64_t>::min();
    for (const auto& [from, to] : ranges) {
        if (to <= end) continue;
        length = sumOf(length, to - std::max(from, end));
        end = to;
    }
    return length;
}

// A kernel begins, where `share` of the multiprocessors get a block of it, or ends: then that is negative.
struct FillEdge {
    std::int64_t at = 0;
    double share = 0;
};

// ns in which a device was full, kernels of all streams that ran at once together filling no more than all of it.
double filledTime(std::vector<FillEdge> edges) {
    std::ranges::sort(edges, [](const FillEdge& a, const FillEdge& b) { return std::tie(a.at, a.share) < std::tie(b.at, b.share); });
    double filled = 0, together = 0;
    std::int64_t running = 0, before = 0;
    for (const FillEdge& edge : edges) {
        if (running > 0) filled += std::min(1.0, together) * static_cast<double>(timeBetween(before, edge.at));
        before = edge.at;
        running += edge.share > 0 ? 1 : -1;
        together = running == 0 ? 0 : together + edge.share;
    }
    return filled;
}

template <class Key>
Key heaviestOf(const std::map<Key, std::int64_t>& weights) {
    const auto found = std::ranges::max_element(weights, [](const auto& a, const auto& b) { return a.second < b.second; });
    return found != weights.end() ? found->first : Key{};
}

}  // namespace

std::string launchingOperation(const std::string& extra) {
    constexpr std::string_view kKey = "\"operation\":\"";
    const auto at = extra.find(kKey);
    if (at == std::string::npos) return {};
    std::string name;
    for (std::size_t i = at + kKey.size(); i < extra.size() && extra[i] != '"'; ++i) {
        if (extra[i] == '\\' && i + 1 < extra.size()) ++i;
        name += extra[i];
    }
    return name;
}

const GpuShape* GpuShapes::find(std::int64_t rank, std::int64_t ordinal) const {
    if (const auto own = ofRank.find(rank); own != ofRank.end())
        if (const auto found = own->second.find(ordinal); found != own->second.end()) return &found->second;
    const auto found = first.find(ordinal);
    return found == first.end() ? nullptr : &found->second;
}

void DeviceSummary::setShapes(const GpuShapes& gpus, std::int64_t rank) {
    for (const auto& [ordinal, shape] : gpus.first) setShape(ordinal, shape);
    if (const auto own = gpus.ofRank.find(rank); own != gpus.ofRank.end())
        for (const auto& [ordinal, shape] : own->second) setShape(ordinal, shape);
}

std::optional<KernelFill> kernelFill(const SliceArguments& launch, const GpuShape& gpu) {
    const std::int64_t blocks = product(launch.grid), threads = product(launch.block);
    if (blocks == 0 || threads == 0 || gpu.multiprocessors <= 0) return std::nullopt;
    KernelFill fill{.blocksPerMultiprocessor = static_cast<double>(blocks) / static_cast<double>(gpu.multiprocessors)};
    const std::int64_t warp = std::min(gpu.warp, kMostWarp);
    if (warp > 0) fill.warpsPerMultiprocessor = fill.blocksPerMultiprocessor * static_cast<double>(threads) / static_cast<double>(warp);
    if (gpu.threadsPerMultiprocessor <= 0 || warp <= 0) return fill;
    if (gpu.blocksPerMultiprocessor <= 0) return std::nullopt;  // how many fit would be a guess
    const std::int64_t warps = (threads + warp - 1) / warp;
    std::int64_t fitting = std::min(gpu.blocksPerMultiprocessor, gpu.threadsPerMultiprocessor / warp / warps);
    if (launch.registers > 0 && gpu.registersPerMultiprocessor > 0) {
        const std::int64_t ofWarp = roundedUp(std::min(launch.registers, kMostRegisters) * warp, kRegistersAtOnce);
        const std::int64_t byRegisters = gpu.registersPerMultiprocessor / ofWarp / kWarpsAtOnce * kWarpsAtOnce;
        fitting = std::min(fitting, byRegisters / warps);
    }
    const std::int64_t shared = launch.sharedBytes > 0 ? sumOf(launch.sharedBytes, std::max<std::int64_t>(0, gpu.sharedReservedBytes)) : 0;
    if (shared > 0 && gpu.sharedPerMultiprocessorBytes > 0) fitting = std::min(fitting, gpu.sharedPerMultiprocessorBytes / shared);
    const double there = std::min(static_cast<double>(std::max<std::int64_t>(fitting, 0)), fill.blocksPerMultiprocessor);
    fill.occupancy = std::min(1.0, there * static_cast<double>(threads) / static_cast<double>(gpu.threadsPerMultiprocessor));
    return fill;
}

std::uint32_t DeviceSummary::textOf(const std::string& text) {
    const auto [found, added] = m_places.try_emplace(text, static_cast<std::uint32_t>(m_texts.size()));
    if (added) m_texts.push_back(text);
    return found->second;
}

void DeviceSummary::add(const SliceBlock& block) {
    std::vector<std::uint32_t> texts;
    for (const auto& text : block.strings) texts.push_back(textOf(text));
    struct Known {
        std::uint32_t operation;
        std::optional<KernelFill> fill;
    };
    std::vector<Known> known;
    const auto own = m_shapes.find(block.thread.device);
    const GpuShape& gpu = own == m_shapes.end() ? m_gpu : own->second;
    for (const auto& arguments : block.arguments) known.push_back({textOf(launchingOperation(arguments.extra)), kernelFill(arguments, gpu)});
    for (const Slice& slice : block.slices) {
        if (slice.kind == SliceKind::Runtime || slice.kind == SliceKind::Driver) {
            if (slice.correlation == 0) continue;
            const auto [found, added] = m_launches.try_emplace(slice.correlation, Launch{slice.start, slice.start + slice.duration});
            if (!added && slice.start < found->second.start) found->second = {slice.start, slice.start + slice.duration};
            continue;
        }
        if (!isDeviceWork(slice.kind)) continue;
        const Known& with = known[slice.arguments];
        m_works.push_back({.device = block.thread.device,
                           .stream = block.thread.thread,
                           .start = slice.start,
                           .end = slice.start + slice.duration,
                           .correlation = slice.correlation,
                           .name = texts[slice.name],
                           .operation = with.operation,
                           .phase = texts[slice.phase],
                           .role = texts[slice.role],
                           .layer = slice.layer,
                           .kind = slice.kind,
                           .bytes = block.arguments[slice.arguments].bytes,
                           .blocks = with.fill ? static_cast<float>(with.fill->blocksPerMultiprocessor) : -1,
                           .occupancy = with.fill && gpu.threadsPerMultiprocessor > 0 ? static_cast<float>(with.fill->occupancy) : -1});
    }
}

std::vector<DeviceSummary::Work> DeviceSummary::inOrder() const {
    std::vector<Work> all = m_works;
    std::ranges::sort(all, [](const Work& a, const Work& b) {
        return std::tie(a.device, a.stream, a.start, a.end, a.correlation) < std::tie(b.device, b.stream, b.start, b.end, b.correlation);
    });
    return all;
}

const DeviceSummary::Launch* DeviceSummary::launchOf(const Work& work) const {
    const auto found = work.correlation != 0 ? m_launches.find(work.correlation) : m_launches.end();
    return found != m_launches.end() ? &found->second : nullptr;
}

std::vector<StreamTime> DeviceSummary::streams(TimeNs kernelGap) const {
    std::vector<StreamTime> found;
    std::int64_t end = 0;  // of all before, on this stream
    for (const Work& work : inOrder()) {
        if (found.empty() || found.back().device != work.device || found.back().stream != work.stream) {
            found.push_back({.device = work.device, .stream = work.stream, .begin = {work.start}});
            end = work.start;
        }
        StreamTime& stream = found.back();
        if (work.start > end) {
            const std::int64_t gap = timeBetween(end, work.start);
            const Launch* const launch = launchOf(work);
            if (launch != nullptr && launch->start > end)
                grow(stream.hostWait, gap);
            else if (gap < kernelGap.ns)
                grow(stream.kernelWait, gap);
            else
                grow(stream.otherIdle, gap);
        }
        stream.works += 1;
        grow(stream.busy, timeBetween(std::max(end, work.start), work.end));
        end = std::max(end, work.end);
        stream.end.ns = end;
    }
    return found;
}

std::vector<DeviceTime> DeviceSummary::devices() const {
    struct Sum {
        std::vector<std::pair<std::int64_t, std::int64_t>> all, kernels;
        std::vector<FillEdge> fill;
        double occupied = 0, timeOccupied = 0;
        std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = std::numeric_limits<std::int64_t>::min();
    };
    std::map<std::int64_t, Sum> sums;
    for (const Work& work : m_works) {
        Sum& sum = sums[work.device];
        sum.begin = std::min(sum.begin, work.start);
        sum.end = std::max(sum.end, work.end);
        sum.all.emplace_back(work.start, work.end);
        if (work.kind != SliceKind::Kernel) continue;
        sum.kernels.emplace_back(work.start, work.end);
        const auto time = static_cast<double>(work.end - work.start);
        if (work.blocks > 0 && work.end > work.start) {
            const double share = std::min(1.0, static_cast<double>(work.blocks));
            sum.fill.push_back({work.start, share});
            sum.fill.push_back({work.end, -share});
        }
        if (work.occupancy >= 0) sum.occupied += static_cast<double>(work.occupancy) * time, sum.timeOccupied += time;
    }
    std::vector<DeviceTime> found;
    for (auto& [device, sum] : sums) {
        DeviceTime time{.device = device, .begin = {sum.begin}, .end = {sum.end}};
        time.busy.ns = lengthOf(std::move(sum.all));
        time.kernels.ns = lengthOf(std::move(sum.kernels));
        time.copies = time.busy - time.kernels;
        const auto span = static_cast<double>(timeBetween(sum.begin, sum.end));
        time.efficiency = !sum.fill.empty() && span > 0 ? std::min(1.0, filledTime(std::move(sum.fill)) / span) : -1;
        time.occupancy = sum.timeOccupied > 0 ? sum.occupied / sum.timeOccupied : -1;
        found.push_back(time);
    }
    return found;
}

std::vector<KernelRow> DeviceSummary::kernels(std::size_t limit) const {
    struct Growing {
        KernelRow row;
        std::map<std::uint32_t, std::int64_t> operations;
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::int64_t> places;
        double blocks = 0, occupancy = 0, timeKnown = 0;
    };
    std::map<std::string, Growing> growing;
    for (const Work& work : m_works) {
        if (work.kind != SliceKind::Kernel) continue;
        Growing& into = growing[m_texts[work.name]];
        KernelRow& row = into.row;
        const std::int64_t time = work.end - work.start;
        row.shortest.ns = row.calls == 0 ? time : std::min(row.shortest.ns, time);
        row.longest.ns = std::max(row.longest.ns, time);
        row.calls += 1;
        grow(row.total, time);
        for (std::int64_t* const of : {&into.operations[work.operation], &into.places[{work.phase, work.role, work.layer}]}) *of = sumOf(*of, time);
        if (const Launch* launch = launchOf(work)) {
            grow(row.launchDelay, timeBetween(launch->start, work.start));
            row.launched += 1;
        }
        if (work.occupancy >= 0) {
            into.blocks += static_cast<double>(work.blocks) * static_cast<double>(time);
            into.occupancy += static_cast<double>(work.occupancy) * static_cast<double>(time);
            into.timeKnown += static_cast<double>(time);
        }
    }
    std::vector<KernelRow> rows;
    for (auto& [name, one] : growing) {
        one.row.name = name;
        one.row.operation = m_texts[heaviestOf(one.operations)];
        const auto [phase, role, layer] = heaviestOf(one.places);
        one.row.phase = m_texts[phase];
        one.row.role = m_texts[role];
        one.row.layer = layer;
        if (one.timeKnown > 0) {
            one.row.blocksPerMultiprocessor = one.blocks / one.timeKnown;
            one.row.occupancy = one.occupancy / one.timeKnown;
        }
        rows.push_back(std::move(one.row));
    }
    std::ranges::stable_sort(rows, [](const KernelRow& a, const KernelRow& b) { return a.total > b.total; });
    if (limit > 0 && rows.size() > limit) rows.resize(limit);
    return rows;
}

std::vector<CopyRow> DeviceSummary::copies() const {
    std::map<std::string, CopyRow> growing;
    for (const Work& work : m_works) {
        if (work.kind == SliceKind::Kernel) continue;
        CopyRow& row = growing[m_texts[work.name]];
        row.name = m_texts[work.name];
        row.count += 1;
        row.bytes = sumOf(row.bytes, work.bytes);
        grow(row.total, work.end - work.start);
    }
    std::vector<CopyRow> rows;
    for (auto& [name, row] : growing) rows.push_back(std::move(row));
    std::ranges::stable_sort(rows, [](const CopyRow& a, const CopyRow& b) { return a.total > b.total; });
    return rows;
}

std::vector<StreamLaunches> DeviceSummary::launches() const {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> delays;
    for (const Work& work : m_works)
        if (const Launch* launch = launchOf(work)) delays[{work.device, work.stream}].push_back(timeBetween(launch->start, work.start));
    std::vector<StreamLaunches> all;
    for (auto& [key, of] : delays) {
        StreamLaunches one{.device = key.first, .stream = key.second, .launched = static_cast<std::int64_t>(of.size())};
        for (const std::int64_t delay : of) grow(one.total, delay);
        const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
        std::ranges::nth_element(of, middle);
        one.median.ns = *middle;
        one.longest.ns = std::ranges::max(of);
        const auto points = queue(key.first, key.second);
        double area = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            one.longestQueue = std::max(one.longestQueue, points[i].length);
            if (i + 1 < points.size())
                area += static_cast<double>(points[i].length) * static_cast<double>(timeBetween(points[i].at.ns, points[i + 1].at.ns));
        }
        if (points.size() > 1 && points.back().at > points.front().at)
            one.meanQueue = area / static_cast<double>(timeBetween(points.front().at.ns, points.back().at.ns));
        all.push_back(one);
    }
    return all;
}

std::vector<QueuePoint> DeviceSummary::queue(std::int64_t device, std::int64_t stream) const {
    std::map<std::int64_t, std::int64_t> changes;
    for (const Work& work : m_works) {
        if (work.device != device || work.stream != stream) continue;
        const Launch* const launch = launchOf(work);
        if (launch == nullptr || launch->start >= work.start) continue;
        changes[launch->start] += 1;
        changes[work.start] -= 1;
    }
    std::vector<QueuePoint> points;
    std::int64_t length = 0;
    for (const auto& [at, change] : changes) {
        if (change == 0) continue;
        length += change;
        points.push_back({{at}, length});
    }
    return points;
}

}  // namespace stepscope
