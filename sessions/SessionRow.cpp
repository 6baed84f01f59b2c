#include "sessions/SessionRow.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "sessions/Columns.h"
#include "sessions/MachineJson.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

void writeConfig(SQLite::Database& database, std::int64_t session, const std::optional<RunConfig>& config) {
    SQLite::Statement clear(database, "DELETE FROM config WHERE session = ?");
    clear.bind(1, session);
    clear.exec();
    if (!config) return;
    SQLite::Statement insert(database, "INSERT INTO config (session, key, position, value) VALUES (?, ?, ?, ?)");
    std::int64_t position = 0;
    for (const auto& [key, value] : listConfig(*config)) {
        insert.tryReset();
        insert.bind(1, session);
        insert.bind(2, key);
        insert.bind(3, position++);
        insert.bind(4, value);
        insert.exec();
    }
}

constexpr std::size_t kMostLinkTimes = 64;
constexpr std::int64_t kMostCounted = 1'000'000'000'000'000'000;  // more is nobody's run, and sums of it would not fit

std::string linkToJson(const std::vector<LinkTime>& link) {
    nlohmann::json all = nlohmann::json::array();
    for (const LinkTime& one : link) all.push_back({one.bytes, one.seconds});
    return all.dump();
}

// What is no time of so many bytes is left out: a forecast needs none, and nothing else reads it.
std::vector<LinkTime> linkFromJson(const std::string& text) {
    std::vector<LinkTime> link;
    const auto all = nlohmann::json::parse(text, nullptr, false);
    if (!all.is_array()) return link;
    for (const auto& one : all) {
        if (link.size() == kMostLinkTimes) break;
        if (!one.is_array() || one.size() != 2 || !one[0].is_number_integer() || !one[1].is_number()) continue;
        const LinkTime time{.bytes = one[0].get<std::int64_t>(), .seconds = one[1].get<double>()};
        if (time.bytes > 0 && time.seconds > 0 && std::isfinite(time.seconds)) link.push_back(time);
    }
    return link;
}

std::int64_t nowUnixMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::int64_t insertSession(SQLite::Database& database, const SessionInfo& info) {
    SQLite::Statement insert(
        database,
        "INSERT INTO sessions (name, notes, tags, state, why, started_unix_ms, config, machine, vocabulary, parameters,"
        " train_tokens, validation_tokens, first_step, resumed_from, kind) VALUES (?, ?, ?, ?, '', ?, 'null', 'null', 0, 0, 0, 0, 0, '', ?)");
    insert.bind(1, info.name);
    insert.bind(2, info.notes);
    insert.bind(3, tagsToJson(info.tags));
    insert.bind(4, toString(RunState::Preparing));
    insert.bind(5, info.startedUnixMs != 0 ? info.startedUnixMs : nowUnixMs());
    insert.bind(6, toString(info.kind));
    insert.exec();
    const std::int64_t session = database.getLastInsertRowid();
    updateSession(database, session, info);
    return session;
}

void updateSession(SQLite::Database& database, std::int64_t session, const SessionInfo& info) {
    SQLite::Statement update(
        database,
        "UPDATE sessions SET started_unix_ms = iif(?1 = 0, started_unix_ms, ?1), config = ?2, machine = ?3, vocabulary = ?4,"
        " parameters = ?5, train_tokens = ?6, validation_tokens = ?7, first_step = ?8, resumed_from = ?9, workers = ?10, link = ?11,"
        " goes_on_with = ?12, predicted_bytes = ?13, times_unknown = ?14 WHERE id = ?15");
    update.bind(1, info.startedUnixMs);
    update.bind(2, info.config ? configToJson(*info.config) : "null");
    update.bind(3, info.machine ? machineToJson(*info.machine) : "null");
    update.bind(4, info.vocabulary);
    update.bind(5, info.parameters);
    update.bind(6, info.trainTokens);
    update.bind(7, info.validationTokens);
    update.bind(8, info.firstStep);
    update.bind(9, info.resumedFrom);
    update.bind(10, info.workers);
    update.bind(11, linkToJson(info.link));
    update.bind(12, info.goesOnWith);
    update.bind(13, info.predictedBytes);
    update.bind(14, info.timesUnknown ? 1 : 0);
    update.bind(15, session);
    update.exec();
    writeConfig(database, session, info.config);
}

void updateState(SQLite::Database& database, std::int64_t session, const StateChanged& event) {
    SQLite::Statement update(database, "UPDATE sessions SET state = ?1, why = ?2, ended_unix_ms = iif(?3, started_unix_ms + ?4, 0) WHERE id = ?5");
    update.bind(1, toString(event.state));
    update.bind(2, event.why);
    update.bind(3, ended(event.state) ? 1 : 0);
    update.bind(4, event.at.ns / 1'000'000);
    update.bind(5, session);
    update.exec();
}

Result<SessionInfo> readInfo(SQLite::Database& database, const std::string& path, std::int64_t session) {
    SQLite::Statement select(
        database,
        "SELECT substr(name, 1, 1000), substr(notes, 1, 1000000), tags, started_unix_ms, config, machine, vocabulary, "
        "parameters, train_tokens, validation_tokens,"
        " first_step, resumed_from, kind, workers, substr(link, 1, 10000), goes_on_with, predicted_bytes, times_unknown FROM sessions"
        " WHERE id = ? AND deleted_unix_ms = 0");
    select.bind(1, session);
    if (!select.executeStep()) return noSuchSession(path, session);
    SessionInfo info;
    info.name = select.getColumn(0).getString();
    info.notes = select.getColumn(1).getString();
    info.tags = tagsFromJson(select.getColumn(2).getString());
    info.startedUnixMs = select.getColumn(3).getInt64();
    info.kind = sessionKindFrom(select.getColumn(12).getString());
    info.config.reset();
    if (const std::string json = select.getColumn(4).getString(); json != "null") {
        auto config = configFromJson(json).about(Subject::Kind::Session, std::to_string(session));
        if (!config) {
            Error error = config.error();
            error.sentence = fmt::format("Session {} of {}: {}", session, path, error.sentence);
            return error;
        }
        info.config = std::move(*config);
    }
    info.machine.reset();
    if (const std::string json = select.getColumn(5).getString(); json != "null") info.machine = machineFromJson(json);
    info.vocabulary = select.getColumn(6).getInt64();
    info.parameters = select.getColumn(7).getInt64();
    info.trainTokens = select.getColumn(8).getInt64();
    info.validationTokens = select.getColumn(9).getInt64();
    info.firstStep = select.getColumn(10).getInt64();
    info.resumedFrom = select.getColumn(11).getString();
    info.workers = select.getColumn(13).getInt64();
    info.link = linkFromJson(select.getColumn(14).getString());
    info.goesOnWith = select.getColumn(15).getInt64();
    info.predictedBytes = select.getColumn(16).getInt64();
    info.timesUnknown = select.getColumn(17).getInt64() != 0;
    for (const std::int64_t count : {info.vocabulary, info.parameters, info.trainTokens, info.validationTokens, info.firstStep, info.workers,
                                     info.goesOnWith, info.predictedBytes})
        if (count < 0 || count > kMostCounted) return damagedRow(path, fmt::format("session {} counts {}", session, count));
    return info;
}

std::string tagsToJson(const std::vector<std::string>& tags) {
    return nlohmann::json(tags).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> tagsFromJson(const std::string& json) {
    return nlohmann::json::parse(json).get<std::vector<std::string>>();
}

}  // namespace stepscope
