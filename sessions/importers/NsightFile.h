// NsightFile: the database that Nsight Systems exported as a file of a stranger's: how it is opened, and rows of tables of which every version has
// other columns. Used by NsightDatabase.cpp on the importing thread; what SQLite refuses is thrown as SQLite::Exception.
#pragma once
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/SliceCodec.h"

namespace stepscope::importing {

// For reading alone; nothing that the file defines is run, neither its views nor its triggers.
SQLite::Database openNsightFile(const std::string& path);

// A table of which some columns may be missing: those are -1 then.
class NsightRows {
public:
    // needed: without this column it is no such table.
    NsightRows(SQLite::Database& database, const std::string& table, const std::vector<std::string>& wanted, const std::string& needed = "start");
    bool next() { return m_statement && m_statement->executeStep(); }
    bool is(int column) { return !m_statement->getColumn(column).isNull(); }
    std::int64_t whole(int column, std::int64_t otherwise = 0) {
        const auto value = m_statement->getColumn(column);
        return value.isInteger() ? value.getInt64() : otherwise;
    }
    std::string text(int column) {
        const auto value = m_statement->getColumn(column);
        return value.isText() ? value.getString().substr(0, kLongestSliceName) : std::string();
    }

private:
    std::optional<SQLite::Statement> m_statement;
    std::vector<bool> m_there;
};

}  // namespace stepscope::importing
