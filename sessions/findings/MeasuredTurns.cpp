#include "sessions/findings/MeasuredTurns.h"

#include <SQLiteCpp/Statement.h>

#include <algorithm>
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

// Reads what was measured to its end on this machine in sessions of these kinds, the newest first. wanted: asked before the judgement is looked for.
class TurnsReader {
public:
    TurnsReader(SQLite::Database& database, const Machine& machine, bool experimentsToo)
        : m_machine(machine),
          m_asked(
              database,
              "SELECT e.session, substr(s.name, 1, 1000), s.started_unix_ms, s.machine, e.at_ns, e.config_a, e.config_b, e.delta FROM experiments e"
              " JOIN sessions s ON s.id = e.session WHERE s.deleted_unix_ms = 0 AND s.kind IN (?1, ?2)"
              " ORDER BY s.started_unix_ms DESC, e.session DESC, e.at_ns DESC, e.seq DESC LIMIT ?3"),
          // A run may hold several, one after the other; each is over before the next begins.
          m_judgement(database, "SELECT " + judgedColumns() +
                                    " FROM judgements j WHERE j.session = ?1 AND j.at_ns >= ?2 AND j.over = 1 AND j.at_ns < coalesce("
                                    "(SELECT min(at_ns) FROM experiments WHERE session = ?1 AND at_ns > ?2), 9223372036854775807)"
                                    " ORDER BY j.at_ns DESC, j.seq DESC LIMIT 1"),
          m_newestFlip(database,
                       "SELECT from_value, to_value FROM switches_applied WHERE session = ?1 AND switch = ?2 AND at_ns <= ?3"
                       " ORDER BY at_ns DESC, seq DESC LIMIT 1") {
        m_asked.bind(1, toString(SessionKind::Run));
        m_asked.bind(2, toString(experimentsToo ? SessionKind::Experiment : SessionKind::Run));
        m_asked.bind(3, kMostTurns);
    }

    template <class Wanted, class Take>
    void read(const Wanted& wanted, const Take& take) {
        while (m_asked.executeStep()) {
            try {
                if (auto found = next(wanted)) take(std::move(*found));
            } catch (const nlohmann::json::exception&) {
                // A row that does not parse says nothing of this machine; the list names it.
            } catch (const std::out_of_range&) {
                // What cannot have been measured is not shown as an answer.
            }
        }
    }

private:
    template <class Wanted>
    std::optional<MeasuredTurns> next(const Wanted& wanted) {
        MeasuredTurns found;
        TimeNs at;
        std::string described, configA, configB;
        RowReader row(m_asked);
        row("session", found.session);
        row("name", found.sessionName);
        row("started_unix_ms", found.startedUnixMs);
        row("machine", described);
        row("at_ns", at);
        row("config_a", configA);
        row("config_b", configB);
        row("delta", found.delta);
        if (described == "null" || !sameHardware(machineFromJson(described), m_machine)) return std::nullopt;
        if (!tellTurns(configA, configB, found) || !wanted(found)) return std::nullopt;
        m_judgement.reset();
        m_judgement.bind(1, found.session);
        m_judgement.bind(2, at.ns);
        if (!m_judgement.executeStep()) return std::nullopt;
        RowReader said(m_judgement);
        said("at_ns", found.judged.at);
        fields(said, found.judged);
        checkPlausible(found.judged);
        if (found.judged.pairs == 0) return std::nullopt;
        found.afterFlip = wasFlippedBack(m_newestFlip, found, at);
        return found;
    }

    const Machine& m_machine;
    SQLite::Statement m_asked, m_judgement, m_newestFlip;
};

// No database yet, or one without tables, has none.
template <class Found, class Read>
Result<std::vector<Found>> readAll(const std::string& path, const Read& read) {
    if (std::error_code unknown; !std::filesystem::exists(path, unknown)) return std::vector<Found>{};
    auto opened = openForReading(path);
    if (!opened) return opened.error();
    return guarded(path, [&]() -> Result<std::vector<Found>> {
        if (!*opened) return std::vector<Found>{};
        return read(**opened);
    });
}

}  // namespace

Result<std::vector<MeasuredTurns>> measuredTurns(const std::string& path, const Machine& machine) {
    return readAll<MeasuredTurns>(path, [&](SQLite::Database& database) {
        std::vector<MeasuredTurns> newest;
        std::map<std::pair<std::string, std::string>, std::size_t> done;  // its place among the newest
        const auto former = [&](const MeasuredTurns& found) {
            const auto place = done.find({found.id, found.context});
            return place == done.end() ? nullptr : &newest[place->second];
        };
        TurnsReader(database, machine, /*experimentsToo=*/false)
            .read(
                [&](const MeasuredTurns& found) {
                    const MeasuredTurns* known = former(found);
                    return known == nullptr || !known->decided();
                },
                [&](MeasuredTurns found) {
                    if (MeasuredTurns* known = former(found)) {
                        if (found.decided()) *known = std::move(found);
                    } else {
                        done[{found.id, found.context}] = newest.size();
                        newest.push_back(std::move(found));
                    }
                });
        return newest;
    });
}

bool MeasuredPair::of(const std::string& otherId, const std::string& otherContext, const Value& a, const Value& b) const {
    return id == otherId && context == otherContext && ((from == a && to == b) || (from == b && to == a));
}

void MeasuredPair::add(const MeasuredPair& older) {
    if (decided == 0 && older.decided > 0) {
        from = older.from;
        to = older.to;
        delta = older.delta;
        judged = older.judged;
    }
    times += older.times;
    decided += older.decided;
}

MeasuredPair pairOf(const MeasuredTurns& turns) {
    return {turns.id, turns.context, turns.from, turns.to, turns.delta, turns.judged, 1, turns.decided() ? 1 : 0};
}

Result<std::vector<MeasuredPair>> measuredPairs(const std::string& path, const Machine& machine) {
    return readAll<MeasuredPair>(path, [&](SQLite::Database& database) {
        std::vector<MeasuredPair> pairs;
        TurnsReader(database, machine, /*experimentsToo=*/true)
            .read([](const MeasuredTurns&) { return true; },
                  [&](const MeasuredTurns& found) {
                      const auto known = std::ranges::find_if(
                          pairs, [&](const MeasuredPair& pair) { return pair.of(found.id, found.context, found.from, found.to); });
                      if (known != pairs.end())
                          known->add(pairOf(found));
                      else
                          pairs.push_back(pairOf(found));
                  });
        return pairs;
    });
}

}  // namespace stepscope
