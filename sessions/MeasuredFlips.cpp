#include "sessions/MeasuredFlips.h"

#include <SQLiteCpp/Statement.h>

#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "sessions/Columns.h"
#include "sessions/Connection.h"
#include "sessions/MachineJson.h"
#include "sessions/SqliteError.h"

namespace stepscope {
namespace {

struct Stored {
    MeasuredFlip flip;
    std::int64_t firstStep = 0;
};

bool sameHardware(const Machine& a, const Machine& b) {
    return a.cpu == b.cpu && a.cores == b.cores && a.gpus == b.gpus;
}

// Newest session first, in it the last flip first.
std::vector<Stored> allFlips(SQLite::Database& database, const Machine& machine) {
    SQLite::Statement select(
        database,
        "SELECT a.session, s.name, s.started_unix_ms, s.first_step, s.machine, a.at_ns, a.step, a.switch, a.from_value, a.to_value"
        " FROM switches_applied a JOIN sessions s ON s.id = a.session WHERE s.deleted_unix_ms = 0"
        " ORDER BY s.started_unix_ms DESC, s.id DESC, a.at_ns DESC, a.seq DESC");
    std::vector<Stored> all;
    std::map<std::int64_t, bool> here;  // session -> was it on this machine
    while (select.executeStep()) {
        Stored one;
        RowReader row(select);
        std::string described;
        row("session", one.flip.session);
        row("name", one.flip.sessionName);
        row("started_unix_ms", one.flip.startedUnixMs);
        row("first_step", one.firstStep);
        row("machine", described);
        row("at_ns", one.flip.flip.at);
        row("step", one.flip.flip.step);
        row("switch", one.flip.flip.id);
        row("from_value", one.flip.flip.from);
        row("to_value", one.flip.flip.to);
        const auto known = here.find(one.flip.session);
        const bool ours = known != here.end() ? known->second : described != "null" && sameHardware(machineFromJson(described), machine);
        here[one.flip.session] = ours;
        if (ours) all.push_back(std::move(one));
    }
    return all;
}

// Steps above `above` up to `upTo` that tell something, at most kSteps of them, nearest to the flip first.
std::vector<StepSample> stepsBetween(SQLite::Database& database, std::int64_t session, std::int64_t above, std::int64_t upTo, bool last) {
    SQLite::Statement select(database, std::string("SELECT duration_ns, tokens, resident_bytes, peak_bytes, page_faults, operations, disturbed, "
                                                   "skipped FROM steps WHERE session = ?1 AND step > ?2"
                                                   " AND step <= ?3 ORDER BY at_ns ") +
                                           (last ? "DESC" : "ASC"));
    select.bind(1, session);
    select.bind(2, above);
    select.bind(3, upTo);
    std::vector<StepSample> found;
    while (found.size() < FlipEffect::kSteps && select.executeStep()) {
        StepDone step;
        RowReader row(select);
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

}  // namespace

Result<std::vector<MeasuredFlip>> measuredFlips(const std::string& path, const Machine& machine) {
    if (std::error_code unknown; !std::filesystem::exists(path, unknown)) return std::vector<MeasuredFlip>{};
    auto opened = openForReading(path);
    if (!opened) return opened.error();
    return guarded(path, [&]() -> Result<std::vector<MeasuredFlip>> {
        std::vector<MeasuredFlip> newest;
        if (!*opened) return newest;
        SQLite::Database& database = **opened;
        const std::vector<Stored> all = allFlips(database, machine);
        std::set<std::string> done;
        constexpr auto kWarmUp = static_cast<std::int64_t>(FlipEffect::kWarmUp);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const SwitchApplied& flip = all[i].flip.flip;
            if (flip.from == flip.to || done.contains(flip.id)) continue;
            const auto sameRun = [&](std::size_t other) { return other < all.size() && all[other].flip.session == all[i].flip.session; };
            const std::int64_t previous = sameRun(i + 1) ? all[i + 1].flip.flip.step : all[i].firstStep;
            const std::int64_t next = i > 0 && sameRun(i - 1) ? all[i - 1].flip.flip.step : std::numeric_limits<std::int64_t>::max();
            MeasuredFlip measured = all[i].flip;
            measured.effect = measureFlip(stepsBetween(database, measured.session, previous + kWarmUp, flip.step, true),
                                          stepsBetween(database, measured.session, flip.step + kWarmUp, next, false));
            if (!measured.effect.measured()) continue;
            done.insert(flip.id);
            newest.push_back(std::move(measured));
        }
        return newest;
    });
}

}  // namespace stepscope
