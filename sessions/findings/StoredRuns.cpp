#include "sessions/findings/StoredRuns.h"

#include <SQLiteCpp/Statement.h>

#include "core/events/Event.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

constexpr std::int64_t kPage = 8192;  // events

}  // namespace

Result<StoredRun> readStoredRun(SessionReader& reader, std::int64_t session) {
    StoredRun run;
    for (std::int64_t from = 0;;) {
        const auto events = reader.events(session, from, kPage);
        if (!events) return events.error();
        if (events->empty()) break;
        for (const Event& event : *events) addEvent(run, event);
        from += static_cast<std::int64_t>(events->size());
    }
    run.session = session;
    return run;
}

Result<std::optional<RunSettings>> settingsOfNewest(const std::string& database, const std::string& name) {
    auto connection = openForReading(database);
    if (!connection && connection.error().code == ErrorCode::NotFound) return std::optional<RunSettings>();
    if (!connection) return connection.error();
    return guarded(database, [&]() -> Result<std::optional<RunSettings>> {
        if (!*connection) return std::optional<RunSettings>();
        SQLite::Statement newest(**connection,
                                 "SELECT id FROM sessions WHERE name = ? AND kind = ? AND deleted_unix_ms = 0 ORDER BY id DESC LIMIT 1");
        newest.bind(1, name);
        newest.bind(2, toString(SessionKind::Run));
        if (!newest.executeStep()) return std::optional<RunSettings>();
        SQLite::Statement select(**connection, "SELECT substr(key, 1, 100), substr(value, 1, 4096) FROM config WHERE session = ? ORDER BY position");
        select.bind(1, newest.getColumn(0).getInt64());
        RunSettings settings;
        while (select.executeStep()) settings.emplace_back(select.getColumn(0).getString(), select.getColumn(1).getString());
        return std::optional<RunSettings>(std::move(settings));
    });
}

}  // namespace stepscope
