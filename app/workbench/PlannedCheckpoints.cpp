#include "app/workbench/PlannedCheckpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/Format.h"
#include "core/state/Checkpoint.h"
#include "core/state/CheckpointRetention.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

// Free on the disk of a folder that need not be there yet; -1 where nobody can tell.
std::int64_t freeAt(fs::path folder) {
    std::error_code problem;
    while (!fs::exists(folder, problem) && folder.has_parent_path() && folder != folder.parent_path()) folder = folder.parent_path();
    const auto space = fs::space(folder, problem);
    return problem ? -1 : static_cast<std::int64_t>(space.available);
}

struct CheckpointsOnDisk {
    CheckpointPlan plan;
    std::int64_t each = 0;  // bytes
    double all = 0;         // of those that lie there at once
    std::int64_t free = 0;  // -1: nobody can tell
    bool fit() const { return free < 0 || all <= static_cast<double>(free); }
    std::string words() const { return all < 9e18 ? format::bytes(all) : "more than any disk holds"; }
    bool oneMore() const { return plan.atOnce > plan.kept; }
};

bool keepsOneAtEnd(const RunConfig& config) {
    return config.checkpointAtEnd == "on" && config.schedule != "range-test";
}

CheckpointsOnDisk onDisk(const RunConfig& config, std::int64_t parameters, std::int64_t updates, const std::string& folder) {
    CheckpointsOnDisk found;
    found.plan = planCheckpoints(updates, config.steps, config.checkpointEvery, keepsOneAtEnd(config), config.keep, config.keepsBest());
    found.each = checkpointBytes(parameters);
    found.all = static_cast<double>(found.each) * static_cast<double>(found.plan.atOnce);
    found.free = freeAt(folder);
    return found;
}

}  // namespace

PlannedCheckpoints plannedCheckpoints(const RunConfig& config, const TrainState& state, const std::string& folder) {
    if (folder.empty()) {
        if (!keepsOneAtEnd(config)) return {};
        return {"This run is not recorded, so it has no place for a checkpoint: its weights are gone when it ends.", false};
    }
    const CheckpointsOnDisk found = onDisk(config, state.layout.size(), state.updates, folder);
    const CheckpointPlan& plan = found.plan;
    if (plan.written == 0) return {};
    PlannedCheckpoints told;
    told.sentence = fmt::format("{} checkpoint{} of {} planned{}: {} on the disk{}", format::count(plan.written), plan.written == 1 ? "" : "s",
                                format::bytes({found.each}), plan.kept < plan.written ? fmt::format(", {} kept", format::count(plan.kept)) : "",
                                found.words(), found.oneMore() ? " while one more is written" : "");
    if (found.free >= 0) told.sentence += fmt::format(", where {} are free", format::bytes({found.free}));
    told.fits = found.fit();
    told.sentence += told.fits ? "." : "; set keep, or a larger checkpoint-every.";
    return told;
}

Status checkPlannedCheckpoints(const RunConfig& config, const TrainState& state, const std::string& folder) {
    return checkPlannedCheckpoints(config, state.layout.size(), state.updates, folder);
}

Status checkPlannedCheckpoints(const RunConfig& config, std::int64_t parameters, std::int64_t updates, const std::string& folder) {
    const CheckpointsOnDisk found = onDisk(config, parameters, updates, folder);
    if (found.plan.written == 0 || found.fit()) return {};
    // Beside those that are kept, the one that is being written.
    const std::int64_t best = config.keepsBest() ? 1 : 0, room = found.free / found.each - best - 1;
    const std::string fewer = room >= 1 ? fmt::format("set keep={} or less", std::min<std::int64_t>(room, 1'000'000))
                                        : std::string("not even those that keep=1 leaves fit, so set checkpoint-at-end=off and checkpoint-every=0");
    return makeError(
               ErrorCode::Io,
               fmt::format("The checkpoints of this run need {} ({} of {}{}), and {} are free on the disk of \"{}\"; {}, or record into a file in "
                           "another folder (--db).",
                           found.words(), format::count(found.plan.atOnce), format::bytes({found.each}),
                           found.oneMore() ? ", one of them while it is written" : "", format::bytes({found.free}), folder, fewer))
        .about(Subject::Kind::Key, "keep");
}

std::string checkpointsBeside(const std::string& database) {
    std::error_code problem;
    const fs::path whole = fs::absolute(database, problem);
    const fs::path real = problem ? fs::path() : fs::weakly_canonical(whole, problem);
    return (problem ? fs::path(database) : real).string() + ".checkpoints";
}

}  // namespace stepscope
