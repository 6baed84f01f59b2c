#include "app/cli/ab/AbReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kMostEarlier = 5;  // named one by one

std::string whyText(const WaterfallResult& why, bool same) {
    using enum Table::Align;
    if (why.classes.empty()) return "";
    Table classes({{"WHY: A STEP, BY KIND OF WORK"}, {"A", Right}, {"B", Right}, {"B LESS A", Right}, {"95 % INTERVAL", Right}});
    for (const auto& one : why.classes)
        classes.add({toString(one.kind), format::milliseconds(one.a), format::milliseconds(one.b), signedMilliseconds(one.difference()),
                     std::isfinite(one.low) ? signedMilliseconds(one.low) + " to " + signedMilliseconds(one.high) : "unknown"});
    classes.add({"not explained", "", "", signedMilliseconds(why.unexplained), openInterval(why)});
    classes.add({"measured", format::milliseconds(why.measuredA), format::milliseconds(why.measuredB), signedMilliseconds(why.difference()), ""});
    Table places({{"WHERE"}, {"A", Right}, {"B", Right}, {"B LESS A", Right}, {"OF A", Right}, {"OPERATIONS"}});
    for (std::size_t i = 0; i < std::min<std::size_t>(8, why.places.size()); ++i) {
        const PlaceDifference& one = why.places[i];
        places.add({printable(one.where()), format::milliseconds(one.a), format::milliseconds(one.b), signedMilliseconds(one.difference()),
                    one.share(), one.calls()});
    }
    return "\n" + classes.text() + "\n" + places.text() + (same ? std::string(kWhyBesideItself) + " " : "") + printable(waterfallSentence(why)) +
           fmt::format(
               "\nOf {} captured steps of A and {} of B, without {:.0f} ns a record for the capture, times {:.2f} and {:.2f} for the speed of this "
               "machine then.\n\n",
               why.stepsA, why.stepsB, why.nsARecord, why.scaleA, why.scaleB);
}

std::string unknownOr(double value, const std::string& text) {
    return std::isfinite(value) ? text : "unknown";
}

std::vector<std::string> row(const char* name, const std::string& settings, const SideFacts& facts) {
    return {name,
            settings,
            unknownOr(facts.msPerStep, format::milliseconds(facts.msPerStep)),
            unknownOr(facts.medianMsPerStep, format::milliseconds(facts.medianMsPerStep)),
            unknownOr(facts.tenthMs, format::milliseconds(facts.tenthMs) + " to " + format::milliseconds(facts.ninetiethMs)),
            unknownOr(facts.slowestMs, format::milliseconds(facts.slowestMs)),
            unknownOr(facts.tokensPerSecond, format::rate(facts.tokensPerSecond, "tok/s")),
            format::bytes(facts.peakBytes),
            unknownOr(facts.faultsPerStep, format::amount(facts.faultsPerStep)),
            unknownOr(facts.operations, format::amount(facts.operations)),
            unknownOr(facts.joulesPerToken, format::significant(facts.joulesPerToken * 1e3) + " mJ")};
}

// What came behind the pairs is part of the time that it took, and no part of what the verdict rests on.
std::string timeText(const ExperimentHistory& history) {
    const double all = history.newest() ? history.newest()->seconds : 0, pairs = history.measuringSeconds();
    if (!(all - pairs >= 1)) return fmt::format("{:.0f} s in all", all);
    const bool losses = history.newest()->equalTime.seconds > 0;
    return fmt::format("{:.0f} s in all, of which {:.0f} s of measuring and {:.0f} s behind it{}", all, pairs, all - pairs,
                       losses ? ", for the losses that were asked for too" : "");
}

std::string earlierText(const std::vector<EarlierAnswer>& earlier) {
    if (earlier.empty()) return "";
    std::string text = fmt::format("This was asked {} time{} before here:\n", earlier.size(), earlier.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(kMostEarlier, earlier.size()); ++i)
        text += fmt::format("  session {}: {}\n", earlier[i].session, printable(earlierWords(earlier[i])));
    if (earlier.size() > kMostEarlier) text += fmt::format("  and {} older\n", earlier.size() - kMostEarlier);
    return text;
}

}  // namespace

Json experimentJson(const ExperimentHistory& history, const SameSettings& same) {
    if (!history.began()) return nullptr;
    Json answer = json::answerOf(history);
    json::tellSettings(answer, same);
    return answer;
}

std::string abLine(const ExperimentHistory& history, std::int64_t session, const std::vector<EarlierAnswer>& earlier,
                   const std::optional<StoredPrediction>& foretold, const SameSettings& same) {
    Json all = json::answerOf(history);
    json::tellSettings(all, same);
    all["experiment"] = session > 0 ? Json(session) : Json(nullptr);
    Json before = Json::array();
    for (const auto& one : earlier)
        before.push_back({{"experiment", one.session},
                          {"verdict", one.judged.outcome},
                          {"ratio", number(one.judged.ratio)},
                          {"low", bound(one.judged.low, one.judged.high, one.judged.low)},
                          {"high", bound(one.judged.low, one.judged.high, one.judged.high)},
                          {"delta", number(one.delta)},
                          {"turned", one.turned}});
    all["earlier"] = before;
    all["foretold_ratio"] = foretold ? number(foretold->ratio) : Json(nullptr);
    return line(all);
}

// An experiment of which nothing happened, so that both lines have the same keys.
std::string notComparableLine(const std::string& why, const ExperimentBegan& asked) {
    ExperimentHistory nothing;
    nothing.add(asked);
    nothing.add(ExperimentJudged{.over = true, .outcome = "not-comparable", .why = why});
    return abLine(nothing, 0, {});
}

std::string abText(const ExperimentHistory& history, std::int64_t session, const std::vector<EarlierAnswer>& earlier, const std::string& repeat,
                   const std::optional<StoredPrediction>& foretold, const SameSettings& same) {
    using enum Table::Align;
    const ExperimentBegan began = history.began().value_or(ExperimentBegan{});
    const ExperimentJudged judged = history.newest().value_or(ExperimentJudged{.outcome = "inconclusive"});
    const auto [sideA, sideB] = sidesOf(began);
    std::string ofA, ofB;
    for (const auto& key : differingKeys(sideA, sideB)) {
        ofA += fmt::format("{}{}={}", ofA.empty() ? "" : " ", key.key, key.a);
        ofB += fmt::format("{}{}={}", ofB.empty() ? "" : " ", key.key, key.b);
    }
    Table table({{"SIDE"},
                 {"SETTINGS"},
                 {"MEAN STEP", Right},
                 {"MEDIAN", Right},
                 {"BLOCKS P10 TO P90", Right},
                 {"SLOWEST", Right},
                 {"SPEED", Right},
                 {"PEAK MEMORY", Right},
                 {"FAULTS A STEP", Right},
                 {"OPERATIONS", Right},
                 {"ENERGY A TOKEN", Right}});
    if (began.same) {
        for (const auto& [key, value] : same) ofA += fmt::format("{}{}={}", ofA.empty() ? "" : " ", key, value);
        if (ofA.empty()) ofA = "those of the preset";
    }
    table.add(row("A", printable(ofA), history.facts(Arm::A)));
    table.add(row("B", printable(began.same ? "the same" : ofB), history.facts(Arm::B)));
    std::string text =
        table.text() + "\n" +
        printable(began.same ? sentenceBesideItself(judged, began.delta) : verdictSentence(judged, began.delta, armNames(sideA, sideB))) + "\n";
    if (const std::string said = claimBesideItself(judged, began.alpha); began.same && !said.empty()) text += said + "\n";
    const bool bounded = std::isfinite(judged.low) && judged.low > 0 && std::isfinite(judged.high);
    if (std::isfinite(judged.ratio) && !bounded)
        text += fmt::format("Time per token of A ÷ that of B so far: {:.4f}; too few pairs for an interval.\n", judged.ratio);
    if (std::isfinite(judged.ratio) && bounded)
        text += fmt::format("Time per token of A ÷ that of B: {:.4f}, {:.3g} % interval [{:.4f}, {:.4f}], over {} rebuilds of both.\n", judged.ratio,
                            (1 - began.alpha) * 100, judged.low, judged.high, judged.rebuilds);
    if (const std::string said = meansSentence(judged, history.speedRatio(), began.delta); !said.empty()) text += said + "\n";
    if (const std::string said = machineSentence(history.machineMeanwhile()); !said.empty()) text += said + "\n";
    if (foretold)
        if (const std::string said = foretoldSentence(foretold->ratio, foretold->basis, judged); !said.empty()) text += printable(said) + "\n";
    text += fmt::format("A side beside itself in this experiment: {}.{}\n", floorWords(judged.floor, history.sameArmPairs()),
                        floorAdvice(judged.floor, judged.ratio, began.same ? std::string() : judged.outcome));
    text += whyText(history.why(), began.same);
    if (const double loss = history.lossDifference(); std::isfinite(loss))
        text += fmt::format("Loss at equal tokens: {}, soon after the start{}.\n", lossApart(loss),
                            judged.equalTime.seconds > 0 || began.same ? "" : "; --loss-after compares it at equal time");
    else if (const std::string unknown = history.whyNoLoss(); !unknown.empty())
        text += fmt::format("Loss at equal tokens: unknown ({}).\n", unknown);
    if (!began.comparison.empty()) text += printable(began.comparison) + "\n";
    text += fmt::format(
        "Method: pairs of blocks in an order that a coin decides (seed {}), judged after each pair by a self-normalised confidence sequence on\n"
        "log(time per token of A ÷ of B){}; by Student's t over the rebuilds too;\n"
        "whole pairs are left out for other programs' use of the processors alone. {}.\n",
        began.seed,
        began.finalLook ? " and, when the budget is spent, once by Student's t over the pairs,\nof fewer than 16 by all their signs too" : "",
        timeText(history));
    text += earlierText(earlier);
    if (session > 0) text += fmt::format("Kept as session {}.\n", session);
    if (!repeat.empty()) text += "Repeat it: " + printable(repeat) + "\n";
    return text;
}

}  // namespace stepscope::cli
