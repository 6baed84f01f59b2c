#include "app/cli/sessions/CaptureReport.h"

#include <fmt/format.h>

#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "core/analysis/captures/CaptureSentence.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

const std::vector<CapturedOperation>& rowsOf(const CaptureDone& capture) {
    static const std::vector<CapturedOperation> none;
    return capture.rows ? *capture.rows : none;
}

}  // namespace

Json toJson(const CaptureDone& capture) {
    Json rows = Json::array();
    for (const auto& row : rowsOf(capture))
        rows.push_back({{"name", row.name},
                        {"kind", row.kind},
                        {"phase", row.phase.empty() ? Json(nullptr) : Json(row.phase)},
                        {"role", row.role.empty() ? Json(nullptr) : Json(row.role)},
                        {"ours", row.ours},
                        {"calls", row.runs},
                        {"launches", row.launches},
                        {"self_ms", number(row.self.milliseconds())},
                        {"total_ms", number(row.total.milliseconds())}});
    return {{"first_step", capture.firstStep},
            {"last_step", capture.step},
            {"steps", capture.steps},
            {"t_ns", capture.at.ns},
            {"ms", number(capture.duration.milliseconds())},
            {"operations_per_step", number(capture.operations)},
            {"left_out", capture.leftOut},
            {"rows", rows}};
}

Json levelsJson(const LevelCosts& levels) {
    const MeasuredCost& capture = levels.capture;
    return {{"L0", {{"what", "steps"}, {"ns", number(levels.always.recordNs)}, {"share", number(levels.records())}}},
            {"L1", {{"what", "phases"}, {"ns", number(levels.always.phasesNs)}, {"share", number(levels.phases())}}},
            {"L2",
             {{"what", "operations and kernels"},
              {"share", number(capture.share)},
              {"low", number(capture.low)},
              {"high", number(capture.high)},
              {"steps", capture.steps},
              {"beside", capture.beside}}}};
}

std::string captureTable(const CaptureDone& capture, std::size_t mostRows) {
    using enum Table::Align;
    std::string text = captureSentence(capture) + "\n";
    const auto& rows = rowsOf(capture);
    if (rows.empty()) return text;
    double all = 0;
    for (const auto& row : rows) all += static_cast<double>(row.self.ns);
    const double steps = static_cast<double>(std::max<std::int64_t>(1, capture.steps));
    Table table({{"OPERATION"},
                 {"KIND"},
                 {"PHASE"},
                 {"ROLE"},
                 {"CALLS A STEP", Right},
                 {"OPERATIONS A STEP", Right},
                 {"SELF A STEP", Right},
                 {"TOTAL A STEP", Right},
                 {"SHARE", Right}});
    for (std::size_t i = 0; i < std::min(mostRows, rows.size()); ++i) {
        const auto& row = rows[i];
        table.add({printable(row.name), printable(row.kind), printable(row.phase), printable(row.role),
                   format::significant(static_cast<double>(row.runs) / steps), format::significant(static_cast<double>(row.launches) / steps),
                   format::milliseconds(row.self.milliseconds() / steps), format::milliseconds(row.total.milliseconds() / steps),
                   all > 0 ? fmt::format("{:.1f} %", 100 * static_cast<double>(row.self.ns) / all) : std::string("n/a")});
    }
    text += table.text();
    const auto hidden = static_cast<std::int64_t>(rows.size() - std::min(mostRows, rows.size())) + capture.leftOut;
    if (hidden > 0) text += fmt::format("{} more kinds of operations, each with less time.\n", format::count(hidden));
    return text;
}

}  // namespace stepscope::cli
