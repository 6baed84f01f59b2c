#include "core/analysis/captures/KernelSummary.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace stepscope {
namespace {

std::int64_t boundedTime(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

template <class Key>
Key mostOfLaunches(const std::map<Key, std::int64_t>& all) {
    return all.empty() ? Key() : std::ranges::max_element(all, {}, [](const auto& one) { return one.second; })->first;
}

}  // namespace

std::map<std::string, KernelFacts> kernelFacts(const std::map<std::int64_t, DeviceSummary>& devices) {
    struct Growing {
        std::int64_t heaviest = -1, delay = 0;
        double blocks = 0, occupancy = 0, known = 0;
    };
    std::map<std::string, KernelFacts> all;
    std::map<std::string, Growing> growing;
    for (const auto& [rank, device] : devices)
        for (const KernelRow& row : device.kernels()) {
            KernelFacts& facts = all[row.name];
            Growing& one = growing[row.name];
            if (row.total.ns > one.heaviest) {
                one.heaviest = row.total.ns;
                facts.phase = row.phase;
            }
            one.delay = boundedTime(one.delay, row.launchDelay.ns);
            facts.launched += row.launched;
            if (row.occupancy < 0) continue;
            const auto weight = static_cast<double>(std::max<std::int64_t>(1, row.total.ns));
            one.blocks += row.blocksPerMultiprocessor * weight;
            one.occupancy += row.occupancy * weight;
            one.known += weight;
        }
    for (auto& [name, facts] : all) {
        const Growing& one = growing[name];
        facts.launchDelay.ns = facts.launched > 0 ? one.delay / facts.launched : 0;
        if (one.known > 0) {
            facts.blocksPerMultiprocessor = one.blocks / one.known;
            facts.occupancy = one.occupancy / one.known;
        }
    }
    return all;
}

std::uint32_t KernelSummary::textOf(const std::string& text) {
    const auto [found, added] = m_textPlaces.try_emplace(text, static_cast<std::uint32_t>(m_texts.size()));
    if (added) m_texts.push_back(text);
    return found->second;
}

void KernelSummary::add(const SliceBlock& block) {
    std::vector<std::uint32_t> texts, shapes(block.arguments.size(), 0), named(block.arguments.size(), 0), types(block.arguments.size(), 0);
    std::vector<bool> replayed(block.arguments.size(), false);
    texts.reserve(block.strings.size());
    for (const auto& text : block.strings) texts.push_back(textOf(text));
    for (std::size_t i = 0; i < block.arguments.size(); ++i) {
        const auto &grid = block.arguments[i].grid, &threads = block.arguments[i].block;
        const Shape shape{
            grid[0], grid[1], grid[2], threads[0], threads[1], threads[2], block.arguments[i].registers, block.arguments[i].sharedBytes};
        named[i] = textOf(launchingOperation(block.arguments[i].extra));
        replayed[i] = block.arguments[i].extra.find("\"graph node id\":") != std::string::npos;
        if (block.arguments[i].flops > 0 || block.arguments[i].bytes > 0) types[i] = textOf(elementType(block.arguments[i].text));
        const std::string key(reinterpret_cast<const char*>(shape.data()), sizeof shape);
        const auto [found, added] = m_shapePlaces.try_emplace(key, static_cast<std::uint32_t>(m_shapes.size()));
        if (added) m_shapes.push_back(shape);
        shapes[i] = found->second;
    }
    const std::int64_t rank = block.thread.rank;
    for (const auto& slice : block.slices) {
        if (isOperation(slice.kind) && slice.external != 0)
            m_operations.try_emplace({rank, slice.external}, Operation{texts[slice.name], texts[slice.role], slice.layer});
        if (const SliceArguments& with = block.arguments[slice.arguments];
            isOperation(slice.kind) && slice.external != 0 && (with.flops > 0 || with.bytes > 0))
            m_works.try_emplace({rank, slice.external}, Work{with.flops, with.bytes, types[slice.arguments]});
        if ((slice.kind == SliceKind::Runtime || slice.kind == SliceKind::Driver) && slice.correlation != 0 && slice.external != 0)
            m_externals.try_emplace({rank, slice.correlation}, slice.external);
        if (isOperation(slice.kind)) {
            std::int64_t end = 0;
            if (!__builtin_add_overflow(slice.start, slice.duration, &end))
                m_spans.push_back(
                    {rank, block.thread.laneNumber(), slice.start, end, slice.depth, {texts[slice.name], texts[slice.role], slice.layer}});
        }
        if ((slice.kind == SliceKind::Runtime || slice.kind == SliceKind::Driver) && slice.correlation != 0)
            m_calls.push_back({rank, block.thread.laneNumber(), slice.start, slice.correlation});
        if (!isDeviceWork(slice.kind)) continue;
        m_total = boundedTime(m_total, slice.duration);
        m_launches.push_back({texts[slice.name], slice.kind, slice.duration, block.arguments[slice.arguments].bytes, rank, slice.external,
                              slice.correlation, shapes[slice.arguments], Operation{named[slice.arguments], texts[slice.role], slice.layer},
                              replayed[slice.arguments]});
    }
}

// By rank and correlation: the innermost operation that a call was made in.
KernelSummary::Joined KernelSummary::aroundCalls() const {
    auto spans = m_spans;
    auto calls = m_calls;
    // Of those that begin and end together, as with a clock of microseconds, the deeper one is the inner one.
    std::ranges::sort(spans, [](const Span& a, const Span& b) {
        return std::tie(a.rank, a.lane, a.start, b.end, a.depth) < std::tie(b.rank, b.lane, b.start, a.end, b.depth);
    });
    std::ranges::sort(calls, {}, [](const Call& one) { return std::tuple(one.rank, one.lane, one.start); });
    Joined around;
    std::vector<const Span*> open;
    std::size_t next = 0;
    for (const Call& call : calls) {
        const std::tuple at(call.rank, call.lane, call.start);
        for (; next < spans.size() && std::tuple(spans[next].rank, spans[next].lane, spans[next].start) <= at; ++next) {
            while (!open.empty() && open.back()->end <= spans[next].start) open.pop_back();
            open.push_back(&spans[next]);
        }
        const auto over = [&](const Span& one) { return one.rank != call.rank || one.lane != call.lane || one.end <= call.start; };
        while (!open.empty() && over(*open.back())) open.pop_back();
        if (!open.empty()) around.try_emplace({call.rank, call.correlation}, open.back()->operation);
    }
    return around;
}

// By its own external id, else by that of the call that launched it, else by where that call was made, else what it says itself.
const KernelSummary::Operation* KernelSummary::operationOf(const Launch& launch, const Joined& around) const {
    if (const auto direct = m_operations.find({launch.rank, launch.external}); launch.external != 0 && direct != m_operations.end())
        return &direct->second;
    if (const auto call = m_externals.find({launch.rank, launch.correlation}); call != m_externals.end())
        if (const auto found = m_operations.find({launch.rank, call->second}); found != m_operations.end()) return &found->second;
    const auto found = around.find({launch.rank, launch.correlation});
    if (launch.correlation != 0 && found != around.end()) return &found->second;
    return launch.own.name != 0 ? &launch.own : nullptr;
}

// Rank and external id of the call of an operation that launched it, as ids tell it.
std::pair<std::int64_t, std::int64_t> KernelSummary::callOf(const Launch& launch) const {
    if (launch.external != 0 && m_operations.contains({launch.rank, launch.external})) return {launch.rank, launch.external};
    const auto call = m_externals.find({launch.rank, launch.correlation});
    return {launch.rank, call != m_externals.end() ? call->second : 0};
}

std::vector<LaunchedRow> KernelSummary::rows(SummarySort sort, std::size_t limit) const {
    struct Growing {
        LaunchedRow row;
        std::map<Shape, std::int64_t> ofShape;
        std::map<Operation, std::int64_t> ofOperation;
        std::map<std::uint32_t, std::int64_t> ofType;
    };
    const Joined around = aroundCalls();
    KeyedMap<std::pair<std::int64_t, std::int64_t>, std::int64_t> ofCall;  // device time of what it launched
    if (!m_works.empty())
        for (const Launch& launch : m_launches) {
            auto& time = ofCall[callOf(launch)];
            time = boundedTime(time, launch.duration);
        }
    std::map<std::pair<std::string, SliceKind>, Growing> growing;
    for (const Launch& launch : m_launches) {
        Growing& into = growing[{m_texts[launch.name], launch.kind}];
        LaunchedRow& row = into.row;
        row.shortest.ns = row.calls == 0 ? launch.duration : std::min(row.shortest.ns, launch.duration);
        row.longest.ns = std::max(row.longest.ns, launch.duration);
        row.total.ns = boundedTime(row.total.ns, launch.duration);
        row.bytes = boundedTime(row.bytes, launch.bytes);
        row.calls += 1;
        auto& shape = into.ofShape[m_shapes[launch.shape]];
        shape = boundedTime(shape, launch.duration);
        if (const auto call = callOf(launch); !m_works.empty() && launch.kind == SliceKind::Kernel && ofCall[call] > 0)
            if (const auto work = m_works.find(call); work != m_works.end()) {
                const double part = static_cast<double>(launch.duration) / static_cast<double>(ofCall[call]);
                row.flops += part * static_cast<double>(work->second.flops);
                row.movedBytes += part * static_cast<double>(work->second.bytes);
                row.worked.ns = boundedTime(row.worked.ns, launch.duration);
                auto& time = into.ofType[work->second.type];
                time = boundedTime(time, launch.duration);
            }
        const bool placed = launch.own.layer >= 0 || !m_texts[launch.own.role].empty();
        const Operation* const found = operationOf(launch, around);
        if (found || placed) {
            // What a graph replays has places of its own, and operations that it was captured from: the one that launched all of it tells nothing.
            Operation operation = found ? *found : launch.own;
            if (launch.replayed && launch.own.name != 0) operation.name = launch.own.name;
            if (placed) {
                operation.role = launch.own.role;
                operation.layer = launch.own.layer;
            }
            auto& time = into.ofOperation[operation];
            time = boundedTime(time, launch.duration);
        }
    }
    std::vector<LaunchedRow> all;
    for (auto& [key, one] : growing) {
        one.row.name = key.first;
        one.row.kind = key.second;
        const auto shape = mostOfLaunches(one.ofShape);
        one.row.grid = {shape[0], shape[1], shape[2]};
        one.row.block = {shape[3], shape[4], shape[5]};
        one.row.registers = shape[6];
        one.row.sharedBytes = shape[7];
        one.row.type = m_texts[mostOfLaunches(one.ofType)];
        std::set<std::uint32_t> names;
        for (const auto& [operation, time] : one.ofOperation) names.insert(operation.name);
        one.row.operations = static_cast<std::int64_t>(names.size());
        if (!one.ofOperation.empty()) {
            const Operation operation = mostOfLaunches(one.ofOperation);
            one.row.operation = m_texts[operation.name];
            one.row.role = m_texts[operation.role];
            one.row.layer = operation.layer;
        }
        all.push_back(std::move(one.row));
    }
    std::ranges::stable_sort(all, [&](const LaunchedRow& a, const LaunchedRow& b) {
        if (sort == SummarySort::Memory && a.moved() != b.moved()) return a.moved() > b.moved();
        return a.total.ns > b.total.ns;
    });
    if (limit > 0 && all.size() > limit) all.resize(limit);
    return all;
}

}  // namespace stepscope
