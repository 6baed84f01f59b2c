#include "core/analysis/panes/RangePanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/analysis/panes/OperationForms.h"
#include "core/base/KeyedHash.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

constexpr const char* kNoLonger = "Something else is shown now.";
constexpr const char* kTooMany = "Too many slices.";

std::int64_t backBy(std::int64_t time, std::int64_t by) {
    std::int64_t at = 0;
    return __builtin_sub_overflow(time, by, &at) ? std::numeric_limits<std::int64_t>::min() : at;
}
std::int64_t onBy(std::int64_t time, std::int64_t by) {
    std::int64_t at = 0;
    return __builtin_add_overflow(time, by, &at) ? std::numeric_limits<std::int64_t>::max() : at;
}

// What the slices of a name are called together: steps are one, whatever numbers they bear.
std::string flameName(const std::string& name, SliceKind kind) {
    if (kind == SliceKind::Step) return "step";
    if (!name.empty()) return name;
    return kind == SliceKind::Phase ? "phase" : kind == SliceKind::Evaluation ? "evaluation of the model" : "without a name";
}

}  // namespace

std::string laneWords(const SliceThread& thread, bool severalRanks) {
    std::string text = thread.device >= 0    ? fmt::format("stream {} of GPU {}", thread.thread, thread.device)
                       : thread.name.empty() ? fmt::format("thread {}", thread.thread)
                                             : thread.name;
    if (severalRanks) text += fmt::format(", rank {}", thread.rank);
    return text;
}

struct PanesReader::Growing {
    std::int64_t from = 0, to = 0, most = 0, read = 0;
    bool severalRanks = false;
    RangePanes panes;
    OperationSummary operations;
    KernelSummary kernels;
    std::map<std::int64_t, DeviceSummary> devices;  // by rank
    std::map<std::int64_t, StepDivision> divisions;
    std::map<std::pair<std::string, bool>, SlicePlace> longest;  // by name, on a GPU or not
    OperationForms forms;
    std::vector<std::string> texts;  // of the lane in hand
    KeyedMap<std::string, std::uint32_t> textPlaces;
    std::vector<NestedSlice> nested;
    LaneFacts facts;

    std::uint32_t textOf(const std::string& text) {
        const auto [found, added] = textPlaces.try_emplace(text, static_cast<std::uint32_t>(texts.size()));
        if (added) texts.push_back(text);
        return found->second;
    }
    bool begins(const Slice& slice) const { return slice.start >= from && slice.start < to; }
    bool reaches(const SliceBlock& block) const {
        return std::ranges::any_of(block.slices, [&](const Slice& one) { return one.start < to && one.start + one.duration >= from; });
    }
    void nest(const SliceBlock& block);
    void know(const SliceBlock& block);
    void place(const SliceBlock& block);
};

void PanesReader::Growing::nest(const SliceBlock& block) {
    struct Known {
        std::uint32_t text = 0;
        WorkClass work = WorkClass::Host;
        bool moves = false;
    };
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, SliceKind>, Known> known;
    for (const Slice& slice : block.slices) {
        const std::int64_t end = slice.start + slice.duration;
        if (slice.start >= to || end < from || (end == from && slice.start < from)) continue;
        const auto [found, added] = known.try_emplace({slice.name, slice.phase, slice.role, slice.kind});
        if (added) {
            found->second.text = textOf(flameName(block.strings[slice.name], slice.kind));
            found->second.work = workClass(slice.kind, block.strings[slice.name], block.strings[slice.phase], block.strings[slice.role]);
            found->second.moves = movesOnHost(slice.kind, block.strings[slice.name], block.strings[slice.role]);
        }
        nested.push_back({.start = std::max(slice.start, from),
                          .end = std::min(end, to),
                          .text = found->second.text,
                          .depth = slice.depth,
                          .kind = slice.kind,
                          .work = found->second.work,
                          .cut = from > slice.start,
                          .open = to < end,
                          .moves = found->second.moves});
    }
}

void PanesReader::Growing::know(const SliceBlock& block) {
    for (const Slice& slice : block.slices) {
        const std::int64_t end = slice.start + slice.duration;
        if (facts.team ? slice.kind == SliceKind::Own : slice.kind == SliceKind::Step && slice.start < to && end >= from)
            facts.whole.emplace_back(slice.start, end);
    }
}

void PanesReader::Growing::place(const SliceBlock& block) {
    std::map<std::pair<std::uint32_t, bool>, const Slice*> some;
    for (const Slice& slice : block.slices) {
        const bool work = isDeviceWork(slice.kind);
        if (!work && !isOperation(slice.kind)) continue;
        const Slice*& best = some[{slice.name, work}];
        if (best == nullptr || slice.duration > best->duration) best = &slice;
    }
    forms.add(block);
    for (const auto& [key, slice] : some) {
        SlicePlace& into = longest[{block.strings[key.first], key.second}];
        if (slice->duration > into.duration) into = {block.thread.laneNumber(), slice->depth, slice->start, slice->duration};
    }
}

PanesReader::PanesReader(TraceSource& source, GpuShapes shapes, TraceIndex::GoesOn goesOn, std::int64_t most)
    : m_source(source), m_shapes(std::move(shapes)), m_goesOn(goesOn), m_most(most), m_index(source, std::move(goesOn)) {}

Status PanesReader::open() {
    auto lanes = m_index.lanes();
    if (!lanes) return lanes.error();
    m_lanes = std::move(*lanes);
    const auto all = m_source.lanes();
    if (!all) return all.error();
    m_kinds.clear();
    m_allocations.clear();
    m_someAllocations = false;
    for (const auto& one : *all) {
        if (isSlices(one.kind)) m_kinds[one.lane] = one.kind;
        if (one.kind != kAllocations) continue;
        m_allocations.push_back(one.lane);  // one without records says how many were lost
        m_someAllocations = m_someAllocations || one.records > 0;
    }
    return {};
}

Status PanesReader::readLane(const TraceLane& lane, Growing& growing) {
    const bool host = lane.thread.device < 0;
    growing.texts.clear();
    growing.textPlaces.clear();
    growing.nested.clear();
    // Where there are devices, what was launched before the range begins is joined with what runs in it.
    // Whether a thread is of a step's team is told by the whole step, of which the range may have a part.
    growing.facts = {.process = lane.thread.process, .team = isTeamLane(lane.thread)};
    const bool around = growing.facts.team && !growing.panes.devices;
    const std::int64_t from = host && (growing.panes.devices || around) ? backBy(growing.from, kLookBack) : growing.from;
    const std::int64_t to = around ? onBy(growing.to, kLookBack) : growing.to;
    auto done = m_source.read(m_kinds[lane.lane], lane.lane, from, to, [&](const Chunk& chunk) -> Status {
        if (!m_goesOn()) return makeError(ErrorCode::Cancelled, kNoLonger);
        auto block = decodeSlices(chunk);
        if (!block) return block.error();
        growing.read += static_cast<std::int64_t>(block->slices.size());
        if (growing.read > growing.most) return makeError(ErrorCode::OutOfMemory, kTooMany);
        growing.nest(*block);
        if (host) growing.know(*block);
        if (around && !block->slices.empty() && !growing.reaches(*block)) return {};
        if (growing.panes.devices && host) {
            growing.kernels.add(*block);
            growing.devices.at(lane.thread.rank).add(*block);
        }
        std::erase_if(block->slices, [&](const Slice& slice) { return !growing.begins(slice); });
        if (!host) {
            growing.kernels.add(*block);
            growing.devices.at(lane.thread.rank).add(*block);
        }
        growing.operations.add(*block);
        growing.panes.layers.add(*block);
        growing.place(*block);
        return {};
    });
    if (!done) return done;
    nestLane(growing.nested);
    const std::string name = laneWords(lane.thread, growing.severalRanks);
    growing.panes.flame.add(name, growing.nested, growing.texts);
    StepDivision& division = growing.divisions.try_emplace(lane.thread.rank, lane.thread.rank).first->second;
    if (host) {
        division.addThread(name, std::move(growing.nested), growing.texts, std::move(growing.facts));
    } else {
        for (const NestedSlice& one : growing.nested) division.addWork(one.kind, isCommunication(growing.texts[one.text]), one.start, one.end);
    }
    return {};
}

bool RangePanes::cutsSteps() const {
    return std::ranges::any_of(steps, [](const DividedSteps& one) { return one.cut > 0; });
}

RangePanes PanesReader::finish(Growing& growing) {
    RangePanes& panes = growing.panes;
    panes.totals = growing.operations.totals();
    panes.slices = panes.totals.slices;
    const auto placeOf = [&](const std::string& name, bool work) {
        const auto found = growing.longest.find({name, work});
        return found == growing.longest.end() ? SlicePlace{} : found->second;
    };
    for (auto& row : growing.operations.rows(SummaryBy::Operation, SummarySort::Self))
        panes.operations.push_back({row, placeOf(row.name, false), growing.forms.typeOf(row.name), row.own ? growing.forms.threadsOf(row.name) : 1,
                                    growing.forms.formatsOf(row.name)});
    const auto facts = kernelFacts(growing.devices);
    for (const auto& [rank, device] : growing.devices) {
        std::map<std::pair<std::int64_t, std::int64_t>, StreamLaunches> launches;
        for (const auto& one : device.launches()) launches[{one.device, one.stream}] = one;
        for (const auto& time : device.streams()) panes.streams.push_back({rank, time, launches[{time.device, time.stream}]});
        for (const auto& time : device.devices()) panes.gpus.push_back({rank, time});
    }
    for (auto& row : growing.kernels.rows(SummarySort::Total)) {
        PaneKernel kernel{.row = row, .longest = placeOf(row.name, true)};
        if (const auto found = facts.find(row.name); found != facts.end() && row.kind == SliceKind::Kernel) {
            const KernelFacts& of = found->second;
            kernel.phase = of.phase;
            kernel.launched = of.launched;
            kernel.launchDelay = of.launchDelay;
            if (of.occupancy >= 0) kernel.blocksPerMultiprocessor = of.blocksPerMultiprocessor, kernel.occupancy = of.occupancy;
        }
        panes.kernels.push_back(std::move(kernel));
    }
    for (const auto& [rank, division] : growing.divisions)
        if (auto steps = division.result(); steps.window.ns > 0) panes.steps.push_back(std::move(steps));
    return std::move(panes);
}

Result<RangePanes> PanesReader::read(std::int64_t from, std::int64_t to) {
    if (from >= to) from = m_lanes.begin, to = m_lanes.end == std::numeric_limits<std::int64_t>::max() ? m_lanes.end : m_lanes.end + 1;
    Growing growing{.from = from, .to = to, .most = m_most};
    RangePanes& panes = growing.panes;
    panes.from = from;
    panes.to = to;
    for (const TraceLane& lane : m_lanes.lanes) {
        panes.devices = panes.devices || lane.thread.device >= 0;
        panes.severalRanks = panes.severalRanks || lane.thread.rank != m_lanes.lanes.front().thread.rank;
        if (const auto [device, added] = growing.devices.try_emplace(lane.thread.rank); added) device->second.setShapes(m_shapes, lane.thread.rank);
    }
    growing.severalRanks = panes.severalRanks;
    std::int64_t all = 0;
    for (const TraceLane& lane : m_lanes.lanes) all += lane.slices;
    if (all > m_most && from <= m_lanes.begin && to >= m_lanes.end) return readFolded(from, to);
    for (const TraceLane& lane : m_lanes.lanes)
        if (auto done = readLane(lane, growing); !done) {
            if (growing.read > growing.most) return readFolded(from, to);
            return done.error();
        }
    RangePanes found = finish(growing);
    if (auto done = readMemory(found); !done) return done.error();
    return found;
}

// From the begin of the capture on, as what was taken before the range may be alive in it.
Status PanesReader::readMemory(RangePanes& into) {
    into.allocations = m_someAllocations;
    MemoryCurve memory;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> missing;  // by rank and device
    std::map<std::int64_t, std::int64_t> missingOfRank;                     //   and where nobody knows of which device
    for (const std::int64_t lane : m_allocations) {
        bool enough = false;
        const auto done = m_source.read(kAllocations, lane, std::numeric_limits<std::int64_t>::min(), into.to, [&](const Chunk& chunk) -> Status {
            if (!m_goesOn()) return makeError(ErrorCode::Cancelled, kNoLonger);
            const auto block = decodeAllocations(chunk);
            if (!block) return block.error();
            into.memoryMissing = cappedSum(into.memoryMissing, cappedSum(block->lost, block->invalid));
            std::int64_t unknown = cappedSum(block->lost, block->invalid);
            for (const LostAllocations& one : block->lostOf) {
                auto& sum = missing[{block->rank, one.device}];
                sum = cappedSum(sum, one.lost);
                unknown -= std::min(unknown, one.lost);
            }
            auto& sum = missingOfRank[block->rank];
            sum = cappedSum(sum, unknown);
            enough = !memory.add(*block);
            return enough ? makeError(ErrorCode::OutOfMemory, kTooMany) : Status();
        });
        if (!done && !enough) return done;
    }
    into.memoryCut = memory.full();
    into.memory = memory.result(into.from, into.to);
    // Memory of which nothing was kept has no curve that could say so: the others of its worker do.
    for (const auto& lost : missing)
        if (std::ranges::none_of(into.memory, [&](const MemoryOfDevice& one) { return std::pair(one.rank, one.device) == lost.first; })) {
            auto& sum = missingOfRank[lost.first.first];
            sum = cappedSum(sum, lost.second);
        }
    for (MemoryOfDevice& one : into.memory) one.missing = cappedSum(missing[{one.rank, one.device}], missingOfRank[one.rank]);
    return {};
}

// Of what is stored by name and in folds; reading takes as long as there are chunks, not slices.
Result<RangePanes> PanesReader::readFolded(std::int64_t from, std::int64_t to) {
    RangePanes panes{.from = from, .to = to, .folded = true};
    for (const TraceLane& lane : m_lanes.lanes) {
        panes.devices = panes.devices || lane.thread.device >= 0;
        panes.severalRanks = panes.severalRanks || lane.thread.rank != m_lanes.lanes.front().thread.rank;
    }
    auto sums = m_index.sums(from, to);
    if (!sums) return sums.error();
    panes.slices = panes.totals.slices = sums->slices;
    panes.nestedEach = sums->nestedEach;
    panes.totals.lost = sums->lost;
    panes.totals.invalid = sums->invalid;
    for (const RangeSum& sum : sums->sums) {
        if (isOperation(sum.kind)) {
            SummaryRow row;
            row.name = sum.name;
            row.calls = sum.count;
            row.self.ns = sum.self;
            row.total.ns = sum.total;
            row.spent.ns = sum.spent;
            row.own = sum.kind == SliceKind::Own;
            panes.totals.operations += sum.count;
            panes.totals.self.ns = cappedSum(panes.totals.self.ns, sum.self);
            panes.operations.push_back({row, {}, {}, 1});
        } else if (isDeviceWork(sum.kind)) {
            PaneKernel kernel;
            kernel.row.name = sum.name;
            kernel.row.kind = sum.kind;
            kernel.row.calls = sum.count;
            kernel.row.total.ns = sum.total;
            panes.totals.kernels += sum.count;
            panes.totals.deviceTime.ns = cappedSum(panes.totals.deviceTime.ns, sum.total);
            panes.kernels.push_back(std::move(kernel));
        } else if (sum.kind == SliceKind::Step) {
            panes.totals.steps += sum.count;
            panes.totals.stepTime.ns = cappedSum(panes.totals.stepTime.ns, sum.total);
        }
    }
    std::ranges::stable_sort(panes.kernels, [](const PaneKernel& a, const PaneKernel& b) { return a.row.total > b.row.total; });
    for (const TraceLane& lane : m_lanes.lanes)
        if (lane.thread.device >= 0)
            if (auto done = foldedStream(lane, panes); !done) return done.error();
    if (auto done = readMemory(panes); !done) return done.error();
    return panes;
}

Status PanesReader::foldedStream(const TraceLane& lane, RangePanes& into) {
    const std::int64_t from = std::max(into.from, lane.begin), to = std::min(into.to, lane.end);
    if (to <= from) return {};
    PaneStream stream{
        .rank = lane.thread.rank, .time = {.device = lane.thread.device, .stream = lane.thread.thread, .begin = {from}, .end = {to}}, .launches = {}};
    // Ranges that a person named lie on a stream, too, and waits have a lane of its number.
    const auto sums = m_index.sums(from, to, lane.lane);
    if (!sums) return sums.error();
    for (const RangeSum& sum : sums->sums)
        if (isDeviceWork(sum.kind)) stream.time.busy.ns = cappedSum(stream.time.busy.ns, sum.total), stream.time.works += sum.count;
    if (stream.time.works == 0) return {};
    stream.time.busy.ns = std::min(stream.time.busy.ns, to - from);
    stream.time.otherIdle.ns = to - from - stream.time.busy.ns;
    // What overlapped on a stream has lanes of its own.
    for (PaneStream& other : into.streams) {
        if (other.rank != stream.rank || other.time.device != stream.time.device || other.time.stream != stream.time.stream) continue;
        const std::int64_t begin = std::min(from, other.time.begin.ns), end = std::max(to, other.time.end.ns);
        other.time.works += stream.time.works;
        other.time.busy.ns = std::min(cappedSum(other.time.busy.ns, stream.time.busy.ns), end - begin);
        other.time.begin.ns = begin;
        other.time.end.ns = end;
        other.time.otherIdle.ns = end - begin - other.time.busy.ns;
        return {};
    }
    into.streams.push_back(stream);
    return {};
}

}  // namespace stepscope
