#include "sessions/query/QueryGuard.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/Format.h"

namespace stepscope::query {
namespace {

constexpr int kOperationsBetween = 1000;  // of SQLite's machine, from one look at the clock to the next
constexpr int kLongestPattern = 10'000;   // of LIKE and GLOB

// By name, so that a function which another version of SQLite adds is refused until somebody has looked at it.
constexpr std::array kFunctions = std::to_array<std::string_view>({
    "->",
    "->>",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "degrees",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_object",
    "json_quote",
    "json_type",
    "json_valid",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "percent_rank",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "radians",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "subtype",
    "sum",
    "tan",
    "tanh",
    "time",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unicode",
    "unixepoch",
    "unlikely",
    "upper",
});
static_assert(std::ranges::is_sorted(kFunctions));

std::string_view textOf(sqlite3_value* value) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    return text == nullptr ? std::string_view() : std::string_view(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

// One character behind `at`; bytes that are no UTF-8 count one by one.
std::size_t behind(std::string_view text, std::size_t at) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    return at;
}
char lowered(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// LIKE as SQLite has it, but going back to the last % only: its own tries all of them, which takes for ever on a pattern made for it.
bool isLike(std::string_view pattern, std::string_view text, std::string_view escape, QueryGuard& guard) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, starText = 0;
    while (t < text.size() && !guard.overInside()) {
        const bool escaped = p < pattern.size() && !escape.empty() && pattern.substr(p).starts_with(escape);
        const std::size_t word = escaped ? p + escape.size() : p;
        if (!escaped && p < pattern.size() && pattern[p] == '%') {
            star = ++p;
            starText = t;
        } else if (!escaped && p < pattern.size() && pattern[p] == '_') {
            ++p;
            t = behind(text, t);
        } else if (word < pattern.size() && lowered(pattern[word]) == lowered(text[t])) {
            p = word + 1;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star;
            t = starText = behind(text, starText);
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '%') ++p;
    return p == pattern.size();
}

// What LIKE or GLOB answers: SQLite's own limit of their patterns is one of its functions, not of these.
template <class Match>
void matched(sqlite3_context* context, std::string_view pattern, Match match) {
    if (pattern.size() > kLongestPattern) return sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
    auto& guard = *static_cast<QueryGuard*>(sqlite3_user_data(context));
    const bool found = match(guard);
    if (guard.error()) return sqlite3_result_error(context, "interrupted", -1);
    sqlite3_result_int(context, found ? 1 : 0);
}

void like(sqlite3_context* context, int count, sqlite3_value** values) {
    for (int i = 0; i < count; ++i)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) return;
    const std::string_view escape = count == 3 ? textOf(values[2]) : std::string_view();
    if (count == 3 && (escape.empty() || behind(escape, 0) != escape.size()))
        return sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
    matched(context, textOf(values[0]), [&](QueryGuard& guard) { return isLike(textOf(values[0]), textOf(values[1]), escape, guard); });
}

// The whole character at `at`.
std::string_view character(std::string_view text, std::size_t at) {
    return text.substr(at, behind(text, at) - at);
}

// GLOB with * and ?, and classes of characters in brackets. Characters are compared byte by byte, which orders UTF-8 as its characters are numbered.
bool inClass(std::string_view pattern, std::size_t& at, std::string_view one) {
    std::size_t p = at + 1;
    const bool inverted = p < pattern.size() && pattern[p] == '^';
    if (inverted) ++p;
    bool found = false;
    std::string_view before;  // what a range could begin with
    if (p < pattern.size() && pattern[p] == ']') {
        found = one == "]";
        ++p;
    }
    while (p < pattern.size() && pattern[p] != ']') {
        const bool range = pattern[p] == '-' && !before.empty() && p + 1 < pattern.size() && pattern[p + 1] != ']';
        if (range) ++p;
        const std::string_view next = character(pattern, p);
        found = found || (range ? before <= one && one <= next : next == one);
        before = range ? std::string_view() : next;
        p += next.size();
    }
    if (p >= pattern.size()) return false;
    at = p + 1;
    return found != inverted;
}

bool isGlob(std::string_view pattern, std::string_view text, QueryGuard& guard) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, starText = 0;
    while (t < text.size() && !guard.overInside()) {
        std::size_t next = p;
        if (p < pattern.size() && pattern[p] == '*') {
            star = ++p;
            starText = t;
        } else if (p < pattern.size() && pattern[p] == '?') {
            ++p;
            t = behind(text, t);
        } else if (p < pattern.size() && pattern[p] == '[' && inClass(pattern, next, character(text, t))) {
            p = next;
            t = behind(text, t);
        } else if (p < pattern.size() && pattern[p] != '[' && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star;
            t = starText = behind(text, starText);
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

void glob(sqlite3_context* context, int, sqlite3_value** values) {
    if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL) return;
    matched(context, textOf(values[0]), [&](QueryGuard& guard) { return isGlob(textOf(values[0]), textOf(values[1]), guard); });
}

}  // namespace

QueryGuard::QueryGuard(const QueryLimits& limits, const std::atomic<bool>& cancelled)
    : m_limits(limits),
      m_cancelled(cancelled),
      m_deadline(Clock::now() + std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(limits.seconds, 0.0, 1e6) * 1e9))),
      m_memory([this] { return over(); }) {}

void QueryGuard::watch(sqlite3* connection) {
    for (const auto& [limit, most] : {std::pair(SQLITE_LIMIT_LENGTH, kLongestValue),
                                      {SQLITE_LIMIT_SQL_LENGTH, kLongestSql},
                                      {SQLITE_LIMIT_COLUMN, 500},
                                      {SQLITE_LIMIT_EXPR_DEPTH, 200},
                                      {SQLITE_LIMIT_COMPOUND_SELECT, 100},
                                      {SQLITE_LIMIT_VDBE_OP, 1'000'000},
                                      {SQLITE_LIMIT_FUNCTION_ARG, 100},
                                      {SQLITE_LIMIT_ATTACHED, 0},
                                      {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kLongestPattern},
                                      {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                      {SQLITE_LIMIT_WORKER_THREADS, 0}})
        sqlite3_limit(connection, limit, most);
    for (const int option : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA,
                             SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL})
        sqlite3_db_config(connection, option, 0, static_cast<int*>(nullptr));
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, static_cast<int*>(nullptr));
    // What a query sorts and groups stays in memory, where over() sees it: a query leaves nothing on the disk.
    sqlite3_exec(connection, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
    std::array<const char*, 3> kept{"json_each", "json_tree", nullptr};
    sqlite3_drop_modules(connection, kept.data());
    // Used once, they are known: it is their making that an authorizer would take for a change.
    sqlite3_exec(connection, "SELECT 1 FROM json_each('[]'), json_tree('[]')", nullptr, nullptr, nullptr);
    constexpr int kPure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    for (const int arguments : {2, 3}) sqlite3_create_function_v2(connection, "like", arguments, kPure, this, like, nullptr, nullptr, nullptr);
    sqlite3_create_function_v2(connection, "glob", 2, kPure, this, glob, nullptr, nullptr, nullptr);
    sqlite3_progress_handler(
        connection, kOperationsBetween, [](void* self) { return static_cast<QueryGuard*>(self)->over() ? 1 : 0; }, this);
    sqlite3_set_authorizer(connection, authorize, this);
}

bool QueryGuard::over() {
    if (m_error) return true;
    if (m_cancelled)
        fail(makeError(ErrorCode::Cancelled, "The query was cancelled."));
    else if (Clock::now() > m_deadline)
        fail(makeError(ErrorCode::BadInput,
                       fmt::format("The query was ended at its limit of {} s; ask for a shorter range of start_ns or for less, or "
                                   "give it more time.",
                                   format::significant(m_limits.seconds))));
    else if (m_memory.bytes() + m_held > m_limits.memory)
        fail(makeError(ErrorCode::OutOfMemory, fmt::format("The query was ended because it needs more than {} of memory; ask for a shorter range of "
                                                           "start_ns, or sort and group less.",
                                                           format::bytes({m_limits.memory}))));
    return m_error.has_value();
}

bool QueryGuard::overInside() {
    constexpr std::uint64_t kBetween = 1 << 20;  // about a millisecond
    return m_error || (++m_compared % kBetween == 0 && over());
}

int QueryGuard::authorize(void* self, int action, const char* first, const char* second, const char*, const char*) {
    return static_cast<QueryGuard*>(self)->allows(action, first == nullptr ? "" : first, second == nullptr ? "" : second);
}

int QueryGuard::allows(int action, const char* first, const char* second) {
    // Asked for every column and every SELECT that is prepared, also where a short text unfolds into very many of them.
    if (over()) return SQLITE_DENY;
    if (m_declaring) return SQLITE_OK;
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_RECURSIVE:
            return SQLITE_OK;
        case SQLITE_READ:
            // Nothing else is there to be read (watch() has dropped it) but names that the query gives itself.
            if (const std::string_view name = first; !name.starts_with("sqlite_") && !name.starts_with("pragma_")) return SQLITE_OK;
            m_refusal = fmt::format("\"{}\" cannot be read by a query", first);
            return SQLITE_DENY;
        case SQLITE_FUNCTION:
            if (std::ranges::binary_search(kFunctions, std::string_view(second))) return SQLITE_OK;
            m_refusal = fmt::format("the function {}() is not for queries", second);
            return SQLITE_DENY;
        default:
            m_refusal = "a query can only read, and this would change something";
            return SQLITE_DENY;
    }
}

}  // namespace stepscope::query
