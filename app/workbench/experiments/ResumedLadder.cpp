// A ladder that goes on where an earlier session of it ended: what that asked, read with the care that a stranger's file needs.
#include <fmt/format.h>

#include <algorithm>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "core/analysis/StudyHistory.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

std::string versionsOf(const Machine& machine) {
    return fmt::format("Stepscope {}, LibTorch {}{}", machine.stepscope, machine.libtorch,
                       machine.driver.empty() ? std::string() : ", NVIDIA driver " + machine.driver);
}

// What was measured there says so in the table of those that go on with it, and by which versions where these are others: figures of several sessions
// stand below each other there.
std::vector<StudyRow> keptRows(std::vector<StudyRow> rows, std::int64_t session, const std::string& measuredBy, const std::string& here) {
    const bool rungs = std::ranges::any_of(rows, [](const StudyRow& row) { return row.role == study::kRung && row.state == study::kMeasured; });
    for (StudyRow& row : rows) {
        // The bottom is measured with the first rung.
        if (row.role == study::kBottom ? !rungs : row.state != study::kMeasured) continue;
        if (row.keptSession == 0) row.keptSession = session;
        if (row.keptVersions.empty()) row.keptVersions = measuredBy;
        if (row.keptVersions == here) row.keptVersions.clear();
    }
    return rows;
}

}  // namespace

Result<LadderRequest> resumedLadder(const std::string& chosen, std::int64_t session, const Machine& machine) {
    const std::string database = chosen.empty() ? defaultDatabasePath() : chosen;
    const std::string place = fmt::format("Session {}", session);
    const auto refused = [&](ErrorCode code, const std::string& what) {
        return makeError(code, fmt::format("{} {}", place, what)).about(Subject::Kind::Session, std::to_string(session));
    };
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto summary = (*reader)->summary(session);
    if (!summary) return summary.error();
    if (summary->kind != SessionKind::Ladder)
        return refused(ErrorCode::BadInput, fmt::format("is no ladder but of the kind \"{}\".", toString(summary->kind)));
    if (!ended(summary->state)) return refused(ErrorCode::BadInput, "is still being measured.");
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    if (!info->machine || !sameHardware(*info->machine, machine)) {
        std::string where = info->machine ? info->machine->cpu : "unknown";
        if (info->machine)
            for (const Gpu& gpu : info->machine->gpus) where += ", " + gpu.name;
        return refused(ErrorCode::BadInput, fmt::format("was measured on another machine ({}): its rungs say nothing of this one.", where));
    }
    StudyHistory history;
    const auto events = (*reader)->measurements(session);
    if (!events) return events.error();
    for (const auto& event : *events)
        if (std::holds_alternative<StudyBegan>(event) || std::holds_alternative<StudyRow>(event)) history.add(event);
    const auto& began = history.began();
    if (!began || began->kind != "ladder") return refused(ErrorCode::BadInput, "ended before its ladder began.");
    LadderRequest request;
    auto config = configFromJson(began->config);
    if (!config) return refused(ErrorCode::Damaged, "has settings that cannot be read: " + config.error().sentence);
    auto checked = storedConfig(std::move(*config), place);
    if (!checked) return checked.error();
    request.config = std::move(*checked);
    auto ladder = parseLadder(began->source, place, began->title);
    if (!ladder) return ladder.error();
    request.ladder = std::move(*ladder);
    request.leaveOneOut = began->leaveOneOut;
    request.pairs = began->pairs;
    if (began->budgetSeconds >= kShortestBudget && began->budgetSeconds <= kLongestBudget) request.budgetSeconds = began->budgetSeconds;
    if (began->delta >= kLeastDelta && began->delta <= kMostDelta) request.delta = began->delta;
    request.seed = began->seed;
    request.name = summary->name;
    request.notes = summary->notes;
    request.tags = summary->tags;
    request.goesOnWith = session;
    request.kept = keptRows(history.rows(), session, versionsOf(*info->machine), versionsOf(machine));
    return request;
}

}  // namespace stepscope
