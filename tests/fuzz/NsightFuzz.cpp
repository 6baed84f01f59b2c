// Any bytes as a database of Nsight Systems: slices, or one sentence. What begins as a database does is one, as it is; all else are lines, a row each
// of a database that is made of them: a letter for its table, then its values, a number, - for none, or a text.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/base/Check.h"
#include "sessions/importers/NsightDatabase.h"

namespace {

using namespace stepscope;

struct Table {
    const char* name;
    const char* columns;
    int count;
};
const std::map<char, Table>& tables() {
    static const std::map<char, Table> all{
        {'S', {"StringIds", "id INTEGER PRIMARY KEY, value TEXT", 2}},
        {'R', {"CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid, correlationId, nameId, returnValue", 6}},
        {'K',
         {"CUPTI_ACTIVITY_KIND_KERNEL",
          "start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, "
          "blockZ, "
          "registersPerThread, staticSharedMemory, dynamicSharedMemory, graphNodeId, localMemoryPerThread",
          20}},
        {'G', {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "start, end, deviceId, contextId, streamId, correlationId, globalPid, graphId", 8}},
        {'C',
         {"CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind",
          11}},
        {'M', {"CUPTI_ACTIVITY_KIND_MEMSET", "start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, memKind, value", 10}},
        {'Y', {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType", 8}},
        {'N', {"NVTX_EVENTS", "start, end, eventType, globalTid, text, textId", 6}},
        {'O', {"OSRT_API", "start, end, globalTid, correlationId, nameId, returnValue", 6}},
        {'P', {"PROFILER_OVERHEAD", "start, end, globalTid, correlationId, nameId, returnValue", 6}},
        {'A', {"CUDA_GPU_MEMORY_USAGE_EVENTS", "start, globalPid, deviceId, address, bytes, memoryOperationType, memKind", 7}},
        {'T', {"ThreadNames", "globalTid, nameId", 2}},
        {'I', {"TARGET_INFO_GPU", "id, name, smCount, maxWarpsPerSm", 4}},
        {'V', {"META_DATA_EXPORT", "name, value", 2}},
        {'E', {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs", 1}}};
    return all;
}

void make(const std::string& path, const std::string& text) {
    SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    SQLite::Transaction transaction(database);
    std::map<char, SQLite::Statement> inserts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        const auto table = line.empty() ? tables().end() : tables().find(line[0]);
        if (table == tables().end()) continue;
        auto insert = inserts.find(line[0]);
        if (insert == inserts.end()) {
            const Table& of = table->second;
            database.exec(std::string("CREATE TABLE ") + of.name + " (" + of.columns + ")");
            std::string values = "?";
            for (int i = 1; i < of.count; ++i) values += ", ?";
            insert = inserts.try_emplace(line[0], database, std::string("INSERT OR IGNORE INTO ") + of.name + " VALUES (" + values + ")").first;
        }
        SQLite::Statement& row = insert->second;
        row.tryReset();
        row.clearBindings();
        std::size_t from = 1;
        for (int column = 1; column <= table->second.count && from < line.size(); ++column) {
            const std::size_t begin = line.find_first_not_of(' ', from);
            if (begin == std::string::npos) break;
            from = std::min(line.find(' ', begin), line.size());
            const std::string word = line.substr(begin, from - begin);
            std::int64_t number = 0;
            const auto [rest, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
            if (word == "-") continue;
            if (problem == std::errc{} && rest == word.data() + word.size())
                row.bind(column, number);
            else
                row.bind(column, word);
        }
        try {
            row.exec();
        } catch (const SQLite::Exception&) {
            continue;  // a text where only a number may be
        }
    }
    inserts.clear();
    transaction.commit();
}

// Slices that were read of it; -1: it was refused.
std::int64_t readOf(const std::string& text) {
    const std::string path = "/dev/shm/stepscope-nsight-fuzz.sqlite";
    std::remove(path.c_str());
    if (text.starts_with("SQLite format 3"))
        std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
    else
        make(path, text);
    importing::TraceBuilder trace("/tmp");
    trace.beginFile(0);
    const Status read = importing::readNsightDatabase(path, trace, [](double) { return true; });
    if (!read) SS_CHECK(read.error().sentence.starts_with('"') || read.error().sentence.ends_with('.'));
    bool fits = true;
    SS_CHECK(trace.finish([&](const importing::TraceBuilder::Encode& encode) { return fits = checkChunk(encode()).ok(); }));
    SS_CHECK(fits);
    std::remove(path.c_str());
    return read ? trace.recorded() : -1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    // What stands behind the opening of the file is reached at all.
    static const bool reached = readOf("S 1 cudaLaunchKernel\nR 5 9 16777218 7 1 0\nK 10 20 0 1 7 7 16777216 1\nN 1 99 59 16777218 range -\n") == 3;
    SS_CHECK(reached);
    (void)readOf({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
