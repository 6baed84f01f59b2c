// Virtual tables over RowSource, as https://www.sqlite.org/vtab.html asks for them. They have no xCreate: each is there by its name, and nothing is
// stored in any schema.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/KeyedHash.h"
#include "sessions/query/RowSource.h"

namespace stepscope::query {
namespace {

// What a plan made of the constraints: bits of idxNum, each with one value for xFilter in this order.
enum Plan : int { kKey = 1, kFrom = 2, kTo = 4 };

struct VirtualTable : sqlite3_vtab {
    RowSource* source = nullptr;
    QueryGuard* guard = nullptr;
};
struct Registered {
    RowSource* source;
    QueryGuard* guard;
};
struct Cursor : sqlite3_vtab_cursor {
    std::unique_ptr<Rows> rows;
    bool atEnd = true;
    std::optional<std::int64_t> id;                // of the present row, where somebody asked
    KeyedMap<std::uint64_t, std::uint64_t> alike;  // rows so far that somebody asked the id of, by what is in them
};

VirtualTable& tableOf(sqlite3_vtab_cursor* cursor) {
    return *static_cast<VirtualTable*>(cursor->pVtab);
}

constexpr std::int64_t kAlikeBytes = 48;  // of an entry of Cursor::alike and its place in the table, about

void forgetAlike(Cursor& cursor) {
    tableOf(&cursor).guard->hold(-kAlikeBytes * static_cast<std::int64_t>(cursor.alike.size()));
    cursor.alike.clear();
}

std::string declaration(const QueryView& view) {
    std::string sql = "CREATE TABLE x(";
    for (const auto& column : view.columns)
        sql += fmt::format("{}\"{}\" {}", &column == view.columns.data() ? "" : ", ", column.name, column.type == "any" ? "" : column.type);
    return sql + ")";
}

int connect(sqlite3* connection, void* aux, int, const char* const*, sqlite3_vtab** out, char**) {
    const auto* registered = static_cast<const Registered*>(aux);
    registered->guard->setDeclaring(true);
    const int rc = sqlite3_declare_vtab(connection, declaration(registered->source->view()).c_str());
    registered->guard->setDeclaring(false);
    if (rc != SQLITE_OK) return rc;
    sqlite3_vtab_config(connection, SQLITE_VTAB_INNOCUOUS);
    auto* table = new VirtualTable();
    table->source = registered->source;
    table->guard = registered->guard;
    *out = table;
    return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
    delete static_cast<VirtualTable*>(table);
    return SQLITE_OK;
}

struct Usable {
    int key = -1, from = -1, to = -1;  // places among the constraints
};

Usable usable(RowSource& source, sqlite3_index_info* info) {
    Usable found;
    const auto keys = source.keys();
    for (int i = 0; i < info->nConstraint; ++i) {
        const auto& one = info->aConstraint[i];
        if (one.usable == 0) continue;
        const bool equal = one.op == SQLITE_INDEX_CONSTRAINT_EQ;
        if (one.iColumn == source.timeColumn() && source.timeColumn() >= 0) {
            if (equal || one.op == SQLITE_INDEX_CONSTRAINT_GE || one.op == SQLITE_INDEX_CONSTRAINT_GT) found.from = i;
            if (equal || one.op == SQLITE_INDEX_CONSTRAINT_LE || one.op == SQLITE_INDEX_CONSTRAINT_LT) found.to = i;
        }
        // A number that is known beforehand is looked for once: reading through is cheaper than an index.
        sqlite3_value* constant = nullptr;
        if (equal && std::ranges::find(keys, one.iColumn) != keys.end() && sqlite3_vtab_rhs_value(info, i, &constant) != SQLITE_OK) found.key = i;
    }
    return found;
}

int bestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info) {
    RowSource& source = *static_cast<VirtualTable*>(vtab)->source;
    const Usable found = usable(source, info);
    int values = 0;
    const auto take = [&](int constraint, Plan bit) {
        if (constraint < 0) return;
        info->aConstraintUsage[constraint].argvIndex = ++values;
        info->idxNum |= bit;
    };
    double rows = std::max(1.0, source.expectedRows());
    if (found.key >= 0) {
        take(found.key, kKey);
        info->idxNum |= info->aConstraint[found.key].iColumn << 8;
        rows = 4;
        info->estimatedCost = 20;
    } else {
        // An equality with the time is both bounds, and has but one value.
        if (found.from >= 0 && found.from == found.to) {
            take(found.from, kFrom);
            info->idxNum |= kTo;
        } else {
            take(found.from, kFrom);
            take(found.to, kTo);
        }
        if (found.from >= 0) rows /= 4;
        if (found.to >= 0) rows /= 4;
        info->estimatedCost = 10 * rows + 100;
    }
    info->estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, rows));
    return SQLITE_OK;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
    *out = new Cursor();
    return SQLITE_OK;
}

int closeCursor(sqlite3_vtab_cursor* cursor) {
    forgetAlike(*static_cast<Cursor*>(cursor));
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
}

// SQLite checks each row again, so a bound may be wider than what was asked: what is no number bounds nothing.
std::optional<std::int64_t> bound(sqlite3_value* value, bool upper) {
    if (sqlite3_value_type(value) == SQLITE_INTEGER) return sqlite3_value_int64(value);
    if (sqlite3_value_type(value) != SQLITE_FLOAT) return std::nullopt;
    const double real = upper ? std::ceil(sqlite3_value_double(value)) : std::floor(sqlite3_value_double(value));
    if (!(std::abs(real) < 9e18)) return std::nullopt;
    return static_cast<std::int64_t>(real);
}

// No exception may pass through SQLite.
Result<bool> step(Rows& rows) {
    try {
        return rows.next();
    } catch (const std::bad_alloc&) {
        return makeError(ErrorCode::OutOfMemory, "There is not enough memory for this query.");
    } catch (const std::exception& thrown) {
        return makeError(ErrorCode::Internal, "A query failed because of a mistake in Stepscope; please report it.", thrown.what());
    }
}

int advance(Cursor& cursor) {
    VirtualTable& table = tableOf(&cursor);
    if (table.guard->over()) return SQLITE_INTERRUPT;
    const auto there = step(*cursor.rows);
    if (!there) {
        table.guard->fail(there.error());
        return SQLITE_INTERRUPT;
    }
    cursor.atEnd = !*there;
    cursor.id.reset();
    return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* base, int plan, const char*, int count, sqlite3_value** values) {
    auto& cursor = *static_cast<Cursor*>(base);
    Asked asked;
    int at = 0;
    forgetAlike(cursor);
    // What is compared with NULL is never true: a join over numbers of which many are unknown must not read everything for each of them.
    if (std::any_of(values, values + count, [](sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; })) {
        cursor.rows.reset();
        cursor.atEnd = true;
        return SQLITE_OK;
    }
    if ((plan & kKey) != 0 && at < count) {
        const auto number = bound(values[at], false);
        // A key that is no whole number may be equal to none, or to what only SQLite knows: then everything is looked at.
        if (number && sqlite3_value_type(values[at]) == SQLITE_INTEGER) asked.key = {plan >> 8, *number};
        ++at;
    }
    const bool same = (plan & (kFrom | kTo)) == (kFrom | kTo) && count - at == 1;
    if ((plan & kFrom) != 0 && at < count)
        if (const auto from = bound(values[same ? at : at++], false)) asked.from = *from;
    if ((plan & kTo) != 0 && at < count)
        if (const auto to = bound(values[at], true)) asked.to = *to;
    cursor.rows = tableOf(base).source->rows(asked);
    return advance(cursor);
}

int next(sqlite3_vtab_cursor* cursor) {
    return advance(*static_cast<Cursor*>(cursor));
}

int eof(sqlite3_vtab_cursor* cursor) {
    return static_cast<Cursor*>(cursor)->atEnd ? 1 : 0;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) {
    const Cell cell = static_cast<Cursor*>(cursor)->rows->cell(number);
    if (const auto* whole = std::get_if<std::int64_t>(&cell))
        sqlite3_result_int64(context, *whole);
    else if (const auto* real = std::get_if<double>(&cell))
        sqlite3_result_double(context, *real);
    else if (const auto* text = std::get_if<std::string_view>(&cell))
        sqlite3_result_text64(context, text->data() == nullptr ? "" : text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return SQLITE_OK;
}

std::uint64_t hashOf(const Cell& cell) {
    std::uint64_t bits = 0;
    if (const auto* text = std::get_if<std::string_view>(&cell)) bits = keyedHash(*text);
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) bits = static_cast<std::uint64_t>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) bits = std::bit_cast<std::uint64_t>(*real);
    return keyedHash(bits + cell.index());
}

// The terms of an OR are read one after the other, each bounded in its own way, and SQLite knows by this number which rows it has had. So it is made
// of what is in the row; of rows that are wholly alike the second has another than the first, in each reading the same.
int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
    auto& cursor = *static_cast<Cursor*>(base);
    try {
        if (!cursor.id) {
            std::uint64_t all = 0;
            const auto columns = static_cast<int>(tableOf(base).source->view().columns.size());
            for (int i = 0; i < columns; ++i) all = keyedHash(all + hashOf(cursor.rows->cell(i)));
            const std::size_t before = cursor.alike.size();
            cursor.id = static_cast<std::int64_t>(keyedHash(all + cursor.alike[all]++));
            tableOf(base).guard->hold(kAlikeBytes * static_cast<std::int64_t>(cursor.alike.size() - before));
        }
    } catch (const std::bad_alloc&) {
        return SQLITE_NOMEM;
    }
    *out = *cursor.id;
    return SQLITE_OK;
}

sqlite3_module makeModule() {
    sqlite3_module made{};
    made.iVersion = 0;
    made.xConnect = connect;
    made.xBestIndex = bestIndex;
    made.xDisconnect = disconnect;
    made.xOpen = open;
    made.xClose = closeCursor;
    made.xFilter = filter;
    made.xNext = next;
    made.xEof = eof;
    made.xColumn = column;
    made.xRowid = rowid;
    return made;
}

}  // namespace

Status addViews(sqlite3* connection, RowSources& sources, QueryGuard& guard) {
    static const sqlite3_module module = makeModule();
    for (const auto& source : sources) {
        auto* registered = new Registered{source.get(), &guard};
        const int rc = sqlite3_create_module_v2(connection, source->view().name.c_str(), &module, registered,
                                                [](void* gone) { delete static_cast<Registered*>(gone); });
        if (rc != SQLITE_OK) return makeError(ErrorCode::Internal, "A view of a query could not be made; please report it.", sqlite3_errstr(rc));
    }
    return {};
}

}  // namespace stepscope::query
