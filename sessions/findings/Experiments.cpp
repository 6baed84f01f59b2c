#include "sessions/findings/Experiments.h"

#include <SQLiteCpp/Statement.h>

#include <stdexcept>

#include "core/analysis/JudgedSentence.h"
#include "sessions/Columns.h"
#include "sessions/EventFields.h"
#include "sessions/Plausible.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

constexpr int kMostAnswers = 1000;

std::string judgementColumns() {
    std::string names;
    for (const auto& column : columnsOf<ExperimentJudged>()) names += ", " + column;
    return names;
}

}  // namespace

std::string earlierWords(const EarlierAnswer& answer) {
    return judgedWords(answer.judged, answer.delta) + (answer.turned ? " (asked the other way round)" : "");
}

Result<std::vector<EarlierAnswer>> earlierAnswers(const std::string& database, const std::string& question, std::int64_t besides,
                                                  const std::string& turned) {
    auto connection = openForReading(database);
    if (!connection) return connection.error();
    return guarded(database, [&]() -> Result<std::vector<EarlierAnswer>> {
        std::vector<EarlierAnswer> all;
        if (!*connection) return all;
        SQLite::Statement asked(
            **connection,
            "SELECT e.session, s.started_unix_ms, e.delta, e.at_ns,"
            " (SELECT count(*) FROM experiments b WHERE b.session = e.session AND b.at_ns <= e.at_ns), e.question <> ?1"
            " FROM experiments e JOIN sessions s ON s.id = e.session"
            " WHERE e.question IN (?1, ?2) AND s.deleted_unix_ms = 0 AND e.session <> ?3 ORDER BY s.started_unix_ms DESC, e.session DESC LIMIT ?4");
        asked.bind(1, question);
        asked.bind(2, turned.empty() ? question : turned);
        asked.bind(3, besides);
        asked.bind(4, kMostAnswers);
        SQLite::Statement newest(**connection, "SELECT at_ns" + judgementColumns() +
                                                   " FROM judgements WHERE session = ?1 AND at_ns >= ?2 AND at_ns < coalesce("
                                                   "(SELECT min(at_ns) FROM experiments WHERE session = ?1 AND at_ns > ?2), 9223372036854775807)"
                                                   " ORDER BY at_ns DESC, seq DESC LIMIT 1");
        while (asked.executeStep()) {
            EarlierAnswer answer{.session = asked.getColumn(0).getInt64(),
                                 .number = asked.getColumn(4).getInt64(),
                                 .startedUnixMs = asked.getColumn(1).getInt64(),
                                 .delta = asked.getColumn(2).getDouble()};
            newest.reset();
            newest.bind(1, answer.session);
            newest.bind(2, asked.getColumn(3).getInt64());  // a run may hold several, one after the other
            if (!newest.executeStep()) continue;
            RowReader row(newest);
            row("at_ns", answer.judged.at);
            fields(row, answer.judged);
            try {
                checkPlausible(ExperimentBegan{.delta = answer.delta});
                checkPlausible(answer.judged);
            } catch (const std::out_of_range&) {
                continue;  // what cannot have been measured is no answer, and the others are
            }
            answer.turned = asked.getColumn(5).getInt() != 0;
            if (answer.turned) answer.judged = turnedRound(std::move(answer.judged));
            all.push_back(std::move(answer));
        }
        return all;
    });
}

}  // namespace stepscope
