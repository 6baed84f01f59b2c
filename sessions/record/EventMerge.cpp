// Every table is clustered by (session, at_ns, seq), so each statement steps through its rows in order without
// sorting, and the merge compares at most one key a table for an event.
#include "sessions/record/EventMerge.h"

#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "core/events/Event.h"
#include "sessions/Columns.h"
#include "sessions/EventFields.h"
#include "sessions/Plausible.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLatestStored = 4'000'000'000'000'000'000;  // 126 years
constexpr std::size_t kTables = std::tuple_size_v<StoredEvents>;

template <class E>
std::string selectSql(const char* which) {
    std::string columns = "at_ns, seq";
    for (const auto& column : columnsOf<E>()) columns += ", " + column;
    return fmt::format("SELECT {} FROM {} WHERE session = ?1 AND {}", columns, Table<E>::name, which);
}

constexpr const char* kOnwards = "(at_ns, seq) > (?2, ?3) ORDER BY at_ns, seq";
constexpr const char* kNothing = "0 AND (at_ns, seq) > (?2, ?3) ORDER BY at_ns, seq";

template <class E>
constexpr bool kMeasures = std::is_same_v<E, ExperimentBegan> || std::is_same_v<E, BlockDone> || std::is_same_v<E, ExperimentJudged> ||
                           std::is_same_v<E, StudyBegan> || std::is_same_v<E, StudyRow>;

template <class E>
constexpr bool isOf(EventMerge::Kinds kinds) {
    return kinds == EventMerge::Kinds::All || (kinds == EventMerge::Kinds::Measurements ? kMeasures<E> : std::is_same_v<E, DeviceSample>);
}

// A stranger's numbers: differences of them must fit. Throws.
template <class E>
void checkReadable(const E& event) {
    if (event.at.ns < 0 || event.at.ns > kLatestStored) throw std::out_of_range(fmt::format("{}: an event at {} ns", Table<E>::name, event.at.ns));
    if constexpr (requires { event.step; })
        if (event.step < 0 || event.step > kLatestStored) throw std::out_of_range(fmt::format("{}: step {}", Table<E>::name, event.step));
    if constexpr (requires { checkPlausible(event); }) checkPlausible(event);
}

template <class E>
Event decode(SQLite::Statement& row) {
    E event;
    event.at = {row.getColumn(0).getInt64()};
    RowReader reader(row, 2);
    fields(reader, event);
    checkReadable(event);
    return event;
}

// A key that a stranger made a text or a fraction is greater than every number to SQLite and 0 to us: reading would never come to its end.
EventKey keyOf(SQLite::Statement& row) {
    for (const int column : {0, 1})
        if (!row.getColumn(column).isInteger()) throw std::out_of_range("the time or the number of an event is no whole number");
    return {row.getColumn(0).getInt64(), row.getColumn(1).getInt64()};
}

// The rows beneath a capture. Somebody else may have written them: no more are read than we write.
std::vector<CapturedOperation> operationsOf(SQLite::Database& database, std::int64_t session, EventKey capture) {
    std::string columns;
    for (const auto& column : columnsOf<CapturedOperation>()) columns += (columns.empty() ? "" : ", ") + column;
    SQLite::Statement select(database, fmt::format("SELECT {} FROM {} WHERE session = ?1 AND at_ns = ?2 AND seq = ?3 ORDER BY position LIMIT {}",
                                                   columns, kCapturedOperations, kMostCapturedOperations));
    select.bind(1, session);
    select.bind(2, capture.at);
    select.bind(3, capture.sequence);
    std::vector<CapturedOperation> rows;
    while (select.executeStep()) {
        CapturedOperation operation;
        RowReader reader(select);
        fields(reader, operation);
        for (std::string* text : {&operation.name, &operation.kind, &operation.phase, &operation.role})
            if (text->size() > kLongestOperationName) text->resize(kLongestOperationName);
        rows.push_back(std::move(operation));
    }
    return rows;
}

// One entry a table, in the order of StoredEvents.
template <class Make>
auto forEachTable(Make make) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::array{make.template operator()<std::tuple_element_t<I, StoredEvents>>()...};
    }
    (std::make_index_sequence<kTables>());
}

// "SELECT … UNION ALL SELECT …" over all tables.
std::string unionOf(const char* select) {
    std::string sql;
    for (const char* name : forEachTable([]<class E>() { return Table<E>::name; })) {
        if (!sql.empty()) sql += " UNION ALL ";
        sql += fmt::format(fmt::runtime(select), name);
    }
    return sql;
}

}  // namespace

bool isReadable(const Event& event) {
    try {
        std::visit(
            [](const auto& one) {
                if constexpr (requires { one.at; }) checkReadable(one);
            },
            event);
        return true;
    } catch (const std::out_of_range&) {
        return false;
    }
}

EventMerge::EventMerge(SQLite::Database& database, Kinds kinds) : m_database(database) {
    m_tables.reserve(kTables);
    const auto select = [&]<class E>() { return selectSql<E>(isOf<E>(kinds) ? kOnwards : kNothing); };
    for (const auto& sql : forEachTable(select)) m_tables.emplace_back(database, sql);
}

EventKey EventMerge::read(std::int64_t session, EventKey after, std::int64_t most, std::vector<Event>& into) {
    static const auto decoders = forEachTable([]<class E>() { return &decode<E>; });
    constexpr EventKey kExhausted{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};

    SQLite::Transaction snapshot(m_database);
    std::array<EventKey, kTables> heads;
    const auto advance = [&](std::size_t table) {
        auto& row = m_tables[table];
        heads[table] = row.executeStep() ? keyOf(row) : kExhausted;
    };
    // Open statements hold the snapshot, and an old snapshot keeps the write-ahead log from being emptied.
    struct ResetAll {
        std::vector<SQLite::Statement>& statements;
        ~ResetAll() {
            for (auto& statement : statements) statement.tryReset();
        }
    } resetAll{m_tables};
    for (std::size_t table = 0; table < kTables; ++table) {
        auto& row = m_tables[table];
        row.tryReset();
        row.bind(1, session);
        row.bind(2, after.at);
        row.bind(3, after.sequence);
        advance(table);
    }
    for (std::int64_t taken = 0; taken < most; ++taken) {
        const auto next = std::ranges::min_element(heads);
        if (*next == kExhausted) break;
        const auto table = static_cast<std::size_t>(next - heads.begin());
        after = *next;
        into.push_back(decoders[table](m_tables[table]));
        if (auto* capture = std::get_if<CaptureDone>(&into.back()))
            capture->rows = std::make_shared<const std::vector<CapturedOperation>>(operationsOf(m_database, session, after));
        advance(table);
    }
    return after;
}

EventKey EventMerge::skip(std::int64_t session, std::int64_t count) {
    if (count <= 0) return {};
    SQLite::Statement select(m_database, unionOf("SELECT at_ns, seq FROM {} WHERE session = ?1") + " ORDER BY 1, 2 LIMIT 1 OFFSET ?2");
    select.bind(1, session);
    select.bind(2, count - 1);
    if (select.executeStep()) return keyOf(select);
    return {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
}

std::int64_t EventMerge::count(std::int64_t session) {
    SQLite::Statement select(m_database, "SELECT sum(n) FROM (" + unionOf("SELECT count(*) AS n FROM {} WHERE session = ?1") + ")");
    select.bind(1, session);
    select.executeStep();
    return select.getColumn(0).getInt64();
}

TimeNs EventMerge::lastTime(std::int64_t session) {
    SQLite::Statement select(m_database, "SELECT max(t) FROM (" + unionOf("SELECT max(at_ns) AS t FROM {} WHERE session = ?1") + ")");
    select.bind(1, session);
    select.executeStep();
    return {select.getColumn(0).getInt64()};
}

TimeNs EventMerge::timeOfStep(std::int64_t session, std::int64_t step) {
    SQLite::Statement last(m_database, "SELECT at_ns, step FROM steps WHERE session = ? ORDER BY at_ns DESC, seq DESC LIMIT 1");
    last.bind(1, session);
    if (!last.executeStep() || last.getColumn(1).getInt64() < step) return lastTime(session);
    // Steps are numbered in order of time: at `high` it is made, before `low` it is not.
    SQLite::Statement until(m_database, "SELECT at_ns, step FROM steps WHERE session = ? AND at_ns <= ? ORDER BY at_ns DESC, seq DESC LIMIT 1");
    std::int64_t low = 0, high = last.getColumn(0).getInt64();
    while (low < high) {
        const std::int64_t middle = std::midpoint(low, high);
        until.tryReset();
        until.bind(1, session);
        until.bind(2, middle);
        if (until.executeStep() && until.getColumn(1).getInt64() >= step)
            high = until.getColumn(0).getInt64();
        else
            low = middle + 1;
    }
    return {high};
}

StandingEvents EventMerge::standingAt(std::int64_t session, TimeNs at) {
    const auto last = [&]<class E>(std::optional<E>& into) {
        SQLite::Statement select(m_database, selectSql<E>("at_ns <= ?2 ORDER BY at_ns DESC, seq DESC LIMIT 1"));
        select.bind(1, session);
        select.bind(2, at.ns);
        if (select.executeStep()) into = std::get<E>(decode<E>(select));
    };
    StandingEvents standing;
    last(standing.state);
    last(standing.preparing);
    last(standing.text);
    return standing;
}

std::int64_t EventMerge::stepAt(std::int64_t session, TimeNs at, std::int64_t before) {
    SQLite::Statement select(m_database, "SELECT step FROM steps WHERE session = ? AND at_ns <= ? ORDER BY at_ns DESC, seq DESC LIMIT 1");
    select.bind(1, session);
    select.bind(2, at.ns);
    return select.executeStep() ? select.getColumn(0).getInt64() : before;
}

}  // namespace stepscope
