#include "app/cli/ab/AbReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/workbench/ExperimentQuestion.h"
#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kMostEarlier = 5;  // named one by one

struct Sides {
    RunConfig a, b;
};

// What was stored is a stranger's: configurations that do not parse have no keys to show.
Sides sidesOf(const ExperimentBegan& began) {
    Sides sides;
    if (auto a = configFromJson(began.configA)) sides.a = std::move(*a);
    if (auto b = configFromJson(began.configB)) sides.b = std::move(*b);
    return sides;
}

Json settings(const RunConfig& a, const RunConfig& b, bool ofA) {
    Json all = Json::object();
    for (const auto& key : differingKeys(a, b)) all[key.key] = ofA ? key.a : key.b;
    return all;
}

Json sideJson(const Json& settings, const SideFacts& facts) {
    return {{"settings", settings},
            {"blocks", facts.blocks},
            {"steps", facts.steps},
            {"ms_per_step", number(facts.msPerStep)},
            {"ms_per_step_median", number(facts.medianMsPerStep)},
            {"ms_slowest_step", number(facts.slowestMs)},
            {"tokens_per_s", number(facts.tokensPerSecond)},
            {"peak_bytes", number(facts.peakBytes)},
            {"page_faults_per_step", number(facts.faultsPerStep)},
            {"operations_per_step", number(facts.operations)},
            {"joules_per_token", number(facts.joulesPerToken)}};
}

Json equalTime(const EqualTimeLoss& loss) {
    if (loss.seconds <= 0) return nullptr;
    return {{"seconds", number(loss.seconds)},       {"seeds", loss.seeds},     {"a", number(loss.a)},       {"b", number(loss.b)},
            {"difference", number(loss.difference)}, {"low", number(loss.low)}, {"high", number(loss.high)}, {"steps_a", number(loss.stepsA)},
            {"steps_b", number(loss.stepsB)}};
}

Json whyJson(const WaterfallResult& why) {
    if (why.classes.empty()) return nullptr;
    Json classes = Json::array(), places = Json::array(), layers = Json::array();
    for (const auto& one : why.classes)
        classes.push_back({{"class", toString(one.kind)},
                           {"a_ms", number(one.a)},
                           {"b_ms", number(one.b)},
                           {"difference_ms", number(one.difference())},
                           {"low_ms", number(one.low)},
                           {"high_ms", number(one.high)}});
    const auto addPlace = [](Json& into, const PlaceDifference& one) {
        into.push_back({{"phase", one.phase},
                        {"role", one.role},
                        {"a_ms", number(one.a)},
                        {"b_ms", number(one.b)},
                        {"difference_ms", number(one.difference())},
                        {"a_calls", number(one.callsA)},
                        {"b_calls", number(one.callsB)},
                        {"a_operations", one.namesA},
                        {"b_operations", one.namesB}});
        if (one.layer >= 0) into.back()["layer"] = one.layer;
    };
    for (const auto& one : why.places) addPlace(places, one);
    for (const auto& one : why.layers) addPlace(layers, one);
    return {{"a_ms", number(why.measuredA)},
            {"b_ms", number(why.measuredB)},
            {"a_captured_ms", number(why.capturedA)},
            {"b_captured_ms", number(why.capturedB)},
            {"a_steps", why.stepsA},
            {"b_steps", why.stepsB},
            {"ns_per_record", number(why.nsARecord)},
            {"scale", number(why.scale)},
            {"unexplained_ms", number(why.unexplained)},
            {"classes", classes},
            {"places", places},
            {"layers", layers}};
}

std::string whyText(const WaterfallResult& why) {
    using enum Table::Align;
    if (why.classes.empty()) return "";
    Table classes({{"WHY: A STEP, BY KIND OF WORK"}, {"A", Right}, {"B", Right}, {"B LESS A", Right}, {"95 % INTERVAL", Right}});
    for (const auto& one : why.classes)
        classes.add({toString(one.kind), format::milliseconds(one.a), format::milliseconds(one.b), signedMilliseconds(one.difference()),
                     std::isfinite(one.low) ? signedMilliseconds(one.low) + " to " + signedMilliseconds(one.high) : "unknown"});
    classes.add({"not explained", "", "", signedMilliseconds(why.unexplained), ""});
    classes.add({"measured", format::milliseconds(why.measuredA), format::milliseconds(why.measuredB), signedMilliseconds(why.difference()), ""});
    Table places({{"WHERE"}, {"A", Right}, {"B", Right}, {"B LESS A", Right}, {"OPERATIONS"}});
    for (std::size_t i = 0; i < std::min<std::size_t>(8, why.places.size()); ++i) {
        const PlaceDifference& one = why.places[i];
        places.add(
            {printable(one.where()), format::milliseconds(one.a), format::milliseconds(one.b), signedMilliseconds(one.difference()), one.change()});
    }
    return "\n" + classes.text() + "\n" + places.text() + printable(waterfallSentence(why)) +
           fmt::format(
               "\nOf {} captured steps of A and {} of B, without {:.0f} ns a record for the capture, times {:.2f} for the speed of this machine "
               "then.\n\n",
               why.stepsA, why.stepsB, why.nsARecord, why.scale);
}

Json answer(const ExperimentHistory& history) {
    const ExperimentBegan began = history.began().value_or(ExperimentBegan{});
    const ExperimentJudged judged = history.newest().value_or(ExperimentJudged{.outcome = "inconclusive"});
    const Sides sides = sidesOf(began);
    std::string why = judged.why;
    if (!began.comparison.empty()) why += (why.empty() ? "" : " ") + began.comparison;
    return {{"verdict", judged.outcome},
            {"why", why},
            {"reason", judged.reason},
            {"ratio", number(judged.ratio)},
            {"low", bound(judged.low, judged.high, judged.low)},
            {"high", bound(judged.low, judged.high, judged.high)},
            {"pairs", judged.pairs},
            {"discarded", judged.left},
            {"rebuilds", judged.rebuilds},
            {"floor", std::isfinite(judged.floor) ? number(judged.floor - 1) : Json(nullptr)},
            {"delta", began.delta},
            {"seconds", number(judged.seconds)},
            {"seconds_to_go", number(judged.secondsToGo)},
            {"seed", began.seed},
            {"loss_difference_at_equal_tokens", number(history.lossDifference())},
            {"loss_at_equal_time", equalTime(judged.equalTime)},
            {"waterfall", whyJson(history.why())},
            {"a", sideJson(settings(sides.a, sides.b, true), history.facts(Arm::A))},
            {"b", sideJson(settings(sides.a, sides.b, false), history.facts(Arm::B))}};
}

std::string unknownOr(double value, const std::string& text) {
    return std::isfinite(value) ? text : "unknown";
}

std::vector<std::string> row(const char* name, const std::string& settings, const SideFacts& facts) {
    return {name,
            settings,
            unknownOr(facts.msPerStep, format::milliseconds(facts.msPerStep)),
            unknownOr(facts.slowestMs, format::milliseconds(facts.slowestMs)),
            unknownOr(facts.tokensPerSecond, format::rate(facts.tokensPerSecond, "tok/s")),
            unknownOr(facts.peakBytes,
                      format::bytes({std::isfinite(facts.peakBytes) ? static_cast<std::int64_t>(std::clamp(facts.peakBytes, 0.0, 9e18)) : 0})),
            unknownOr(facts.faultsPerStep, format::significant(facts.faultsPerStep)),
            unknownOr(facts.operations, format::significant(facts.operations, 4)),
            unknownOr(facts.joulesPerToken, format::significant(facts.joulesPerToken * 1e3) + " mJ")};
}

std::string earlierText(const std::vector<EarlierAnswer>& earlier) {
    if (earlier.empty()) return "";
    std::string text = fmt::format("This was asked {} time{} before here:\n", earlier.size(), earlier.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(kMostEarlier, earlier.size()); ++i)
        text += fmt::format("  session {}: {}\n", earlier[i].session, printable(judgedWords(earlier[i].judged, earlier[i].delta)));
    if (earlier.size() > kMostEarlier) text += fmt::format("  and {} older\n", earlier.size() - kMostEarlier);
    return text;
}

}  // namespace

Json experimentJson(const ExperimentHistory& history) {
    return history.began() ? answer(history) : Json(nullptr);
}

std::string abLine(const ExperimentHistory& history, std::int64_t session, const std::vector<EarlierAnswer>& earlier) {
    Json all = answer(history);
    all["experiment"] = session > 0 ? Json(session) : Json(nullptr);
    Json before = Json::array();
    for (const auto& one : earlier)
        before.push_back({{"experiment", one.session},
                          {"verdict", one.judged.outcome},
                          {"ratio", number(one.judged.ratio)},
                          {"low", bound(one.judged.low, one.judged.high, one.judged.low)},
                          {"high", bound(one.judged.low, one.judged.high, one.judged.high)},
                          {"delta", number(one.delta)}});
    all["earlier"] = before;
    return line(all);
}

std::string notComparableLine(const std::string& why, double delta, const RunConfig& a, const RunConfig& b) {
    const Json nothing = nullptr;
    return line({{"verdict", "not-comparable"},
                 {"why", why},
                 {"ratio", nothing},
                 {"low", nothing},
                 {"high", nothing},
                 {"pairs", 0},
                 {"discarded", 0},
                 {"floor", nothing},
                 {"delta", delta},
                 {"seconds", 0},
                 {"experiment", nothing},
                 {"a", sideJson(settings(a, b, true), {})},
                 {"b", sideJson(settings(a, b, false), {})}});
}

std::string abText(const ExperimentHistory& history, std::int64_t session, const std::vector<EarlierAnswer>& earlier, const std::string& repeat) {
    using enum Table::Align;
    const ExperimentBegan began = history.began().value_or(ExperimentBegan{});
    const ExperimentJudged judged = history.newest().value_or(ExperimentJudged{.outcome = "inconclusive"});
    const Sides sides = sidesOf(began);
    std::string ofA, ofB;
    for (const auto& key : differingKeys(sides.a, sides.b)) {
        ofA += fmt::format("{}{}={}", ofA.empty() ? "" : " ", key.key, key.a);
        ofB += fmt::format("{}{}={}", ofB.empty() ? "" : " ", key.key, key.b);
    }
    Table table({{"SIDE"},
                 {"SETTINGS"},
                 {"MEAN STEP", Right},
                 {"SLOWEST", Right},
                 {"SPEED", Right},
                 {"PEAK MEMORY", Right},
                 {"FAULTS A STEP", Right},
                 {"OPERATIONS", Right},
                 {"ENERGY A TOKEN", Right}});
    table.add(row("A", printable(began.same ? "as given" : ofA), history.facts(Arm::A)));
    table.add(row("B", printable(began.same ? "the same" : ofB), history.facts(Arm::B)));
    std::string text = table.text() + "\n" + printable(judgedSentence(judged, began.delta)) + "\n";
    const bool bounded = std::isfinite(judged.low) && judged.low > 0 && std::isfinite(judged.high);
    if (std::isfinite(judged.ratio) && !bounded)
        text += fmt::format("Time per token of A ÷ that of B so far: {:.4f}; too few pairs for an interval.\n", judged.ratio);
    if (std::isfinite(judged.ratio) && bounded)
        text += fmt::format("Time per token of A ÷ that of B: {:.4f}, {:.0f} % interval [{:.4f}, {:.4f}], over {} rebuilds of both.\n", judged.ratio,
                            (1 - began.alpha) * 100, judged.low, judged.high, judged.rebuilds);
    text += fmt::format("A side beside itself in this experiment: {}.\n", floorWords(judged.floor, history.sameArmPairs()));
    text += whyText(history.why());
    if (const double loss = history.lossDifference(); std::isfinite(loss))
        text += fmt::format("Loss at equal tokens: that of B is {:.4f} {} on average, soon after the start{}.\n", std::abs(loss),
                            loss < 0 ? "lower" : "higher", judged.equalTime.seconds > 0 ? "" : "; --loss-after compares it at equal time");
    if (!began.comparison.empty()) text += printable(began.comparison) + "\n";
    text += fmt::format(
        "Method: pairs of blocks in an order that a coin decides (seed {}), judged after each pair by a self-normalised confidence sequence on\n"
        "log(time per token of A ÷ of B), and by Student's t over the rebuilds; whole pairs are left out for other programs' use of the\n"
        "processors alone. {:.0f} s in all.\n",
        began.seed, judged.seconds);
    text += earlierText(earlier);
    if (session > 0) text += fmt::format("Kept as session {}.\n", session);
    if (!repeat.empty()) text += "Repeat it: " + printable(repeat) + "\n";
    return text;
}

}  // namespace stepscope::cli
