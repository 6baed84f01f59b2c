// Reports of ladders and of searches: what stands in them, that texts of any origin stay texts, and that nothing is said that was not measured.
#include <gtest/gtest.h>

#include "core/events/Event.h"
#include "core/report/Html.h"
#include "core/report/Markdown.h"
#include "core/report/StudyReport.h"
#include "core/report/Svg.h"

namespace stepscope::report {
namespace {

StudyRow row(std::int64_t number, const char* role, const char* state, const std::string& name, double ratio = kUnknown) {
    StudyRow one{.row = number, .role = role, .state = state, .name = name, .settings = "amp=bf16", .reported = "1.5x", .ratio = ratio};
    if (ratio > 0) one.low = ratio * 0.95, one.high = ratio * 1.05, one.pairs = 12, one.seconds = 20, one.msPerStep = 12.5, one.peakBytes = 5e7;
    return one;
}

StudyHistory ladder() {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder", .title = "precision to padding", .unit = "tokens/s of an A100", .alpha = 0.05, .legs = 3});
    history.add(row(0, study::kBottom, study::kMeasured, "nothing"));
    history.add(row(1, study::kRung, study::kMeasured, "half precision", 1.43));
    StudyRow skipped = row(2, study::kRung, study::kSkipped, "TF32");
    skipped.why = "This machine has no GPU.";
    history.add(skipped);
    history.add(row(3, study::kTop, study::kMeasured, "all of it", 2.5));
    history.add(row(4, study::kWithout, study::kMeasured, "without half precision", 1.7));
    return history;
}

StudyFacts facts() {
    StudyFacts known;
    known.preset = "tiny-cpu";
    known.started = "2026-11-22 16:30";
    known.machine.cpu = "A processor";
    known.machineKnown = true;
    known.repeat = "stepscope-cli ladder precision-to-padding --seed 1";
    return known;
}

TEST(StudyReport, OfALadderSaysWhatTheTopGivesEveryRungWhatWasNotMeasuredAndHowToRepeatIt) {
    const Document document = studyReport(ladder(), facts());
    for (const std::string& text : {toHtml(document), toMarkdown(document)})
        for (const char* said :
             {"×2.500", "2.375, 2.625", "half precision", "×1.430", "This machine has no GPU.", "not measured", "×1.700", "tokens/s of an A100",
              "A processor", "tiny-cpu", "precision to padding", "self-normalised", "ladder precision-to-padding"})
            EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
}

TEST(StudyReport, OfALadderSaysOfEachRowUnderWhichQuotaItWasMeasured) {
    StudyHistory history = ladder();
    history.add(StudyRow{.row = 5, .role = study::kRung, .state = study::kRunning, .name = "fused"});
    history.add(ExperimentBegan{});
    history.add(BlockDone{.at = TimeNs::fromSeconds(1), .duration = TimeNs::fromSeconds(1), .pair = 0});
    history.add(BlockDone{.at = TimeNs::fromSeconds(10), .duration = TimeNs::fromSeconds(1), .pair = 0, .arm = Arm::B});
    history.add(ExperimentJudged{.over = true, .pair = 0});
    history.add(row(5, study::kRung, study::kMeasured, "fused", 1.2));
    for (double at = 0; at < 10; at += 0.5) {
        DeviceSample sample;
        sample.at = TimeNs::fromSeconds(at);
        sample.throttledPct = 12;
        history.add(sample);
    }
    const Document document = studyReport(history, facts());
    for (const std::string& text : {toHtml(document), toMarkdown(document)})
        EXPECT_NE(text.find("fused: A quota stopped the threads in 12"), std::string::npos) << text;
}

TEST(StudyReport, OfASearchThatWasEndedBeforeItsWinnerWasMeasuredAnewRecommendsNothing) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "tune", .title = "mine"});
    history.add(row(1, study::kCandidate, study::kChosen, "amp=bf16", 1.3));
    for (const char* state : {study::kWaiting, study::kRunning}) {
        history.add(row(2, study::kFinal, state, "amp=bf16"));
        const std::string text = toMarkdown(studyReport(history, facts()));
        EXPECT_NE(text.find("nothing is recommended"), std::string::npos) << text;
        EXPECT_EQ(text.find("Recommended:"), std::string::npos) << text;
    }
}

TEST(StudyReport, OfALadderShowsEveryPairOfEachRungAsADotAndTheFloorBesideIt) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder", .title = "mine", .delta = 0.01});
    history.add(row(0, study::kBottom, study::kMeasured, "nothing"));
    for (const std::int64_t rung : {1, 2}) {
        history.add(row(rung, study::kRung, study::kRunning, rung == 1 ? "half precision" : "<b>own</b>"));
        history.add(ExperimentBegan{});
        for (int pair = 0; pair < 10 * rung; ++pair)
            history.add(ExperimentJudged{.pair = pair, .difference = 0.3 + 0.01 * (pair % 3), .discarded = pair == 4, .ratio = 1.35});
        StudyRow done = row(rung, study::kRung, study::kMeasured, rung == 1 ? "half precision" : "<b>own</b>", 1.35);
        done.floor = 1.0125;
        history.add(done);
    }
    const Document document = studyReport(history, facts());
    const std::string html = toHtml(document), text = toMarkdown(document);
    const auto dots = [&](const std::string& kind) {
        std::size_t count = 0;
        for (std::size_t at = html.find(kind); at != std::string::npos; at = html.find(kind, at + 1)) ++count;
        return count;
    };
    EXPECT_EQ(dots("<circle class=\"dot\""), 28u);
    EXPECT_EQ(dots("<circle class=\"left\""), 2u);
    EXPECT_EQ(html.find("<b>own"), std::string::npos) << "a name is a text";
    EXPECT_NE(text.find("Every pair"), std::string::npos);
    EXPECT_NE(text.find("±1.25 %"), std::string::npos) << text;
}

TEST(StudyReport, OfALadderThatWasCutOffClaimsNothingOfItsTop) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder", .title = "mine"});
    history.add(row(0, study::kBottom, study::kMeasured, "nothing"));
    history.add(row(1, study::kRung, study::kWaiting, "half precision"));
    history.add(row(2, study::kTop, study::kWaiting, "all of it"));
    StudyFacts own = facts();
    own.ladderFile = "- amp=bf16\n";
    const std::string text = toMarkdown(studyReport(history, own));
    EXPECT_NE(text.find("ended before the top was measured"), std::string::npos) << text;
    EXPECT_NE(text.find("not yet measured"), std::string::npos);
    EXPECT_NE(text.find("- amp=bf16"), std::string::npos) << "the ladder's own file goes with it";
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
}

TEST(StudyReport, OfALadderWhoseTopBrokeOffClaimsNothingOfIt) {
    StudyHistory history = ladder();
    StudyRow top = row(3, study::kTop, study::kFailed, "all of it", 2.5);
    top.why = "B diverged.";
    history.add(top);
    for (const std::string& text : {toHtml(studyReport(history, facts())), toMarkdown(studyReport(history, facts()))}) {
        EXPECT_EQ(text.find("2.500"), std::string::npos) << text;
        EXPECT_EQ(text.find("as fast as the bottom, measured"), std::string::npos);
        EXPECT_NE(text.find("The top was not measured beside the bottom: B diverged."), std::string::npos);
    }
}

TEST(StudyReport, OfALadderWithoutATopSaysWhatItsOneRungGivesOrThatNothingCouldBeMeasured) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder", .title = "mine"});
    history.add(row(0, study::kBottom, study::kWaiting, "nothing"));  // it is measured beside the first rung
    history.add(row(1, study::kRung, study::kSkipped, "TF32"));
    EXPECT_NE(toMarkdown(studyReport(history, facts())).find("Nothing of this ladder can be measured here."), std::string::npos);
    history.add(row(1, study::kRung, study::kMeasured, "half precision", 1.43));
    const std::string text = toMarkdown(studyReport(history, facts()));
    EXPECT_NE(text.find("The top is ×1.430"), std::string::npos) << text;
    EXPECT_EQ(text.find("It was ended before"), std::string::npos) << text;
}

TEST(StudyReport, OfASearchSaysWhatItRecommendsAndWhyTheOthersWereNotChosen) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "tune", .title = "what is best here"});
    StudyRow raced = row(0, study::kCandidate, study::kChosen, "fusion=step amp=bf16", 1.1);
    raced.total = 1.875, raced.totalLow = 1.75, raced.totalHigh = 2;
    history.add(raced);
    StudyRow value = row(1, study::kValue, study::kRejected, "");
    value.settings = "attention=manual";
    value.why = "slower by 12 %";
    history.add(value);
    StudyRow last = row(2, study::kFinal, study::kChosen, "what won", 1.96);
    last.settings = "fusion=step amp=bf16";
    history.add(last);
    const std::string text = toMarkdown(studyReport(history, facts()));
    for (const char* said : {"Recommended: fusion=step amp=bf16", "×1.960", "attention=manual", "slower by 12 %", "the fastest",
                             "× the present settings", "before it was measured anew"})
        EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
    EXPECT_EQ(text.find("1.750"), std::string::npos) << "it was chosen for that figure, so its interval says too much: " << text;
    last.outcome = "inconclusive";
    history.add(last);
    EXPECT_NE(toMarkdown(studyReport(history, facts())).find("Recommended, not confirmed: fusion=step amp=bf16"), std::string::npos);
    last.state = study::kRejected;
    history.add(last);
    EXPECT_NE(toMarkdown(studyReport(history, facts())).find("Recommended: the present settings"), std::string::npos);
}

TEST(StudyReport, TextsOfAnyOriginStayTexts) {
    const std::string hostile = "<script>alert('1')</script> & | `y` \x1b[31m\xff";
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder", .title = hostile, .unit = hostile});
    StudyRow one = row(0, study::kRung, study::kMeasured, hostile, 1.2);
    one.settings = one.reported = one.why = hostile;
    history.add(one);
    one.row = 1;
    one.ratio = -3, one.low = 1e308, one.high = -1e308, one.peakBytes = 1e300, one.total = 0;
    history.add(one);
    StudyFacts known = facts();
    known.repeat = known.ladderFile = known.preset = hostile;
    const std::string html = toHtml(studyReport(history, known));
    for (const char* part : {"<script", "\x1b", "\xff", "nan", "inf"}) EXPECT_EQ(html.find(part), std::string::npos) << part;
}

TEST(StudyReport, ThePictureHasABarForEachRowThatWasMeasuredAndAWordForTheOthers) {
    BarPicture picture{.label = "times as fast", .bars = {}};
    EXPECT_EQ(toSvg(picture), "");
    picture.bars = {{"up", 2, 1.8, 2.2, "", false},
                    {"down", 0.5, 0.4, 0.6, "", false},
                    {"unsure", 1.3, 0, 0, "", false},
                    {"not", kUnknown, 0, 0, "not measured", false},
                    {"far", 1e9, 1, 1e12, "", true}};
    const std::string svg = toSvg(picture);
    const auto count = [&](const std::string& part) {
        std::size_t found = 0;
        for (std::size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
        return found;
    };
    EXPECT_EQ(count("<rect"), 4U);
    EXPECT_EQ(count("class=\"whisker\""), 3U);
    EXPECT_EQ(count("open"), 1U) << "without an interval nothing is claimed";
    EXPECT_EQ(count("slower"), 1U);
    EXPECT_EQ(count("not measured"), 1U);
    picture.bars.assign(6000, {"rung", 1.1, 1, 1.2, "", false});
    EXPECT_LT(toSvg(picture).size(), 200'000U) << "a stranger's file may hold any number";
}

TEST(StudyReport, OfASearchSaysTheLossTheArithmeticAndHowItsIntervalIsMade) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "tune", .title = "what is best here"});
    StudyRow last = row(2, study::kFinal, study::kChosen, "what won", 1.96);
    last.loss = -0.0123;
    last.arithmetic = study::kOther;
    last.why = kOtherArithmetic;
    history.add(last);
    StudyFacts known = facts();
    known.earlier = {"Session 4, 2026-11-21 10:00: recommended: fusion=step, ×1.70 [1.60, 1.80]."};
    for (const std::string& text : {toHtml(studyReport(history, known)), toMarkdown(studyReport(history, known))})
        for (const char* said : {"0.0123 lower than with the present settings", "the loss may move", "self-normalised confidence sequence",
                                 "Asked 1 time before", "1.60, 1.80"})
            EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
}

TEST(StudyReport, OfALadderThatWentOnSaysWhichRowsAnotherSessionMeasuredAndWhereTheirPairsAre) {
    StudyHistory history = ladder();
    StudyRow kept = row(1, study::kRung, study::kMeasured, "half precision", 1.43);
    kept.keptSession = 7;
    kept.keptVersions = "Stepscope 0.9, LibTorch 2.10.0";
    history.add(kept);
    const std::string text = toMarkdown(studyReport(history, facts()));
    EXPECT_NE(text.find("half precision: Measured in session 7 by another version (Stepscope 0.9, LibTorch 2.10.0)."), std::string::npos) << text;
    EXPECT_NE(text.find("have their pairs there: half precision in session 7"), std::string::npos) << text;
}

}  // namespace
}  // namespace stepscope::report
