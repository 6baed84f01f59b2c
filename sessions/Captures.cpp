#include "sessions/Captures.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/analysis/Statistics.h"
#include "core/base/Format.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/Lod.h"
#include "core/trace/LodCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/ChunkTables.h"
#include "sessions/EventFields.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SessionLock.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostToRebuild = std::int64_t{512} << 20;

// Where one ends and the next begins: a block belongs to the first capture that ends no earlier than it begins.
struct CaptureTimes {
    StoredCapture told;
    RecordingCosts always{};
    std::int64_t after = 0, until = 0;  // of the begin of its blocks: (after, until]
};

std::vector<CaptureTimes> timesOf(SQLite::Database& database, std::int64_t session) {
    std::vector<CaptureTimes> all;
    std::int64_t after = std::numeric_limits<std::int64_t>::min();
    SQLite::Statement select(database,
                             "SELECT at_ns, first_step, steps, operations, record_ns, phases_ns FROM captures WHERE session = ? ORDER BY at_ns, seq");
    const auto real = [&](int column) { return select.isColumnNull(column) ? kUnknown : select.getColumn(column).getDouble(); };
    select.bind(1, session);
    while (select.executeStep()) {
        CaptureTimes one;
        one.told.end.ns = select.getColumn(0).getInt64();
        one.told.firstStep = select.getColumn(1).getInt64();
        one.told.steps = select.getColumn(2).getInt64();
        one.told.ofSlowest = select.isColumnNull(3);
        one.always = {real(4), real(5)};
        one.after = after;
        one.until = after = std::max(after, one.told.end.ns);
        all.push_back(one);
    }
    all.push_back({.told = {}, .always = {}, .after = after, .until = std::numeric_limits<std::int64_t>::max()});
    return all;
}

void countBlocks(SQLite::Database& database, std::int64_t session, std::vector<CaptureTimes>& captures, std::int64_t& detailBytes) {
    // The length of a blob is in its row's head: none is read.
    SQLite::Statement select(
        database,
        "SELECT chunk_lanes.kind, chunks.begin_ns, chunks.end_ns, chunks.records, length(chunks.packed) FROM chunk_lanes JOIN chunks ON "
        "chunks.lane = chunk_lanes.id WHERE chunk_lanes.session = ?");
    select.bind(1, session);
    while (select.executeStep()) {
        const std::string kind = select.getColumn(0).getString();
        const std::int64_t bytes = select.getColumn(4).getInt64(), begin = select.getColumn(1).getInt64();
        if (isLod(kind)) detailBytes += bytes;
        if (!isOfCaptures(kind)) continue;
        auto& of = *std::ranges::lower_bound(captures, begin, {}, &CaptureTimes::until);
        of.told.bytes += bytes;
        const std::int64_t records = std::max<std::int64_t>(0, select.getColumn(3).getInt64());
        of.told.records += records;
        const std::int64_t end = select.getColumn(2).getInt64();
        if (isSlices(kind) && records > 0) {
            of.told.from.ns = of.told.slices == 0 ? begin : std::min(of.told.from.ns, begin);
            of.told.until.ns = of.told.slices == 0 ? end : std::max(of.told.until.ns, end);
            of.told.slices += records;
        }
        if (of.told.steps == 0) of.told.end.ns = std::max(of.told.end.ns, end);
    }
}

// ns of the steps of a capture, and of those around it that nothing disturbed. Only so many are looked at, wherever what is stored says that they
// are.
struct StepTimes {
    std::vector<double> captured, beside;
};

// flips: the last steps before switches were flipped, in order. What runs otherwise is no measure; none where that happened among the captured steps.
StepTimes stepsAround(SQLite::Database& database, std::int64_t session, const StoredCapture& capture, const std::vector<std::int64_t>& flips) {
    constexpr std::int64_t kNear = 1200;
    StepTimes times;
    const std::int64_t last = cappedSum(capture.firstStep, capture.steps - 1);
    std::int64_t from = std::numeric_limits<std::int64_t>::min(), until = std::numeric_limits<std::int64_t>::max();
    const auto next = std::ranges::lower_bound(flips, capture.firstStep);
    if (next != flips.begin()) from = *std::prev(next);
    if (next != flips.end()) until = *next;
    if (until < last) return times;
    // Steps that a run which went on made once more, behind its capture, have the same numbers and nobody looked at them.
    const auto look = [&](const char* order, const char* side, bool seen) {
        std::size_t beside = 0;
        SQLite::Statement select(
            database,
            fmt::format("SELECT step, duration_ns, disturbed FROM steps WHERE session = ? AND at_ns {} ? ORDER BY at_ns {} LIMIT ?", side, order));
        select.bind(1, session);
        select.bind(2, capture.end.ns);
        select.bind(3, kNear);
        while (select.executeStep()) {
            const std::int64_t step = select.getColumn(0).getInt64(), ns = select.getColumn(1).getInt64();
            if (ns <= 0 || step <= from || step > until) continue;
            if (seen && step >= capture.firstStep && step <= last) {
                times.captured.push_back(static_cast<double>(ns));
            } else if (select.getColumn(2).getInt64() == 0 && beside < CaptureCost::kBeside) {
                times.beside.push_back(static_cast<double>(ns));
                ++beside;
            }
        }
    };
    look("DESC", "<=", true);
    look("ASC", ">", false);
    return times;
}

// What capturing cost the steps themselves: of each of the newest, and of all of these.
void countCosts(SQLite::Database& database, std::int64_t session, const std::vector<CaptureTimes>& all, StoredCaptures& into) {
    std::vector<std::int64_t> flips;
    SQLite::Statement select(database, "SELECT step FROM switches_applied WHERE session = ? ORDER BY step");
    select.bind(1, session);
    while (select.executeStep()) flips.push_back(select.getColumn(0).getInt64());
    CaptureCost together;
    for (std::size_t i = all.size(); i > all.size() - std::min(all.size(), kMostCosted); --i) {
        StoredCapture& one = into.captures[i - 1];
        if (std::isnan(into.levels.always.recordNs)) into.levels.always = all[i - 1].always;
        if (one.steps <= 0) continue;
        const StepTimes times = stepsAround(database, session, one, flips);
        CaptureCost alone;
        alone.add(times.captured, times.beside);
        const MeasuredCost cost = alone.cost();
        one.cost = cost.share;
        one.costLow = cost.low;
        one.costHigh = cost.high;
        if (times.beside.size() < CaptureCost::kFewest) continue;
        if (std::isnan(into.levels.stepNs)) into.levels.stepNs = median(times.beside);
        if (!one.ofSlowest) together.add(times.captured, times.beside);
    }
    into.levels.capture = together.cost();
}

// Numbered, without the last where nothing is in it.
std::vector<CaptureTimes> capturesOf(SQLite::Database& database, std::int64_t session, std::int64_t& detailBytes) {
    auto all = timesOf(database, session);
    countBlocks(database, session, all, detailBytes);
    if (all.back().told.records == 0) all.pop_back();
    for (std::size_t i = 0; i < all.size(); ++i) all[i].told.number = static_cast<std::int64_t>(i) + 1;
    return all;
}

void run(SQLite::Database& database, const std::string& sql, const std::vector<std::int64_t>& values) {
    SQLite::Statement statement(database, sql);
    for (std::size_t i = 0; i < values.size(); ++i) statement.bind(static_cast<int>(i) + 1, values[i]);
    statement.exec();
}

Error noSuchCapture(std::int64_t session, std::int64_t number, std::size_t there) {
    const std::string has = there == 0   ? std::string("no capture")
                            : there == 1 ? std::string("one capture, number 1")
                                         : fmt::format("{} captures, numbered from 1", there);
    return makeError(ErrorCode::NotFound,
                     fmt::format("Session {} has no capture {}; it has {} (\"sessions show {}\").", session, number, has, session))
        .about(Subject::Kind::Session, std::to_string(session));
}

Status knownSession(SQLite::Database& database, const std::string& path, std::int64_t session) {
    SQLite::Statement select(database, "SELECT 1 FROM sessions WHERE id = ? AND deleted_unix_ms = 0");
    select.bind(1, session);
    if (!select.executeStep()) return noSuchSession(path, session);
    return {};
}

}  // namespace

Result<StoredCaptures> storedCaptures(const std::string& path, std::int64_t session) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    return guarded(path, [&]() -> Result<StoredCaptures> {
        if (!*connection) return noSuchSession(path, session);
        if (auto known = knownSession(**connection, path, session); !known) return known.error();
        StoredCaptures stored;
        const auto all = capturesOf(**connection, session, stored.detailBytes);
        for (const auto& one : all) stored.captures.push_back(one.told);
        countCosts(**connection, session, all, stored);
        return stored;
    });
}

SlowestSteps slowestAmong(const std::vector<StoredCapture>& captures, std::int64_t from, std::int64_t to) {
    bool slowest = false, others = false;
    for (const StoredCapture& one : captures) {
        if (one.slices == 0 || one.from.ns >= to || one.until.ns <= from) continue;
        // Older versions kept operations alone of the slowest, and now there is memory beside them; one from before that was told may have it, too.
        (one.ofSlowest && one.records == one.slices ? slowest : others) = true;
    }
    if (!slowest) return SlowestSteps::None;
    return others ? SlowestSteps::Some : SlowestSteps::All;
}

Status deleteCapture(const std::string& path, std::int64_t session, std::int64_t number) {
    // Asked for reading first: nothing is made where there is no file.
    if (auto there = openForReading(path); !there) return there.error();
    auto connection = openForWriting(path);
    if (!connection) return connection.error();
    const Status removed = guarded(path, [&]() -> Status {
        SQLite::Transaction transaction(**connection, SQLite::TransactionBehavior::IMMEDIATE);
        if (auto known = knownSession(**connection, path, session); !known) return known;
        if (SessionLock::held(path, session))
            return makeError(ErrorCode::BadInput, fmt::format("Session {} is still running; stop it before deleting a capture of it.", session));
        std::int64_t detail = 0;
        const auto all = capturesOf(**connection, session, detail);
        if (number < 1 || number > static_cast<std::int64_t>(all.size())) return noSuchCapture(session, number, all.size());
        const CaptureTimes& capture = all[static_cast<std::size_t>(number) - 1];
        removeCaptureBlocks(**connection, session, capture.after, capture.until);
        for (const char* table : {"captures", kCapturedOperations})
            run(**connection, fmt::format("DELETE FROM {} WHERE session = ? AND at_ns > ? AND at_ns <= ?", table),
                {session, capture.after, capture.until});
        transaction.commit();
        return {};
    });
    connection->reset();
    if (!removed) return removed;
    return giveRoomBack(path);
}

Status giveRoomBack(const std::string& path) {
    auto connection = openForWriting(path);
    if (!connection) return connection.error();
    return guarded(path, [&]() -> Status {
        SQLite::Database& database = **connection;
        if (database.execAndGet("PRAGMA auto_vacuum").getInt() == 0) {
            const std::int64_t bytes = database.execAndGet("PRAGMA page_count").getInt64() * database.execAndGet("PRAGMA page_size").getInt64();
            if (bytes > kMostToRebuild)
                return makeError(
                    ErrorCode::Unsupported,
                    fmt::format(
                        "What was removed is gone, but \"{}\" was made so that it does not shrink, and with {} it is too large to rebuild on the "
                        "side; its room is used again by later sessions (sqlite3's VACUUM shrinks it).",
                        path, format::bytes({bytes})));
            database.exec("PRAGMA auto_vacuum = INCREMENTAL");
            database.exec("VACUUM");
        } else {
            SQLite::Statement vacuum(database, "PRAGMA incremental_vacuum");
            while (vacuum.executeStep()) {
            }
        }
        return {};
    });
}

}  // namespace stepscope
