#include "app/cli/study/StudyReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/workbench/reports/ReportJson.h"
#include "core/analysis/PairedVerdict.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

using enum Table::Align;

constexpr std::size_t kMostEarlierStudies = 5;  // named one by one

std::string times(double ratio, double low, double high, const char* unbounded = "too few pairs") {
    if (!std::isfinite(ratio)) return "";
    const int digits = ratio < 10 ? 2 : 1;
    if (!(low > 0 && std::isfinite(high))) return fmt::format("×{:.{}f}, {}", ratio, digits, unbounded);
    return fmt::format("×{0:.{3}f} [{1:.{3}f}, {2:.{3}f}]", ratio, low, high, digits);
}

std::string known(double value, const std::string& text) {
    return std::isfinite(value) ? text : "";
}

std::vector<std::string> cells(const StudyRow& row) {
    const bool apart = row.state == study::kSkipped || row.state == study::kFailed;
    const bool waits = row.state == study::kWaiting && !std::isfinite(row.ratio);
    return {printable(row.name),
            known(row.msPerStep, format::milliseconds(row.msPerStep)),
            known(row.tokensPerSecond, format::rate(row.tokensPerSecond, "tok/s")),
            apart   ? "not measured"
            : waits ? (row.role == study::kBottom ? "" : "not yet measured")
                    : times(row.ratio, row.low, row.high),
            times(row.total, row.totalLow, row.totalHigh),
            known(row.peakBytes, format::bytes(row.peakBytes)),
            known(row.operations, format::amount(row.operations)),
            known(row.loss, format::change(row.loss, 4)),
            printable(row.reported)};
}

Table tableOf(const char* title, const char* beside, const char* total, bool reported) {
    return Table({{title},
                  {"STEP", Right},
                  {"SPEED", Right},
                  {beside},
                  {total},
                  {"MEMORY", Right},
                  {"OPERATIONS", Right},
                  {"LOSS", Right},
                  {reported ? "REPORTED" : ""}});
}

// The rows of these roles; empty where there are none.
std::string part(const StudyHistory& history, Table table, std::initializer_list<const char*> roles) {
    bool any = false;
    for (const StudyRow& row : history.rows())
        for (const char* role : roles)
            if (row.role == role) {
                table.add(cells(row));
                any = true;
            }
    return any ? table.text() : std::string();
}

// Why rows were not measured, or what to know of those that were.
std::string reasons(const StudyHistory& history) {
    std::string text;
    for (const StudyRow& row : history.rows())
        if (const std::string why = rowWords(history, row); !why.empty()) text += fmt::format("{}: {}\n", printable(row.name), printable(why));
    return text;
}

std::string topWords(const StudyHistory& history) {
    const StudyRow* top = history.find(study::kTop);
    if (top == nullptr || !std::isfinite(top->ratio)) return "";
    return fmt::format("The top is {} as fast as the bottom, measured beside it.\n", times(top->ratio, top->low, top->high));
}

std::string ladderText(const StudyHistory& history) {
    const StudyBegan& began = *history.began();
    std::string text = part(history, tableOf("RUNG", "× THE RUNG BELOW", "× THE BOTTOM", true), {study::kBottom, study::kRung, study::kTop});
    if (const auto left = part(history, tableOf("THE TOP", "× WHAT IT LACKS GIVES", "", false), {study::kWithout}); !left.empty())
        text += "\n" + left;
    if (const auto two = part(history, tableOf("THE TOP", "× WHAT BOTH GIVE", "× OF WHAT EACH GIVES", false), {study::kPair}); !two.empty())
        text += "\n" + two;
    text += "\n" + topWords(history) + reasons(history);
    if (!began.unit.empty()) text += fmt::format("Reported elsewhere: {}; on other hardware, not by this program.\n", printable(began.unit));
    text += fmt::format(
        "Method: each × is an experiment of its own, two programs taking turns (see `ab`); its interval is\n{}.\nAll intervals of the table hold "
        "together at {:.0f} %. Loss: beside the rung below at equal tokens, soon after the start. {:.0f} s of measuring.\n",
        intervalMethod(began.finalLook), (1 - began.alpha) * 100, history.measuredSeconds());
    return text;
}

std::string tuneText(const StudyHistory& history) {
    Table table({{"RACED"}, {"× THE PRESENT SETTINGS"}, {"NEWEST STEP", Right}, {"ROUNDS", Right}, {"MEMORY", Right}, {"WHAT CAME OF IT"}});
    for (const StudyRow& row : history.rows()) {
        if (row.role != study::kCandidate || row.state == study::kSkipped || (row.state == study::kWaiting && row.pairs == 0)) continue;
        const std::string why = !row.why.empty() ? row.why : row.state == study::kChosen ? "the fastest" : row.state;
        const bool anew = history.isMeasuredAnew(row);
        table.add({printable(row.name), times(row.total, anew ? kUnknown : row.totalLow, row.totalHigh, anew ? kBeforeAnew : "too few rounds"),
                   known(row.msPerStep, format::milliseconds(row.msPerStep)), std::to_string(row.pairs),
                   known(row.peakBytes, format::bytes(row.peakBytes)), printable(why)});
    }
    std::string text = table.text();
    const StudyRow* last = history.find(study::kFinal);
    for (const StudyRow& row : history.rejectedValues()) text += fmt::format("not {}: {}\n", printable(row.settings), printable(row.why));
    text += "\n";
    if (last == nullptr) return text + "It was ended before the race was decided: nothing is recommended.\n";
    const bool has = !json::recommendedBy(history).empty();
    if (has)
        text += fmt::format("Recommended: {}\nMeasured anew{} beside the present settings: {}{}.\n", printable(last->settings),
                            history.recommendedUnconfirmed() ? ", which left it open," : "", times(last->ratio, last->low, last->high),
                            std::isfinite(last->msPerStep) ? ", " + format::milliseconds(last->msPerStep) + " a step" : "") +
                searchLossSentence(history) + "\n";
    else if (last->state == study::kWaiting || last->state == study::kRunning)
        text += fmt::format("{} won the race, and it was ended before that was measured anew: nothing is recommended.\n", printable(last->settings));
    else if (last->settings.empty() && last->outcome == toString(PairedOutcome::Inconclusive))
        text += "Nothing is recommended.\n";
    else
        text += "Recommended: the present settings.\n";
    if (const std::string why = rowWords(history, *last); !why.empty()) text += printable(why) + "\n";
    text += fmt::format(
        "Method: settings race in rounds, in random order, made anew for each block; those that are slower for sure, or would waste time, leave. × "
        "is of\n"
        "the same rounds; steps are of each row's newest block, at different times, and compare nothing. The race's own figures favour its winner, "
        "so\n"
        "only the interval of the fresh experiment counts ({:.0f} %):\n{}. {:.0f} s in all.\n",
        (1 - history.began()->alpha) * 100, intervalMethod(history.began()->finalLook), history.seconds());
    return text;
}

std::string earlierStudiesText(const std::vector<EarlierStudy>& earlier) {
    if (earlier.empty()) return "";
    std::string text = fmt::format("This was asked {} time{} before here:\n", earlier.size(), earlier.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(kMostEarlierStudies, earlier.size()); ++i)
        text += fmt::format("  session {}: {}\n", earlier[i].session, printable(studyHeadline(earlier[i].history)));
    if (earlier.size() > kMostEarlierStudies) text += fmt::format("  and {} older\n", earlier.size() - kMostEarlierStudies);
    return text;
}

}  // namespace

std::string ladderPlanText(const std::vector<StudyRow>& rows) {
    Table table({{"ROW"}, {"SETS"}, {"REPORTED"}, {"HERE"}});
    for (const StudyRow& row : rows) {
        const std::string why = whyWords(row);
        table.add({printable(row.name), printable(row.settings), printable(row.reported),
                   row.role == study::kBottom ? "" : printable(why.empty() ? "will be measured" : why)});
    }
    return table.text();
}

std::string studyText(const StudyHistory& history, std::int64_t session, const std::string& repeat, const std::vector<EarlierStudy>& earlier) {
    if (!history.began()) return "";
    std::string text = history.began()->kind == "ladder" ? ladderText(history) : tuneText(history);
    text += earlierStudiesText(earlier);
    if (session > 0) text += fmt::format("Kept as session {}.\n", session);
    if (!repeat.empty()) text += "Repeat it: " + printable(repeat) + "\n";
    return text;
}

}  // namespace stepscope::cli
