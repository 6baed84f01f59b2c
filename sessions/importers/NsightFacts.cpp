// What a report of Nsight Systems says of itself and of its machine: product and version, GPUs by the numbers that its processes have for them, when
// it began. Read once, before the tables of work.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sessions/importers/NsightFile.h"
#include "sessions/importers/PerfettoArguments.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope::importing {
namespace {

// With CUDA_VISIBLE_DEVICES a process numbers its GPUs otherwise than the machine does, and tables of work have the process's numbers. Where
// processes call unlike GPUs by the same number, nothing is told of that number.
void byCudaNumbers(SQLite::Database& database, nlohmann::json& gpus, const std::function<void()>& tick) {
    constexpr std::int64_t kMostOrdinals = 1 << 20;
    constexpr std::size_t kMostNamed = 1024;
    NsightRows rows(database, "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId"}, "cudaId");
    std::map<std::int64_t, nlohmann::json> named;
    std::set<std::int64_t> unclear;
    bool any = false;
    while (rows.next()) {
        tick();
        const std::int64_t gpu = rows.whole(0, -1), cuda = rows.whole(1, -1);
        if (gpu < 0 || cuda < 0 || cuda >= kMostOrdinals) continue;
        const auto found = std::ranges::find_if(gpus, [&](const nlohmann::json& one) {
            const auto id = one.find("id");
            return id != one.end() && id->is_number_integer() && id->get<std::int64_t>() == gpu;
        });
        any = true;
        if (found == gpus.end()) {
            if (unclear.size() < kMostNamed) unclear.insert(cuda);
            continue;
        }
        nlohmann::json one = *found;
        one["id"] = cuda;
        if (named.size() >= kMostNamed && !named.contains(cuda)) continue;
        const auto [there, added] = named.try_emplace(cuda, one);
        if (!added && there->second.value("name", nlohmann::json()) != one.value("name", nlohmann::json())) unclear.insert(cuda);
    }
    if (!any) return;
    gpus = nlohmann::json::array();
    for (const auto& [cuda, one] : named)
        if (!unclear.contains(cuda)) gpus.push_back(one);
}

// Those that are stored: a generated column of a stranger's file may take as long and as much memory as it likes.
std::vector<std::string> storedColumns(SQLite::Database& database, const std::string& table) {
    constexpr std::size_t kMostColumns = 100;
    std::vector<std::string> all;
    SQLite::Statement columns(database, "SELECT name FROM pragma_table_info(?)");
    columns.bind(1, table);
    while (all.size() < kMostColumns && columns.executeStep()) {
        std::string name = columns.getColumn(0).getString();
        if (name.find('"') == std::string::npos) all.push_back(std::move(name));
    }
    return all;
}

void readGpus(SQLite::Database& database, nlohmann::json& facts, const std::function<void()>& tick) {
    constexpr int kMostGpus = 64;
    const std::vector<std::string> columns = storedColumns(database, "TARGET_INFO_GPU");
    if (columns.empty()) return;
    NsightRows rows(database, "TARGET_INFO_GPU", columns, columns.front());
    for (int taken = 0; taken < kMostGpus && rows.next(); ++taken) {
        tick();
        nlohmann::json gpu = nlohmann::json::object();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const int column = static_cast<int>(i);
            if (rows.isWhole(column)) gpu[columns[i]] = rows.whole(column);
            if (rows.isText(column)) gpu[columns[i]] = rows.text(column).substr(0, 200);
        }
        facts["gpus"].push_back(gpu);
    }
    if (facts.contains("gpus")) byCudaNumbers(database, facts["gpus"], tick);
}

}  // namespace

void readNsightFacts(SQLite::Database& database, TraceBuilder& trace, const std::function<void()>& tick) {
    constexpr int kMostVersions = 100;
    nlohmann::json facts = nlohmann::json::object();
    for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
        NsightRows rows(database, table, {"name", "value"}, "name");
        for (int taken = 0; taken < kMostVersions && rows.next();) {
            tick();
            const std::string name = rows.text(0);
            if (name.find("VERSION") == std::string::npos || !rows.is(1)) continue;
            facts[name.substr(0, 200)] = rows.shown(1).substr(0, 200);
            ++taken;
        }
    }
    readGpus(database, facts, tick);
    NsightRows begin(database, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, "utcEpochNs");
    if (begin.next()) {
        const std::int64_t base = begin.whole(0);
        if (base > 0 && base < std::int64_t{1} << 61) trace.file().baseNs = base;
    }
    trace.file().facts = facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    trace.file().source = "nsys";
}

// The numbers of severities are told by the file itself: they are not the same in every version.
void readNsightWarnings(SQLite::Database& database, TraceBuilder& trace, const std::function<void()>& tick) {
    constexpr std::size_t kMostSeverities = 100, kMostWarnings = 8, kLongestWarning = 400;
    std::map<std::int64_t, std::string> severities;
    NsightRows names(database, "ENUM_DIAGNOSTIC_SEVERITY_LEVEL", {"id", "name"}, "name");
    while (severities.size() < kMostSeverities && names.next()) {
        tick();
        if (names.isWhole(0)) severities.try_emplace(names.whole(0), names.text(1).substr(0, 40));
    }
    auto& warnings = trace.file().warnings;
    std::int64_t more = 0;
    NsightRows rows(database, "DIAGNOSTIC_EVENT", {"severity", "text"}, "text");
    while (rows.next()) {
        tick();
        const auto severity = rows.isWhole(0) ? severities.find(rows.whole(0)) : severities.end();
        if (severity == severities.end()) {
            trace.tell("messages of Nsight Systems of which the file does not say how grave they are");
            continue;
        }
        if (severity->second != "Warning" && severity->second != "Error" && severity->second != "Fatal") continue;
        std::string text = readableText(rows.text(1), kLongestWarning);
        if (text.empty() || std::ranges::find(warnings, text) != warnings.end()) continue;
        if (warnings.size() < kMostWarnings)
            warnings.push_back(std::move(text));
        else
            ++more;
    }
    if (more > 0) warnings.push_back(more == 1 ? std::string("and 1 more message") : std::to_string(more) + " more messages");
}

}  // namespace stepscope::importing
