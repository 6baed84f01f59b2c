#include "sessions/findings/MeasuredFlips.h"

#include <SQLiteCpp/Statement.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/analysis/flips/FlipContext.h"
#include "core/analysis/flips/ShamFlips.h"
#include "core/events/ConfigJson.h"
#include "sessions/Columns.h"
#include "sessions/MachineJson.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostFlips = 10'000;  // of a session that are looked at, the newest
constexpr std::size_t kMostMeasured = 100;   // flips that are looked at; contexts change with every edit, and nobody asks for older ones

struct Stored {
    std::int64_t session = 0;
    std::string name;
    std::int64_t startedUnixMs = 0;
};

// Newest session first.
std::vector<Stored> sessionsHere(SQLite::Database& database, const Machine& machine) {
    SQLite::Statement select(database,
                             "SELECT id, substr(name, 1, 1000), started_unix_ms, machine FROM sessions WHERE deleted_unix_ms = 0"
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

// A flip that changed something, and its context.
struct RealFlip {
    SwitchApplied flip;
    std::string context;
};

std::vector<RealFlip> realFlips(const std::vector<SwitchApplied>& flips, const std::vector<std::string>& contexts) {
    std::vector<RealFlip> real;
    for (std::size_t i = 0; i < contexts.size(); ++i)
        if (flips[i].from != flips[i].to) real.push_back({flips[i], contexts[i]});
    return real;
}

// Cuts what lies behind the first `kept` steps into shams.
void addShams(std::vector<ShamFlip>& all, const std::vector<StepSample>& steps, std::size_t kept, bool backwards, std::size_t most) {
    if (steps.size() <= kept || all.size() >= most) return;
    const auto more = shamFlips(std::span(steps).subspan(kept), backwards, most - all.size());
    all.insert(all.end(), more.begin(), more.end());
}

std::vector<StepSample> firstOf(const std::vector<StepSample>& steps, std::size_t from) {
    const std::size_t to = std::min(steps.size(), from + FlipEffect::kSteps);
    return from >= to ? std::vector<StepSample>()
                      : std::vector<StepSample>(steps.begin() + static_cast<std::ptrdiff_t>(from), steps.begin() + static_cast<std::ptrdiff_t>(to));
}

// flips: of the session, the last first. As shamsAround() does in a history: those before the flip, nearest first, and behind it as many as miss.
FlipSides sidesOf(SQLite::Database& database, std::int64_t session, const std::vector<RealFlip>& flips, std::size_t asked) {
    constexpr std::size_t kMostStretches = 64;
    const auto before = [&](std::size_t i) { return i + 1 < flips.size() ? flips[i + 1].flip.at : TimeNs{-1}; };
    const auto after = [&](std::size_t i) { return i > 0 ? flips[i - 1].flip.at : TimeNs{std::numeric_limits<std::int64_t>::max()}; };
    const auto room = [](std::size_t most, const std::vector<ShamFlip>& found) {
        return most > found.size() ? (most - found.size()) * ShamTest::kPlace : 0;
    };
    const TimeNs at = flips[asked].flip.at;
    FlipSides sides;
    const auto backwards = stepsBetween(database, session, before(asked), at, true, FlipEffect::kSteps + ShamTest::kMost * ShamTest::kPlace);
    sides.before = firstOf(backwards, 0);
    sides.earlier = firstOf(backwards, FlipEffect::kSteps);
    sides.after = stepsBetween(database, session, at, after(asked), false, FlipEffect::kSteps);
    std::vector<StepSample> both = sides.before;
    both.insert(both.end(), sides.after.begin(), sides.after.end());
    sides.machine = machineDuring(database, session, timeOf(both));
    if (sides.before.size() < FlipEffect::kSteps || sides.after.size() < FlipEffect::kSteps) return sides;

    addShams(sides.shams, backwards, FlipEffect::kSteps, true, ShamTest::kMost);
    for (std::size_t i = asked + 1; i < std::min(flips.size(), asked + kMostStretches) && sides.shams.size() < ShamTest::kMost; ++i)
        addShams(sides.shams, stepsBetween(database, session, before(i), flips[i].flip.at, true, room(ShamTest::kMost, sides.shams)), 0, true,
                 ShamTest::kMost);
    for (std::size_t i = asked, looked = 0; sides.shams.size() < ShamTest::kFewest && looked < kMostStretches; --i, ++looked) {
        const std::size_t kept = i == asked ? FlipEffect::kSteps : 0;
        addShams(sides.shams, stepsBetween(database, session, flips[i].flip.at, after(i), false, kept + room(ShamTest::kFewest, sides.shams)), kept,
                 false, ShamTest::kFewest);
        if (i == 0) break;
    }
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
        std::map<std::pair<std::string, std::string>, std::size_t> done;  // its place among the newest
        std::size_t looked = 0;
        for (const Stored& run : sessionsHere(database, machine)) {
            const std::vector<SwitchApplied> flips = flipsOf(database, run.session);
            const std::vector<std::string> contexts = contextsOf(database, run.session, flips);
            const std::vector<RealFlip> real = realFlips(flips, contexts);
            for (std::size_t i = 0; i < real.size() && looked < kMostMeasured; ++i) {
                const auto former = done.find({real[i].flip.id, real[i].context});
                if (former != done.end() && newest[former->second].effect.decided()) continue;
                ++looked;
                const FlipEffect effect = measureFlip(sidesOf(database, run.session, real, i));
                if (!effect.measured() || (former != done.end() && !effect.decided())) continue;
                MeasuredFlip found{run.session, run.name, run.startedUnixMs, real[i].flip, real[i].context, effect};
                if (former != done.end()) {
                    newest[former->second] = std::move(found);
                } else {
                    done[{real[i].flip.id, real[i].context}] = newest.size();
                    newest.push_back(std::move(found));
                }
            }
        }
        return newest;
    });
}

Result<std::vector<MeasuredFlip>> measuredFlipsOf(const std::string& path, std::int64_t session) {
    auto opened = openForReading(path);
    if (!opened) return opened.error();
    return guarded(path, [&]() -> Result<std::vector<MeasuredFlip>> {
        std::vector<MeasuredFlip> all;
        if (!*opened) return all;
        SQLite::Database& database = **opened;
        const std::vector<SwitchApplied> flips = flipsOf(database, session);
        const std::vector<RealFlip> real = realFlips(flips, contextsOf(database, session, flips));
        for (std::size_t i = 0; i < std::min(real.size(), kMostMeasured); ++i)
            all.push_back({session, {}, 0, real[i].flip, real[i].context, measureFlip(sidesOf(database, session, real, i))});
        std::ranges::reverse(all);
        return all;
    });
}

}  // namespace stepscope
