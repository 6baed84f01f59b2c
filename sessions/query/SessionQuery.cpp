#include "sessions/query/SessionQuery.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <numeric>

#include "core/base/Check.h"
#include "core/base/Format.h"
#include "sessions/file/SqliteError.h"
#include "sessions/query/QueryFile.h"

namespace stepscope {
namespace query {

std::int64_t QueryFile::captureOf(std::int64_t at, std::int64_t step) const {
    const auto next = std::ranges::lower_bound(captures, at, {}, &StoredCapture::end);
    const auto has = [step](const StoredCapture& one) { return one.firstStep <= step && step <= one.lastStep; };
    const bool late = step >= 0 && next != captures.begin() && has(*std::prev(next)) && (next == captures.end() || !has(*next));
    return (late ? 0 : 1) + (next - captures.begin());
}

double QueryFile::records(const char* kind) const {
    double sum = 0;
    for (const auto& lane : lanes)
        if (lane.kind == kind) sum += static_cast<double>(std::clamp<std::int64_t>(lane.records, 0, std::int64_t{1} << 40));
    return sum;
}

Result<QueryFile> openQueryFile(const std::string& path, std::int64_t session) {
    QueryFile file{.path = path, .session = session, .reader = {}, .tables = {}, .lanes = {}, .captures = {}};
    auto reader = SessionReader::open(path);
    if (!reader) return reader.error();
    file.reader = std::move(*reader);
    if (const auto known = file.reader->summary(session); !known) return known.error();
    auto lanes = file.reader->chunkLanes(session);
    if (!lanes) return lanes.error();
    file.lanes = std::move(*lanes);
    auto tables = openForReading(path);
    if (!tables) return tables.error();
    file.tables = std::move(*tables);
    const Status read = guarded(path, [&]() -> Status {
        SQLite::Statement ends(*file.tables, "SELECT at_ns, first_step, step FROM captures WHERE session = ? ORDER BY at_ns");
        ends.bind(1, session);
        while (ends.executeStep())
            file.captures.push_back({ends.getColumn(0).getInt64(), ends.getColumn(1).getInt64(), ends.getColumn(2).getInt64()});
        return {};
    });
    if (!read) return read.error();
    std::ranges::sort(file.captures, {}, &QueryFile::StoredCapture::end);  // a stranger's index may be out of order
    return file;
}

const QueryView& viewNamed(const std::string& name) {
    const auto found = std::ranges::find(queryViews(), name, &QueryView::name);
    SS_CHECK(found != queryViews().end());
    return *found;
}

namespace {

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
using Prepared = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

// Behind blanks and comments.
std::string_view withoutComments(std::string_view sql) {
    for (;;) {
        while (!sql.empty() && (std::isspace(static_cast<unsigned char>(sql.front())) != 0 || sql.front() == ';')) sql.remove_prefix(1);
        if (sql.starts_with("--"))
            sql.remove_prefix(std::min(sql.find('\n'), sql.size()));
        else if (sql.starts_with("/*")) {
            const auto end = sql.find("*/", 2);
            sql.remove_prefix(end == std::string_view::npos ? sql.size() : end + 2);
        } else
            return sql;
    }
}

std::string upperWord(std::string_view sql) {
    std::string word;
    for (const char c : sql) {
        if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '(' || c == ';' || word.size() == 20) break;
        word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return word;
}

QueryPlace placeOf(std::string_view sql, std::size_t offset) {
    QueryPlace place;
    for (const char c : sql.substr(0, offset)) {
        if (c == '\n') {
            ++place.line;
            place.column = 1;
        } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
            ++place.column;
        }
    }
    return place;
}

// How many letters have to change.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t corner = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
            corner = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
        }
    }
    return row[b.size()];
}

std::string nearest(std::string_view name) {
    std::string best;
    std::size_t least = 3;
    const auto look = [&](const std::string& candidate) {
        if (const std::size_t d = distance(name, candidate); d < least && d * 2 < candidate.size()) {
            least = d;
            best = candidate;
        }
    };
    for (const auto& view : queryViews())
        for (const auto& column : view.columns) look(column.name);
    return best;
}

// What SQLite says, with what helps. It has no codes of their own for names that it does not know (all of a text's mistakes are SQLITE_ERROR) and
// hands out the name in its sentence alone, so these two are known by their words; where they are others some day, its sentence stands as it is.
std::string wrongWords(int code, const std::string& message, std::size_t length) {
    if (code == SQLITE_TOOBIG)
        return length > static_cast<std::size_t>(kLongestSql) ? fmt::format("it is longer than {} bytes", format::count(kLongestSql))
                                                              : fmt::format("a value of it is longer than {} KiB", kLongestValue >> 10);
    const auto behind = [&](std::string_view start) -> std::optional<std::string> {
        if (!message.starts_with(start)) return std::nullopt;
        return message.substr(start.size(), 100);
    };
    if (const auto table = behind("no such table: ")) {
        std::vector<std::string> names;
        for (const auto& view : queryViews()) names.push_back(view.name);
        return fmt::format("there is no view \"{}\"; there are {}", *table, fmt::join(names, ", "));
    }
    if (auto column = behind("no such column: ")) {
        const auto dot = column->rfind('.');
        const std::string near = nearest(dot == std::string::npos ? *column : column->substr(dot + 1));
        return fmt::format("there is no column \"{}\"{}", *column,
                           near.empty() ? std::string("; a text is written 'in single quotes'") : "; is it " + near + "?");
    }
    return message.substr(0, 300);
}

QueryValue valueOf(sqlite3_stmt* statement, int column) {
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    switch (sqlite3_column_type(statement, column)) {
        case SQLITE_INTEGER:
            return std::int64_t{sqlite3_column_int64(statement, column)};
        case SQLITE_FLOAT:
            return sqlite3_column_double(statement, column);
        case SQLITE_TEXT:
            return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)), size);
        case SQLITE_BLOB: {
            const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
            std::string digits;
            for (std::size_t i = 0; i < size; ++i) digits += fmt::format("{:02X}", bytes[i]);
            return digits;
        }
        default:
            return {};
    }
}

class SqliteQuery final : public SessionQuery {
public:
    SqliteQuery(std::string path, std::int64_t session) : m_path(std::move(path)), m_session(session) {}

    Result<QueryResult> run(const std::string& sql, const QueryLimits& limits) override {
        m_wrongAt.reset();
        const auto began = std::chrono::steady_clock::now();
        const std::string_view first = withoutComments(sql);
        if (first.empty()) return makeError(ErrorCode::BadInput, "There is no query; type one, \"SELECT name, dur_ns FROM op LIMIT 10\" for one.");
        if (const auto nul = sql.find('\0'); nul != std::string::npos) return wrong(sql, nul, "there is a character 0");
        const std::string word = upperWord(first);
        if (std::ranges::find(kReading, word) == kReading.end() && std::ranges::find(kWriting, word) != kWriting.end())
            return wrong(sql, static_cast<std::size_t>(first.data() - sql.data()),
                         fmt::format("a query can only read, and {} would not: it begins with SELECT, WITH or VALUES", word));

        QueryGuard guard(limits, m_cancelled);
        auto file = openQueryFile(m_path, m_session);
        if (!file) return file.error();
        if (file->tables) {
            // What is read of the file is bounded by the same clock.
            sqlite3_progress_handler(
                file->tables->getHandle(), 1000, [](void* given) { return static_cast<QueryGuard*>(given)->over() ? 1 : 0; }, &guard);
        }
        RowSources sources;
        addSliceSources(sources, *file, guard);
        addBulkSources(sources, *file, guard);
        addStoredSources(sources, *file, guard);
        sqlite3* opened = nullptr;
        const int rc = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY, nullptr);
        const Database database(opened, &sqlite3_close);
        if (rc != SQLITE_OK) return sqliteError(m_path, rc, sqlite3_errstr(rc));
        guard.watch(opened);
        if (auto added = addViews(opened, sources, guard); !added) return added.error();

        sqlite3_stmt* made = nullptr;
        const char* tail = nullptr;
        const int prepared = sqlite3_prepare_v2(opened, sql.data(), static_cast<int>(sql.size()), &made, &tail);
        const Prepared statement(made, &sqlite3_finalize);
        if (prepared != SQLITE_OK) return failed(sql, opened, guard);
        const std::string_view rest = withoutComments(std::string_view(sql).substr(static_cast<std::size_t>(tail - sql.data())));
        if (!rest.empty()) return wrong(sql, static_cast<std::size_t>(rest.data() - sql.data()), "a query is one statement, and here another begins");
        if (made == nullptr || sqlite3_stmt_readonly(made) == 0 || sqlite3_column_count(made) == 0)
            return wrong(sql, 0, "a query can only read: it begins with SELECT, WITH or VALUES");
        if (sqlite3_bind_parameter_count(made) > 0) return wrong(sql, 0, fmt::format("{} stands for a value that nobody gives", parameterOf(made)));

        QueryResult result;
        for (int c = 0; c < sqlite3_column_count(made); ++c) result.columns.emplace_back(sqlite3_column_name(made, c));
        std::int64_t bytes = 0;
        for (;;) {
            const int stepped = sqlite3_step(made);
            if (stepped == SQLITE_DONE) break;
            if (stepped != SQLITE_ROW) return failed(sql, opened, guard);
            if (static_cast<std::int64_t>(result.rows.size()) >= limits.rows) {
                result.more = true;
                break;
            }
            auto& row = result.rows.emplace_back();
            row.reserve(result.columns.size());
            for (int c = 0; c < static_cast<int>(result.columns.size()); ++c) {
                row.push_back(valueOf(made, c));
                bytes += static_cast<std::int64_t>(sizeof(QueryValue));
                if (const auto* text = std::get_if<std::string>(&row.back())) bytes += static_cast<std::int64_t>(text->size());
            }
            if (bytes > limits.resultBytes)
                return makeError(ErrorCode::BadInput,
                                 fmt::format("The result is larger than {}; ask for fewer rows or columns (LIMIT, WHERE, GROUP BY).",
                                             format::bytes({limits.resultBytes})));
        }
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        return result;
    }

    std::optional<QueryPlace> wrongAt() const override { return m_wrongAt; }
    void cancel() override { m_cancelled = true; }

private:
    static constexpr std::array<std::string_view, 4> kReading{"SELECT", "WITH", "VALUES", "EXPLAIN"};
    static constexpr std::array<std::string_view, 21> kWriting{"INSERT", "UPDATE",  "DELETE",    "REPLACE", "CREATE",  "DROP",   "ALTER",
                                                               "ATTACH", "DETACH",  "PRAGMA",    "VACUUM",  "BEGIN",   "COMMIT", "ROLLBACK",
                                                               "END",    "ANALYZE", "SAVEPOINT", "RELEASE", "REINDEX", "MERGE",  "TRUNCATE"};

    static std::string parameterOf(sqlite3_stmt* statement) {
        const char* name = sqlite3_bind_parameter_name(statement, 1);
        return name == nullptr ? "?" : name;
    }

    Error wrong(const std::string& sql, std::size_t offset, const std::string& what) {
        m_wrongAt = placeOf(sql, offset);
        return makeError(ErrorCode::BadInput, fmt::format("The query is wrong at line {}, column {}: {}{}", m_wrongAt->line, m_wrongAt->column, what,
                                                          what.ends_with('?') ? "" : "."));
    }

    Error failed(const std::string& sql, sqlite3* database, const QueryGuard& guard) {
        if (guard.error()) return *guard.error();
        const int offset = sqlite3_error_offset(database), code = sqlite3_errcode(database);
        const std::string message = sqlite3_errmsg(database);
        if (code == SQLITE_NOMEM) return makeError(ErrorCode::OutOfMemory, "There is not enough memory for this query; ask for less.", message);
        const std::string what = guard.refusal().empty() ? wrongWords(code, message, sql.size()) : guard.refusal();
        if (offset >= 0) return wrong(sql, static_cast<std::size_t>(offset), what);
        return makeError(ErrorCode::BadInput, fmt::format("The query is wrong: {}{}", what, what.ends_with('?') ? "" : "."), message);
    }

    std::string m_path;
    std::int64_t m_session;
    std::atomic<bool> m_cancelled = false;
    std::optional<QueryPlace> m_wrongAt;
};

}  // namespace
}  // namespace query

const std::vector<QueryView>& queryViews() {
    static const std::vector<QueryView> all = [] {
        auto views = query::sliceViews();
        for (auto family : {query::bulkViews(), query::storedViews()}) std::ranges::move(family, std::back_inserter(views));
        return views;
    }();
    return all;
}

Result<SavedQuery> savedQuery(const std::string& id) {
    std::vector<std::string> ids;
    for (const auto& one : savedQueries()) {
        if (one.id == id) return one;
        ids.push_back(one.id);
    }
    return makeError(ErrorCode::NotFound, fmt::format("There is no saved query \"{}\"; there are {}.", id, fmt::join(ids, ", ")));
}

Result<std::unique_ptr<SessionQuery>> SessionQuery::open(const std::string& path, std::int64_t session) {
    if (const auto file = query::openQueryFile(path, session); !file) return file.error();
    return std::unique_ptr<SessionQuery>(std::make_unique<query::SqliteQuery>(path, session));
}

}  // namespace stepscope
