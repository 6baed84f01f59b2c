#include "sessions/findings/MeasuredTurns.h"

#include <SQLiteCpp/Statement.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/analysis/flips/FlipContext.h"
#include "sessions/Columns.h"
#include "sessions/EventFields.h"
#include "sessions/MachineJson.h"
#include "sessions/Plausible.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

constexpr int kMostTurns = 1000;  // measurements that are looked at, the newest

bool tellTurns(const std::string& a, const std::string& b, MeasuredTurns& found) {
    auto turns = turnsOf(a, b);
    if (!turns) return false;
    found.id = std::move(turns->id);
    found.from = std::move(turns->from);
    found.to = std::move(turns->to);
    found.context = std::move(turns->context);
    return true;
}

bool wasFlippedBack(SQLite::Statement& newestFlip, const MeasuredTurns& asked, TimeNs at) {
    newestFlip.reset();
    newestFlip.bind(1, asked.session);
    newestFlip.bind(2, asked.id);
    newestFlip.bind(3, at.ns);
    if (!newestFlip.executeStep()) return false;
    Value from, to;
    RowReader row(newestFlip);
    row("from_value", from);
    row("to_value", to);
    return from == asked.to && to == asked.from;
}

std::string judgedColumns() {
    std::string names = "j.at_ns";
    for (const auto& column : columnsOf<ExperimentJudged>()) names += ", j." + column;
    return names;
}

}  // namespace

Result<std::vector<MeasuredTurns>> measuredTurns(const std::string& path, const Machine& machine) {
    if (std::error_code unknown; !std::filesystem::exists(path, unknown)) return std::vector<MeasuredTurns>{};
    auto opened = openForReading(path);
    if (!opened) return opened.error();
    return guarded(path, [&]() -> Result<std::vector<MeasuredTurns>> {
        std::vector<MeasuredTurns> newest;
        if (!*opened) return newest;
        SQLite::Database& database = **opened;
        // A run may hold several, one after the other; each is over before the next begins.
        SQLite::Statement asked(
            database,
            "SELECT e.session, substr(s.name, 1, 1000), s.started_unix_ms, s.machine, e.at_ns, e.config_a, e.config_b, e.delta FROM experiments e"
            " JOIN sessions s ON s.id = e.session WHERE s.deleted_unix_ms = 0 AND s.kind = ?1"
            " ORDER BY s.started_unix_ms DESC, e.session DESC, e.at_ns DESC, e.seq DESC LIMIT ?2");
        asked.bind(1, toString(SessionKind::Run));
        asked.bind(2, kMostTurns);
        SQLite::Statement judgement(database, "SELECT " + judgedColumns() +
                                                  " FROM judgements j WHERE j.session = ?1 AND j.at_ns >= ?2 AND j.over = 1 AND j.at_ns < coalesce("
                                                  "(SELECT min(at_ns) FROM experiments WHERE session = ?1 AND at_ns > ?2), 9223372036854775807)"
                                                  " ORDER BY j.at_ns DESC, j.seq DESC LIMIT 1");
        SQLite::Statement newestFlip(database,
                                     "SELECT from_value, to_value FROM switches_applied WHERE session = ?1 AND switch = ?2 AND at_ns <= ?3"
                                     " ORDER BY at_ns DESC, seq DESC LIMIT 1");
        std::map<std::pair<std::string, std::string>, std::size_t> done;  // its place among the newest
        while (asked.executeStep()) {
            MeasuredTurns found;
            TimeNs at;
            std::string described, configA, configB;
            RowReader row(asked);
            row("session", found.session);
            row("name", found.sessionName);
            row("started_unix_ms", found.startedUnixMs);
            row("machine", described);
            row("at_ns", at);
            row("config_a", configA);
            row("config_b", configB);
            row("delta", found.delta);
            try {
                if (described == "null" || !sameHardware(machineFromJson(described), machine)) continue;
                if (!tellTurns(configA, configB, found)) continue;
                const auto former = done.find({found.id, found.context});
                if (former != done.end() && newest[former->second].decided()) continue;
                judgement.reset();
                judgement.bind(1, found.session);
                judgement.bind(2, at.ns);
                if (!judgement.executeStep()) continue;
                RowReader said(judgement);
                said("at_ns", found.judged.at);
                fields(said, found.judged);
                checkPlausible(found.judged);
                if (found.judged.pairs == 0 || (former != done.end() && !found.decided())) continue;
                found.afterFlip = wasFlippedBack(newestFlip, found, at);
                if (former != done.end()) {
                    newest[former->second] = std::move(found);
                } else {
                    done[{found.id, found.context}] = newest.size();
                    newest.push_back(std::move(found));
                }
            } catch (const nlohmann::json::exception&) {
                // A row that does not parse says nothing of this machine; the list names it.
            } catch (const std::out_of_range&) {
                // What cannot have been measured is not shown as an answer.
            }
        }
        return newest;
    });
}

}  // namespace stepscope
