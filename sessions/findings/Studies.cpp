#include "sessions/findings/Studies.h"

#include <SQLiteCpp/Statement.h>

#include <set>
#include <stdexcept>

#include "core/events/Event.h"
#include "sessions/Columns.h"
#include "sessions/EventFields.h"
#include "sessions/Plausible.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

constexpr int kMostStudies = 1000;

template <class E>
std::string studyColumns() {
    std::string names = "at_ns";
    for (const auto& column : columnsOf<E>()) names += ", " + column;
    return names;
}

}  // namespace

Result<std::vector<EarlierStudy>> earlierStudies(const std::string& database, const std::string& question, std::int64_t besides) {
    auto connection = openForReading(database);
    if (!connection) return connection.error();
    return guarded(database, [&]() -> Result<std::vector<EarlierStudy>> {
        std::vector<EarlierStudy> all;
        if (!*connection) return all;
        std::set<std::int64_t> goneOnWith;
        if (besides > 0) {
            SQLite::Statement own(**connection, "SELECT goes_on_with FROM sessions WHERE id = ?");
            own.bind(1, besides);
            if (own.executeStep()) goneOnWith.insert(own.getColumn(0).getInt64());
        }
        SQLite::Statement asked(**connection,
                                "SELECT e.session, s.started_unix_ms, s.goes_on_with FROM studies e JOIN sessions s ON s.id = e.session"
                                " WHERE e.question = ?1 AND s.deleted_unix_ms = 0 AND e.session <> ?2 AND (?2 = 0 OR"
                                " (s.started_unix_ms, s.id) < (SELECT started_unix_ms, id FROM sessions WHERE id = ?2))"
                                " ORDER BY s.started_unix_ms DESC, e.session DESC LIMIT ?3");
        asked.bind(1, question);
        asked.bind(2, besides);
        asked.bind(3, kMostStudies);
        SQLite::Statement began(**connection, "SELECT " + studyColumns<StudyBegan>() + " FROM studies WHERE session = ? ORDER BY at_ns, seq LIMIT 1");
        // Of each row the newest: SQLite takes the other columns from where the maximum is.
        SQLite::Statement rows(**connection,
                               "SELECT " + studyColumns<StudyRow>() + ", max(at_ns) FROM study_rows WHERE session = ? GROUP BY \"row\" LIMIT ?");
        const auto readInto = [&](EarlierStudy& study) {
            began.reset();
            began.bind(1, study.session);
            if (!began.executeStep()) return false;
            StudyBegan whatWasAsked;
            RowReader first(began);
            first("at_ns", whatWasAsked.at);
            fields(first, whatWasAsked);
            checkPlausible(whatWasAsked);
            study.history.add(std::move(whatWasAsked));
            rows.reset();
            rows.bind(1, study.session);
            rows.bind(2, kMostStudyRows);
            while (rows.executeStep()) {
                StudyRow row;
                RowReader stored(rows);
                stored("at_ns", row.at);
                fields(stored, row);
                checkPlausible(row);
                study.history.add(std::move(row));
            }
            return true;
        };
        while (asked.executeStep()) {
            EarlierStudy study;
            study.session = asked.getColumn(0).getInt64();
            study.startedUnixMs = asked.getColumn(1).getInt64();
            goneOnWith.insert(asked.getColumn(2).getInt64());
            if (goneOnWith.contains(study.session)) continue;  // what went on with it began later, so it is listed before
            try {
                if (!readInto(study)) continue;
            } catch (const std::out_of_range&) {
                continue;  // what cannot have been measured is no answer, and the others are
            }
            if (!studyHeadline(study.history).empty()) all.push_back(std::move(study));
        }
        return all;
    });
}

}  // namespace stepscope
