#include "sessions/MeasuredFlips.h"

#include <SQLiteCpp/Statement.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/analysis/FlipContext.h"
#include "core/events/ConfigJson.h"
#include "sessions/Columns.h"
#include "sessions/MachineJson.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostFlips = 10'000;  // of a session that are looked at, the newest
constexpr std::size_t kMostMeasured = 100;   // contexts change with every edit; nobody asks for older ones

struct Stored {
    std::int64_t session = 0;
    std::string name;
    std::int64_t startedUnixMs = 0;
};

bool sameHardware(const Machine& a, const Machine& b) {
    return a.cpu == b.cpu && a.cores == b.cores && a.gpus == b.gpus;
}

// Newest session first.
std::vector<Stored> sessionsHere(SQLite::Database& database, const Machine& machine) {
    SQLite::Statement select(database,
                             "SELECT id, name, started_unix_ms, machine FROM sessions WHERE deleted_unix_ms = 0"
                             " AND EXISTS (SELECT 1 FROM switches_applied WHERE session = sessions.id) ORDER BY started_unix_ms DESC, id DESC");
    std::vector<Stored> all;
    while (select.executeStep()) {
        Stored one;
        RowReader row(select);
        std::string described;
        row("id", one.session);
        row("name", one.name);
        row("started_unix_ms", one.startedUnixMs);
        row("machine", described);
        try {
            if (described != "null" && sameHardware(machineFromJson(described), machine)) all.push_back(std::move(one));
        } catch (const nlohmann::json::exception&) {
            // A row that does not parse says nothing of this machine; the list names it.
        }
    }
    return all;
}

// Of one session, the last first, at most kMostFlips.
std::vector<SwitchApplied> flipsOf(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database,
                             "SELECT at_ns, step, switch, from_value, to_value FROM switches_applied WHERE session = ?1"
                             " ORDER BY at_ns DESC, seq DESC LIMIT ?2");
    select.bind(1, session);
    select.bind(2, kMostFlips);
    std::vector<SwitchApplied> all;
    while (select.executeStep()) {
        SwitchApplied flip;
        RowReader row(select);
        row("at_ns", flip.at);
        row("step", flip.step);
        row("switch", flip.id);
        row("from_value", flip.from);
        row("to_value", flip.to);
        all.push_back(std::move(flip));
    }
    return all;
}

// What else was set when each of them was made, in their order: from the first to the last they are played on the configuration that the session
// began with. Empty where that cannot be read, or where the first ones were left out.
std::vector<std::string> contextsOf(SQLite::Database& database, std::int64_t session, const std::vector<SwitchApplied>& lastFirst) {
    if (static_cast<std::int64_t>(lastFirst.size()) >= kMostFlips) return {};
    SQLite::Statement select(database, "SELECT config FROM sessions WHERE id = ?1");
    select.bind(1, session);
    if (!select.executeStep()) return {};
    auto config = configFromJson(select.getColumn(0).getString());
    if (!config) return {};
    std::vector<std::string> contexts(lastFirst.size());
    for (std::size_t i = lastFirst.size(); i-- > 0;) {
        contexts[i] = flipContext(*config, lastFirst[i].id);
        config->switches[lastFirst[i].id] = lastFirst[i].to;
    }
    return contexts;
}

// Steps between two flips, without those within the warm-up after the first, that tell something: at most `most` of them, nearest to the
// flip that is asked about first. Read by time, which the table is in the order of: a session of any length costs what lies between.
std::vector<StepSample> stepsBetween(SQLite::Database& database, std::int64_t session, TimeNs from, TimeNs to, bool last, std::size_t most) {
    constexpr auto kWarmUp = static_cast<std::int64_t>(FlipEffect::kWarmUp);
    SQLite::Statement first(database, "SELECT step FROM steps WHERE session = ?1 AND at_ns > ?2 ORDER BY at_ns, seq LIMIT 1");
    first.bind(1, session);
    first.bind(2, from.ns);
    if (!first.executeStep()) return {};
    const std::int64_t begin = first.getColumn(0).getInt64();
    SQLite::Statement select(database,
                             std::string("SELECT at_ns, duration_ns, tokens, resident_bytes, peak_bytes, page_faults, operations, disturbed, "
                                         "skipped FROM steps WHERE session = ?1 AND at_ns > ?2 AND at_ns <= ?3"
                                         " AND step - ?4 >= ?5 ORDER BY at_ns ") +
                                 (last ? "DESC" : "ASC"));
    select.bind(1, session);
    select.bind(2, from.ns);
    select.bind(3, to.ns);
    select.bind(4, begin);
    select.bind(5, kWarmUp);
    std::vector<StepSample> found;
    while (found.size() < most && select.executeStep()) {
        StepDone step;
        RowReader row(select);
        row("at_ns", step.at);
        row("duration_ns", step.duration);
        row("tokens", step.tokens);
        row("resident_bytes", step.residentBytes);
        row("peak_bytes", step.peakBytes);
        row("page_faults", step.pageFaults);
        row("operations", step.operations);
        row("disturbed", step.disturbed);
        row("skipped", step.skipped);
        if (tellsOfFlips(step.disturbed, step.skipped)) found.push_back(sampleOf(step));
    }
    return found;
}

std::vector<MachineSample> machineDuring(SQLite::Database& database, std::int64_t session, const TimeSpan& time) {
    constexpr double kAround = 1;  // seconds: a sample lies up to half a second behind what it is of
    SQLite::Statement select(
        database, "SELECT at_ns, others_pct, steal_pct FROM device_samples WHERE session = ?1 AND at_ns >= ?2 AND at_ns <= ?3 ORDER BY at_ns");
    select.bind(1, session);
    select.bind(2, TimeNs::fromSeconds(time.from - kAround).ns);
    select.bind(3, TimeNs::fromSeconds(time.to + kAround).ns);
    std::vector<MachineSample> found;
    while (select.executeStep()) {
        TimeNs at;
        MachineSample sample;
        RowReader row(select);
        row("at_ns", at);
        row("others_pct", sample.othersPct);
        row("steal_pct", sample.stealPct);
        sample.seconds = at.seconds();
        found.push_back(sample);
    }
    return found;
}

FlipSides sidesOf(SQLite::Database& database, std::int64_t session, const SwitchApplied& flip, TimeNs previous, TimeNs next) {
    FlipSides sides;
    sides.before = stepsBetween(database, session, previous, flip.at, true, 2 * FlipEffect::kSteps);
    if (sides.before.size() > FlipEffect::kSteps) {
        const auto cut = sides.before.begin() + static_cast<std::ptrdiff_t>(FlipEffect::kSteps);
        sides.earlier.assign(cut, sides.before.end());
        sides.before.erase(cut, sides.before.end());
    }
    sides.after = stepsBetween(database, session, flip.at, next, false, FlipEffect::kSteps);
    std::vector<StepSample> both = sides.before;
    both.insert(both.end(), sides.after.begin(), sides.after.end());
    sides.machine = machineDuring(database, session, timeOf(both));
    return sides;
}

}  // namespace

Result<std::vector<MeasuredFlip>> measuredFlips(const std::string& path, const Machine& machine) {
    if (std::error_code unknown; !std::filesystem::exists(path, unknown)) return std::vector<MeasuredFlip>{};
    auto opened = openForReading(path);
    if (!opened) return opened.error();
    return guarded(path, [&]() -> Result<std::vector<MeasuredFlip>> {
        std::vector<MeasuredFlip> newest;
        if (!*opened) return newest;
        SQLite::Database& database = **opened;
        std::set<std::pair<std::string, std::string>> done;
        for (const Stored& run : sessionsHere(database, machine)) {
            const std::vector<SwitchApplied> flips = flipsOf(database, run.session);
            const std::vector<std::string> contexts = contextsOf(database, run.session, flips);
            for (std::size_t i = 0; i < contexts.size() && newest.size() < kMostMeasured; ++i) {
                const SwitchApplied& flip = flips[i];
                if (flip.from == flip.to || done.contains({flip.id, contexts[i]})) continue;
                const TimeNs previous = i + 1 < flips.size() ? flips[i + 1].at : TimeNs{-1};
                const TimeNs next = i > 0 ? flips[i - 1].at : TimeNs{std::numeric_limits<std::int64_t>::max()};
                const FlipEffect effect = measureFlip(sidesOf(database, run.session, flip, previous, next));
                if (!effect.measured()) continue;
                done.insert({flip.id, contexts[i]});
                newest.push_back({run.session, run.name, run.startedUnixMs, flip, contexts[i], effect});
            }
        }
        return newest;
    });
}

}  // namespace stepscope
