#include "sessions/findings/Forecasts.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sessions/Columns.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

constexpr int kMostRows = 32;        // looked through for one that can be
constexpr int kMostQuestions = 500;  // that were foretold and asked

template <class Change>
Status change(const std::string& database, Change make) {
    auto connection = openForWriting(database);
    if (!connection) return connection.error();
    return guarded(database, [&]() -> Status {
        SQLite::Transaction transaction(**connection);
        make(**connection);
        transaction.commit();
        return {};
    });
}

// The first row that `take` accepts.
template <class T, class Bind, class Take>
Result<std::optional<T>> firstOf(const std::string& database, const char* sql, Bind bind, Take take) {
    auto connection = openForReading(database);
    if (!connection && connection.error().code == ErrorCode::NotFound) return std::optional<T>();
    if (!connection) return connection.error();
    return guarded(database, [&]() -> Result<std::optional<T>> {
        if (!*connection) return std::optional<T>();
        SQLite::Statement select(**connection, sql);
        bind(select);
        for (int rows = 0; rows < kMostRows && select.executeStep(); ++rows) {
            T found;
            RowReader row(select);
            if (take(row, found)) return std::optional<T>(std::move(found));
        }
        return std::optional<T>();
    });
}

// The columns of each, in the order of the statements below: a RowWriter binds them, a RowReader reads them back.
void timedFields(auto& row, auto& timed) {
    row("setting", timed.setting);
    row("at_unix_ms", timed.atUnixMs);
    row("session", timed.session);
    row("steps", timed.steps);
    row("ms", timed.ms);
    row("low_ms", timed.lowMs);
    row("high_ms", timed.highMs);
    row("validation_ms", timed.validationMs);
    row("checkpoint_ms", timed.checkpointMs);
}
void forecastFields(auto& row, auto& forecast) {
    row("source", forecast.source);
    row("seconds", forecast.seconds);
    row("low", forecast.low);
    row("high", forecast.high);
    row("measured_seconds", forecast.measuredSeconds);
}
void predictionFields(auto& row, auto& prediction) {
    row("question", prediction.question);
    row("at_unix_ms", prediction.atUnixMs);
    row("setting", prediction.setting);
    row("ratio", prediction.ratio);
    row("ms", prediction.ms);
    row("basis", prediction.basis);
}

bool possible(double value) {
    return std::isfinite(value) && value > 0;
}

}  // namespace

Status storeTimedSteps(const std::string& database, const TimedSteps& timed) {
    return change(database, [&](SQLite::Database& into) {
        SQLite::Statement insert(into,
                                 "INSERT INTO timed_steps (setting, at_unix_ms, session, steps, ms, low_ms, high_ms, validation_ms, checkpoint_ms)"
                                 " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
        RowWriter row(insert);
        timedFields(row, timed);
        insert.exec();
    });
}

Result<std::optional<TimedSteps>> newestTimedSteps(const std::string& database, const std::string& setting) {
    return firstOf<TimedSteps>(
        database,
        "SELECT setting, at_unix_ms, session, steps, ms, low_ms, high_ms, validation_ms, coalesce(checkpoint_ms, (SELECT o.checkpoint_ms FROM "
        "timed_steps o WHERE o.setting = timed_steps.setting AND o.checkpoint_ms IS NOT NULL ORDER BY o.at_unix_ms DESC, o.id DESC LIMIT 1)) "
        "FROM timed_steps WHERE setting = ? ORDER BY at_unix_ms DESC, id DESC",
        [&](SQLite::Statement& select) { select.bind(1, setting); },
        [](RowReader& row, TimedSteps& found) {
            timedFields(row, found);
            if (!possible(found.checkpointMs)) found.checkpointMs = kUnknown;
            if (!possible(found.validationMs)) found.validationMs = kUnknown;
            return possible(found.ms) && possible(found.lowMs) && possible(found.highMs) && found.lowMs <= found.ms && found.ms <= found.highMs &&
                   found.steps > 0 && found.session >= 0;
        });
}

Status storeForecast(const std::string& database, std::int64_t session, const StoredForecast& forecast) {
    return change(database, [&](SQLite::Database& into) {
        SQLite::Statement insert(
            into, "INSERT OR REPLACE INTO forecasts (session, source, seconds, low, high, measured_seconds) VALUES (?, ?, ?, ?, ?, ?)");
        RowWriter row(insert);
        row("session", session);
        forecastFields(row, forecast);
        insert.exec();
    });
}

Result<std::optional<StoredForecast>> forecastOfSession(const std::string& database, std::int64_t session) {
    return firstOf<StoredForecast>(
        database, "SELECT source, seconds, low, high, measured_seconds FROM forecasts WHERE session = ?",
        [&](SQLite::Statement& select) { select.bind(1, session); },
        [](RowReader& row, StoredForecast& found) {
            forecastFields(row, found);
            if (!possible(found.measuredSeconds)) found.measuredSeconds = kUnknown;
            return possible(found.seconds) && possible(found.low) && possible(found.high);
        });
}

double ForetoldRun::memoryError() const {
    if (predictedBytes <= 0 || !asBegun) return kUnknown;
    return peakBytes / static_cast<double>(predictedBytes) - 1;
}

Result<ForetoldRun> foretoldRun(const std::string& database, std::int64_t session) {
    auto time = forecastOfSession(database, session);
    if (!time) return time.error();
    auto read = firstOf<ForetoldRun>(
        database,
        "SELECT predicted_bytes, (SELECT max(peak_bytes) FROM steps WHERE session = s.id),"
        " NOT EXISTS (SELECT 1 FROM switches_applied WHERE session = s.id) AND NOT EXISTS (SELECT 1 FROM experiments WHERE session = s.id)"
        " FROM sessions s WHERE id = ? AND deleted_unix_ms = 0",
        [&](SQLite::Statement& select) { select.bind(1, session); },
        [](RowReader& row, ForetoldRun& found) {
            row("predicted_bytes", found.predictedBytes);
            row("peak_bytes", found.peakBytes);
            row("as_begun", found.asBegun);
            if (!possible(static_cast<double>(found.predictedBytes))) found.predictedBytes = 0;
            if (!possible(found.peakBytes)) found.peakBytes = kUnknown;
            return true;
        });
    if (!read) return read.error();
    ForetoldRun run = std::move(*read).value_or(ForetoldRun());
    run.session = session;
    run.time = std::move(*time);
    return run;
}

Result<std::vector<ForetoldRun>> foretoldRuns(const std::string& database, const std::string& setting, std::size_t most) {
    std::vector<std::int64_t> sessions;
    {
        auto connection = openForReading(database);
        if (!connection && connection.error().code == ErrorCode::NotFound) return std::vector<ForetoldRun>();
        if (!connection) return connection.error();
        auto read = guarded(database, [&]() -> Status {
            if (!*connection) return {};
            SQLite::Statement select(**connection,
                                     "SELECT t.session FROM timed_steps t JOIN sessions s ON s.id = t.session"
                                     " WHERE t.setting = ?1 AND s.deleted_unix_ms = 0 GROUP BY t.session ORDER BY max(t.at_unix_ms) DESC LIMIT ?2");
            select.bind(1, setting);
            select.bind(2, kMostRows);
            while (select.executeStep()) sessions.push_back(select.getColumn(0).getInt64());
            return {};
        });
        if (!read) return read.error();
    }
    std::vector<ForetoldRun> all;
    for (const std::int64_t session : sessions) {
        if (all.size() >= most) break;
        auto run = foretoldRun(database, session);
        if (!run) return run.error();
        if (run->asBegun && (run->time || run->predictedBytes > 0)) all.push_back(std::move(*run));
    }
    return all;
}

Status storePredictions(const std::string& database, const std::vector<StoredPrediction>& predictions) {
    if (predictions.empty()) return {};
    return change(database, [&](SQLite::Database& into) {
        SQLite::Statement insert(into,
                                 "INSERT OR REPLACE INTO predictions (question, at_unix_ms, setting, ratio, ms, basis) VALUES (?, ?, ?, ?, ?, ?)");
        for (const StoredPrediction& one : predictions) {
            insert.reset();
            RowWriter row(insert);
            predictionFields(row, one);
            insert.exec();
        }
    });
}

Result<std::optional<StoredPrediction>> predictionOf(const std::string& database, const std::string& question, std::int64_t before) {
    return firstOf<StoredPrediction>(
        database,
        "SELECT question, at_unix_ms, setting, ratio, ms, basis FROM predictions WHERE question = ? AND at_unix_ms < ? ORDER BY at_unix_ms DESC",
        [&](SQLite::Statement& select) {
            select.bind(1, question);
            select.bind(2, before);
        },
        [](RowReader& row, StoredPrediction& found) {
            predictionFields(row, found);
            return possible(found.ratio) && possible(found.ms);
        });
}

Result<std::vector<MeasuredPrediction>> measuredPredictions(const std::string& database, std::size_t most) {
    std::vector<std::string> questions;
    {
        auto connection = openForReading(database);
        if (!connection && connection.error().code == ErrorCode::NotFound) return std::vector<MeasuredPrediction>();
        if (!connection) return connection.error();
        auto read = guarded(database, [&]() -> Status {
            if (!*connection) return {};
            SQLite::Statement select(**connection,
                                     "SELECT p.question FROM predictions p WHERE EXISTS (SELECT 1 FROM experiments e WHERE e.question = p.question)"
                                     " GROUP BY p.question ORDER BY max(p.at_unix_ms) DESC LIMIT ?");
            select.bind(1, kMostQuestions);
            while (select.executeStep()) questions.push_back(select.getColumn(0).getString());
            return {};
        });
        if (!read) return read.error();
    }
    std::vector<MeasuredPrediction> all;
    for (const std::string& question : questions) {
        auto answers = earlierAnswers(database, question);
        if (!answers) return answers.error();
        for (EarlierAnswer& answer : *answers) {
            if (!answer.judged.over || !possible(answer.judged.ratio)) continue;
            auto foretold = predictionOf(database, question, answer.startedUnixMs);
            if (!foretold) return foretold.error();
            if (!*foretold) continue;
            all.push_back({std::move(**foretold), std::move(answer)});
            break;
        }
    }
    std::ranges::stable_sort(all, std::ranges::greater(), [](const MeasuredPrediction& one) { return one.measured.startedUnixMs; });
    if (all.size() > most) all.resize(most);
    return all;
}

}  // namespace stepscope
