#include "sessions/importers/TraceBuilder.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "core/trace/SliceCodec.h"
#include "sessions/importers/JsonScan.h"
#include "sessions/importers/LaneWriter.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kNameBytes = std::size_t{48} << 20, kArgumentBytes = std::size_t{64} << 20;
constexpr std::size_t kMostRecords = 400'000;  // in memory
constexpr std::size_t kMostLanes = 50'000;
constexpr std::size_t kMostArrows = 2'000'000;
constexpr std::size_t kMostLaunches = 1'000'000;                  // runs of them: 24 MB
constexpr std::int64_t kSeveralSteps = kNoStep - 1;               // of a correlation that calls of different steps have
enum FlowName : std::uint32_t { kOtherFlow, kForward, kLaunch };  // Record::name of what lies in the lane of flows
constexpr std::size_t kMostBegins = 4096;                         // of one id
constexpr int kWitnesses = 64;
constexpr std::size_t kMostWitnesses = 1 << 18;
constexpr std::size_t kLongestPlace = 256;                 // bytes of a pid or tid that tell it from others, as many as are shown of it
constexpr std::int64_t kFarthest = std::int64_t{1} << 61;  // ns: two of them can be added
// ns, a hundred days: no capture lasts as long, and a thousand of them can be added.
constexpr std::int64_t kLongestDuration = std::int64_t{100} * 24 * 3600 * 1'000'000'000;
constexpr std::size_t kMostSteps = 1'000'000;

std::optional<std::int64_t> asNumber(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string unquoted(std::string_view token) {
    if (token.size() >= 2 && token.front() == '"') return jsonText(token.substr(1, token.size() - 2), 256);
    return std::string(token.substr(0, 256));
}

}  // namespace

TraceBuilder::TraceBuilder(const std::string& folder)
    : m_names(folder, kNameBytes), m_arguments(folder, kArgumentBytes), m_sorter(folder, kMostRecords), m_recent(64) {}

void TraceBuilder::beginFile(std::int64_t rank) {
    m_files.push_back({.rank = rank});
    m_firstOfFile.push_back(std::numeric_limits<std::int64_t>::max());
    m_steps.emplace_back();
    for (auto& recent : m_recent) recent.key.clear();
    m_flows = lane("", "", LaneUse::Flows);
}

std::optional<std::uint32_t> TraceBuilder::lane(std::string_view pid, std::string_view tid, LaneUse use) {
    m_key.assign(pid.substr(0, kLongestPlace));
    m_key += '\x1f';
    m_key += tid.substr(0, kLongestPlace);
    m_key += static_cast<char>(use);
    Recent& recent = m_recent[keyedHash(m_key) % m_recent.size()];
    if (recent.key == m_key) return recent.lane;
    const std::string whole = std::to_string(m_files.size()) + '\x1f' + m_key;
    auto found = m_laneOf.find(whole);
    if (found == m_laneOf.end()) {
        if (m_lanes.size() == kMostLanes) return std::nullopt;
        found = m_laneOf.emplace(whole, static_cast<std::uint32_t>(m_lanes.size())).first;
        m_lanes.push_back({.use = use, .file = m_files.size() - 1, .pid = unquoted(pid), .tid = unquoted(tid)});
    }
    recent = {m_key, found->second};
    return found->second;
}

void TraceBuilder::nameProcess(std::string_view pid, const std::string& name) {
    if (m_processNames.size() < kMostLanes) m_processNames[{m_files.size() - 1, unquoted(pid)}] = name;
}

void TraceBuilder::nameThread(std::string_view pid, std::string_view tid, const std::string& name) {
    if (m_threadNames.size() < kMostLanes) m_threadNames[{m_files.size() - 1, unquoted(pid), unquoted(tid)}] = name;
}

void TraceBuilder::ofDevice(std::uint32_t lane, std::int64_t device, std::optional<std::int64_t> stream) {
    m_lanes[lane].device = device;
    if (stream) m_lanes[lane].stream = stream;
}

std::uint32_t TraceBuilder::arguments(const SliceArguments& arguments) {
    const std::array<std::int64_t, 10> numbers{arguments.flops,     arguments.bytes,      arguments.grid[0],  arguments.grid[1],
                                               arguments.grid[2],   arguments.block[0],   arguments.block[1], arguments.block[2],
                                               arguments.registers, arguments.sharedBytes};
    if (std::ranges::any_of(numbers, [](std::int64_t number) { return number < 0 || number > kMostSliceCount; })) {
        ++m_counts.reasons["numbers of arguments that were left out: larger than they can be"];
        SliceArguments less = arguments;
        for (std::int64_t* number : {&less.flops, &less.bytes, less.grid.data(), &less.grid[1], &less.grid[2], less.block.data(), &less.block[1],
                                     &less.block[2], &less.registers, &less.sharedBytes})
            if (*number < 0 || *number > kMostSliceCount) *number = 0;
        return this->arguments(less);
    }
    const auto without = [&](const char* reason) {
        ++m_counts.reasons[reason];
        SliceArguments less{arguments.text,  arguments.flops,     arguments.bytes,       arguments.grid,
                            arguments.block, arguments.registers, arguments.sharedBytes, std::string()};
        return this->arguments(less);
    };
    // Before it is kept: a megabyte each time would fill the disk.
    if (arguments.extra.size() > kLongestSliceExtra) return without("arguments that were left out: longer than 65536 bytes");
    const bool any = std::ranges::any_of(numbers, [](std::int64_t number) { return number != 0; });
    if (!any && arguments.text.empty() && arguments.extra.empty()) return TextStore::kNone;
    m_blob.assign(1, any ? 'L' : 'T');
    if (any) m_blob.append(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
    m_blob += arguments.text;
    m_blob += '\n';
    m_blob += arguments.extra;
    bool added = false;
    const std::uint32_t place = m_arguments.add(m_blob, &added);
    return !added || arguments.extra.empty() || isJson(arguments.extra) ? place : without("arguments that were left out: no JSON");
}

bool TraceBuilder::fits(std::int64_t start) {
    if (start > kFarthest || start < -kFarthest) {
        skip("a time that does not fit");
        return false;
    }
    m_firstOfFile.back() = std::min(m_firstOfFile.back(), start);
    ++m_recorded;
    return true;
}

void TraceBuilder::slice(const Record& record) {
    if (record.duration < 0) return skip("a negative duration");
    if (record.duration > kLongestDuration) return skip("a duration of more than 100 days");
    if (!fits(record.start)) return;
    switch (record.kind) {
        case SliceKind::Operation:
        case SliceKind::Own:
        case SliceKind::Backward:
            ++m_counts.operations;
            break;
        case SliceKind::Kernel:
            ++m_counts.kernels;
            break;
        case SliceKind::Memcpy:
            ++m_counts.copies;
            break;
        case SliceKind::Memset:
            ++m_counts.memsets;
            break;
        case SliceKind::Runtime:
            ++m_counts.runtimeCalls;
            break;
        case SliceKind::Driver:
            // Nsight Systems has both in one list, whose rows are its calls of the runtime.
            ++(m_files.back().source == "nsys" ? m_counts.runtimeCalls : m_counts.driverCalls);
            break;
        case SliceKind::Synchronisation:
            ++m_counts.synchronisations;
            break;
        case SliceKind::Annotation:
        case SliceKind::DeviceAnnotation:
        case SliceKind::Step:
        case SliceKind::Phase:
        case SliceKind::Evaluation:
            ++m_counts.annotations;
            break;
        case SliceKind::Python:
            ++m_counts.python;
            break;
        case SliceKind::Overhead:
        case SliceKind::Other:
            ++m_counts.others;
            break;
    }
    if (record.forwardThread > 0 && m_witnesses.size() < kMostWitnesses && m_witnessed[{record.lane, record.forwardThread}]++ < kWitnesses)
        m_witnesses.push_back({record.lane, record.start, record.forwardThread});
    const bool call = record.kind == SliceKind::Runtime || record.kind == SliceKind::Driver;
    if (call && record.correlation > 0 && m_flows)
        m_sorter.add({.lane = *m_flows,
                      .start = record.correlation,
                      .duration = record.duration,
                      .name = kLaunch,
                      .step = record.step,
                      .correlation = record.start});
    m_sorter.add(record);
}

// Of the ends of flows `start` is the key, `duration` 1 where one begins, `correlation` its time and `external` its lane.
void TraceBuilder::flow(std::string_view category, std::string_view id, bool begins, std::int64_t at, std::uint32_t onLane) {
    if (!m_flows) return;
    m_key.assign(category);
    m_key += '\x1f';
    m_key += id;
    m_sorter.add({.lane = *m_flows,
                  .start = static_cast<std::int64_t>(keyedHash(m_key)),
                  .duration = begins ? 1 : 0,
                  .name = category == "fwdbwd" ? kForward : kOtherFlow,
                  .correlation = at,
                  .external = onLane});
}

void TraceBuilder::joinFlow(const Record& end) {
    if (end.start != m_flowKey) {
        m_flowKey = end.start;
        m_flowBegins.clear();
        m_flowNext = 0;
        m_flowBegun = 0;
    }
    if (end.duration != 0) {
        ++m_flowBegun;
        if (m_flowBegins.size() < kMostBegins) m_flowBegins.push_back(end);
        return;
    }
    if (m_flowBegun == 0) return;
    --m_flowBegun;
    ++m_counts.flows;
    if (m_flowNext == m_flowBegins.size()) return;
    const Record begin = m_flowBegins[m_flowNext++];
    if (end.name != kForward || m_arrows.size() == kMostArrows) return;
    m_arrows.push_back({static_cast<std::uint32_t>(end.external), end.correlation, begin.correlation});
    const auto [first, last] = std::equal_range(m_witnesses.begin(), m_witnesses.end(), Witness{m_arrows.back().lane, end.correlation, 0});
    if (first != last) m_lanes[static_cast<std::size_t>(begin.external)].number = std::prev(last)->thread;
}

// What a device does is launched by a call with its correlation, of another lane and anywhere in the file. Of a call in the lane of flows `start` is
// its correlation, so that calls come in their order, of one correlation the longest first, which holds the others.
void TraceBuilder::joinLaunch(const Record& call) {
    const std::size_t file = m_lanes[call.lane].file;
    if (m_launchesFile != file) m_launches.clear();
    m_launchesFile = file;
    if (m_steps[file].empty() && call.step == kNoStep) return;
    if (m_launches.size() == kMostLaunches) return tell("launches whose work has the step in which it ran: too many to be joined with it");
    const std::int64_t at = call.correlation, step = call.step != kNoStep ? call.step : stepOf(file, at);
    Launches* const before = m_launches.empty() ? nullptr : &m_launches.back();
    if (before != nullptr && before->last == call.start) {
        const bool within = at >= m_launch.correlation && at - m_launch.correlation <= m_launch.duration;
        if (within || before->step == step || before->step == kSeveralSteps) return;
        // Two processes that count alike: which of them launched is not known.
        if (before->first == before->last) {
            before->step = kSeveralSteps;
            return;
        }
        --before->last;
        m_launches.push_back({call.start, call.start, kSeveralSteps});
        return;
    }
    m_launch = call;
    // Between two calls of one step nothing of another one was launched, also where a call was not recorded. Outside of steps that is not so.
    const bool follows = before != nullptr && before->step == step && (step != kNoStep || before->last + 1 == call.start);
    if (follows)
        before->last = call.start;
    else
        m_launches.push_back({call.start, call.start, step});
}

std::optional<std::int64_t> TraceBuilder::launchedIn(std::size_t file, std::int64_t correlation) const {
    if (file != m_launchesFile) return std::nullopt;
    const auto next = std::ranges::upper_bound(m_launches, correlation, {}, &Launches::first);
    if (next == m_launches.begin()) return std::nullopt;
    const Launches& found = *std::prev(next);
    if (correlation > found.last || found.step == kSeveralSteps) return std::nullopt;
    return found.step;
}

// Of a sample `correlation` holds the bits of its value, `arguments` its unit.
void TraceBuilder::sample(std::string_view pid, const std::string& series, const std::string& unit, std::int64_t at, double value) {
    if (!std::isfinite(value)) return skip("a counter's value that is no finite number");
    const auto onLane = lane(pid, "", LaneUse::Samples);
    if (!onLane) return skip("more than 50000 lanes");
    if (!fits(at)) return;
    ++m_counts.samples;
    m_sorter.add({.lane = *onLane, .start = at, .name = text(series), .role = text(unit), .correlation = std::bit_cast<std::int64_t>(value)});
}

// Of an allocation `correlation` is its address, `sequence` its bytes, `layer` its device, `step` and `forwardThread` the totals, `role` its owner.
void TraceBuilder::allocation(std::string_view pid, const Memory& memory) {
    const auto onLane = lane(pid, "", LaneUse::Allocations);
    if (!onLane) return skip("more than 50000 lanes");
    if (memory.device < -1 || memory.device > 1 << 20) return skip("a device that cannot be");
    if (!fits(memory.at)) return;
    ++m_counts.allocations;
    m_sorter.add({.lane = *onLane,
                  .start = memory.at,
                  .name = text(memory.kind),
                  .role = text(memory.owner),
                  .layer = static_cast<std::int32_t>(memory.device),
                  .step = memory.totalAllocated,
                  .sequence = memory.bytes,
                  .forwardThread = memory.totalReserved,
                  .correlation = static_cast<std::int64_t>(memory.address)});
}

void TraceBuilder::step(std::int64_t number, std::int64_t start, std::int64_t duration) {
    if (start > kFarthest || start < -kFarthest || duration < 0 || duration > kLongestDuration) return;
    ++m_counts.steps;
    m_lastStep = std::max(m_lastStep, number);
    if (m_steps.back().size() < kMostSteps) m_steps.back().push_back({start, start + duration, number});
}

void TraceBuilder::skip(const std::string& reason, std::int64_t events) {
    m_counts.skipped += events;
    m_counts.reasons[reason] += events;
}

std::int64_t TraceBuilder::originNs() const {
    std::int64_t origin = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < m_files.size(); ++i) {
        std::int64_t first = 0;
        if (m_firstOfFile[i] == std::numeric_limits<std::int64_t>::max()) continue;
        if (!__builtin_add_overflow(m_firstOfFile[i], m_files[i].baseNs, &first)) origin = std::min(origin, first);
    }
    return origin == std::numeric_limits<std::int64_t>::max() ? 0 : origin;
}

const Status& TraceBuilder::status() const {
    if (!m_names.status()) return m_names.status();
    if (!m_arguments.status()) return m_arguments.status();
    return m_sorter.status();
}

// The step that goes on then; of nested or repeated ones the one that began last.
std::int64_t TraceBuilder::stepOf(std::size_t file, std::int64_t at) const {
    const auto& all = m_steps[file];
    auto next = std::ranges::upper_bound(all, at, {}, &StepRange::start);
    for (int tries = 0; next != all.begin() && tries < 4; ++tries)
        if (--next; at < next->end) return next->number;
    return kNoStep;
}

// What a device does belongs to the step that launched it, however late it runs.
std::int64_t TraceBuilder::stepOf(std::size_t file, const Record& record) const {
    if (record.step != kNoStep) return record.step;
    if (record.correlation > 0 && (isDeviceWork(record.kind) || record.kind == SliceKind::Synchronisation))
        if (const auto launched = launchedIn(file, record.correlation)) return *launched;
    return stepOf(file, record.start);
}

void TraceBuilder::nameLanes() {
    std::vector<std::size_t> order(m_lanes.size());
    std::map<std::string, std::int64_t> texts;  // pids and tids that are no numbers
    const auto number = [&](const std::string& text) {
        if (const auto value = asNumber(text)) return *value;
        return texts.try_emplace(text, -1 - static_cast<std::int64_t>(texts.size())).first->second;
    };
    for (std::size_t i = 0; i < m_lanes.size(); ++i) {
        order[i] = i;
        Lane& lane = m_lanes[i];
        const auto find = [](const auto& names, const auto& key, const std::string& otherwise) {
            const auto found = names.find(key);
            return found != names.end() ? found->second : asNumber(otherwise) ? std::string() : otherwise;
        };
        lane.thread.process = number(lane.pid);
        lane.thread.thread = lane.stream ? *lane.stream : number(lane.tid);
        lane.thread.number = lane.number;
        lane.thread.name = find(m_threadNames, std::tuple(lane.file, lane.pid, lane.tid), lane.tid);
        if (lane.device >= 0 && lane.thread.name == lane.tid) lane.thread.name = "stream " + std::to_string(lane.thread.thread);
        lane.thread.processName = find(m_processNames, std::pair(lane.file, lane.pid), lane.pid);
        lane.thread.device = lane.device;
        lane.thread.rank = m_files[lane.file].rank;
        const File& file = m_files[lane.file];
        if (const auto whose = file.whose.find(lane.pid); whose != file.whose.end()) {
            if (const auto shown = file.ranks.find(whose->second.rank); shown != file.ranks.end()) lane.thread.rank = shown->second;
            lane.thread.process = whose->second.process.value_or(lane.thread.process);
        } else if (!file.ranks.empty() && file.apart <= 0) {
            lane.thread.rank = file.ranks.begin()->second;
        } else if (!file.ranks.empty()) {
            // What fits no rank, and what had a text for a number, is the first one's.
            const auto& [first, shown] = *file.ranks.begin();
            const std::int64_t beyond = std::max<std::int64_t>(0, lane.thread.process) / file.apart;
            const auto found = beyond <= file.ranks.rbegin()->first - first ? file.ranks.find(first + beyond) : file.ranks.end();
            lane.thread.rank = found != file.ranks.end() ? found->second : shown;
            if (found != file.ranks.end()) lane.thread.process -= beyond * file.apart;
        }
        if (lane.use == LaneUse::Synchronisation) lane.thread.name = "stream " + std::to_string(lane.thread.thread) + " (sync)";
    }
    std::ranges::sort(order, {}, [&](std::size_t i) {
        const Lane& lane = m_lanes[i];
        return std::tuple(lane.thread.rank, lane.file, lane.device >= 0, lane.thread.process, lane.thread.thread, lane.use, i);
    });
    for (std::size_t i = 0; i < order.size(); ++i) m_lanes[order[i]].thread.lane = static_cast<std::int64_t>(i + 1);
    for (auto& steps : m_steps) std::ranges::sort(steps, {}, &StepRange::start);
}

std::vector<TraceBuilder::CapturedStep> TraceBuilder::capturedSteps() const {
    std::vector<CapturedStep> all;
    for (std::size_t file = 0; file < m_steps.size() && all.empty(); ++file) {
        std::set<std::int64_t> seen;
        const std::int64_t base = m_files[file].baseNs;
        for (const StepRange& step : m_steps[file])
            if (seen.insert(step.number).second) all.push_back({step.number, step.start + base, step.end + base});
    }
    return all;
}

Status TraceBuilder::finish(const std::function<bool(Encode)>& take, const std::function<bool()>& go, std::optional<std::int64_t> origin) {
    constexpr std::int64_t kAskEach = 16384;  // records
    nameLanes();
    std::stable_sort(m_witnesses.begin(), m_witnesses.end());
    std::int64_t records = 0;
    bool wanted = true;
    const std::function<bool(Encode)> out = [&](Encode encode) { return wanted && (wanted = take(std::move(encode))); };
    LaneWriter writer(*this, origin.value_or(originNs()), out);
    std::int64_t before = -1;
    bool joined = false;
    const Status merged = m_sorter.merge([&](const Record& record) {
        if (go && ++records % kAskEach == 0 && !go()) return false;
        if (record.lane != before) {
            if (before >= 0 && !writer.endLane()) return false;
            before = record.lane;
            if (m_lanes[record.lane].use == LaneUse::Flows) {
                m_flowBegins.clear();
                m_flowNext = 0;
                m_flowBegun = 0;
                joined = false;
            } else {
                // All flows of the file are joined: theirs is its first lane. Who autograd's threads are is known now.
                if (!joined) {
                    for (auto& lane : m_lanes) lane.thread.number = lane.number;
                    std::sort(m_arrows.begin(), m_arrows.end());
                    joined = true;
                }
                writer.beginLane(record.lane);
            }
        }
        if (m_lanes[record.lane].use != LaneUse::Flows) return writer.take(record);
        record.name == kLaunch ? joinLaunch(record) : joinFlow(record);
        return true;
    });
    if (!merged) return merged;
    if (before >= 0) (void)writer.endLane();
    return status();
}

}  // namespace stepscope::importing
