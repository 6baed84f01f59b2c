#include "sessions/importers/NsightFile.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace stepscope::importing {
namespace {

// As it lies there, without the files that SQLite puts beside a database that others may write to; one of which something is in such a file already
// is read with it. SQLite follows symbolic links before it names them, so that is where they lie.
std::string addressOf(const std::string& path) {
    std::error_code problem;
    auto real = std::filesystem::canonical(path, problem);
    if (problem) real = std::filesystem::absolute(path, problem);
    const auto pending = std::filesystem::file_size(real.string() + "-wal", problem);
    const bool alone = problem || pending == 0;
    std::string address = "file:";
    for (const char c : real.string()) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view("/._-").find(c) != std::string_view::npos;
        address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return address + (alone ? "?immutable=1" : "");
}

}  // namespace

SQLite::Database openNsightFile(const std::string& path) {
    SQLite::Database database(addressOf(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI, 2000);
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_limit(database.getHandle(), SQLITE_LIMIT_LENGTH, 64 << 20);
    return database;
}

NsightRows::NsightRows(SQLite::Database& database, const std::string& table, const std::vector<std::string>& wanted, const std::string& needed) {
    if (!database.tableExists(table)) return;  // a view of that name is none: what it does may have no end
    std::set<std::string> there;
    SQLite::Statement columns(database, "SELECT name FROM pragma_table_info(?)");
    columns.bind(1, table);
    while (columns.executeStep()) there.insert(columns.getColumn(0).getString());
    if (!there.contains(needed)) return;
    std::string sql;
    for (const auto& column : wanted) {
        m_there.push_back(there.contains(column));
        sql += fmt::format("{}{}", sql.empty() ? "SELECT " : ", ", m_there.back() ? fmt::format("\"{}\"", column) : std::string("NULL"));
    }
    m_statement.emplace(database, fmt::format("{} FROM \"{}\"", sql, table));
}

}  // namespace stepscope::importing
