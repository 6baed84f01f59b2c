#include "app/gui/measuring/CompareCheck.h"

#include <QDateTime>
#include <QFile>
#include <algorithm>

#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/analysis/JudgedSentence.h"
#include "core/events/ConfigKeys.h"
#include "sessions/findings/Experiments.h"
#include "widgets/panels/sessions/RelativeTime.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostEarlier = 10;

// Why a side with this one difference cannot be had here; empty = it can.
std::string problemOf(const Workbench& workbench, const SwitchCatalogue& catalogue, RunConfig config, const std::string& key, const std::string& text,
                      bool complete) {
    if (auto done = setKey(config, catalogue, key, text); !done) return done.error().sentence;
    for (const SwitchInfo& entry : catalogue) {
        if (entry.id != key) continue;
        for (const auto& [choice, reason] : entry.refusedChoices)
            if (choice == text) return reason;
    }
    if (!complete) return "";
    const auto whole = workbench.complete(std::move(config));
    return whole ? "" : whole.error().sentence;
}

std::string problemOf(const Workbench& workbench, const SwitchCatalogue& catalogue, const RunConfig& settings, const Difference& row, bool complete) {
    for (const bool ofA : {true, false})
        if (const std::string why = problemOf(workbench, catalogue, settings, row.key, ofA ? row.a : row.b, complete); !why.empty())
            return std::string(ofA ? "A: " : "B: ") + why;
    if (row.a == row.b) return "Both sides have the same value here.";
    RunConfig a = settings, b = settings;
    if (!setKey(a, catalogue, row.key, row.a) || !setKey(b, catalogue, row.key, row.b)) return "";
    if (differingKeys(a, b).empty()) return "Both sides have the same value here.";
    return whyNotComparable(a, b, false);
}

}  // namespace

EarlierList earlierOf(const std::string& database, const std::string& question, std::int64_t besides) {
    EarlierList list;
    if (!QFile::exists(asText(database))) return list;
    const auto answers = earlierAnswers(database, question, besides);
    if (!answers) return list;  // the list of sessions is read from the same file and says why
    list.count = answers->size();
    for (std::size_t i = 0; i < std::min(kMostEarlier, answers->size()); ++i) {
        const EarlierAnswer& one = (*answers)[i];
        list.rows.push_back({one.session, relativeTime(QDateTime::fromMSecsSinceEpoch(one.startedUnixMs), QDateTime::currentDateTime()),
                             asText(judgedWords(one.judged, one.delta)), one.number});
    }
    return list;
}

CheckedQuestion checkQuestion(const Workbench& workbench, const RunConfig& settings, const CompareQuestion& question, const std::string& database) {
    CheckedQuestion checked;
    CompareCheck& check = checked.check;
    const SwitchCatalogue catalogue = workbench.switches(settings);
    check.rows.resize(question.differences.size());
    RunConfig a = settings, b = settings;
    const auto base = workbench.complete(settings);
    if (!question.same)
        for (std::size_t i = 0; i < question.differences.size(); ++i) {
            const Difference& row = question.differences[i];
            const auto before = std::ranges::find(question.differences, row.key, &Difference::key);
            const auto first = static_cast<std::size_t>(before - question.differences.begin());
            if (first < i) {
                check.rows[i] = QString("Difference %1 is of the same switch or setting.").arg(first + 1);
                continue;
            }
            check.rows[i] = asText(problemOf(workbench, catalogue, settings, row, base.ok()));
            (void)setKey(a, catalogue, row.key, row.a);
            (void)setKey(b, catalogue, row.key, row.b);
        }
    if (!check.possible()) return checked;
    auto wholeA = workbench.complete(std::move(a)), wholeB = workbench.complete(std::move(b));
    for (const auto* side : {&wholeA, &wholeB})
        if (!*side && check.problem.isEmpty())
            check.problem = QString("%1: %2").arg(question.same ? "These settings" : side == &wholeA ? "A" : "B", asText(side->error().sentence));
    if (!check.problem.isEmpty()) return checked;
    check.problem = asText(whyNotComparable(*wholeA, *wholeB, question.same));
    if (check.problem.isEmpty() && !question.same) check.problem = asText(workbench.whyNothingDiffers(*wholeA, *wholeB));
    if (!check.problem.isEmpty()) return checked;
    check.notes = asText(comparisonNotes(*wholeA, *wholeB, question.lossSeconds > 0));
    const EarlierList earlier = earlierOf(database, questionKey(*wholeA, *wholeB, question.same, workbench.machine()), 0);
    check.earlier = earlier.rows;
    check.earlierCount = earlier.count;
    ExperimentRequest request;
    request.a = std::move(*wholeA);
    request.b = std::move(*wholeB);
    request.same = question.same;
    request.budgetSeconds = std::clamp(question.budgetSeconds, kShortestBudget, kLongestBudget);
    request.delta = std::clamp(question.delta, kLeastDelta, kMostDelta);
    request.seed = question.seed;
    request.lossSeconds = question.lossSeconds <= 0 ? 0 : std::clamp(question.lossSeconds, kLeastLossSeconds, kMostLossSeconds);
    request.database = database;
    checked.request = std::move(request);
    return checked;
}

}  // namespace stepscope
