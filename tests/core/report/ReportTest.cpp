// Reports: what stands in them, that texts of any origin stay texts, and that the picture shows every pair.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "core/events/ConfigJson.h"
#include "core/events/Event.h"
#include "core/report/ExperimentReport.h"
#include "core/report/Html.h"
#include "core/report/Markdown.h"
#include "core/report/Svg.h"

namespace stepscope::report {
namespace {

std::size_t countOf(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

const std::string kHostile = "<script>alert('1')</script> & \"x\" | `y` **z** \x1b[31m\x01\xff\xc0\xaf end";

ExperimentHistory measured(double ratio, const std::string& outcome, int pairs) {
    ExperimentHistory history;
    ExperimentBegan began;
    began.budgetSeconds = 60;
    history.add(began);
    for (int i = 0; i < pairs; ++i) {
        for (const Arm arm : {Arm::A, Arm::B})
            history.add(BlockDone{.duration = TimeNs::fromSeconds(arm == Arm::A ? ratio : 1),
                                  .pair = i,
                                  .arm = arm,
                                  .second = arm == Arm::B,
                                  .steps = 10,
                                  .tokens = 1000,
                                  .median = TimeNs::fromSeconds(0.1),
                                  .slowest = TimeNs::fromSeconds(0.2),
                                  .peakBytes = 1e6});
        ExperimentJudged judged{.pair = i,
                                .difference = std::log(ratio) + 0.01 * std::sin(i),
                                .rebuild = i / 3,
                                .discarded = i == 2,
                                .outcome = outcome,
                                .ratio = ratio,
                                .low = ratio * 0.97,
                                .high = ratio * 1.03,
                                .floor = 1.012};
        judged.pairs = i + 1;
        history.add(judged);
    }
    ExperimentJudged last = *history.newest();
    last.over = true;
    last.rebuilds = 6;
    history.add(last);
    return history;
}

ExperimentFacts facts() {
    ExperimentFacts known;
    known.keys = {{"amp", "off", "bf16"}};
    known.preset = "tiny-cpu";
    known.started = "2026-11-22 16:30";
    known.machine.cpu = "A processor";
    known.machine.cores = 2;
    known.machineKnown = true;
    known.repeat = "stepscope-cli ab --a amp=off --b amp=bf16";
    return known;
}

TEST(Report, OfAnExperimentSaysVerdictIntervalFloorMachineAndHowToRepeatIt) {
    const Document document = experimentReport(measured(1.24, "faster", 12), facts());
    for (const std::string& text : {toHtml(document), toMarkdown(document)}) {
        for (const char* said : {"B is faster by 24.0 %", "1.2400", "1.2028", "1.2772", "within 1.20 %", "A processor", "amp", "bf16", "tiny-cpu",
                                 "2026-11-22", "self-normalised", "12 pairs", "built again 6 times"})
            EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
        EXPECT_NE(text.find("stepscope-cli ab --a amp=off --b amp=bf16"), std::string::npos);
    }
}

TEST(Report, NamesTheTwoValuesOfTheOneSettingThatDiffers) {
    RunConfig a, b;
    a.switches["amp"] = std::string("off");
    b.switches["amp"] = std::string("bf16");
    ExperimentHistory history;
    history.add(ExperimentBegan{.configA = configToJson(a), .configB = configToJson(b), .budgetSeconds = 60});
    history.add(*measured(1.24, "faster", 12).newest());
    const std::string text = toHtml(experimentReport(history, facts()));
    EXPECT_NE(text.find("amp=bf16 is faster than amp=off by 24.0 %"), std::string::npos) << text;
}

TEST(Report, SaysBesideAVerdictWhatIsToBeKnownOfIt) {
    ExperimentHistory history = measured(1.24, "faster", 12);
    ExperimentJudged last = *history.newest();
    last.why = "Its host gave 30.0 % away: part of the difference may be the host’s.";
    history.add(last);
    for (int i = 0; i < 20; ++i) {
        DeviceSample sample;
        sample.cpuClockMhz = i < 10 ? 2000 : 3000;
        history.add(sample);
    }
    const Document document = experimentReport(history, facts());
    for (const std::string& text : {toHtml(document), toMarkdown(document)})
        for (const char* said : {"part of the difference may be the host’s.", "MHz meanwhile (nine of ten samples)."})
            EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
}

TEST(Report, OfOneOfSeveralExperimentsOfASessionSaysWhichAndHowToAskForAnother) {
    ExperimentFacts of = facts();
    of.session = 7;
    of.number = 2;
    of.of = 3;
    const std::string text = toMarkdown(experimentReport(measured(1.2, "faster", 12), of));
    EXPECT_NE(text.find("experiment 2 of the 3 that session 7 holds"), std::string::npos) << text;
    of.of = 1;
    EXPECT_EQ(toMarkdown(experimentReport(measured(1.2, "faster", 12), of)).find("that session 7 holds"), std::string::npos);
}

TEST(Report, SaysWhatHadBeenForetoldBesideWhatWasMeasured) {
    ExperimentFacts known = facts();
    EXPECT_EQ(toMarkdown(experimentReport(measured(1.24, "faster", 12), known)).find("oretold"), std::string::npos);
    known.foretold = 1.5;
    known.foretoldBasis = "products at their measured peak";
    const std::string text = toHtml(experimentReport(measured(1.24, "faster", 12), known));
    EXPECT_NE(text.find("Foretold before it was measured: B 1.50 times as fast as A (from products at their measured peak); measured 1.24"),
              std::string::npos)
        << text;
}

TEST(Report, SaysWhatIsNotKnown) {
    ExperimentHistory history;
    history.add(ExperimentBegan{});
    const std::string text = toMarkdown(experimentReport(history, {}));
    EXPECT_NE(text.find("Inconclusive"), std::string::npos) << text;
    EXPECT_NE(text.find("The machine was not stored."), std::string::npos);
    EXPECT_NE(text.find("not known"), std::string::npos);
    EXPECT_NE(text.find("unknown"), std::string::npos);
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
}

TEST(Report, OfAnExperimentThatHadNoLookAtTheEndNamesNone) {
    const ExperimentHistory now = measured(1.24, "faster", 12);
    EXPECT_NE(toMarkdown(experimentReport(now, facts())).find("one look more"), std::string::npos);
    ExperimentHistory before;
    ExperimentBegan began = *now.began();
    began.finalLook = false;
    before.add(began);
    EXPECT_EQ(toMarkdown(experimentReport(before, facts())).find("one look more"), std::string::npos);
}

TEST(Report, SaysThatOneStateAtATimeWasOnTheDeviceWhereBothDidNotFit) {
    const ExperimentHistory both = measured(1.24, "faster", 12);
    EXPECT_EQ(toMarkdown(experimentReport(both, facts())).find("one side at a time"), std::string::npos);
    ExperimentHistory swapped;
    ExperimentBegan began = *both.began();
    began.swapped = true;
    swapped.add(began);
    for (const std::string& text : {toHtml(experimentReport(swapped, facts())), toMarkdown(experimentReport(swapped, facts()))})
        EXPECT_NE(text.find("The weights of one side at a time were in the device"), std::string::npos) << text;
}

TEST(Report, OfOneThatWasCutOffSaysSo) {
    ExperimentHistory history = measured(1.24, "faster", 9);
    ExperimentJudged cut = *history.newest();
    cut.over = false;
    history.add(cut);
    EXPECT_NE(toMarkdown(experimentReport(history, facts())).find("cut off"), std::string::npos);
}

TEST(Report, TextsOfAnyOriginStayTexts) {
    ExperimentFacts known = facts();
    known.name = known.preset = known.started = known.machine.cpu = known.machine.system = known.repeat = kHostile;
    known.keys = {{kHostile, kHostile, kHostile}};
    known.earlier = {kHostile};
    known.foretold = 1.5;
    known.foretoldBasis = kHostile;
    const Document document = experimentReport(measured(1.24, "faster", 9), known);
    const std::string html = toHtml(document);
    EXPECT_EQ(html.find("<script"), std::string::npos);
    EXPECT_EQ(html.find('\x1b'), std::string::npos);
    EXPECT_EQ(html.find('\x01'), std::string::npos);
    EXPECT_EQ(html.find('\xff'), std::string::npos);
    EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
    const std::string markdown = toMarkdown(document);
    EXPECT_EQ(countOf(markdown, "<script"), 1U) << "in the line to type alone, which is fenced";
    EXPECT_NE(markdown.find("\\|"), std::string::npos) << "a table's cells end where they end";
}

TEST(Report, ALineToTypeStaysInItsFence) {
    const Document document{"t", "", {Code{"echo ```` it"}}};
    const std::string text = toMarkdown(document);
    EXPECT_NE(text.find("`````sh\necho ```` it\n`````"), std::string::npos) << text;
}

TEST(Report, NeedsNothingFromElsewhere) {
    const std::string html = toHtml(experimentReport(measured(0.8, "slower", 20), facts()));
    for (const char* foreign : {"http:", "https:", "src=", "href=", "@import", "url("}) EXPECT_EQ(html.find(foreign), std::string::npos) << foreign;
    EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
    EXPECT_NE(html.find("@media print"), std::string::npos);
}

TEST(Report, ThePictureHasADotForEachPairWithinItsFrame) {
    for (const double ratio : {1e-300, 0.01, 0.97, 1.0, 1.24, 40.0, 1e300}) {
        PairPicture picture;
        for (int i = 0; i < 40; ++i)
            picture.dots.push_back({ratio * std::exp(0.02 * std::sin(i)), i % 9 == 4, i / 7, i > 5 ? ratio * 0.9 : 0, i > 5 ? ratio * 1.1 : 0});
        const std::string svg = toSvg(picture);
        EXPECT_EQ(countOf(svg, "<circle"), 40U) << ratio;
        EXPECT_EQ(countOf(svg, "class=\"left\""), 4U);
        EXPECT_EQ(svg.find("nan"), std::string::npos);
        EXPECT_EQ(svg.find("inf"), std::string::npos);
        const std::regex place("c([xy])=\"([0-9.-]+)\"");
        for (std::sregex_iterator at(svg.begin(), svg.end(), place), end; at != end; ++at) {
            const double value = std::stod((*at)[2]);
            EXPECT_GE(value, 0);
            EXPECT_LE(value, (*at)[1] == "x" ? 860 : 300);
        }
        EXPECT_GE(countOf(svg, "class=\"axis\""), 1U) << ratio;
    }
    EXPECT_EQ(toSvg(PairPicture{}), "");
}

TEST(Report, OfMillionsOfPairsShowsSomeAndSaysSo) {
    const std::string html = toHtml(experimentReport(measured(1.1, "faster", 6000), facts()));
    EXPECT_EQ(countOf(html, "<circle"), 5000U);
    EXPECT_NE(html.find("the first 5000 of 6000 pairs"), std::string::npos);
}

TEST(Report, PicturesOfBrokenNumbersLeaveThemOut) {
    PairPicture picture;
    for (const double ratio : {std::nan(""), 0.0, -1.0, HUGE_VAL, 1.1}) picture.dots.push_back({ratio});
    EXPECT_EQ(countOf(toSvg(picture), "<circle"), 1U);
}

TEST(Report, NumbersTheTimesThatBothWereMadeAnewFromTheFirstPairs) {
    std::vector<ExperimentJudged> pairs;
    for (const std::int64_t rebuild : {1, 1, 2}) pairs.push_back({.difference = 0.1, .rebuild = rebuild});  // 0 were the pilot's
    const PairPicture picture = pictureOf(pairs, 0.01, "", "");
    ASSERT_EQ(picture.dots.size(), 3U);
    EXPECT_EQ(picture.dots[0].group, 0);
    EXPECT_EQ(picture.dots[1].group, 0);
    EXPECT_EQ(picture.dots[2].group, 1);
}

TEST(Report, OfOneConfigurationBesideItselfSaysWhatRanAndNothingThatOnlyTwoCanHave) {
    const std::string config = configToJson(RunConfig{});
    ExperimentFacts known;
    known.settings = {{"fusion", "step"}, {"layers", "1"}};
    const auto told = [&](const char* outcome, double low, double high) {
        ExperimentHistory history;
        history.add(ExperimentBegan{.configA = config, .configB = config, .same = true});
        for (const Arm arm : {Arm::A, Arm::B}) history.add(BlockDone{.pair = 0, .arm = arm, .steps = 5, .tokens = 50, .loss = 2});
        history.add(ExperimentJudged{.pair = 0, .difference = 0.1, .ratio = 1.1, .low = low, .high = high, .pairs = 8, .rebuilds = 6, .seconds = 50});
        ExperimentJudged last = *history.newest();
        last.over = true;
        last.outcome = outcome;
        last.floor = 1.2;
        history.add(last);
        return toMarkdown(experimentReport(history, known));
    };
    const std::string claimed = told("faster", 1.05, 1.2), open = told("inconclusive", 0.9, 1.2);
    EXPECT_NE(claimed.find("**Faster by 10.0 % \\[5.0 %, 20.0 %\\], though both sides are the same**"), std::string::npos) << claimed;
    EXPECT_NE(claimed.find("Both sides are the same, so this difference is none of their settings"), std::string::npos);
    EXPECT_EQ(claimed.find("measure once more before relying"), std::string::npos);
    EXPECT_EQ(claimed.find("B is faster"), std::string::npos);
    EXPECT_EQ(open.find("Both sides are the same"), std::string::npos) << "nothing is claimed";
    EXPECT_EQ(open.find("Loss at equal time was not asked"), std::string::npos) << open;
    EXPECT_NE(open.find("| fusion | step |"), std::string::npos) << open;
    EXPECT_NE(open.find("| layers | 1 |"), std::string::npos);
}

TEST(Report, OfSidesWithOtherBatchesSaysWhyTheLossIsUnknownAndHowLongMeasuringTook) {
    const auto of = [](std::int64_t batch) {
        RunConfig config;
        config.switches["batch-size"] = batch;
        return configToJson(config);
    };
    ExperimentHistory history;
    history.add(ExperimentBegan{.configA = of(2), .configB = of(8)});
    history.add(ExperimentJudged{.pair = 0, .difference = 0.1, .ratio = 1.1, .low = 1.05, .high = 1.2, .pairs = 1, .rebuilds = 1, .seconds = 50});
    ExperimentJudged last = *history.newest();
    last.over = true;
    last.outcome = "faster";
    history.add(last);
    last.seconds = 650;  // told again, with losses at equal time
    history.add(last);
    const std::string text = toMarkdown(experimentReport(history, facts()));
    EXPECT_NE(text.find("Loss at equal tokens: unknown (the batches differ)."), std::string::npos) << text;
    EXPECT_NE(text.find("built again once, in 50 s."), std::string::npos) << text;
}

}  // namespace
}  // namespace stepscope::report
