// NsightFile: the database that Nsight Systems exported as a file of a stranger's: how it is opened, and rows of tables of which every version has
// other columns. Used by NsightDatabase.cpp on the importing thread; what SQLite refuses is thrown as SQLite::Exception.
#pragma once
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stepscope::importing {

class TraceBuilder;

// For reading alone; nothing that the file defines is run, neither its views nor its triggers.
SQLite::Database openNsightFile(const std::string& path);

// A table of which some columns may be missing: those are -1 then.
class NsightRows {
public:
    // needed: without this column it is no such table.
    NsightRows(SQLite::Database& database, const std::string& table, const std::vector<std::string>& wanted, const std::string& needed = "start");
    bool next() { return m_statement && m_statement->executeStep(); }
    bool has(int column) const { return m_there.at(static_cast<std::size_t>(column)); }  // the table, whatever a row has there
    bool is(int column) { return !m_statement->getColumn(column).isNull(); }
    std::int64_t whole(int column, std::int64_t otherwise = 0) {
        const auto value = m_statement->getColumn(column);
        return value.isInteger() ? value.getInt64() : otherwise;
    }
    bool isWhole(int column) { return m_statement->getColumn(column).isInteger(); }
    bool isText(int column) { return m_statement->getColumn(column).isText(); }
    // Of a name: 0 where there is none, -1 where it is no number.
    std::int64_t id(int column) { return is(column) ? whole(column, -1) : 0; }
    std::string text(int column) { return isText(column) ? shown(column) : std::string(); }
    std::string shown(int column) { return m_statement->getColumn(column).getString(); }  // also of a number

private:
    std::optional<SQLite::Statement> m_statement;
    std::vector<bool> m_there;
};

// What the file says of itself and of its GPUs; `tick` is called for each row.
void readNsightFacts(SQLite::Database& database, TraceBuilder& trace, const std::function<void()>& tick);

// What Nsight Systems warns of in it, above all what it lost, as sentences; nothing where the file does not name its severities.
void readNsightWarnings(SQLite::Database& database, TraceBuilder& trace, const std::function<void()>& tick);

}  // namespace stepscope::importing
