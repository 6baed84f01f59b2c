#include "sessions/importers/NsightDatabase.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/KeyedHash.h"
#include "core/trace/SliceCodec.h"
#include "sessions/importers/NsightFile.h"
#include "sessions/importers/PerfettoArguments.h"

namespace stepscope::importing {
namespace {

struct Stopped {};

constexpr int kStepsBetweenLooks = 100'000;          // of SQLite's machine
constexpr std::int64_t kStepsForARow = 100'000'000;  // a second or two: no row of a table that Nsight wrote takes as many
constexpr std::int64_t kStepsForAByte = 4;           //   nor those that are copied of one of this file's size
constexpr std::int64_t kMostWorkers = 4096;          // of a file; of more processes the worker is the first
constexpr std::int64_t kPageable = 0, kPinned = 1;   // kinds of memory that is the host's

const char* memoryKind(std::int64_t kind) {
    constexpr std::array names{"Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
    return kind >= 0 && kind < static_cast<std::int64_t>(names.size()) ? names[static_cast<std::size_t>(kind)] : "Unknown";
}
const char* copyKind(std::int64_t kind) {
    constexpr std::array names{"Unknown", "HtoD", "DtoH", "HtoA", "AtoH",     "AtoA",     "AtoD",
                               "DtoA",    "DtoD", "HtoH", "PtoP", "UVM HtoD", "UVM DtoH", "UVM DtoD"};
    return kind >= 0 && kind < static_cast<std::int64_t>(names.size()) ? names[static_cast<std::size_t>(kind)] : "Unknown";
}

// What tells a GPU of a process from a process, and from the GPU that another one calls by the same number.
std::string gpuOf(std::int64_t device, std::int64_t process) {
    return fmt::format("GPU {} of {}", device, process);
}

// The begin of the members that are no columns of ours.
std::string inContext(std::int64_t context) {
    return fmt::format("{{\"context\":{}", context);
}

class NsightReader {
public:
    NsightReader(SQLite::Database& database, TraceBuilder& trace, const std::function<bool(double)>& go, std::int64_t bytes)
        : m_database(database), m_trace(trace), m_go(go), m_mostSteps(kStepsForARow + kStepsForAByte * bytes) {
        sqlite3_progress_handler(database.getHandle(), kStepsBetweenLooks, &NsightReader::look, this);
    }
    ~NsightReader() { sqlite3_progress_handler(m_database.getHandle(), 0, nullptr, nullptr); }
    NsightReader(const NsightReader&) = delete;
    NsightReader& operator=(const NsightReader&) = delete;

    bool stopped() const { return m_stopped; }
    bool tooLong() const { return m_steps > m_mostSteps; }

    bool looksRight() {
        SQLite::Statement find(m_database,
                               "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND (name LIKE 'CUPTI_ACTIVITY_KIND_%' OR name IN "
                               "('NVTX_EVENTS', 'OSRT_API', 'META_DATA_EXPORT', 'EXPORT_META_DATA'))");
        return find.executeStep() && find.getColumn(0).getInt64() > 0;
    }

    void read() {
        readNsightFacts(m_database, m_trace, [this] { tick(); });
        readNsightWarnings(m_database, m_trace, [this] { tick(); });
        calls("CUPTI_ACTIVITY_KIND_RUNTIME", SliceKind::Runtime, "");
        share(0.3);
        kernels();
        graphs();
        share(0.6);
        copies();
        memsets();
        synchronisations();
        share(0.8);
        ranges();
        calls("OSRT_API", SliceKind::Other, "osrt");
        calls("CUDNN_EVENTS", SliceKind::Other, "cudnn");
        calls("CUBLAS_EVENTS", SliceKind::Other, "cublas");
        calls("PROFILER_OVERHEAD", SliceKind::Overhead, "");
        memory();
        threads();
        workers();
    }

private:
    // Called by SQLite while it works; 1 ends that.
    static int look(void* self) {
        auto& reader = *static_cast<NsightReader*>(self);
        reader.m_steps += kStepsBetweenLooks;
        if (!reader.m_go(reader.m_share)) reader.m_stopped = true;
        return reader.m_stopped || reader.tooLong() ? 1 : 0;
    }
    void share(double done) {
        m_share = done;
        if (!m_go(done)) throw Stopped{};
        if (!m_trace.status()) throw Stopped{};
    }
    void tick() {
        m_steps = 0;
        if (++m_rows % 4096 == 0) share(m_share);
    }
    bool has(const std::string& table) { return m_database.tableExists(table); }

    // What is no text, or is not there, is told and empty. 0 is what a table without such a column says.
    std::string stringOf(std::int64_t id) {
        if (!m_strings && hasStrings()) m_strings.emplace(m_database, fmt::format("SELECT value FROM {} WHERE id = ?", indexedStrings()));
        if (m_strings) {
            m_strings->reset();
            m_strings->bind(1, id);
            if (m_strings->executeStep() && m_strings->getColumn(0).isText()) return cut(m_strings->getColumn(0).getString());
        }
        if (id != 0) m_trace.tell("names that the file's table of names does not have as text");
        return {};
    }
    std::string cut(const std::string& name) {
        if (name.size() <= kLongestSliceName) return name;
        m_trace.tell("names that were cut: longer than 65536 bytes");
        return readableText(name, kLongestSliceName);
    }
    bool hasStrings() {
        if (!m_hasStrings) {
            m_hasStrings = false;
            if (has("StringIds")) {
                SQLite::Statement columns(m_database, "SELECT count(*) FROM pragma_table_info('StringIds') WHERE name IN ('id', 'value')");
                m_hasStrings = columns.executeStep() && columns.getColumn(0).getInt64() == 2;
            }
        }
        return *m_hasStrings;
    }
    // Nsight's own table is found by its key; one without would be read from its begin for each name.
    std::string indexedStrings() {
        SQLite::Statement key(m_database,
                              "SELECT count(*) FROM pragma_table_info('StringIds') WHERE pk > 0 AND (name <> 'id' OR upper(type) <> 'INTEGER')");
        SQLite::Statement keyed(m_database, "SELECT count(*) FROM pragma_table_info('StringIds') WHERE pk = 1 AND name = 'id'");
        if (key.executeStep() && keyed.executeStep() && key.getColumn(0).getInt64() == 0 && keyed.getColumn(0).getInt64() == 1)
            return "main.StringIds";
        m_steps = 0;
        m_database.exec("CREATE TEMP TABLE indexed_strings (id INTEGER PRIMARY KEY, value TEXT)");
        m_database.exec(
            fmt::format("INSERT OR IGNORE INTO temp.indexed_strings SELECT id, substr(value, 1, {}) FROM main.StringIds "
                        "WHERE typeof(id) = 'integer' AND typeof(value) = 'text'",
                        kLongestSliceName + 1));  // so that what is cut is told
        m_steps = 0;
        return "temp.indexed_strings";
    }
    std::uint32_t nameOf(std::int64_t id) {
        const auto [found, added] = m_names.try_emplace(id, 0);
        if (added) found->second = m_trace.text(stringOf(id));
        return found->second;
    }
    // "cudaLaunchKernel_v7000" is cudaLaunchKernel, as captures say it; "cuMemAlloc_v2" is a function of its own. Kernels and ranges have the names
    // that people gave them: "attn_fwd_v2" is not "attn_fwd_v1".
    std::uint32_t callNameOf(std::int64_t id) {
        constexpr std::size_t kDigits = 4;
        const auto [found, added] = m_callNames.try_emplace(id, 0);
        if (added) {
            std::string name = stringOf(id);
            if (const auto version = name.rfind("_v"); version != std::string::npos && name.size() >= version + 2 + kDigits &&
                                                       name.find_first_not_of("0123456789", version + 2) == std::string::npos)
                name.erase(version);
            found->second = m_trace.text(name);
        }
        return found->second;
    }
    static std::int64_t pid(std::int64_t global) { return global / 0x1000000 % 0x1000000; }
    static std::int64_t tid(std::int64_t global) { return global % 0x1000000; }
    std::optional<std::uint32_t> hostLane(std::int64_t global) {
        const auto lane = m_trace.lane(std::to_string(pid(global)), std::to_string(tid(global)));
        if (!lane) m_trace.skip("more than 50000 lanes");
        return lane;
    }
    std::optional<std::uint32_t> deviceLane(std::int64_t device, std::int64_t context, std::int64_t stream, std::int64_t global,
                                            TraceBuilder::LaneUse use = TraceBuilder::LaneUse::Slices) {
        if (device < 0 || device >= 1 << 20) {
            m_trace.skip("a device that cannot be");
            return std::nullopt;
        }
        const auto lane = m_trace.lane(gpuOf(device, pid(global)), fmt::format("stream {} of {}", stream, context), use);
        if (!lane) {
            m_trace.skip("more than 50000 lanes");
            return std::nullopt;
        }
        m_trace.ofDevice(*lane, device, stream);
        m_workers[pid(global)].insert(device);
        return lane;
    }
    void flow(std::int64_t global, std::int64_t correlation, bool begins, std::int64_t at, std::uint32_t lane) {
        if (correlation > 0) m_trace.flow("ac2g", fmt::format("{}:{}", pid(global), correlation), begins, at, lane);
    }
    // Of times that are not there or do not fit; told. Columns 0 and 1.
    bool between(NsightRows& rows, std::int64_t& duration) {
        if (!timed(rows, 0) || !timed(rows, 1)) return false;
        if (!__builtin_sub_overflow(rows.whole(1), rows.whole(0), &duration)) return true;
        m_trace.skip("a time that does not fit");
        return false;
    }
    bool timed(NsightRows& rows, int column) {
        if (rows.isWhole(column)) return true;
        m_trace.skip("a time that is no whole number");
        return false;
    }

    // Whose a row is. What is no whole number would be 0, which is somebody else; it is skipped. A table without the column says it of no row.
    bool whose(NsightRows& rows, int column, const char* skipped, const char* ofTable) {
        if (!rows.has(column)) {
            if (ofTable != nullptr) m_trace.tell(ofTable);
            return true;
        }
        if (rows.isWhole(column)) return true;
        m_trace.skip(skipped);
        return false;
    }
    bool ofThread(NsightRows& rows, int column) {
        return whose(rows, column, "a thread that is no whole number", "events of a table that does not say their threads");
    }
    bool ofProcess(NsightRows& rows, int column) { return whose(rows, column, "a process that is no whole number", nullptr); }
    // 0: launched by nothing that is known.
    std::int64_t correlationOf(NsightRows& rows, int column) {
        if (rows.is(column) && !rows.isWhole(column)) m_trace.tell("events whose correlation is no whole number");
        return std::max<std::int64_t>(0, rows.whole(column));
    }

    // What every table of a device's work begins with: start, end, deviceId, contextId, streamId, correlationId, globalPid. None: it was skipped, and
    // told.
    std::optional<Record> deviceRecord(NsightRows& rows, SliceKind kind, TraceBuilder::LaneUse use = TraceBuilder::LaneUse::Slices) {
        Record record{.kind = kind, .start = rows.whole(0)};
        if (!between(rows, record.duration)) return std::nullopt;
        if (!whose(rows, 2, "a device that is no whole number", "events of a table that does not say their devices")) return std::nullopt;
        if (!whose(rows, 3, "a context that is no whole number", nullptr) || !whose(rows, 4, "a stream that is no whole number", nullptr) ||
            !ofProcess(rows, 6))
            return std::nullopt;
        record.correlation = correlationOf(rows, 5);
        const auto lane = deviceLane(rows.whole(2), rows.whole(3), rows.whole(4), rows.whole(6), use);
        if (!lane) return std::nullopt;
        record.lane = *lane;
        return record;
    }

    void calls(const char* table, SliceKind kind, const std::string& category) {
        NsightRows rows(m_database, table, {"start", "end", "globalTid", "correlationId", "nameId", "returnValue", "eventClass"});
        constexpr std::int64_t kOfDriver = 1;  // of eventClass: what CUDA calls a driver's function; other tables have classes of their own
        const std::string cat = category.empty() ? "" : fmt::format(R"("cat":"{}")", category);
        while (rows.next()) {
            tick();
            const bool driver = kind == SliceKind::Runtime && rows.whole(6) == kOfDriver;
            Record record{.kind = driver ? SliceKind::Driver : kind, .start = rows.whole(0)};
            if (!between(rows, record.duration) || !ofThread(rows, 2)) continue;
            record.correlation = correlationOf(rows, 3);
            const auto lane = hostLane(rows.whole(2));
            if (!lane) continue;
            record.lane = *lane;
            record.name = kind == SliceKind::Runtime ? callNameOf(rows.id(4)) : nameOf(rows.id(4));
            SliceArguments arguments;
            if (const std::int64_t code = rows.whole(5); code != 0) arguments.extra = fmt::format(R"("return":{})", code);
            if (!cat.empty()) arguments.extra += (arguments.extra.empty() ? "" : ",") + cat;
            if (!arguments.extra.empty()) arguments.extra = fmt::format("{{{}}}", arguments.extra);
            record.arguments = m_trace.arguments(arguments);
            m_trace.slice(record);
            if (kind == SliceKind::Runtime) flow(rows.whole(2), record.correlation, true, record.start, record.lane);
        }
    }

    void kernels() {
        NsightRows rows(m_database, "CUPTI_ACTIVITY_KIND_KERNEL",
                        {"start",
                         "end",
                         "deviceId",
                         "contextId",
                         "streamId",
                         "correlationId",
                         "globalPid",
                         "demangledName",
                         "shortName",
                         "gridX",
                         "gridY",
                         "gridZ",
                         "blockX",
                         "blockY",
                         "blockZ",
                         "registersPerThread",
                         "staticSharedMemory",
                         "dynamicSharedMemory",
                         "graphNodeId",
                         "localMemoryPerThread"});
        while (rows.next()) {
            tick();
            auto known = deviceRecord(rows, SliceKind::Kernel);
            if (!known) continue;
            Record& record = *known;
            record.name = nameOf(rows.id(rows.is(7) ? 7 : 8));
            const auto size = [&](int column) { return std::max<std::int64_t>(0, rows.whole(column)); };
            SliceArguments arguments{.grid = {size(9), size(10), size(11)}, .block = {size(12), size(13), size(14)}, .registers = size(15)};
            if (__builtin_add_overflow(size(16), size(17), &arguments.sharedBytes)) arguments.sharedBytes = 0;
            arguments.extra = inContext(rows.whole(3));
            if (const std::int64_t node = rows.whole(18); node != 0) arguments.extra += fmt::format(R"(,"graph node id":{})", node);
            if (const std::int64_t local = rows.whole(19); local != 0) arguments.extra += fmt::format(R"(,"local memory per thread":{})", local);
            arguments.extra += "}";
            record.arguments = m_trace.arguments(arguments);
            m_trace.slice(record);
            flow(rows.whole(6), record.correlation, false, record.start, record.lane);
        }
    }

    // What --cuda-graph-trace=graph records: a launch of a whole graph as one work of its stream, in place of the kernels in it.
    void graphs() {
        NsightRows rows(m_database, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                        {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphId"});
        while (rows.next()) {
            tick();
            auto known = deviceRecord(rows, SliceKind::Kernel);
            if (!known) continue;
            Record& record = *known;
            record.name = m_trace.text(fmt::format("CUDA graph {}", rows.whole(7)));
            record.arguments = m_trace.arguments({.extra = fmt::format(R"({},"graph id":{}}})", inContext(rows.whole(3)), rows.whole(7))});
            m_trace.slice(record);
            m_trace.tell("CUDA graphs that were recorded as one work each (nsys profile --cuda-graph-trace=node records their kernels)");
            flow(rows.whole(6), record.correlation, false, record.start, record.lane);
        }
    }

    void copies() {
        NsightRows rows(
            m_database, "CUPTI_ACTIVITY_KIND_MEMCPY",
            {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "bytes", "copyKind", "srcKind", "dstKind"});
        while (rows.next()) {
            tick();
            auto known = deviceRecord(rows, SliceKind::Memcpy);
            if (!known) continue;
            Record& record = *known;
            record.name = m_trace.text(
                rows.is(9) ? fmt::format("Memcpy {} ({} -> {})", copyKind(rows.whole(8)), memoryKind(rows.whole(9)), memoryKind(rows.whole(10, -1)))
                           : fmt::format("Memcpy {}", copyKind(rows.whole(8))));
            record.arguments = m_trace.arguments({.bytes = std::max<std::int64_t>(0, rows.whole(7)), .extra = inContext(rows.whole(3)) + "}"});
            m_trace.slice(record);
            flow(rows.whole(6), record.correlation, false, record.start, record.lane);
        }
    }

    void memsets() {
        NsightRows rows(m_database, "CUPTI_ACTIVITY_KIND_MEMSET",
                        {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "bytes", "memKind", "value"});
        while (rows.next()) {
            tick();
            auto known = deviceRecord(rows, SliceKind::Memset);
            if (!known) continue;
            Record& record = *known;
            record.name = m_trace.text(fmt::format("Memset ({})", memoryKind(rows.whole(8, 2))));
            record.arguments = m_trace.arguments({.bytes = std::max<std::int64_t>(0, rows.whole(7)), .extra = inContext(rows.whole(3)) + "}"});
            m_trace.slice(record);
            flow(rows.whole(6), record.correlation, false, record.start, record.lane);
        }
    }

    void synchronisations() {
        constexpr std::array names{"Synchronisation", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
        NsightRows rows(m_database, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                        {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "syncType"});
        while (rows.next()) {
            tick();
            auto known = deviceRecord(rows, SliceKind::Synchronisation, TraceBuilder::LaneUse::Synchronisation);
            if (!known) continue;
            Record& record = *known;
            const std::int64_t type = rows.whole(7);
            record.name = m_trace.text(names[type > 0 && type < static_cast<std::int64_t>(names.size()) ? static_cast<std::size_t>(type) : 0]);
            m_trace.slice(record);
        }
    }

    // NVTX: 59 pushed and popped, 60 started and ended, 34 marks; the other types name domains and categories.
    void ranges() {
        NsightRows rows(m_database, "NVTX_EVENTS", {"start", "end", "eventType", "globalTid", "text", "textId"});
        while (rows.next()) {
            tick();
            const std::int64_t type = rows.whole(2);
            if (type != 59 && type != 60 && type != 34) continue;
            Record record{.kind = SliceKind::Annotation, .start = rows.whole(0)};
            if (type != 34 && !rows.is(1)) {
                m_trace.skip("ranges that have no end");
                continue;
            }
            if (type == 34 && !timed(rows, 0)) continue;
            if (type != 34 && !between(rows, record.duration)) continue;
            if (!ofThread(rows, 3)) continue;
            const auto lane = hostLane(rows.whole(3));
            if (!lane) continue;
            record.lane = *lane;
            if (rows.is(4) && !rows.isText(4)) m_trace.tell("names of ranges that are no text");
            const std::string text = cut(rows.text(4));
            record.name = text.empty() && rows.is(5) ? nameOf(rows.id(5)) : m_trace.text(text);
            m_trace.slice(record);
        }
    }

    void memory() {
        NsightRows rows(m_database, "CUDA_GPU_MEMORY_USAGE_EVENTS",
                        {"start", "globalPid", "deviceId", "address", "bytes", "memoryOperationType", "memKind"});
        while (rows.next()) {
            tick();
            if (!timed(rows, 0) || !ofProcess(rows, 1)) continue;
            const std::int64_t kind = rows.whole(6, -1);
            const bool ofHost = kind == kPageable || kind == kPinned;  // whichever device its row names
            if (!ofHost && rows.is(2) && !rows.isWhole(2)) {
                m_trace.skip("a device that is no whole number");
                continue;
            }
            if (!ofHost && !rows.is(2)) m_trace.tell("allocations of which the file does not say the device");
            const std::int64_t bytes = std::max<std::int64_t>(0, rows.whole(4));
            m_trace.allocation(std::to_string(pid(rows.whole(1))), {.at = rows.whole(0),
                                                                    .bytes = rows.whole(5) == 1 ? -bytes : bytes,
                                                                    .device = ofHost ? -1 : rows.whole(2, -1),
                                                                    .address = static_cast<std::uint64_t>(rows.whole(3)),
                                                                    .kind = memoryKind(kind),
                                                                    .owner = {}});
        }
    }

    void threads() {
        constexpr int kMostNames = 50000;
        NsightRows rows(m_database, "ThreadNames", {"globalTid", "nameId"}, "globalTid");
        for (int read = 0; read < kMostNames && rows.next(); ++read) {
            tick();
            if (!rows.isWhole(0)) {
                m_trace.tell("names of threads that have no number");
                continue;
            }
            const std::int64_t global = rows.whole(0);
            m_trace.nameThread(std::to_string(pid(global)), std::to_string(tid(global)), stringOf(rows.id(1)));
        }
    }

    // Each process numbers its calls and its GPUs for itself, as the workers of several traces do: where several have used GPUs, each is a worker of
    // its own, and no call launches what another one's did.
    void workers() {
        TraceBuilder::File& file = m_trace.file();
        const bool several = m_workers.size() > 1;
        std::int64_t next = 0;
        for (const auto& [process, devices] : m_workers) {
            const std::int64_t rank = several && next < kMostWorkers ? next++ : 0;
            if (several) file.ranks.emplace(rank, rank);
            if (several) file.whose[std::to_string(process)] = {.rank = rank};
            for (const std::int64_t device : devices) {
                file.whose[gpuOf(device, process)] = {.rank = rank, .process = device};
                m_trace.nameProcess(gpuOf(device, process), "");
            }
        }
    }

    SQLite::Database& m_database;
    TraceBuilder& m_trace;
    const std::function<bool(double)>& m_go;
    std::optional<SQLite::Statement> m_strings;
    std::optional<bool> m_hasStrings;
    KeyedMap<std::int64_t, std::uint32_t> m_names, m_callNames;
    std::map<std::int64_t, std::set<std::int64_t>> m_workers;  // processes that used GPUs, and which
    const std::int64_t m_mostSteps;
    std::int64_t m_rows = 0, m_steps = 0;  // of SQLite's machine since the last row
    bool m_stopped = false;
    double m_share = 0;
};

}  // namespace

Status readNsightDatabase(const std::string& path, TraceBuilder& trace, const std::function<bool(double)>& go) {
    const auto refuse = [&](const std::string& what) { return makeError(ErrorCode::BadInput, what).about(Subject::Kind::File, path); };
    try {
        SQLite::Database database = openNsightFile(path);
        std::error_code unknown;
        const auto bytes = std::filesystem::file_size(path, unknown);
        NsightReader reader(database, trace, go, unknown ? 0 : static_cast<std::int64_t>(bytes));
        try {
            if (!reader.looksRight())
                return refuse(
                    fmt::format("\"{}\" is an SQLite database, but not one that Nsight Systems exported; make it with: nsys export --type sqlite "
                                "REPORT.nsys-rep",
                                path));
            reader.read();
        } catch (const SQLite::Exception&) {
            if (reader.stopped()) throw Stopped{};
            if (!reader.tooLong()) throw;
            return refuse(fmt::format("\"{}\" cannot be read as a database of Nsight Systems: a table of it takes too long; export it again.", path));
        }
        return {};
    } catch (const Stopped&) {
        if (!trace.status()) return trace.status();
        return makeError(ErrorCode::Cancelled, "The import was stopped; nothing of it is stored.");
    } catch (const SQLite::Exception& thrown) {
        auto error = refuse(fmt::format("\"{}\" cannot be read as a database of Nsight Systems: {}; export it again.", path, thrown.what()));
        return error;
    }
}

}  // namespace stepscope::importing
