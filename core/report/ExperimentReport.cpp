#include "core/report/ExperimentReport.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMostPlaces = 15;

std::string unknownOr(double value, const std::string& text) {
    return std::isfinite(value) ? text : "unknown";
}

Table sidesTable(const SideFacts& a, const SideFacts& b) {
    Table table{.head = {"", "A", "B"}, .rows = {}, .textColumns = 1};
    const auto add = [&](const char* name, const std::string& ofA, const std::string& ofB) { table.rows.push_back({name, ofA, ofB}); };
    const auto ms = [](double value) { return unknownOr(value, format::milliseconds(value)); };
    add("mean step", ms(a.msPerStep), ms(b.msPerStep));
    add("median step", ms(a.medianMsPerStep), ms(b.medianMsPerStep));
    const auto between = [&](const SideFacts& side) { return unknownOr(side.tenthMs, ms(side.tenthMs) + " to " + ms(side.ninetiethMs)); };
    add("blocks' means, p10 to p90", between(a), between(b));
    add("slowest step", ms(a.slowestMs), ms(b.slowestMs));
    const auto rate = [](double value) { return unknownOr(value, format::rate(value, "tok/s")); };
    add("speed", rate(a.tokensPerSecond), rate(b.tokensPerSecond));
    add("peak memory", format::bytes(a.peakBytes), format::bytes(b.peakBytes));
    const auto number = [](double value) { return unknownOr(value, format::amount(value)); };
    add("page faults a step", number(a.faultsPerStep), number(b.faultsPerStep));
    add("operations a step", number(a.operations), number(b.operations));
    const auto energy = [](double value) { return unknownOr(value, format::significant(value * 1e3) + " mJ"); };
    add("energy a token", energy(a.joulesPerToken), energy(b.joulesPerToken));
    add("steps that count", format::count(a.steps), format::count(b.steps));
    return table;
}

// Kind by kind of both, in the order of A's and then of what B alone holds.
void addMemory(Document& document, const std::vector<MemoryOwner>& a, const std::vector<MemoryOwner>& b) {
    if (a.empty() && b.empty()) return;
    const auto bytesOf = [](const std::vector<MemoryOwner>& of, const std::string& kind) {
        const auto found = std::ranges::find(of, kind, &MemoryOwner::kind);
        return found == of.end() ? std::string("–") : format::bytes({found->bytes});
    };
    Table table{.head = {"memory at its highest point", "A", "B"}, .rows = {}, .textColumns = 1};
    for (const MemoryOwner& one : a) table.rows.push_back({one.kind, bytesOf(a, one.kind), bytesOf(b, one.kind)});
    for (const MemoryOwner& one : b)
        if (std::ranges::find(a, one.kind, &MemoryOwner::kind) == a.end()) table.rows.push_back({one.kind, "–", bytesOf(b, one.kind)});
    document.blocks.push_back(std::move(table));
    document.blocks.push_back(
        Paragraph{"Of captured steps, as far as it was taken while they were looked at: what is kept ready from step to step is in the peak only."});
}

Verdict verdictOf(const ExperimentJudged& judged, const ExperimentBegan& began) {
    const bool faster = judged.outcome == toString(PairedOutcome::Faster), slower = judged.outcome == toString(PairedOutcome::Slower);
    const Verdict::Tone tone = began.same ? Verdict::Tone::Neutral
                               : faster   ? Verdict::Tone::Good
                               : slower   ? Verdict::Tone::Bad
                                          : Verdict::Tone::Neutral;
    const std::string said = began.same ? headlineBesideItself(judged, began.delta) : verdictHeadline(judged, began.delta, armNames(began));
    return {said + (judged.over ? "" : " (cut off before it was over)"), tone};
}

void addWhy(Document& document, const WaterfallResult& why, bool same) {
    if (why.classes.empty()) return;
    document.blocks.push_back(Heading{"Why"});
    if (same) document.blocks.push_back(Paragraph{kWhyBesideItself});
    if (const std::string said = waterfallSentence(why); !said.empty()) document.blocks.push_back(Paragraph{said});
    Table classes{.head = {"kind of work", "A", "B", "B less A", "95 % interval"}, .rows = {}, .textColumns = 1};
    for (const auto& one : why.classes)
        classes.rows.push_back({toString(one.kind), format::milliseconds(one.a), format::milliseconds(one.b), signedMilliseconds(one.difference()),
                                std::isfinite(one.low) ? signedMilliseconds(one.low) + " to " + signedMilliseconds(one.high) : "unknown"});
    classes.rows.push_back({"not explained", "", "", signedMilliseconds(why.unexplained), openInterval(why)});
    classes.rows.push_back(
        {"measured", format::milliseconds(why.measuredA), format::milliseconds(why.measuredB), signedMilliseconds(why.difference()), ""});
    document.blocks.push_back(std::move(classes));
    const auto addPlaces = [&](const std::vector<PlaceDifference>& of, bool layered) {
        if (of.empty()) return;
        Table places{.head = {"phase", "part of the model", "operations", "A", "B", "B less A", "of A"}, .rows = {}, .textColumns = 3};
        for (std::size_t i = 0; i < std::min(kMostPlaces, of.size()); ++i) {
            const PlaceDifference& one = of[i];
            const std::string part = layered ? fmt::format("layer {}, {}", one.layer, one.role.empty() ? "no part" : one.role) : one.role;
            places.rows.push_back({one.phase.empty() ? "between the phases" : one.phase, part, one.calls(), format::milliseconds(one.a),
                                   format::milliseconds(one.b), signedMilliseconds(one.difference()), one.share()});
        }
        if (layered) document.blocks.push_back(Paragraph{fmt::format("Layer by layer, the {} that differ most:", places.rows.size())});
        document.blocks.push_back(std::move(places));
    };
    addPlaces(why.places, false);
    addPlaces(why.layers, true);
    const std::string brought = std::isfinite(why.open) ? fmt::format(
                                                              "and the times multiplied by {:.2f} and {:.2f}, which makes each side's step as long "
                                                              "as it was measured, as nearly as the pairs and the "
                                                              "captured steps leave open; what is apart beyond that is not explained.",
                                                              why.scaleA, why.scaleB)
                                                        : fmt::format(
                                                              "and all times multiplied by {:.2f}, which brings the two together to what was "
                                                              "measured. What then remains of the difference is not "
                                                              "explained.",
                                                              why.scale);
    document.blocks.push_back(Paragraph{
        fmt::format(
            "Of {} captured steps of A and {} of B, in turns behind the timing. Each instant of the thread that runs the steps is given to the "
            "innermost operation that ran. Captured, a step takes {} and {}; {:.0f} ns a record are taken out of that, the same for both sides, ",
            why.stepsA, why.stepsB, format::milliseconds(why.capturedA), format::milliseconds(why.capturedB), why.nsARecord) +
        brought});
}

// A stranger's file may hold any numbers.
std::int64_t groupOf(std::int64_t rebuild, std::int64_t first) {
    return first >= 0 && rebuild >= first ? rebuild - first : 0;
}

}  // namespace

PairPicture pictureOf(const std::vector<ExperimentJudged>& pairs, double delta, const std::string& aboveOne, const std::string& belowOne) {
    PairPicture picture{.dots = {}, .delta = delta, .aboveOne = aboveOne, .belowOne = belowOne};
    // The pilot had instances of its own, which count for nothing: groups begin with those of the first pair.
    const std::int64_t first = pairs.empty() ? 0 : pairs.front().rebuild;
    for (const ExperimentJudged& pair : pairs) {
        if (picture.dots.size() == kMostDots) break;
        if (!std::isfinite(pair.difference)) continue;
        const bool bounded = std::isfinite(pair.low) && pair.low > 0 && std::isfinite(pair.high);
        picture.dots.push_back({std::exp(pair.difference), pair.discarded, static_cast<long>(groupOf(pair.rebuild, first)), bounded ? pair.low : 0,
                                bounded ? pair.high : 0});
    }
    return picture;
}

std::string questionOf(const std::vector<Differing>& keys, bool same) {
    if (same) return "One configuration beside itself";
    std::vector<std::string> parts;
    for (const Differing& key : keys) parts.push_back(fmt::format("{}: {} (A), {} (B)", key.key, key.a, key.b));
    return parts.empty() ? "Two configurations" : fmt::format("{}", fmt::join(parts, "; "));
}

Document experimentReport(const ExperimentHistory& history, const ExperimentFacts& facts) {
    const ExperimentBegan began = history.began().value_or(ExperimentBegan{});
    const ExperimentJudged judged = history.newest().value_or(ExperimentJudged{.outcome = "inconclusive"});
    Document document;
    document.title = began.same ? "What does this machine do by itself?" : "Is B faster than A here?";
    document.subtitle = questionOf(facts.keys, began.same);
    if (!facts.preset.empty()) document.subtitle += ", preset " + facts.preset;
    if (!facts.started.empty()) document.subtitle += ", " + facts.started;
    document.blocks.push_back(verdictOf(judged, began));
    if (facts.of > 1)
        document.blocks.push_back(
            Paragraph{fmt::format("This is experiment {} of the {} that session {} holds; `stepscope-cli report {} --experiment N` "
                                  "tells of another.",
                                  facts.number, facts.of, facts.session, facts.session)});
    if (std::string said = claimBesideItself(judged, began.alpha); began.same && !said.empty()) document.blocks.push_back(Paragraph{std::move(said)});
    if (!judged.why.empty()) document.blocks.push_back(Paragraph{judged.why});
    const bool bounded = std::isfinite(judged.low) && judged.low > 0 && std::isfinite(judged.high);
    if (std::isfinite(judged.ratio) && judged.pairs > 0 && !bounded)
        document.blocks.push_back(
            Paragraph{fmt::format("Time per token of A as a multiple of B's: {:.4f}, of {} pair{} of blocks ({} left out): too few for an interval.",
                                  judged.ratio, judged.pairs, judged.pairs == 1 ? "" : "s", judged.left)});
    if (std::isfinite(judged.ratio) && judged.pairs > 0 && bounded)
        document.blocks.push_back(Paragraph{
            fmt::format("Time per token of A as a multiple of B's: {:.4f}, {:.3g} % interval [{:.4f}, {:.4f}], from {} pairs of blocks ({} left out) "
                        "with both programs built again {}, in {:.0f} s.",
                        judged.ratio, (1 - began.alpha) * 100, judged.low, judged.high, judged.pairs, judged.left,
                        judged.rebuilds == 1 ? "once" : fmt::format("{} times", judged.rebuilds), history.measuringSeconds())});
    if (std::string said = meansSentence(judged, history.speedRatio(), began.delta); !said.empty())
        document.blocks.push_back(Paragraph{std::move(said)});
    if (std::string said = machineSentence(history.machineMeanwhile()); !said.empty()) document.blocks.push_back(Paragraph{std::move(said)});
    if (std::string said = foretoldSentence(facts.foretold, facts.foretoldBasis, judged); !said.empty())
        document.blocks.push_back(Paragraph{std::move(said)});
    document.blocks.push_back(
        Paragraph{fmt::format("A side beside itself in this experiment: {}.{}", floorWords(judged.floor, history.sameArmPairs()),
                              floorAdvice(judged.floor, judged.ratio, began.same ? std::string() : judged.outcome))});
    document.blocks.push_back(pictureOf(history.pairs(), began.delta, began.same ? "above 1: B was faster" : "above 1: B is faster",
                                        began.same ? "below 1: A was faster" : "below 1: A is faster"));
    if (history.pairs().size() > kMostDots)
        document.blocks.push_back(Paragraph{fmt::format("The picture shows the first {} of {} pairs.", kMostDots, history.pairs().size())});
    addWhy(document, history.why(), began.same);
    document.blocks.push_back(Heading{"Both sides"});
    if (!facts.keys.empty()) {
        Table keys{.head = {"setting", "A", "B"}, .rows = {}, .textColumns = 3};
        for (const Differing& key : facts.keys) keys.rows.push_back({key.key, key.a, key.b});
        document.blocks.push_back(std::move(keys));
    }
    if (!facts.settings.empty()) {
        Table set{.head = {"setting", "A and B"}, .rows = {}, .textColumns = 2};
        for (const auto& [key, value] : facts.settings) set.rows.push_back({key, value});
        document.blocks.push_back(std::move(set));
    }
    document.blocks.push_back(sidesTable(history.facts(Arm::A), history.facts(Arm::B)));
    addMemory(document, history.memoryAtPeak(Arm::A), history.memoryAtPeak(Arm::B));
    if (const double loss = history.lossDifference(); std::isfinite(loss)) {
        const std::string asked = judged.equalTime.seconds > 0 || began.same ? "" : " Loss at equal time was not asked.";
        document.blocks.push_back(Paragraph{fmt::format("Loss at equal tokens: {}, soon after the start.{}", lossApart(loss), asked)});
    } else if (const std::string unknown = history.whyNoLoss(); !unknown.empty()) {
        document.blocks.push_back(Paragraph{fmt::format("Loss at equal tokens: unknown ({}).", unknown)});
    }
    if (!began.comparison.empty()) document.blocks.push_back(Paragraph{began.comparison});
    if (began.swapped) document.blocks.push_back(Paragraph{"The weights of one side at a time were in the device's memory: both did not fit."});
    addMachine(document, facts);
    document.blocks.push_back(Heading{"How it was measured"});
    document.blocks.push_back(Paragraph{fmt::format(
        "Both sides took turns in blocks of steps; a coin (seed {}) decided which one began each pair. The interval is a self-normalised confidence "
        "sequence on the logarithm of the ratio of both times per token (de la Peña 1999; Howard et al. 2020), which stays valid however often one "
        "looks;{} a difference is claimed only if Student's t over the times that both programs were built again excludes none as well. Whole pairs "
        "are left out for other programs' use of the processors alone. A ratio within ±{:g} % counts as equal.",
        began.seed,
        began.finalLook ? " when the budget is spent there is one look more, by Student's t over the pairs (Efron 1969) and, of fewer than 16, by "
                          "all signs that the coins could have given them, for which three quarters of the allowed error are kept;"
                        : "",
        began.delta * 100)});
    if (!facts.earlier.empty()) {
        document.blocks.push_back(Heading{fmt::format("Asked {} time{} before", facts.earlier.size(), facts.earlier.size() == 1 ? "" : "s")});
        for (const std::string& answer : facts.earlier) document.blocks.push_back(Paragraph{answer});
    }
    addRepeat(document, facts);
    return document;
}

}  // namespace stepscope::report
