// Columns: one row's values, bound or read from left to right. RowWriter and RowReader are the two `io` of EventFields.h.
// What SQLite does not know is written here once: an unknown number is NULL, words stand for enumerations, a switch's value
// keeps its kind by living in a column without a type.
#pragma once
#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include <string>

#include "core/events/Experiment.h"
#include "core/events/RunEvents.h"

namespace stepscope {

const char* wordOf(LogLevel level);
RunState runStateFrom(const std::string& word);  // throws on a word that is none
LogLevel logLevelFrom(const std::string& word);
SessionKind sessionKindFrom(const std::string& word);
ErrorCode errorCodeFrom(const std::string& word);
Subject::Kind subjectKindFrom(const std::string& word);
Arm armFrom(const std::string& word);

class RowWriter {
public:
    explicit RowWriter(SQLite::Statement& statement) : m_statement(statement) {}

    void operator()(const char*, std::int64_t v) { m_statement.bind(++m_at, v); }
    void operator()(const char*, double v) { m_statement.bind(++m_at, v); }  // SQLite makes NULL of NaN by itself
    void operator()(const char*, bool v) { m_statement.bind(++m_at, v ? 1 : 0); }
    void operator()(const char*, TimeNs v) { m_statement.bind(++m_at, v.ns); }
    // Not copied: the row is written before the event goes.
    void operator()(const char*, const std::string& v) { m_statement.bindNoCopy(++m_at, v); }
    void operator()(const char*, RunState v) { m_statement.bind(++m_at, toString(v)); }
    void operator()(const char*, LogLevel v) { m_statement.bind(++m_at, wordOf(v)); }
    void operator()(const char*, Arm v) { m_statement.bind(++m_at, toString(v)); }
    void operator()(const char*, SessionKind v) { m_statement.bind(++m_at, toString(v)); }
    void operator()(const char*, Subject::Kind v) { m_statement.bind(++m_at, toString(v)); }
    void operator()(const char*, std::optional<ErrorCode> v) { m_statement.bind(++m_at, v ? toString(*v) : ""); }
    void operator()(const char* name, const Value& v) {
        std::visit([&](const auto& held) { (*this)(name, held); }, v);
    }

private:
    SQLite::Statement& m_statement;
    int m_at = 0;
};

class RowReader {
public:
    explicit RowReader(SQLite::Statement& statement, int firstColumn = 0) : m_statement(statement), m_at(firstColumn) {}

    void operator()(const char*, std::int64_t& v) { v = next().getInt64(); }
    void operator()(const char*, double& v) {
        const SQLite::Column column = next();
        v = column.isNull() ? kUnknown : column.getDouble();
    }
    void operator()(const char*, bool& v) { v = next().getInt() != 0; }
    void operator()(const char*, TimeNs& v) { v.ns = next().getInt64(); }
    void operator()(const char*, std::string& v) { v = next().getString(); }
    void operator()(const char*, RunState& v) { v = runStateFrom(next().getString()); }
    void operator()(const char*, LogLevel& v) { v = logLevelFrom(next().getString()); }
    void operator()(const char*, Arm& v) { v = armFrom(next().getString()); }
    void operator()(const char*, SessionKind& v) { v = sessionKindFrom(next().getString()); }
    void operator()(const char*, Subject::Kind& v) { v = subjectKindFrom(next().getString()); }
    void operator()(const char*, std::optional<ErrorCode>& v) {
        const std::string word = next().getString();
        v = word.empty() ? std::nullopt : std::optional(errorCodeFrom(word));
    }
    void operator()(const char*, Value& v) {
        const SQLite::Column column = next();
        if (column.isInteger())
            v = static_cast<std::int64_t>(column.getInt64());
        else if (column.isText())
            v = column.getString();
        else
            v = column.isNull() ? kUnknown : column.getDouble();
    }

private:
    SQLite::Column next() { return m_statement.getColumn(m_at++); }
    SQLite::Statement& m_statement;
    int m_at;
};

}  // namespace stepscope
