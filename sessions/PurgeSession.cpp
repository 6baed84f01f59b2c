#include "sessions/PurgeSession.h"

#include <SQLiteCpp/Statement.h>

#include <string>
#include <utility>

#include "sessions/ChunkTables.h"
#include "sessions/EventFields.h"

namespace stepscope {

void purgeSession(SQLite::Database& database, std::int64_t session) {
    const auto purge = [&](const std::string& table, const char* key) {
        SQLite::Statement statement(database, "DELETE FROM " + table + " WHERE " + key + " = ?");
        statement.bind(1, session);
        statement.exec();
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (purge(Table<std::tuple_element_t<I, StoredEvents>>::name, "session"), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<StoredEvents>>());
    purgeChunks(database, session);
    purge(kCapturedOperations, "session");
    for (const char* foretold : {"forecasts", "timed_steps"}) purge(foretold, "session");
    purge("config", "session");
    purge("sessions", "id");
}

}  // namespace stepscope
