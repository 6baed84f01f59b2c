#include "sessions/exporters/KinetoTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sessions/SessionStore.h"
#include "sessions/Slices.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/exporters/Gzip.h"

namespace stepscope {
namespace {

// Quoted; control characters escaped, and what is no UTF-8 replaced.
std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// What a session's row says may be anything.
std::int64_t baseTime(std::int64_t unixMs) {
    constexpr std::int64_t kNsPerMs = 1'000'000;
    return std::clamp<std::int64_t>(unixMs, 0, std::numeric_limits<std::int64_t>::max() / kNsPerMs) * kNsPerMs;
}

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

class Rows {
public:
    Rows(std::ostream& out, const std::vector<SliceThread>& threads) : m_out(out) {
        for (const auto& thread : threads) m_threads[{thread.process, thread.number}] = thread.thread;
    }

    void metadata(const SliceThread& thread) {
        const auto row = [&](const char* name, std::int64_t tid, const std::string& args) {
            add(fmt::format(R"({{"ph": "M", "name": "{}", "ts": 0, "pid": {}, "tid": {}, "args": {{{}}}}})", name, thread.process, tid, args));
        };
        if (m_processes.insert(thread.process).second) {
            row("process_name", 0, R"("name": "stepscope")");
            row("process_labels", 0, R"("labels": "CPU")");
            row("process_sort_index", 0, R"("sort_index": 0)");
        }
        row("thread_name", thread.thread, fmt::format(R"("name": {})", quoted(fmt::format("thread {} ({})", thread.thread, thread.name))));
        row("thread_sort_index", thread.thread, fmt::format(R"("sort_index": {})", thread.thread));
    }

    Status add(const SliceBlock& block) {
        std::vector<std::string> strings, arguments;
        for (const auto& text : block.strings) strings.push_back(quoted(text));
        for (const auto& one : block.arguments) arguments.push_back(inputs(one));
        for (const auto& slice : block.slices) {
            std::string args;
            if (isOperation(slice.kind)) {
                args = fmt::format(R"("External id": {}, "Ev Idx": {})", m_operations + 1, m_operations);
                ++m_operations;
                if (slice.sequence >= 0) args += fmt::format(R"(, "Sequence number": {}, "Fwd thread id": {})", slice.sequence, slice.forwardThread);
                args += arguments[slice.arguments];
                if (slice.layer >= 0) args += fmt::format(R"(, "Layer": {})", slice.layer);
                if (slice.role != 0) args += fmt::format(R"(, "Role": {})", strings[slice.role]);
                if (slice.recomputed) args += R"(, "Recomputed": true)";
            }
            if (slice.phase != 0 && isOperation(slice.kind)) args += fmt::format(R"(, "Phase": {})", strings[slice.phase]);
            if (slice.step != 0) args += fmt::format(R"({}"Step": {})", args.empty() ? "" : ", ", slice.step);
            const std::string name = slice.kind == SliceKind::Step ? fmt::format("\"ProfilerStep#{}\"", slice.step) : strings[slice.name];
            add(fmt::format(R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
                            isOperation(slice.kind) ? "cpu_op" : "user_annotation", name, block.thread.process, block.thread.thread,
                            microseconds(slice.start), microseconds(slice.duration), args));
            if (slice.kind == SliceKind::Backward && slice.forwardStart != 0) flow(block.thread, slice);
        }
        flush();
        return m_out ? Status() : makeError(ErrorCode::Io, "The trace could not be written; check the free room and the permissions of the target.");
    }

    void flush() {
        m_out << m_text;
        m_text.clear();
    }

private:
    void flow(const SliceThread& thread, const Slice& slice) {
        const auto from = m_threads.find({thread.process, slice.forwardThread});
        if (from == m_threads.end()) return;
        ++m_flows;
        add(fmt::format(R"({{"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": {}, "pid": {}, "tid": {}, "ts": {}}})", m_flows, thread.process,
                        from->second, microseconds(slice.forwardStart)));
        add(fmt::format(R"({{"ph": "f", "bp": "e", "cat": "fwdbwd", "name": "fwdbwd", "id": {}, "pid": {}, "tid": {}, "ts": {}}})", m_flows,
                        thread.process, thread.thread, microseconds(slice.start)));
    }
    void add(const std::string& row) {
        m_text += m_first ? "\n" : ",\n";
        m_text += row;
        m_first = false;
    }

    std::ostream& m_out;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_threads;  // process and autograd's number -> the system's
    std::set<std::int64_t> m_processes;
    std::string m_text;
    bool m_first = true;
    std::int64_t m_operations = 0, m_flows = 0;
};

}  // namespace

Status exportKinetoTrace(const std::string& database, std::int64_t session, std::ostream& out, const std::string& name) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    const auto count = sliceCount(**reader, session);
    if (!count) return count.error();
    if (*count == 0) return noCapture(session);
    const auto threads = sliceThreads(**reader, session);
    if (!threads) return threads.error();
    // A space behind each colon: readers find the rank by a pattern that wants one.
    out << "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [],\n"
        << "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 1},\n"
        << "\"record_shapes\": 1,\n\"with_flops\": 1,\n\"with_stack\": 0,\n\"profile_memory\": 0,\n"
        << "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": " << baseTime(info->startedUnixMs) << ",\n\"traceEvents\": [";
    Rows rows(out, *threads);
    for (const auto& thread : *threads) rows.metadata(thread);
    if (auto done = forEachSliceBlock(**reader, session, [&](const SliceBlock& block) { return rows.add(block); }); !done) return done;
    rows.flush();
    out << "\n],\n\"traceName\": " << quoted(name) << "\n}\n";
    out.flush();
    if (out) return {};
    return makeError(ErrorCode::Io, "The trace could not be written; check the free room and the permissions of the target.");
}

Result<std::string> exportKinetoTraceFile(const std::string& database, std::int64_t session, const std::string& path) {
    if (path == "-") {
        if (auto done = exportKinetoTrace(database, session, std::cout, "stdout"); !done) return done.error();
        return path;
    }
    const std::string target = path.empty() ? fmt::format("session-{}.pt.trace.json.gz", session) : path;
    const bool packed = target.ends_with(".json.gz");
    if (!packed && !target.ends_with(".json"))
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} is no name that readers of traces look for; let it end in .pt.trace.json.gz, .json.gz or .json.", target))
            .about(Subject::Kind::File, target);
    auto done = exportToFile(target, [&](std::ostream& out) -> Status {
        if (!packed) return exportKinetoTrace(database, session, out, target);
        GzipStream gzip(out);
        if (auto written = exportKinetoTrace(database, session, gzip, target); !written) return written;
        if (gzip.finish()) return {};
        return makeError(ErrorCode::Io, fmt::format("{} could not be written; check the free room there.", target));
    });
    if (!done) return done.error();
    return target;
}

}  // namespace stepscope
