#include "core/analysis/captures/KernelSummary.h"

#include <algorithm>
#include <limits>
#include <set>

namespace stepscope {
namespace {

template <class Key>
Key mostOfLaunches(const std::map<Key, std::int64_t>& all) {
    return all.empty() ? Key() : std::ranges::max_element(all, {}, [](const auto& one) { return one.second; })->first;
}

// From a launch to what it launched; 0 where clocks say that it came later.
std::int64_t waitedFrom(std::int64_t from, std::int64_t to) {
    std::int64_t time = 0;
    if (to <= from) return 0;
    return __builtin_sub_overflow(to, from, &time) ? std::numeric_limits<std::int64_t>::max() : time;
}

bool isCallOfRuntime(const Slice& slice) {
    return (slice.kind == SliceKind::Runtime || slice.kind == SliceKind::Driver) && slice.correlation != 0;
}

// Of each kind of arguments in a block, what is asked of its slices.
struct ArgumentFacts {
    std::array<std::int64_t, 8> shape{};
    std::uint32_t named = 0, type = 0;  // texts
    bool replayed = false;
    float blocks = -1, occupancy = -1;  // < 0: unknown
};

ArgumentFacts factsOfArguments(const SliceArguments& of, const GpuShape* gpu) {
    ArgumentFacts facts{.shape = {of.grid[0], of.grid[1], of.grid[2], of.block[0], of.block[1], of.block[2], of.registers, of.sharedBytes}};
    facts.replayed = of.extra.find("\"graph node id\":") != std::string::npos;
    if (const auto fill = gpu == nullptr ? std::nullopt : kernelFill(of, *gpu)) {
        facts.blocks = static_cast<float>(fill->blocksPerMultiprocessor);
        if (gpu->threadsPerMultiprocessor > 0) facts.occupancy = static_cast<float>(fill->occupancy);
    }
    return facts;
}

}  // namespace

std::int64_t KernelSummary::bytesNeeded(std::int64_t slices) {
    // A call is the largest of them, and to order a column takes half of it once more.
    constexpr std::int64_t kEach = std::max<std::int64_t>(sizeof(Launch), IdColumn<Call>::bytesEach() * 3 / 2);
    return std::clamp<std::int64_t>(slices, 0, kMostHeld) * kEach;
}

std::uint32_t KernelSummary::textOf(const std::string& text) {
    const auto [found, added] = m_textPlaces.try_emplace(text, static_cast<std::uint32_t>(m_texts.size()));
    if (added) m_texts.push_back(text);
    return found->second;
}

std::uint32_t KernelSummary::knownOf(const Known& known) {
    const auto [found, added] = m_knownPlaces.try_emplace(known, static_cast<std::uint32_t>(m_known.size()));
    if (added) m_known.push_back(known);
    return found->second;
}

std::uint32_t KernelSummary::sortOf(const SortKey& key) {
    const auto [found, added] = m_sortPlaces.try_emplace(key, static_cast<std::uint32_t>(m_sorts.size()));
    if (!added) return found->second;
    const auto& [rank, name, kind, own, replayed] = key;
    const auto [row, first] = m_rowPlaces.try_emplace({m_texts[name], kind}, static_cast<std::uint32_t>(m_rows.size()));
    if (first) {
        m_rows.emplace_back();
        m_rows.back().sums.name = m_texts[name];
        m_rows.back().sums.kind = kind;
    }
    m_sorts.push_back({rank, row->second, kind == SliceKind::Kernel ? m_facts.placeOf(rank, name) : 0U, own, replayed});
    return found->second;
}

KernelSummary::Lane& KernelSummary::laneOf(const SliceBlock& block) {
    const std::pair key(block.thread.rank, block.thread.laneNumber());
    if (m_order == Blocks::LaneByLane) {
        if (!m_lanes.contains(key)) {
            for (auto& [before, lane] : m_lanes) settle(lane, m_workers[before.first], std::nullopt);
            m_lanes.clear();
        } else if (!block.slices.empty()) {
            settle(m_lanes[key], m_workers[key.first], std::ranges::min(block.slices, {}, &Slice::start).start);
        }
    }
    return m_lanes[key];
}

// Counts what of the block is to be held, and lets go of everything where that is too much: of some kernels alone the launching operations would say
// nothing of a row.
void KernelSummary::hold(const SliceBlock& block) {
    if (m_tooMany) return;
    m_held += std::ranges::count_if(block.slices,
                                    [](const Slice& slice) { return isOperation(slice.kind) || isCallOfRuntime(slice) || isDeviceWork(slice.kind); });
    if (m_held <= m_mostHeld) return;
    m_tooMany = true;
    m_sized = false;
    m_lanes.clear();
    m_workers.clear();
    m_launches.clear();
    m_known = {Known()};
    m_knownPlaces.clear();
}

void KernelSummary::add(const SliceBlock& block) {
    hold(block);
    std::vector<std::uint32_t> texts;
    texts.reserve(block.strings.size());
    for (const auto& text : block.strings) texts.push_back(textOf(text));
    const GpuShape* const gpu = m_gpus.find(block.thread.rank, block.thread.device);
    std::vector<ArgumentFacts> with;
    with.reserve(block.arguments.size());
    for (const auto& arguments : block.arguments) {
        with.push_back(factsOfArguments(arguments, gpu));
        with.back().named = textOf(launchingOperation(arguments.extra));
        if (arguments.flops > 0 || arguments.bytes > 0) with.back().type = textOf(elementType(arguments.text));
    }
    Worker* const worker = m_tooMany ? nullptr : &m_workers[block.thread.rank];
    Lane* const lane = m_tooMany ? nullptr : &laneOf(block);
    for (const auto& slice : block.slices) {
        const SliceArguments& arguments = block.arguments[slice.arguments];
        const ArgumentFacts& facts = with[slice.arguments];
        const Operation operation{texts[slice.name], texts[slice.role], slice.layer};
        if (lane != nullptr && isOperation(slice.kind)) {
            Known known{.operation = operation};
            if (arguments.flops > 0 || arguments.bytes > 0) {
                known.flops = arguments.flops;
                known.bytes = arguments.bytes;
                known.type = facts.type;
            }
            const std::uint32_t place = knownOf(known);
            if (slice.external != 0) {
                worker->operations.add(slice.external, place);
                m_sized = m_sized || known.sized();
            }
            std::int64_t end = 0;
            if (!__builtin_add_overflow(slice.start, slice.duration, &end)) lane->spans.push_back({slice.start, end, slice.depth, place});
        }
        if (lane != nullptr && isCallOfRuntime(slice)) lane->calls.push_back({slice.start, slice.correlation, slice.external});
        if (!isDeviceWork(slice.kind)) continue;
        m_total = boundedTime(m_total, slice.duration);
        const Operation own{facts.named, texts[slice.role], slice.layer};
        const std::uint32_t sort = sortOf({block.thread.rank, texts[slice.name], slice.kind, own, facts.replayed});
        m_sorts[sort].time = boundedTime(m_sorts[sort].time, slice.duration);
        if (lane != nullptr)
            m_launches.push_back({sort, Packed64(slice.duration), Packed64(slice.start), Packed64(slice.external), Packed64(slice.correlation)});
        Row& row = m_rows[m_sorts[sort].row];
        row.sums.shortest.ns = row.sums.calls == 0 ? slice.duration : std::min(row.sums.shortest.ns, slice.duration);
        row.sums.longest.ns = std::max(row.sums.longest.ns, slice.duration);
        row.sums.total.ns = boundedTime(row.sums.total.ns, slice.duration);
        row.sums.bytes = boundedTime(row.sums.bytes, arguments.bytes);
        row.sums.calls += 1;
        auto& shape = row.ofShape[facts.shape];
        shape = boundedTime(shape, slice.duration);
        if (slice.kind == SliceKind::Kernel)
            m_facts.add(m_sorts[sort].facts, {texts[slice.phase], texts[slice.role], slice.layer, slice.duration, facts.blocks, facts.occupancy});
    }
}

// By correlation: the innermost operation that a call was made in.
void KernelSummary::settle(Lane& lane, Worker& worker, std::optional<std::int64_t> before) {
    // Of those that begin and end together, as with a clock of microseconds, the deeper one is the inner one.
    std::ranges::sort(lane.spans, [](const Span& a, const Span& b) { return std::tie(a.start, b.end, a.depth) < std::tie(b.start, a.end, b.depth); });
    std::ranges::stable_sort(lane.calls, {}, &WaitingCall::start);
    const auto due = [&](std::int64_t start) { return !before || start < *before; };
    auto span = lane.spans.begin();
    const auto open = [&](const auto& begun) {
        for (; span != lane.spans.end() && begun(span->start); ++span) {
            while (!lane.open.empty() && lane.open.back().end <= span->start) lane.open.pop_back();
            lane.open.push_back(*span);
        }
    };
    auto call = lane.calls.begin();
    for (; call != lane.calls.end() && due(call->start); ++call) {
        open([&](std::int64_t start) { return start <= call->start; });
        while (!lane.open.empty() && lane.open.back().end <= call->start) lane.open.pop_back();
        worker.calls.add(call->correlation, {Packed64(call->external), Packed64(call->start), lane.open.empty() ? 0U : lane.open.back().known});
    }
    open(due);
    lane.spans.erase(lane.spans.begin(), span);
    lane.calls.erase(lane.calls.begin(), call);
}

void KernelSummary::finish() {
    for (auto& [key, lane] : m_lanes) settle(lane, m_workers[key.first], std::nullopt);
    m_lanes.clear();
    for (auto& [rank, worker] : m_workers) {
        worker.operations.order([&](std::uint32_t& first, std::uint32_t later) {
            Known known = m_known[first];
            if (known.sized() || !m_known[later].sized()) return;
            const Operation operation = known.operation;
            known = m_known[later];
            known.operation = operation;
            first = knownOf(known);
        });
        worker.calls.order([](Call& first, const Call& later) {
            if (first.external.value() == 0) first.external = later.external;
            if (later.start.value() < first.start.value()) first.start = later.start;
            if (first.around == 0) first.around = later.around;
        });
    }
}

std::size_t KernelSummary::waiting() const {
    std::size_t all = 0;
    for (const auto& [key, lane] : m_lanes) all += lane.spans.size() + lane.calls.size() + lane.open.size();
    return all;
}

// By its own external id, else by that of the call that launched it, else by where that call was made.
KernelSummary::Launcher KernelSummary::launcherOf(const Launch& launch, const Worker& worker) const {
    const auto byId = [&](std::int64_t external) -> Launcher {
        const auto place = external != 0 ? worker.operations.placeOf(external) : std::nullopt;
        if (!place) return {};
        return {&m_known[worker.operations.at(*place)].operation, place};
    };
    if (const Launcher own = byId(launch.external.value()); own.place) return own;
    const auto called = worker.calls.placeOf(launch.correlation.value());
    if (!called) return {};
    const Call& call = worker.calls.at(*called);
    if (const Launcher ofCall = byId(call.external.value()); ofCall.place) return ofCall;
    if (call.around != 0) return {&m_known[call.around].operation, std::nullopt};
    return {};
}

// Time on devices of what each call of an operation launched, as ids tell it: by worker and its place there.
std::map<std::int64_t, std::vector<std::int64_t>> KernelSummary::deviceTimes() const {
    std::map<std::int64_t, std::vector<std::int64_t>> times;
    if (!m_sized) return times;
    for (const auto& [rank, worker] : m_workers) times[rank].resize(worker.operations.size());
    for (const Launch& launch : m_launches) {
        const std::int64_t rank = m_sorts[launch.sort].rank;
        const Launcher launcher = launcherOf(launch, m_workers.at(rank));
        if (!launcher.place) continue;
        std::int64_t& time = times[rank][*launcher.place];
        time = boundedTime(time, launch.duration.value());
    }
    return times;
}

std::vector<LaunchedRow> KernelSummary::rows(SummarySort sort, std::size_t limit) {
    struct Growing {
        std::map<Operation, std::int64_t> ofOperation;
        std::map<std::uint32_t, std::int64_t> ofType;
    };
    finish();
    const auto times = deviceTimes();
    std::vector<LaunchedRow> sums;
    sums.reserve(m_rows.size());
    for (const Row& row : m_rows) sums.push_back(row.sums);
    std::vector<Growing> growing(m_rows.size());
    const auto launched = [&](const Sort& of, const Operation* launcher, std::int64_t duration) {
        const bool placed = of.own.layer >= 0 || !m_texts[of.own.role].empty();
        // Else what it says itself.
        const Operation* const found = launcher != nullptr ? launcher : of.own.name != 0 ? &of.own : nullptr;
        if (!found && !placed) return;
        // What a graph replays has places of its own, and operations that it was captured from: the one that launched all of it tells nothing.
        Operation operation = found ? *found : of.own;
        if (of.replayed && of.own.name != 0) operation.name = of.own.name;
        if (placed) {
            operation.role = of.own.role;
            operation.layer = of.own.layer;
        }
        auto& time = growing[of.row].ofOperation[operation];
        time = boundedTime(time, duration);
    };
    for (const Launch& launch : m_launches) {
        const Sort& of = m_sorts[launch.sort];
        const Worker& worker = m_workers.at(of.rank);
        LaunchedRow& row = sums[of.row];
        Growing& into = growing[of.row];
        const std::int64_t duration = launch.duration.value();
        const Launcher launcher = launcherOf(launch, worker);
        if (launcher.place && m_sized && row.kind == SliceKind::Kernel) {
            const Known& known = m_known[worker.operations.at(*launcher.place)];
            const std::int64_t all = times.at(of.rank)[*launcher.place];
            if (known.sized() && all > 0) {
                const double part = static_cast<double>(duration) / static_cast<double>(all);
                row.flops += part * static_cast<double>(known.flops);
                row.movedBytes += part * static_cast<double>(known.bytes);
                row.worked.ns = boundedTime(row.worked.ns, duration);
                auto& time = into.ofType[known.type];
                time = boundedTime(time, duration);
            }
        }
        launched(of, launcher.operation, duration);
    }
    if (m_tooMany)
        for (const Sort& of : m_sorts) launched(of, nullptr, of.time);
    std::vector<LaunchedRow> all;
    for (const auto& [key, place] : m_rowPlaces) {
        LaunchedRow& row = sums[place];
        const Growing& one = growing[place];
        const auto shape = mostOfLaunches(m_rows[place].ofShape);
        row.grid = {shape[0], shape[1], shape[2]};
        row.block = {shape[3], shape[4], shape[5]};
        row.registers = shape[6];
        row.sharedBytes = shape[7];
        row.type = m_texts[mostOfLaunches(one.ofType)];
        std::set<std::uint32_t> names;
        for (const auto& [operation, time] : one.ofOperation) names.insert(operation.name);
        row.operations = static_cast<std::int64_t>(names.size());
        if (!one.ofOperation.empty()) {
            const Operation operation = mostOfLaunches(one.ofOperation);
            row.operation = m_texts[operation.name];
            row.role = m_texts[operation.role];
            row.layer = operation.layer;
        }
        all.push_back(std::move(row));
    }
    std::ranges::stable_sort(all, [&](const LaunchedRow& a, const LaunchedRow& b) {
        if (sort == SummarySort::Memory && a.moved() != b.moved()) return a.moved() > b.moved();
        return a.total.ns > b.total.ns;
    });
    if (limit > 0 && all.size() > limit) all.resize(limit);
    return all;
}

std::map<std::string, KernelFacts> KernelSummary::facts() {
    finish();
    std::vector<KernelFactSums::Waited> waited(m_facts.places());
    for (const Launch& launch : m_launches) {
        const Sort& of = m_sorts[launch.sort];
        if (m_rows[of.row].sums.kind != SliceKind::Kernel || launch.correlation.value() == 0) continue;
        const IdColumn<Call>& calls = m_workers.at(of.rank).calls;
        const auto call = calls.placeOf(launch.correlation.value());
        if (!call) continue;
        KernelFactSums::Waited& into = waited[of.facts];
        into.delay = boundedTime(into.delay, waitedFrom(calls.at(*call).start.value(), launch.start.value()));
        into.launched += 1;
    }
    return m_facts.facts(m_texts, waited);
}

}  // namespace stepscope
