#include "app/workbench/PlannedCheckpoints.h"

#include <fmt/format.h>

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

}  // namespace

PlannedCheckpoints plannedCheckpoints(const RunConfig& config, const TrainState& state, const std::string& folder) {
    const bool atEnd = config.checkpointAtEnd == "on" && config.schedule != "range-test";
    const CheckpointPlan plan = planCheckpoints(state.updates, config.steps, config.checkpointEvery, atEnd, config.keep, config.keepsBest());
    if (plan.written == 0) return {};
    const std::int64_t each = checkpointBytes(state.layout.size()), free = freeAt(folder);
    const double all = static_cast<double>(each) * static_cast<double>(plan.kept);
    PlannedCheckpoints told;
    told.sentence = fmt::format("{} checkpoint{} of {} planned{}: {} on the disk", format::count(plan.written), plan.written == 1 ? "" : "s",
                                format::bytes({each}), plan.kept < plan.written ? fmt::format(", {} kept", format::count(plan.kept)) : "",
                                all < 9e18 ? format::bytes({static_cast<std::int64_t>(all)}) : "more than any disk holds");
    if (free >= 0) told.sentence += fmt::format(", where {} are free", format::bytes({free}));
    told.fits = free < 0 || all <= static_cast<double>(free);
    told.sentence += told.fits ? "." : "; set keep, or a larger checkpoint-every.";
    return told;
}

}  // namespace stepscope
