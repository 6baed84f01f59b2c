// The session's ordinary tables, a view each: every event that has a table (EventFields.h), its configuration, and what captures summed up. Read by
// fixed statements that name the session, on a connection of their own.
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <algorithm>

#include "sessions/EventFields.h"
#include "sessions/file/SqliteError.h"
#include "sessions/query/QueryFile.h"

namespace stepscope::query {
namespace {

class StatementRows final : public Rows {
public:
    StatementRows(QueryFile& file, const std::string& sql, const Asked& asked) : m_file(file), m_sql(sql), m_asked(asked) {}

    Result<bool> next() override {
        return guarded(m_file.path, [&]() -> Result<bool> {
            if (!m_file.tables) return false;
            if (!m_statement) {
                m_statement.emplace(*m_file.tables, m_sql);
                m_statement->bind(1, m_file.session);
                if (m_statement->getBindParameterCount() > 1) {
                    m_statement->bind(2, m_asked.from);
                    m_statement->bind(3, m_asked.to);
                }
                m_texts.resize(static_cast<std::size_t>(m_statement->getColumnCount()));
            }
            return m_statement->executeStep();
        });
    }
    // What is too long for a value of a query is cut.
    Cell cell(int column) override {
        constexpr int kLongest = 100'000;
        const SQLite::Column value = m_statement->getColumn(column);
        std::string& text = m_texts[static_cast<std::size_t>(column)];
        if (value.isInteger()) return value.getInt64();
        if (value.isFloat()) return value.getDouble();
        if (value.isNull()) return {};
        if (value.isBlob()) {
            text.clear();
            const auto* bytes = static_cast<const unsigned char*>(value.getBlob());
            for (int i = 0; i < std::min(value.getBytes(), kLongest / 2); ++i) text += fmt::format("{:02X}", bytes[i]);
        } else {
            const char* stored = value.getText();
            text.assign(stored, static_cast<std::size_t>(std::min(value.getBytes(), kLongest)));
        }
        return std::string_view(text);
    }

private:
    QueryFile& m_file;
    std::string m_sql;
    Asked m_asked;
    std::optional<SQLite::Statement> m_statement;
    std::vector<std::string> m_texts;
};

struct StoredTable {
    QueryView view;
    std::string sql;
    bool timed = true;
};

// Names of columns that say what they hold; the others are words.
std::string typeOf(const std::string& column, const std::string& table) {
    if (column.ends_with("_ns") || column.ends_with("_bytes") || column == "step" || column == "steps") return "integer";
    return table == "steps" && column == "loss" ? "real" : "any";
}

// Bytes that may be unknown are stored as real numbers, and yet whole; what a stranger wrote there in words stays words.
std::string selected(const std::string& column, const std::string& type) {
    if (type != "integer") return fmt::format("\"{}\"", column);
    return fmt::format("CASE typeof(\"{0}\") WHEN 'real' THEN CAST(\"{0}\" AS INTEGER) ELSE \"{0}\" END", column);
}

template <class E>
StoredTable tableOfEvent(const char* about) {
    StoredTable made;
    made.view.name = Table<E>::name;
    made.view.about = about;
    made.view.columns.push_back({"at_ns", "integer", "when, ns since the session began"});
    std::string columns = "at_ns";
    for (const auto& column : columnsOf<E>()) {
        const std::string type = typeOf(column, made.view.name);
        made.view.columns.push_back({column, type, ""});
        columns += ", " + selected(column, type);
    }
    made.sql = fmt::format("SELECT {} FROM \"{}\" WHERE session = ?1 AND at_ns >= ?2 AND at_ns <= ?3 ORDER BY at_ns, seq", columns, made.view.name);
    return made;
}

const std::vector<StoredTable>& storedTables() {
    static const std::vector<StoredTable> all = [] {
        std::vector<StoredTable> made{
            tableOfEvent<StepDone>("every step of the run: time by phase, loss, tokens, memory"),
            tableOfEvent<ValidationDone>("loss on the validation text"),
            tableOfEvent<SwitchApplied>("switches that were flipped"),
            tableOfEvent<SwitchRefused>("switches that were refused, and why"),
            tableOfEvent<DeviceSample>("samples of the machine, a row a sample"),
            tableOfEvent<LogLine>("the log"),
            tableOfEvent<StateChanged>("running, paused, finished, …"),
            tableOfEvent<CheckpointSaved>("checkpoints"),
            tableOfEvent<TextGenerated>("texts that the model wrote"),
            tableOfEvent<Preparing>("what was done before the first step"),
            tableOfEvent<RecorderWaited>("when training waited for the disk"),
            tableOfEvent<CaptureDone>("captures, a row each"),
            tableOfEvent<ExperimentBegan>("what an experiment asks"),
            tableOfEvent<BlockDone>("blocks of steps of an experiment"),
            tableOfEvent<ExperimentJudged>("what the pairs of an experiment say"),
            tableOfEvent<StudyBegan>("what a ladder or search asks"),
            tableOfEvent<StudyRow>("rows of a ladder or search"),
        };
        static_assert(std::tuple_size_v<StoredEvents> == 17, "a view for each table");
        made.push_back({{"config", "the configuration, a row a key", {{"key", "text", ""}, {"value", "text", ""}}},
                        "SELECT key, value FROM config WHERE session = ?1 ORDER BY position",
                        false});
        return made;
    }();
    return all;
}

class StoredSource final : public RowSource {
public:
    StoredSource(const StoredTable& table, QueryFile& file) : RowSource(viewNamed(table.view.name)), m_table(table), m_file(file) {}
    int timeColumn() const override { return m_table.timed ? 0 : -1; }
    double expectedRows() override { return 1000; }
    std::unique_ptr<Rows> rows(const Asked& asked) override { return statementRows(m_file, m_table.sql, asked); }

private:
    const StoredTable& m_table;
    QueryFile& m_file;
};

}  // namespace

std::unique_ptr<Rows> statementRows(QueryFile& file, const std::string& sql, const Asked& asked) {
    return std::make_unique<StatementRows>(file, sql, asked);
}

std::vector<QueryView> storedViews() {
    std::vector<QueryView> all;
    for (const auto& table : storedTables()) all.push_back(table.view);
    return all;
}

void addStoredSources(RowSources& into, QueryFile& file, QueryGuard&) {
    for (const auto& table : storedTables()) into.push_back(std::make_unique<StoredSource>(table, file));
}

}  // namespace stepscope::query
