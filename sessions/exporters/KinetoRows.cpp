#include "sessions/exporters/KinetoRows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "sessions/importers/ChromeEvents.h"
#include "sessions/importers/JsonScan.h"

namespace stepscope::kineto {
namespace {

constexpr std::int64_t kSyncLane = 1'000'000;   // as Kineto numbers the lanes of what waits for a stream
constexpr std::int64_t kSpareLane = 2'000'000;  // ours, for what overlaps: once, twice, … as much; "stream" of its arguments stays
// An imported trace may say any number. Up to the one a profiler may have counted, and readers that know only doubles have it exactly; up to the
// other what counts on from it fits.
constexpr std::int64_t kLargestId = std::int64_t{1} << 53;
constexpr std::int64_t kFar = std::int64_t{1} << 62;
constexpr std::string_view kRecordedBy = "wait_on_cuda_event_record_corr_id";

// 1234567 ns -> "1234.567" us.
std::string microseconds(std::int64_t ns) {
    const bool negative = ns < 0;
    const std::uint64_t size = negative ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
    return fmt::format("{}{}.{:03}", negative ? "-" : "", size / 1000, size % 1000);
}

// The words of PyTorch's profiler.
std::string kinetoType(const std::string& type) {
    constexpr std::array<std::pair<const char*, const char*>, 13> words{{{"Float", "float"},
                                                                         {"Double", "double"},
                                                                         {"Half", "c10::Half"},
                                                                         {"BFloat16", "c10::BFloat16"},
                                                                         {"Long", "long int"},
                                                                         {"Int", "int"},
                                                                         {"Short", "short int"},
                                                                         {"Char", "signed char"},
                                                                         {"Byte", "unsigned char"},
                                                                         {"Bool", "bool"},
                                                                         {"int", "Scalar"},
                                                                         {"float", "Scalar"},
                                                                         {"list", "ScalarList"}}};
    for (const auto& [ours, theirs] : words)
        if (type == ours) return theirs;
    if (type == "true" || type == "false") return "Scalar";
    return type == "-" || type == "other" ? "" : type;
}

void append(std::string& text, const std::vector<std::int64_t>& dims) {
    text += '[';
    for (std::size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
    text += ']';
}

// "Input Dims" and "Input type" of a kind of call.
std::string inputs(const SliceArguments& arguments) {
    if (arguments.text.empty()) return {};
    std::string dims, types;
    for (const auto& argument : argumentsOf(arguments.text)) {
        if (!types.empty()) {
            dims += ", ";
            types += ", ";
        }
        types += argument.list ? "\"TensorList\"" : quoted(kinetoType(argument.type));
        if (argument.list) dims += '[';
        for (std::size_t i = 0; i < argument.dims.size(); ++i) {
            if (i > 0) dims += ", ";
            append(dims, argument.dims[i]);
        }
        if (argument.list || argument.dims.empty()) dims += argument.list ? "]" : "[]";
    }
    std::string text = fmt::format(", \"Input Dims\": [{}], \"Input type\": [{}]", dims, types);
    if (arguments.flops > 0) text += fmt::format(", \"flops\": {}", arguments.flops);
    if (arguments.bytes > 0) text += fmt::format(", \"bytes\": {}", arguments.bytes);
    return text;
}

const char* categoryOf(SliceKind kind) {
    switch (kind) {
        case SliceKind::Operation:
        case SliceKind::Own:
        case SliceKind::Backward:
            return "cpu_op";
        case SliceKind::Step:
        case SliceKind::Phase:
        case SliceKind::Evaluation:
        case SliceKind::Annotation:
            return "user_annotation";
        case SliceKind::Python:
            return "python_function";
        case SliceKind::Runtime:
            return "cuda_runtime";
        case SliceKind::Driver:
            return "cuda_driver";
        case SliceKind::Kernel:
            return "kernel";
        case SliceKind::Memcpy:
            return "gpu_memcpy";
        case SliceKind::Memset:
            return "gpu_memset";
        case SliceKind::Synchronisation:
            return "cuda_sync";
        case SliceKind::DeviceAnnotation:
            return "gpu_user_annotation";
        case SliceKind::Overhead:
            return "overhead";
        case SliceKind::Other:
            return "other";
    }
    return "other";
}

bool fromOutside(SliceKind kind) {
    return kind > SliceKind::Annotation;
}

std::string triple(const std::array<std::int64_t, 3>& sizes) {
    return fmt::format("[{}, {}, {}]", sizes[0], sizes[1], sizes[2]);
}

// An imported process or thread that had a text for a number has -1, -2, … instead, as many as there may be lanes; what is more negative was a number
// of 32 bits of the system's that had overflowed.
bool standsForText(std::int64_t number, const std::string& name) {
    constexpr std::int64_t kMostLanes = 50'000;
    return number < 0 && number >= -kMostLanes && !name.empty();
}

// A file may say any number: what does not fit wraps.
std::int64_t laneBeside(std::int64_t lane, std::int64_t by) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lane) + static_cast<std::uint64_t>(by));
}

// Member by member behind a comma, with a space behind each colon.
void appendMember(std::string& text, const std::string& member) {
    if (!text.empty()) text += ", ";
    text += member;
}

// Where in a step it belongs: said of what the importer reads it of.
void appendPlace(std::string& args, const Slice& slice, const std::vector<std::string>& quotedStrings) {
    const bool placed = isOperation(slice.kind) || isDeviceWork(slice.kind) || slice.kind == SliceKind::Step || slice.kind == SliceKind::Phase ||
                        slice.kind == SliceKind::Evaluation || slice.kind == SliceKind::Annotation;
    if (!placed) return;
    if (slice.layer >= 0) appendMember(args, fmt::format("\"Layer\": {}", slice.layer));
    if (slice.role != 0) appendMember(args, fmt::format("\"Role\": {}", quotedStrings[slice.role]));
    if (slice.recomputed && isOperation(slice.kind)) appendMember(args, "\"Recomputed\": true");
    if (slice.phase != 0) appendMember(args, fmt::format("\"Phase\": {}", quotedStrings[slice.phase]));
}

// Whether a reader takes the event for the kind that it is without being told.
bool sameOnImport(const Slice& slice, const std::string& name) {
    if (importing::kindWord(slice.kind).empty()) return true;
    if (!isOperation(slice.kind)) return false;
    return importing::kindOfOperation(name, slice.sequence >= 0 ? slice.forwardThread : 0) == slice.kind;
}

}  // namespace

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// What is written of arguments, once for all slices that have them.
struct KinetoRows::Said {
    std::string inputs;    // of an operation
    std::string work;      //   as PyTorch's own report of FLOP/s and bytes takes it for what the operation launches
    std::string launch;    // of a kernel
    std::string extra;     // what an imported trace said besides, without a comma before it
    std::string category;  // of its own, where it had another than our kind has
    bool instant = false;
    std::int64_t bytes = 0;
    std::optional<std::int64_t> recordedBy;  // of a wait for an event: the correlation of the call that recorded it

    Said(const SliceArguments& arguments, const GpuShape* gpu) : inputs(kineto::inputs(arguments)), bytes(arguments.bytes) {
        if (arguments.text.empty() && arguments.flops > 0) inputs += fmt::format(", \"flops\": {}", arguments.flops);
        if (arguments.text.empty() && arguments.bytes > 0) inputs += fmt::format(", \"bytes\": {}", arguments.bytes);
        // Nobody else's trace says how many bytes an operation moves: theirs is left to the readers.
        if (arguments.bytes > 0 && arguments.flops > 0) work = fmt::format(", \"kernel_flop\": {}", arguments.flops);
        if (arguments.bytes > 0) work += fmt::format(", \"kernel_num_gb\": {}", static_cast<double>(arguments.bytes) * 1e-9);
        if (arguments.registers != 0) appendMember(launch, fmt::format("\"registers per thread\": {}", arguments.registers));
        if (arguments.grid != SliceArguments().grid) {
            appendMember(launch, fmt::format("\"shared memory\": {}", arguments.sharedBytes));
            appendMember(launch, fmt::format("\"grid\": {}", triple(arguments.grid)));
            appendMember(launch, fmt::format("\"block\": {}", triple(arguments.block)));
        }
        nlohmann::ordered_json more;
        if (!arguments.extra.empty() && importing::isShallowJson(arguments.extra))
            more = nlohmann::ordered_json::parse(arguments.extra, nullptr, false);
        if (const auto fill = gpu == nullptr ? std::nullopt : kernelFill(arguments, *gpu)) {
            const auto member = [&](const char* key, const auto& value) {
                if (!more.contains(key)) appendMember(launch, fmt::format("\"{}\": {}", key, value));
            };
            member("queued", 0);  // when a kernel was queued nobody records; Kineto writes this then
            member("blocks per SM", fill->blocksPerMultiprocessor);
            member("warps per SM", fill->warpsPerMultiprocessor);
            if (gpu->threadsPerMultiprocessor > 0) member("est. achieved occupancy %", std::lround(fill->occupancy * 100));
        }
        if (!more.is_object()) return;
        for (const auto& [key, value] : more.items()) {
            if (key == "cat" && value.is_string())
                category = value.get<std::string>();
            else if (key == "ph" && value == "i")
                instant = true;
            else if (key == kRecordedBy && value.is_number_unsigned() && value.get<std::uint64_t>() <= kLargestId)
                recordedBy = value.get<std::int64_t>();
            else
                appendMember(extra, fmt::format("{}: {}", quoted(key), value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
        }
    }
};

void KinetoLinks::add(const SliceBlock& block) {
    const bool device = block.thread.device >= 0;
    const auto raise = [](std::int64_t& most, std::int64_t id) {
        if (id <= kLargestId) most = std::max(most, id);
    };
    Shift& most = m_ranks[block.thread.rank];
    m_launches.add(block);
    SpareLanes* const stream = device ? &m_streams[{block.thread.rank, block.thread.device, block.thread.thread}] : nullptr;
    if (stream != nullptr && !block.slices.empty()) stream->settle(std::ranges::min(block.slices, {}, &Slice::start).start);
    for (const auto& slice : block.slices) {
        m_stacks = m_stacks || slice.kind == SliceKind::Python;
        raise(most.external, slice.external);
        raise(most.correlation, slice.correlation);
        if (slice.start == 0 && slice.sequence >= 0 && slice.forwardThread == 0 && isOperation(slice.kind) && slice.kind != SliceKind::Backward)
            m_atZero.insert(Numbered{block.thread.rank, block.thread.process, block.thread.number, slice.sequence});
        if (isOperation(slice.kind) && slice.external < kFar) m_mostExternal = std::max(m_mostExternal, slice.external);
        if (stream != nullptr && slice.kind != SliceKind::Synchronisation) stream->add(slice.start, slice.start + slice.duration);
    }
}

void KinetoLinks::done() {
    for (auto& [stream, lanes] : m_streams) lanes.done();
    Shift next;
    for (auto& [rank, of] : m_ranks) {
        const Shift most = std::exchange(of, next);
        if (next.external < kFar - kLargestId) next.external += most.external;
        if (next.correlation < kFar - kLargestId) next.correlation += most.correlation;
    }
    if (m_ranks.size() > 1) m_mostExternal = std::max(m_mostExternal, next.external);
}

std::size_t KinetoLinks::waiting() const {
    std::size_t all = 0;
    for (const auto& [stream, lanes] : m_streams) all += lanes.waiting();
    return all;
}

bool KinetoLinks::hasForward(const SliceThread& thread, const Slice& slice) const {
    if (!isOperation(slice.kind)) return false;
    if (slice.forwardStart != 0) return true;
    return slice.kind == SliceKind::Backward && slice.forwardThread != 0 && slice.sequence >= 0 &&
           m_atZero.contains(Numbered{thread.rank, thread.process, slice.forwardThread, slice.sequence});
}

bool KinetoLinks::launches(std::int64_t rank, std::int64_t correlation) const {
    return m_launches.joined(rank, correlation);
}

int KinetoLinks::spare(const SliceThread& thread, const Slice& slice) const {
    const auto found = m_streams.find({thread.rank, thread.device, thread.thread});
    return found != m_streams.end() ? found->second.of(slice.start, slice.start + slice.duration) : 0;
}

KinetoLinks::Shift KinetoLinks::shiftOf(std::int64_t rank) const {
    const auto found = m_ranks.find(rank);
    return found != m_ranks.end() ? found->second : Shift();
}

std::int64_t KinetoLinks::shifted(std::int64_t id, std::int64_t by) {
    return id > 0 && id <= kLargestId ? id + by : id;
}

KinetoRows::KinetoRows(std::ostream& out, const std::vector<SliceThread>& threads, const KinetoLinks& links, GpuShapes gpus)
    : m_out(out), m_links(links), m_gpus(std::move(gpus)) {
    for (const auto& thread : threads) {
        if (thread.number != 0 || thread.device < 0) m_threads.try_emplace({thread.rank, thread.process, thread.number}, thread.thread);
        m_firstRank = &thread == threads.data() ? thread.rank : std::min(m_firstRank, thread.rank);
        m_severalRanks = m_severalRanks || thread.rank != threads.front().rank;
    }
    m_unnumbered = links.mostExternal();
}

std::int64_t KinetoRows::processOf(std::int64_t process, std::int64_t rank) const {
    if (rank == m_firstRank || process < 0) return process;
    // A file may say any rank: what does not fit wraps.
    const auto ranks = static_cast<std::uint64_t>(rank) - static_cast<std::uint64_t>(m_firstRank);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(process) + static_cast<std::uint64_t>(kPerRank) * ranks);
}

// What had a text in the place of a number has it again.
std::string KinetoRows::processText(std::int64_t process, std::int64_t rank, const std::string& name) const {
    return standsForText(process, name) ? quoted(name) : std::to_string(processOf(process, rank));
}

std::string KinetoRows::place(const SliceThread& thread, std::int64_t tid) const {
    const bool texts = thread.device < 0;
    return fmt::format("\"pid\": {}, \"tid\": {}", processText(thread.process, thread.rank, texts ? thread.processName : std::string()),
                       texts && standsForText(thread.thread, thread.name) ? quoted(thread.name) : std::to_string(tid));
}

void KinetoRows::metadata(const SliceThread& thread) {
    const bool device = thread.device >= 0;
    if (!device && standsForText(thread.process, thread.processName)) return;
    const auto metadataRow = [&](const char* name, std::int64_t tid, const std::string& args) {
        row(fmt::format(R"({{"ph": "M", "name": "{}", "ts": 0, {}, "args": {{{}}}}})", name, place(thread, tid), args));
    };
    if (m_processes.insert({processOf(thread.process, thread.rank), device}).second) {
        const std::string label = device ? fmt::format("GPU {}", thread.device) : "CPU";
        metadataRow("process_name", 0, fmt::format("\"name\": {}", quoted(thread.processName.empty() ? "stepscope" : thread.processName)));
        metadataRow("process_labels", 0, fmt::format("\"labels\": \"{}\"", label));
        metadataRow("process_sort_index", 0, fmt::format("\"sort_index\": {}", device ? 5'000'000 + thread.device : 0));
    }
    const bool sync = device && thread.name.ends_with("(sync)");
    const std::string name = device                               ? thread.name.empty() ? fmt::format("stream {} ", thread.thread) : thread.name
                             : thread.name.empty()                ? fmt::format("thread {}", thread.thread)
                             : thread.name.starts_with("thread ") ? thread.name
                                                                  : fmt::format("thread {} ({})", thread.thread, thread.name);
    const std::int64_t tid = sync ? laneBeside(thread.thread, kSyncLane) : thread.thread;
    if (!m_named.insert({processOf(thread.process, thread.rank), device, tid}).second) return;  // a stream's second lane: what overlapped on it
    // Its own name is what tells a thread of the team, when the trace comes in again.
    const bool own = !device && thread.name != name && !standsForText(thread.thread, thread.name);
    metadataRow("thread_name", tid, fmt::format("\"name\": {}{}", quoted(name), own ? ", \"Lane\": " + quoted(thread.name) : std::string()));
    metadataRow("thread_sort_index", tid, fmt::format("\"sort_index\": {}", thread.thread));
}

std::string KinetoRows::operationArgs(const Slice& slice, std::int64_t external) {
    std::string args = fmt::format(R"("External id": {}, "Ev Idx": {})", external != 0 ? external : m_unnumbered + m_operations + 1, m_operations);
    ++m_operations;
    if (slice.sequence >= 0) args += fmt::format(R"(, "Sequence number": {}, "Fwd thread id": {})", slice.sequence, slice.forwardThread);
    return args;
}

Status KinetoRows::add(const SliceBlock& block) {
    std::vector<std::string> strings;
    std::vector<Said> said;
    for (const auto& text : block.strings) strings.push_back(quoted(text));
    const GpuShape* const gpu = m_gpus.find(block.thread.rank, block.thread.device);
    for (const auto& one : block.arguments) said.emplace_back(one, gpu);
    const SliceThread& thread = block.thread;
    const bool device = thread.device >= 0;
    const KinetoLinks::Shift shift = m_links.shiftOf(thread.rank);
    for (const auto& slice : block.slices) {
        const std::int64_t external = KinetoLinks::shifted(slice.external, shift.external);
        const std::int64_t correlation = KinetoLinks::shifted(slice.correlation, shift.correlation);
        const Said& what = said[slice.arguments];
        std::string args;
        if (isOperation(slice.kind)) {
            args = operationArgs(slice, external) + what.inputs + what.work;
        } else {
            if (!what.inputs.empty() && !isDeviceWork(slice.kind)) args = what.inputs.substr(2);
            if (external != 0) appendMember(args, fmt::format("\"External id\": {}", external));
            if (device && slice.kind != SliceKind::DeviceAnnotation)
                appendMember(args, fmt::format("\"device\": {}, \"stream\": {}", thread.device, thread.thread));
            if (correlation != 0) appendMember(args, fmt::format("\"correlation\": {}", correlation));
        }
        appendPlace(args, slice, strings);
        if (!sameOnImport(slice, block.strings[slice.name])) appendMember(args, fmt::format("\"Kind\": \"{}\"", importing::kindWord(slice.kind)));
        if (slice.kind == SliceKind::Kernel && !what.launch.empty()) appendMember(args, what.launch);
        if ((slice.kind == SliceKind::Memcpy || slice.kind == SliceKind::Memset) && what.bytes > 0) {
            appendMember(args, fmt::format("\"bytes\": {}", what.bytes));
            if (slice.duration > 0 && what.extra.find("memory bandwidth") == std::string::npos)
                appendMember(args,
                             fmt::format("\"memory bandwidth (GB/s)\": {}", static_cast<double>(what.bytes) / static_cast<double>(slice.duration)));
        }
        if (slice.kind == SliceKind::Synchronisation && what.extra.find("\"cuda_sync_kind\"") == std::string::npos)
            appendMember(args, fmt::format("\"cuda_sync_kind\": {}", strings[slice.name]));
        // Who reads the steps of several workers cannot tell by the time whose it is.
        if (slice.step >= 0 && (m_severalRanks || !fromOutside(slice.kind))) appendMember(args, fmt::format("\"Step\": {}", slice.step));
        if (!what.extra.empty()) appendMember(args, what.extra);
        if (what.recordedBy) appendMember(args, fmt::format("\"{}\": {}", kRecordedBy, KinetoLinks::shifted(*what.recordedBy, shift.correlation)));
        const std::string name =
            slice.kind == SliceKind::Step ? fmt::format("\"ProfilerStep#{}\"", std::max<std::int64_t>(0, slice.step)) : strings[slice.name];
        const std::int64_t beside = !device ? 0 : slice.kind == SliceKind::Synchronisation ? kSyncLane : kSpareLane * m_links.spare(thread, slice);
        const std::int64_t tid = laneBeside(thread.thread, beside);
        const std::string where = place(thread, tid);
        const std::string category = what.category.empty() ? fmt::format("\"{}\"", categoryOf(slice.kind)) : quoted(what.category);
        if (what.instant)
            row(fmt::format(R"({{"ph": "i", "s": "t", "cat": {}, "name": {}, {}, "ts": {}, "args": {{{}}}}})", category, name, where,
                            microseconds(slice.start), args));
        else
            row(fmt::format(R"({{"ph": "X", "cat": {}, "name": {}, {}, "ts": {}, "dur": {}, "args": {{{}}}}})", category, name, where,
                            microseconds(slice.start), microseconds(slice.duration), args));
        if (m_links.hasForward(thread, slice)) forwardFlow(thread, slice, where);
        if (m_links.launches(thread.rank, slice.correlation)) {
            if (LaunchIds::isLaunched(slice.kind, device)) launchFlow(slice, thread.rank, where, false);
            if (LaunchIds::isCall(slice.kind)) launchFlow(slice, thread.rank, where, true);
        }
    }
    return flush();
}

void KinetoRows::launchFlow(const Slice& slice, std::int64_t rank, const std::string& where, bool begins) {
    row(fmt::format(R"({{"ph": "{}", {}"cat": "ac2g", "name": "ac2g", "id": {}, {}, "ts": {}}})", begins ? "s" : "f", begins ? "" : "\"bp\": \"e\", ",
                    rank == m_firstRank ? std::to_string(slice.correlation) : fmt::format("\"{}.{}\"", rank, slice.correlation), where,
                    microseconds(slice.start)));
}

void KinetoRows::forwardFlow(const SliceThread& thread, const Slice& slice, const std::string& where) {
    const auto from = m_threads.find({thread.rank, thread.process, slice.forwardThread});
    if (from == m_threads.end()) return;
    ++m_flows;
    row(fmt::format(R"({{"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": {}, {}, "ts": {}}})", m_flows, place(thread, from->second),
                    microseconds(slice.forwardStart)));
    row(fmt::format(R"({{"ph": "f", "bp": "e", "cat": "fwdbwd", "name": "fwdbwd", "id": {}, {}, "ts": {}}})", m_flows, where,
                    microseconds(slice.start)));
}

Status KinetoRows::add(const SampleBlock& block) {
    if (block.name == kCountedOperations) return {};  // sums, not a course
    const std::string process = processText(block.process, block.rank, block.device < 0 ? block.name : std::string());
    for (const auto& sample : block.samples) {
        const auto& series = block.series.at(sample.series);
        row(fmt::format(R"({{"ph": "C", "name": {}, "pid": {}, "ts": {}, "args": {{"value": {}}}}})", quoted(series.name), process,
                        microseconds(sample.at), nlohmann::json(sample.value).dump()));
    }
    return flush();
}

Status KinetoRows::add(const AllocationBlock& block) {
    for (const auto& one : block.allocations) {
        std::string args =
            fmt::format(R"("Addr": {}, "Bytes": {}, "Device Id": {}, "Device Type": {})", one.address, one.bytes, one.device, one.device < 0 ? 0 : 1);
        if (one.totalAllocated >= 0) args += fmt::format(R"(, "Total Allocated": {})", one.totalAllocated);
        if (one.totalReserved >= 0) args += fmt::format(R"(, "Total Reserved": {})", one.totalReserved);
        if (one.kind != 0) args += fmt::format(R"(, "Kind": {})", quoted(block.strings.at(one.kind)));
        if (one.owner != 0) args += fmt::format(R"(, "Owner": {})", quoted(block.strings.at(one.owner)));
        row(fmt::format(R"({{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": {}, "tid": {}, "ts": {}, "args": {{{}}}}})",
                        processOf(block.process, block.rank), block.thread, microseconds(one.at), args));
    }
    return flush();
}

Status KinetoRows::flush() {
    m_out << m_text;
    m_text.clear();
    return m_out ? Status() : makeError(ErrorCode::Io, "The trace could not be written; check the free room and the permissions of the target.");
}

void KinetoRows::row(const std::string& text) {
    m_text += m_first ? "\n" : ",\n";
    m_text += text;
    m_first = false;
}

}  // namespace stepscope::kineto
