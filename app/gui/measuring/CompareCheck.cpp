#include "app/gui/measuring/CompareCheck.h"

#include <QDateTime>
#include <QFile>
#include <algorithm>
#include <filesystem>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/WeightsLook.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/analysis/JudgedSentence.h"
#include "core/events/ConfigKeys.h"
#include "sessions/findings/Experiments.h"
#include "widgets/panels/sessions/RelativeTime.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostEarlier = 10;
constexpr std::int64_t kStepsBeyond = 1'000'000;  // of a checkpoint's step; no experiment makes as many

const char* kSameValue = "Both sides have the same value here: choose another one, or tick “This machine beside itself”.";

// The engine's sentences name the option of the command line; here it is a box.
QString inTheWindow(const std::string& sentence) {
    return asText(sentence).replace("--aa", "“This machine beside itself”");
}

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
    if (row.a == row.b) return kSameValue;
    RunConfig a = settings, b = settings;
    if (!setKey(a, catalogue, row.key, row.a) || !setKey(b, catalogue, row.key, row.b)) return "";
    if (differingKeys(a, b).empty()) return kSameValue;
    return whyNotComparable(a, b, false);
}

// The first setting of the model in which a checkpoint is of another one than a side; empty: none.
std::string otherModel(const RunConfig& held, const RunConfig& side) {
    for (const ConfigKey& key : configKeys())
        if (key.section == "model" && key.id != "dropout" && key.id != "label-smoothing" && key.get(held) != key.get(side)) return key.id;
    return "";
}

// What both begin with, into the request; or why they cannot, a sentence.
std::string beginFrom(const std::string& start, ExperimentRequest& request) {
    std::error_code unreadable;
    if (!std::filesystem::exists(std::filesystem::path(start) / "state.json", unreadable)) {
        for (const RunConfig* side : {&request.a, &request.b})
            if (const WeightsLook look = lookAtWeights(start, *side); !look.problem.empty()) return look.problem;
        request.init = start;
        return "";
    }
    const auto held = inspectCheckpoint(start);
    if (!held) return held.error().sentence;
    for (RunConfig* side : {&request.a, &request.b}) {
        if (const std::string key = otherModel(held->config, *side); !key.empty())
            return "The checkpoint " + start + " is of a model with another " + key + "; set it at the left as its run had it.";
        // Steps go on from there, however many a run of these settings is to have.
        side->steps = std::max(side->steps, held->step + kStepsBeyond);
    }
    request.from = start;
    return "";
}

}  // namespace

EarlierList earlierOf(const std::string& database, const std::string& question, std::int64_t besides, const std::string& turned) {
    EarlierList list;
    if (!QFile::exists(asText(database))) return list;
    const auto answers = earlierAnswers(database, question, besides, turned);
    if (!answers) return list;  // the list of sessions is read from the same file and says why
    list.count = answers->size();
    for (std::size_t i = 0; i < std::min(kMostEarlier, answers->size()); ++i) {
        const EarlierAnswer& one = (*answers)[i];
        list.rows.push_back({one.session, relativeTime(QDateTime::fromMSecsSinceEpoch(one.startedUnixMs), QDateTime::currentDateTime()),
                             asText(earlierWords(one)), one.number});
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
            check.rows[i] = inTheWindow(problemOf(workbench, catalogue, settings, row, base.ok()));
            (void)setKey(a, catalogue, row.key, row.a);
            (void)setKey(b, catalogue, row.key, row.b);
        }
    if (!check.possible()) return checked;
    auto wholeA = workbench.complete(std::move(a)), wholeB = workbench.complete(std::move(b));
    for (const auto* side : {&wholeA, &wholeB})
        if (!*side && check.problem.isEmpty())
            check.problem = QString("%1: %2").arg(question.same ? "These settings" : side == &wholeA ? "A" : "B", asText(side->error().sentence));
    if (!check.problem.isEmpty()) return checked;
    check.problem = inTheWindow(whyNotComparable(*wholeA, *wholeB, question.same));
    if (check.problem.isEmpty() && !question.same) check.problem = inTheWindow(workbench.whyNothingDiffers(*wholeA, *wholeB));
    if (!check.problem.isEmpty()) return checked;
    ExperimentRequest request;
    request.a = std::move(*wholeA);
    request.b = std::move(*wholeB);
    if (!question.start.empty()) check.problem = asText(beginFrom(question.start, request));
    if (!check.problem.isEmpty()) return checked;
    check.notes = asText(comparisonNotes(request.a, request.b, question.lossSeconds > 0));
    const auto keyOf = [&](const RunConfig& first, const RunConfig& second) {
        return questionKey(first, second, question.same, workbench.machine(), request.from, request.init);
    };
    const EarlierList earlier = earlierOf(database, keyOf(request.a, request.b), 0, keyOf(request.b, request.a));
    check.earlier = earlier.rows;
    check.earlierCount = earlier.count;
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
