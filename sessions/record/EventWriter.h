// EventWriter: turns events of one session into rows, one prepared statement a table. Used inside a transaction of the
// recorder's, on its thread; throws SQLite::Exception.
#pragma once
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "core/events/Event.h"

namespace stepscope {

class EventWriter {
public:
    EventWriter(SQLite::Database& database, std::int64_t session) : m_database(database), m_session(session) {}

    // `sequence` orders events of the same instant; writing the same event with the same number again changes nothing.
    void write(const Event& event, std::int64_t sequence);

private:
    template <class E>
    void insert(const E& event, std::int64_t sequence);
    void insertOperations(const CaptureDone& event, std::int64_t sequence);

    SQLite::Database& m_database;
    std::int64_t m_session;
    std::array<std::optional<SQLite::Statement>, std::variant_size_v<AnyEvent>> m_statements;
};

}  // namespace stepscope
