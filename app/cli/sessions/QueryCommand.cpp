// `query ID SQL`: SQL over one session's captures and tables, for reading only. The main thread runs it; Ctrl-C ends it.
#include "app/cli/sessions/QueryCommand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "app/cli/StopSignals.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "core/analysis/query/QueryText.h"
#include "core/base/Format.h"
#include "sessions/SessionStore.h"
#include "sessions/query/SessionQuery.h"

namespace stepscope::cli {
namespace {

constexpr std::int64_t kShownRows = 1000;       // of a table for a person
constexpr std::int64_t kMostRows = 10'000'000;  // of JSON and CSV
constexpr std::size_t kLongestCell = 120;       // characters in a table

struct QueryOptions {
    std::string id, sql, database, saved, seconds = "30";
    std::int64_t limit = 0;
    bool json = false, csv = false, views = false, list = false;

    std::string path() const { return database.empty() ? defaultDatabasePath() : database; }
    std::int64_t rows() const { return limit > 0 ? limit : json || csv ? kMostRows : kShownRows; }
};

Json asJson(const QueryValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
    if (const auto* real = std::get_if<double>(&value)) return number(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return nullptr;
}

std::string cut(const std::string& text) {
    if (displayWidth(text) <= kLongestCell) return text;
    std::size_t end = kLongestCell;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "…";
}

std::string asTable(const QueryResult& result) {
    std::vector<Table::Column> columns;
    for (std::size_t c = 0; c < result.columns.size(); ++c) {
        const bool numbers = std::ranges::none_of(result.rows, [&](const auto& row) { return std::holds_alternative<std::string>(row[c]); });
        columns.push_back({printable(result.columns[c]), numbers ? Table::Align::Right : Table::Align::Left});
    }
    Table table(std::move(columns));
    for (const auto& row : result.rows) {
        std::vector<std::string> cells;
        for (const auto& value : row)
            cells.push_back(std::holds_alternative<std::monostate>(value) ? std::string("-") : cut(printable(queryText(value))));
        table.add(std::move(cells));
    }
    return table.text();
}

void printResult(const QueryOptions& options, const QueryResult& result) {
    // Row by row: as one text, a large result would take many times its memory.
    if (options.json) {
        print(fmt::format("{{\"columns\":{},\"rows\":[", jsonText(Json(result.columns))));
        for (std::size_t r = 0; r < result.rows.size(); ++r) {
            Json cells = Json::array();
            for (const auto& value : result.rows[r]) cells.push_back(asJson(value));
            print((r > 0 ? "," : "") + jsonText(cells));
        }
        print(result.more ? "],\"more\":true}\n" : "]}\n");
    } else if (options.csv) {
        writeQueryCsv(result, [](std::string_view piece) {
            print(piece);
            return true;
        });
    } else {
        print(asTable(result));
        print(fmt::format("{} row{}, {}\n", format::count(static_cast<std::int64_t>(result.rows.size())), result.rows.size() == 1 ? "" : "s",
                          format::milliseconds(result.seconds * 1e3)));
    }
    if (result.more)
        printError(fmt::format("Only the first {} rows are given, and there are more; --limit N gives N of them.",
                               format::count(static_cast<std::int64_t>(result.rows.size()))));
}

void printViews(bool json) {
    if (json) {
        Json all = Json::array();
        for (const auto& view : queryViews()) {
            Json columns = Json::array();
            for (const auto& column : view.columns) columns.push_back({{"name", column.name}, {"type", column.type}, {"about", column.about}});
            all.push_back({{"name", view.name}, {"about", view.about}, {"columns", columns}});
        }
        return print(line({{"views", all}}));
    }
    std::string text;
    for (const auto& view : queryViews()) {
        text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", view.name, view.about);
        for (const auto& column : view.columns) text += fmt::format("  {:<18}{:<9}{}", column.name, column.type, column.about).append("\n");
    }
    print(text);
}

void printSaved(bool json) {
    Json all = Json::array();
    std::string text;
    for (const auto& one : savedQueries()) {
        all.push_back({{"id", one.id}, {"title", one.title}, {"sql", one.sql}});
        text += fmt::format("{:<18}{}\n", one.id, one.title);
    }
    print(json ? line({{"saved", all}}) : text);
}

Result<ExitCode> query(const QueryOptions& options) {
    if (options.views || options.list) {
        if (options.views) printViews(options.json);
        if (options.list) printSaved(options.json);
        return ExitCode::Ok;
    }
    if (options.json && options.csv) return makeError(ErrorCode::BadInput, "--json and --csv are two forms of one result; choose one of them.");
    if (options.id.empty())
        return makeError(ErrorCode::BadInput, "Which session? `query ID SQL` takes its number, `query --views` says what can be read.");
    const auto id = parseSessionId(options.id);
    if (!id) return id.error();
    if (options.saved.empty() == options.sql.empty())
        return makeError(ErrorCode::BadInput, options.sql.empty()
                                                  ? "What is asked? Give SQL in quotes, or --saved with one of the names that --list prints."
                                                  : "SQL and --saved are two queries; give one of them.");
    std::string sql = options.sql;
    if (!options.saved.empty()) {
        const auto saved = savedQuery(options.saved);
        if (!saved) return saved.error();
        sql = saved->sql;
    }
    const auto seconds = realOption("--seconds", options.seconds, 0.001, 1e6);
    if (!seconds) return seconds.error();
    auto opened = SessionQuery::open(options.path(), *id);
    if (!opened) return opened.error();
    const StopSignals signals([&] { (*opened)->cancel(); });
    const auto result = (*opened)->run(sql, {.seconds = *seconds, .rows = options.rows()});
    if (!result) return result.error();
    printResult(options, *result);
    return ExitCode::Ok;
}

}  // namespace

void addQuery(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<QueryOptions>();
    auto* command = parent.add_subcommand("query", "SQL over the captured steps and the tables of a session, for reading");
    command->add_option("ID", options->id, "The session's number");
    command->add_option("SQL", options->sql, "One SELECT, in quotes; its views are printed by --views");
    command->add_option("--saved", options->saved, "A query that comes with the program, by its name")->type_name("NAME")->take_last();
    command->add_flag("--views", options->views, "Print what can be read, with its columns");
    command->add_flag("--list", options->list, "Print the names of saved queries");
    command->add_option("--limit", options->limit, fmt::format("Rows at most; default {} in a table, all with --json and --csv", kShownRows))
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, kMostRows))
        ->take_last();
    command->add_option("--seconds", options->seconds, "Ends a query that takes longer")->type_name("S")->capture_default_str()->take_last();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "End with one line of JSON");
    command->add_flag("--csv", options->csv, "As CSV, with a line of titles");
    actions[command] = [options] { return query(*options); };
}

}  // namespace stepscope::cli
