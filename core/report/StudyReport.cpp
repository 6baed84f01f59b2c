#include "core/report/StudyReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/PairedVerdict.h"
#include "core/base/Format.h"
#include "core/report/ExperimentReport.h"

namespace stepscope::report {
namespace {

std::string times(double ratio, double low, double high, const char* unbounded = "no interval") {
    if (!isRatio(ratio)) return "";
    if (!isRatio(low) || !isRatio(high)) return fmt::format("×{:.3g}, {}", ratio, unbounded);
    return fmt::format("×{:.3f} [{:.3f}, {:.3f}]", ratio, low, high);
}

std::string known(double value, const std::string& text) {
    return std::isfinite(value) ? text : "";
}

std::string memoryOf(const StudyRow& row) {
    return known(row.peakBytes, format::bytes(row.peakBytes));
}

bool isOf(const StudyRow& row, std::initializer_list<const char*> roles) {
    return std::any_of(roles.begin(), roles.end(), [&](const char* role) { return row.role == role; });
}

std::string standing(const StudyRow& row) {
    if (row.state == study::kSkipped || row.state == study::kFailed) return "not measured";
    if (isRatio(row.ratio) || row.role == study::kBottom) return "";
    return "not yet measured";
}

Table ladderTable(const StudyHistory& history, const char* title, const char* beside, const char* total, std::initializer_list<const char*> roles) {
    Table table{
        .head = {title, "sets", "step", "speed", beside, total, "floor", "memory", "operations", "loss", "reported"}, .rows = {}, .textColumns = 2};
    for (const StudyRow& row : history.rows()) {
        if (!isOf(row, roles)) continue;
        const std::string stands = standing(row);
        table.rows.push_back({row.name, row.settings, known(row.msPerStep, format::milliseconds(row.msPerStep)),
                              known(row.tokensPerSecond, format::rate(row.tokensPerSecond, "tok/s")),
                              stands.empty() ? times(row.ratio, row.low, row.high) : stands, times(row.total, row.totalLow, row.totalHigh),
                              known(row.floor, fmt::format("±{:.2f} %", (row.floor - 1) * 100)), memoryOf(row),
                              known(row.operations, format::amount(row.operations)), known(row.loss, format::change(row.loss, 4)), row.reported});
    }
    return table;
}

BarPicture barsOf(const StudyHistory& history, const char* label, std::initializer_list<const char*> roles) {
    BarPicture picture{.label = label, .bars = {}};
    for (const StudyRow& row : history.rows())
        if (isOf(row, roles)) picture.bars.push_back({row.name, row.ratio, row.low, row.high, standing(row), row.role == study::kTop});
    return picture;
}

void addReasons(Document& document, const StudyHistory& history, std::initializer_list<const char*> roles) {
    for (const StudyRow& row : history.rows())
        if (const std::string why = rowWords(history, row); !why.empty() && isOf(row, roles))
            document.blocks.push_back(Paragraph{row.name + ": " + why});
}

// Of each row that pairs stand behind, every one of them.
void addPairs(Document& document, const StudyHistory& history) {
    bool any = false;
    std::string elsewhere;
    for (const StudyRow& row : history.rows()) {
        const auto& pairs = history.pairsOf(row);
        if (row.keptSession > 0 && row.pairs > 0)
            elsewhere += fmt::format("{}{} in session {}", elsewhere.empty() ? "" : ", ", row.name, row.keptSession);
        if (pairs.empty()) continue;
        if (!std::exchange(any, true)) {
            document.blocks.push_back(Heading{"Every pair"});
            document.blocks.push_back(Paragraph{"Each pair of blocks by itself, those marked that were left out for what other programs did."});
        }
        const bool lacks = row.role == study::kWithout || row.role == study::kPair;
        document.blocks.push_back(Paragraph{row.name.empty() ? row.settings : row.name});
        document.blocks.push_back(pictureOf(pairs, history.began()->delta, lacks ? "above 1: faster with it" : "above 1: faster",
                                            lacks ? "below 1: slower with it" : "below 1: slower"));
    }
    if (!elsewhere.empty()) document.blocks.push_back(Paragraph{"Rows that an earlier session measured have their pairs there: " + elsewhere + "."});
}

void addEarlier(Document& document, const std::vector<std::string>& earlier) {
    if (earlier.empty()) return;
    document.blocks.push_back(Heading{fmt::format("Asked {} time{} before", earlier.size(), earlier.size() == 1 ? "" : "s")});
    for (const std::string& answer : earlier) document.blocks.push_back(Paragraph{answer});
}

void addLadder(Document& document, const StudyHistory& history) {
    const StudyBegan& began = *history.began();
    const StudyRow* top = history.find(study::kTop);
    // With one rung that can be measured, the top is that rung.
    const auto measured =
        std::ranges::count_if(history.rows(), [](const StudyRow& row) { return row.role == study::kRung && row.state == study::kMeasured; });
    const auto open = std::ranges::count_if(history.rows(), [](const StudyRow& row) {
        return row.role != study::kBottom && (row.state == study::kWaiting || row.state == study::kRunning);
    });
    if (top == nullptr && measured == 1)
        for (const StudyRow& row : history.rows())
            if (row.role == study::kRung && row.state == study::kMeasured) top = &row;
    if (top != nullptr && isRatio(top->ratio) && isRatio(top->low) && isRatio(top->high))
        document.blocks.push_back(
            Verdict{fmt::format("The top is {} as fast as the bottom, measured beside it.", times(top->ratio, top->low, top->high)),
                    top->low > 1    ? Verdict::Tone::Good
                    : top->high < 1 ? Verdict::Tone::Bad
                                    : Verdict::Tone::Neutral});
    else if (top != nullptr && isRatio(top->ratio))
        document.blocks.push_back(Verdict{fmt::format("Too few pairs to claim anything of the top beside the bottom; so far ×{:.3g}.", top->ratio),
                                          Verdict::Tone::Neutral});
    else if (open > 0)
        document.blocks.push_back(Verdict{"It was ended before the top was measured beside the bottom.", Verdict::Tone::Neutral});
    else if (top != nullptr && !top->why.empty())
        document.blocks.push_back(Verdict{"The top was not measured beside the bottom: " + top->why, Verdict::Tone::Neutral});
    else
        document.blocks.push_back(Verdict{
            measured == 0 ? "Nothing of this ladder can be measured here." : "The top was not measured beside the bottom.", Verdict::Tone::Neutral});
    document.blocks.push_back(barsOf(history, "times as fast as the rung below; the top: as the bottom", {study::kRung, study::kTop}));
    document.blocks.push_back(Heading{"Rung by rung"});
    document.blocks.push_back(ladderTable(history, "rung", "× the rung below", "× the bottom", {study::kBottom, study::kRung, study::kTop}));
    addReasons(document, history, {study::kBottom, study::kRung, study::kTop});
    if (history.find(study::kWithout) != nullptr) {
        document.blocks.push_back(Heading{"What each rung gives at the top"});
        document.blocks.push_back(ladderTable(history, "the top", "× what it lacks gives", "", {study::kWithout}));
        addReasons(document, history, {study::kWithout});
    }
    if (history.find(study::kPair) != nullptr) {
        document.blocks.push_back(Heading{"What two rungs give together"});
        document.blocks.push_back(ladderTable(history, "the top", "× what both give", "× of what each gives", {study::kPair}));
        addReasons(document, history, {study::kPair});
    }
    addPairs(document, history);
    if (!began.unit.empty())
        document.blocks.push_back(Paragraph{fmt::format("Reported elsewhere: {}; on other hardware, not by this program.", began.unit)});
    document.blocks.push_back(Heading{"How it was measured"});
    document.blocks.push_back(Paragraph{fmt::format(
        "Each × is an experiment of its own: two programs take turns in blocks of steps, a coin (seed {}) decides which begins each pair, and the "
        "interval is {}. Floor: what a side beside itself "
        "said there. All intervals of this page hold together at {:.0f} %. A ratio within ±{:g} % counts as equal. Loss: beside the rung below at "
        "equal tokens, soon after the start. {:.0f} s of measuring.",
        began.seed, intervalMethod(began.finalLook), (1 - began.alpha) * 100, began.delta * 100, history.measuredSeconds())});
}

void addSearch(Document& document, const StudyHistory& history) {
    const StudyRow* last = history.find(study::kFinal);
    if (last == nullptr)
        document.blocks.push_back(Verdict{"It was ended before the race was decided: nothing is recommended.", Verdict::Tone::Neutral});
    else if (last->settings.empty() && last->outcome == toString(PairedOutcome::Inconclusive))
        document.blocks.push_back(Verdict{"Nothing is recommended.", Verdict::Tone::Neutral});
    else if (last->state == study::kWaiting || last->state == study::kRunning)
        document.blocks.push_back(
            Verdict{fmt::format("{} won the race, and it was ended before that was measured anew: nothing is recommended.", last->settings),
                    Verdict::Tone::Neutral});
    else if (history.recommended() == nullptr)
        document.blocks.push_back(Verdict{"Recommended: the present settings.", Verdict::Tone::Neutral});
    else
        document.blocks.push_back(
            Verdict{fmt::format("Recommended{}: {}. Beside the present settings {} as fast, measured anew.",
                                history.recommendedUnconfirmed() ? ", not confirmed" : "", last->settings, times(last->ratio, last->low, last->high)),
                    isRatio(last->low) && last->low > 1 && !history.recommendedUnconfirmed() ? Verdict::Tone::Good : Verdict::Tone::Neutral});
    if (const std::string loss = searchLossSentence(history); !loss.empty()) document.blocks.push_back(Paragraph{loss});
    if (std::string why = last != nullptr ? rowWords(history, *last) : ""; !why.empty()) document.blocks.push_back(Paragraph{std::move(why)});
    if (last != nullptr && std::isfinite(last->floor))
        document.blocks.push_back(Paragraph{fmt::format("A side beside itself in that experiment: ±{:.2f} %.{}", (last->floor - 1) * 100,
                                                        floorAdvice(last->floor, last->ratio, last->outcome))});
    Table raced{.head = {"raced", "× the present settings", "newest step", "rounds", "memory", "what came of it"}, .rows = {}, .textColumns = 1};
    Table left{.head = {"not chosen", "why"}, .rows = {}, .textColumns = 2};
    for (const StudyRow& row : history.rejectedValues()) left.rows.push_back({row.settings, row.why});
    for (const StudyRow& row : history.rows()) {
        if (row.role != study::kCandidate || row.state == study::kSkipped || (row.state == study::kWaiting && row.pairs == 0)) continue;
        const bool anew = history.isMeasuredAnew(row);
        raced.rows.push_back({row.name, anew ? times(row.total, kUnknown, kUnknown, kBeforeAnew) : times(row.total, row.totalLow, row.totalHigh),
                              known(row.msPerStep, format::milliseconds(row.msPerStep)), std::to_string(row.pairs), memoryOf(row),
                              !row.why.empty()              ? row.why
                              : row.state == study::kChosen ? std::string("the fastest")
                                                            : row.state});
    }
    addPairs(document, history);
    if (!raced.rows.empty()) {
        document.blocks.push_back(Heading{"The race"});
        document.blocks.push_back(std::move(raced));
    }
    if (!left.rows.empty()) {
        document.blocks.push_back(Heading{"Values that were not chosen"});
        document.blocks.push_back(std::move(left));
    }
    document.blocks.push_back(Heading{"How it was measured"});
    document.blocks.push_back(Paragraph{fmt::format(
        "Settings race in rounds, in random order (seed {}), made anew for each block; those that are slower for sure, or would waste time, leave. "
        "× is of the same rounds, beside what was best before, times what that was found to be in its own, with Student's 95 % interval of each row "
        "by "
        "itself; steps are of each row's newest block, at "
        "different times, and compare nothing. The race's own figures favour its winner, so only the interval of the fresh experiment at its end "
        "counts ({:.0f} %): {}. {:.0f} s in all.",
        history.began()->seed, (1 - history.began()->alpha) * 100, intervalMethod(history.began()->finalLook), history.seconds())});
}

}  // namespace

Document studyReport(const StudyHistory& history, const StudyFacts& facts) {
    Document document;
    if (!history.began()) {
        document.title = "No study";
        return document;
    }
    const bool ladder = history.began()->kind == "ladder";
    document.title = ladder ? "What does each switch give here?" : "Which settings are fastest here?";
    document.subtitle = ladder ? "Ladder: " + history.began()->title : std::string("A race of all settings that compute the same");
    if (!facts.preset.empty()) document.subtitle += ", preset " + facts.preset;
    if (!facts.started.empty()) document.subtitle += ", " + facts.started;
    if (ladder)
        addLadder(document, history);
    else
        addSearch(document, history);
    addMachine(document, facts);
    addEarlier(document, facts.earlier);
    addRepeat(document, facts);
    if (!facts.ladderFile.empty()) {
        document.blocks.push_back(Paragraph{"Where that line names ladder.yaml, save this as that file:"});
        document.blocks.push_back(Code{facts.ladderFile});
    }
    return document;
}

}  // namespace stepscope::report
