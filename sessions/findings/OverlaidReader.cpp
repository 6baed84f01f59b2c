// The statement over the steps goes past SQLiteCpp, whose columns cost more than reading them.
#include "sessions/findings/OverlaidReader.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <stdexcept>

#include "core/analysis/flips/StepSample.h"
#include "sessions/Columns.h"
#include "sessions/EventFields.h"
#include "sessions/SessionRow.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"
#include "sessions/record/StepSummary.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;                          // 126 years
constexpr std::int64_t kMostOverlaidFlips = 10'000, kMostOverlaidSamples = 500'000;  // nobody's run has more, and a stranger's file may
constexpr std::int64_t kMostReserved = 1'000'000;                                    // numbers alone take no memory
constexpr std::size_t kAskEvery = 4096;
constexpr std::int64_t kShortRun = 20'000;  // steps; fewer are read in some ten milliseconds

std::int64_t checked(std::int64_t value, const char* what) {
    if (value < 0 || value > kLatest) throw std::out_of_range(fmt::format("steps: {} {}", what, value));
    return value;
}

struct Finalise {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

double known(sqlite3_stmt* row, int column) {
    const double value = sqlite3_column_double(row, column);  // 0 where it is NULL
    return value == 0 && sqlite3_column_type(row, column) == SQLITE_NULL ? kUnknown : value;
}

// Of the session's steps by their numbers; 0 where it has none.
std::int64_t stepsOf(SQLite::Database& database, std::int64_t session) {
    const auto stepAt = [&](const char* order) -> std::optional<std::int64_t> {
        SQLite::Statement select(database, fmt::format("SELECT step FROM steps WHERE session = ? ORDER BY at_ns {0}, seq {0} LIMIT 1", order));
        select.bind(1, session);
        if (!select.executeStep()) return std::nullopt;
        return checked(select.getColumn(0).getInt64(), "step");
    };
    const auto first = stepAt("ASC"), last = stepAt("DESC");
    return first && last ? std::max<std::int64_t>(1, *last - *first + 1) : 0;
}

constexpr const char* kStepColumns = "at_ns, step, duration_ns, loss, learning_rate, gradient_norm, tokens, resident_bytes, disturbed, peak_bytes";

// One line is of one quantity: where a session knows peaks, a step without one (two arms took turns) has none. peaks: whether it did so far.
OverlaidStep overlaidStepOf(sqlite3_stmt* row, bool& peaks) {
    OverlaidStep step;
    step.seconds = TimeNs{checked(sqlite3_column_int64(row, 0), "time")}.seconds();
    step.step = checked(sqlite3_column_int64(row, 1), "step");
    step.ms = TimeNs{sqlite3_column_int64(row, 2)}.milliseconds();
    step.loss = known(row, 3);
    step.learningRate = known(row, 4);
    step.gradientNorm = known(row, 5);
    step.tokens = sqlite3_column_int64(row, 6);
    const std::int64_t resident = sqlite3_column_int64(row, 7);
    step.disturbed = sqlite3_column_int(row, 8) != 0;
    const double peak = known(row, 9);
    peaks = peaks || std::isfinite(peak);
    step.bytes = peaks ? peak : memoryOf(peak, resident > 0 ? static_cast<double>(resident) : kUnknown);
    return step;
}

std::unique_ptr<sqlite3_stmt, Finalise> prepareSteps(SQLite::Database& database, const std::string& rest) {
    const std::string select = fmt::format("SELECT {} FROM steps WHERE session = ?1 {}", kStepColumns, rest);
    sqlite3_stmt* prepared = nullptr;
    if (const int problem = sqlite3_prepare_v2(database.getHandle(), select.c_str(), -1, &prepared, nullptr); problem != SQLITE_OK)
        throw SQLite::Exception(database.getHandle(), problem);
    return std::unique_ptr<sqlite3_stmt, Finalise>(prepared);
}

// False: it was not to go on.
bool readSteps(SQLite::Database& database, std::int64_t session, std::int64_t expected, OverlaidRunBuilder& into,
               const std::function<bool(double)>& goOn) {
    const auto rows = prepareSteps(database, "ORDER BY at_ns, seq");
    sqlite3_stmt* prepared = rows.get();
    sqlite3_bind_int64(prepared, 1, session);
    const auto most = static_cast<std::size_t>(2 * expected + 1000);
    bool peaks = false;
    int result = SQLITE_ROW;
    while ((result = sqlite3_step(prepared)) == SQLITE_ROW) {
        into.add(overlaidStepOf(prepared, peaks));
        if (into.steps() % kAskEvery == 0) {
            if (into.steps() > most) throw std::out_of_range("steps: more rows than their numbers allow");
            if (!goOn(std::min(1.0, static_cast<double>(into.steps()) / static_cast<double>(expected)))) return false;
        }
    }
    if (result != SQLITE_DONE) throw SQLite::Exception(database.getHandle(), result);
    return true;
}

// About `places` steps of those between the first and the last, which are among them.
void readSomeSteps(SQLite::Database& database, std::int64_t session, std::size_t places, OverlaidRunBuilder& into) {
    bool peaks = false;
    const auto one = [&](sqlite3_stmt* row) -> std::optional<OverlaidStep> {
        const int result = sqlite3_step(row);
        if (result != SQLITE_ROW && result != SQLITE_DONE) throw SQLite::Exception(database.getHandle(), result);
        return result == SQLITE_ROW ? std::optional(overlaidStepOf(row, peaks)) : std::nullopt;
    };
    const auto end = prepareSteps(database, "ORDER BY at_ns DESC, seq DESC LIMIT 1");
    sqlite3_bind_int64(end.get(), 1, session);
    const auto last = one(end.get());
    const auto next = prepareSteps(database, "AND at_ns >= ?2 ORDER BY at_ns, seq LIMIT 1");
    sqlite3_bind_int64(next.get(), 1, session);
    double newest = -1;
    const auto at = [&](double seconds) {
        sqlite3_reset(next.get());
        sqlite3_bind_int64(next.get(), 2, TimeNs::fromSeconds(seconds).ns);
        const auto step = one(next.get());
        if (!step || step->seconds <= newest) return step;
        newest = step->seconds;
        into.addInPlaceOfMany(*step);
        return step;
    };
    const auto first = at(0);
    if (!first || !last) return;
    // Behind a pause the next step is met several times; from it on, not before it.
    for (std::size_t i = 1; i < places; ++i) {
        const double seconds = first->seconds + (last->seconds - first->seconds) * static_cast<double>(i) / static_cast<double>(places);
        if (seconds > newest) at(seconds);
    }
    if (last->seconds > newest) into.addInPlaceOfMany(*last);
}

template <class E>
void readEvents(SQLite::Database& database, std::int64_t session, std::int64_t most, const std::function<void(const E&)>& use) {
    std::string columns = "at_ns";
    for (const auto& column : columnsOf<E>()) columns += ", " + column;
    SQLite::Statement select(database,
                             fmt::format("SELECT {} FROM {} WHERE session = ? ORDER BY at_ns, seq LIMIT {}", columns, Table<E>::name, most));
    select.bind(1, session);
    while (select.executeStep()) {
        E event;
        event.at = {checked(select.getColumn(0).getInt64(), "time")};
        RowReader row(select, 1);
        fields(row, event);
        use(event);
    }
}

const char* whereShown(SessionKind kind) {
    return kind == SessionKind::Ladder || kind == SessionKind::Tune ? "the page Ladder shows it" : "the page Compare shows it";
}

}  // namespace

Result<OverlaidRead> readOverlaid(const std::string& path, std::int64_t session, std::size_t mostRows,
                                  const std::function<bool(double share)>& goOn) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    if (!*connection) return noSuchSession(path, session);
    SQLite::Database& database = **connection;
    auto read = guarded(path, [&]() -> Result<OverlaidRead> {
        const SQLite::Transaction snapshot(database);
        auto info = readInfo(database, path, session);
        if (!info) return info.error();
        const SessionKind kind = info->kind;
        const std::int64_t expected = stepsOf(database, session);
        if (expected == 0 && (kind == SessionKind::Run || kind == SessionKind::Trace))
            return makeError(ErrorCode::BadInput, fmt::format("Session {} has no steps: there is nothing to lay over the others.", session));
        if (expected == 0)
            return makeError(ErrorCode::BadInput,
                             fmt::format("Session {} is of the kind {} and has no steps of its own; {}.", session, toString(kind), whereShown(kind)));
        const auto rows = static_cast<std::int64_t>(std::max<std::size_t>(1000, mostRows));
        OverlaidRunBuilder builder(session, std::make_shared<const SessionInfo>(std::move(*info)),
                                   static_cast<std::size_t>((expected + rows - 1) / rows));
        builder.expect(static_cast<std::size_t>(std::min(expected, kMostReserved)));
        if (!readSteps(database, session, expected, builder, goOn))
            return makeError(ErrorCode::Cancelled, fmt::format("Reading session {} was cancelled.", session));
        readEvents<DeviceSample>(database, session, kMostOverlaidSamples, [&](const DeviceSample& sample) { builder.addSample(sample); });
        readEvents<SwitchApplied>(database, session, kMostOverlaidFlips, [&](const SwitchApplied& flip) { builder.addFlip(flip); });
        builder.addValidation(lastValidationLoss(database, session));
        OverlaidRead done;
        done.run = builder.finish();
        done.facts = builder.facts();
        return done;
    });
    // Of many that are read at once, which one it was.
    if (!read && read.error().code == ErrorCode::Damaged) {
        Error error = read.error();
        error.sentence = fmt::format("Session {} cannot be laid over the others: {}", session, error.sentence);
        return error;
    }
    return read;
}

Result<std::shared_ptr<const OverlaidRun>> sketchOverlaid(const std::string& path, std::int64_t session, std::size_t places) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    if (!*connection) return noSuchSession(path, session);
    SQLite::Database& database = **connection;
    return guarded(path, [&]() -> Result<std::shared_ptr<const OverlaidRun>> {
        const SQLite::Transaction snapshot(database);
        auto info = readInfo(database, path, session);
        if (!info) return info.error();
        const std::int64_t expected = stepsOf(database, session);
        if (expected < kShortRun || places < 2) return std::shared_ptr<const OverlaidRun>();
        OverlaidRunBuilder builder(session, std::make_shared<const SessionInfo>(std::move(*info)),
                                   std::max<std::size_t>(1, static_cast<std::size_t>(expected) / places));
        readSomeSteps(database, session, places, builder);
        return builder.finish();
    });
}

}  // namespace stepscope
