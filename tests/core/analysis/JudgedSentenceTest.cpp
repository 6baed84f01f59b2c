// What an experiment says in words: verdict, interval, and why there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/analysis/JudgedSentence.h"
#include "core/events/ConfigJson.h"

namespace stepscope {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

ExperimentJudged judged(const char* outcome, double ratio, double low, double high) {
    return {.outcome = outcome, .ratio = ratio, .low = low, .high = high, .pairs = 12};
}

TEST(JudgedWords, SayHowMuchFasterOrSlowerWithTheNearBoundFirst) {
    EXPECT_EQ(judgedWords(judged("faster", 1.123, 1.101, 1.146), 0.01), "faster by 12.3 % [10.1 %, 14.6 %]");
    EXPECT_EQ(judgedWords(judged("slower", 0.9, 0.88, 0.93), 0.01), "slower by 10.0 % [7.0 %, 12.0 %]");
    EXPECT_EQ(judgedWords(judged("faster", 3.314, 3.271, 3.36), 0.01), "3.31 times as fast [3.27, 3.36]");
    EXPECT_EQ(judgedWords(judged("equivalent", 1.001, 0.995, 1.004), 0.01), "no difference of more than 1 %");
    EXPECT_EQ(judgedWords(judged("equivalent", 1.001, 0.995, 1.004), 0.005), "no difference of more than 0.5 %");
    EXPECT_EQ(judgedWords(judged("inconclusive", 1.2, 0.9, 1.5), 0.01), "inconclusive");
    EXPECT_EQ(judgedParts(judged("faster", 1.123, 1.101, 1.146), 0.01).verdict, "faster by 12.3 %");
    EXPECT_EQ(judgedParts(judged("faster", 1.123, 1.101, 1.146), 0.01).interval, "[10.1 %, 14.6 %]");
    EXPECT_EQ(judgedParts(judged("inconclusive", 1.2, 0.9, 1.5), 0.01).interval, "");
    const ExperimentJudged other = turnedRound(judged("slower", 0.8, 0.5, 1));
    EXPECT_EQ(judgedWords(other, 0.01), "faster by 25.0 % [0.0 %, 100.0 %]");
}

TEST(JudgedWords, NeverRoundABoundToEqualThatExcludesIt) {
    EXPECT_EQ(judgedWords(judged("faster", 1.0091, 1.0002, 1.018), 0.01), "faster by 0.91 % [0.02 %, 1.80 %]");
    EXPECT_EQ(judgedWords(judged("slower", 0.99, 0.982, 0.99997), 0.01), "slower by 1.000 % [0.003 %, 1.800 %]");
    EXPECT_EQ(judgedWords(judged("faster", 1.0091, 1.0006, 1.018), 0.01), "faster by 0.9 % [0.1 %, 1.8 %]");
    EXPECT_EQ(judgedWords(judged("faster", 2.1, 1.003, 4.2), 0.01), "2.100 times as fast [1.003, 4.200]");
    EXPECT_EQ(verdictHeadline(judged("faster", 1.0091, 1.0002, 1.018), 0.01, {"amp=off", "amp=bf16"}),
              "amp=bf16 is faster than amp=off by 0.91 % [0.02 %, 1.80 %]");
    ExperimentJudged loss = judged("equivalent", 1, 0.999, 1.001);
    loss.equalTime = {
        .seconds = 5, .seeds = 3, .a = 2, .b = 1.9999, .difference = -0.0001, .low = -0.00019, .high = -0.00001, .stepsA = 9, .stepsB = 9};
    EXPECT_THAT(equalTimeSentence(loss), HasSubstr("B's is lower by 0.00010 [0.00001, 0.00019]."));
}

TEST(ArmNames, AreTheValuesOfTheOneSettingThatDiffersElseAAndB) {
    RunConfig a, b;
    EXPECT_EQ(armNames(a, b).b, "B") << "they are equal";
    a.switches["amp"] = std::string("off");
    b.switches["amp"] = std::string("bf16");
    b.preset = "of another name";
    EXPECT_EQ(armNames(a, b).a, "amp=off");
    EXPECT_EQ(armNames(a, b).b, "amp=bf16");
    EXPECT_EQ(armNames(ExperimentBegan{.configA = configToJson(a), .configB = configToJson(b)}).b, "amp=bf16");
    EXPECT_FALSE(armNames(ExperimentBegan{.configA = "{", .configB = configToJson(b)}).named());
    b.layers = a.layers + 1;
    EXPECT_FALSE(armNames(a, b).named()) << "two settings differ";
    EXPECT_EQ(armNames(a, b).a, "A");
}

TEST(SidesInWords, SayWhatIsJudgedBesideWhatWhereALineStandsByItself) {
    RunConfig a, b;
    const auto words = [&] { return sidesInWords({.configA = configToJson(a), .configB = configToJson(b)}); };
    EXPECT_EQ(words(), "one configuration beside itself");
    EXPECT_EQ(nameOfSide(a, b, Arm::B), "B") << "they are equal";
    a.switches["amp"] = std::string("off");
    b.switches["amp"] = std::string("bf16");
    EXPECT_EQ(words(), "amp bf16 beside off");
    EXPECT_EQ(nameOfSide(a, b, Arm::A), "amp=off");
    a.layers = 2;
    b.layers = 3;
    EXPECT_THAT(words(), AllOf(HasSubstr("layers=3"), HasSubstr("amp=bf16"), HasSubstr(" beside "), HasSubstr("layers=2"), HasSubstr("amp=off")));
    EXPECT_LT(words().find("layers=3"), words().find("layers=2")) << "B beside A";
    a.heads = a.width = a.steps = 8;
    b.heads = b.width = b.steps = 16;
    EXPECT_TRUE(nameOfSide(a, b, Arm::B).ends_with(" and 2 more")) << nameOfSide(a, b, Arm::B);
    EXPECT_EQ(sidesInWords({.configA = "{", .configB = configToJson(b)}), "B beside A") << "nobody knows what they are";
}

TEST(VerdictHeadline, SaysWhichValueIsFasterThanWhich) {
    const ArmNames names{"amp=off", "amp=bf16"};
    EXPECT_EQ(verdictHeadline(judged("faster", 1.123, 1.101, 1.146), 0.01, names), "amp=bf16 is faster than amp=off by 12.3 % [10.1 %, 14.6 %]");
    EXPECT_EQ(verdictHeadline(judged("slower", 0.9, 0.88, 0.93), 0.01, names), "amp=bf16 is slower than amp=off by 10.0 % [7.0 %, 12.0 %]");
    EXPECT_EQ(verdictHeadline(judged("faster", 3.314, 3.271, 3.36), 0.01, names), "amp=bf16 is 3.31 times as fast as amp=off [3.27, 3.36]");
    EXPECT_EQ(verdictHeadline(judged("faster", 1.123, 1.101, 1.146), 0.01), "B is faster by 12.3 % [10.1 %, 14.6 %]");
    EXPECT_EQ(verdictHeadline(judged("inconclusive", 1.2, 0.9, 1.5), 0.01, names), "Inconclusive");
    EXPECT_EQ(verdictLine(judged("inconclusive", 1.2, 0.9, 1.5), 0.01, names), "amp=bf16 beside amp=off: inconclusive");
    EXPECT_EQ(verdictLine(judged("faster", 1.123, 1.101, 1.146), 0.01, {}), "B beside A: faster by 12.3 % [10.1 %, 14.6 %]");
    EXPECT_EQ(verdictSentence(judged("faster", 1.123, 1.101, 1.146), 0.01, names),
              "amp=bf16 is faster than amp=off by 12.3 % [10.1 %, 14.6 %], in 12 pairs of blocks.");
}

TEST(JudgedSentence, CountsPairsAndThoseLeftOut) {
    ExperimentJudged one = judged("faster", 1.1, 1.05, 1.15);
    EXPECT_EQ(judgedSentence(one), "B beside A: faster by 10.0 % [5.0 %, 15.0 %], in 12 pairs of blocks.");
    EXPECT_EQ(foretoldSentence(1.12, "products", one),
              "Foretold before it was measured: B 1.12 times as fast as A (from products); measured 1.10 [1.05, 1.15], which holds it.");
    EXPECT_EQ(foretoldSentence(1.048, "", one),
              "Foretold before it was measured: B 1.048 times as fast as A; measured 1.100 [1.050, 1.150], which does not hold it.");
    EXPECT_EQ(foretoldSentence(kUnknown, "", one), "");
    EXPECT_EQ(judgedSentence(one, 0.01, "amp bf16 beside off"), "amp bf16 beside off: faster by 10.0 % [5.0 %, 15.0 %], in 12 pairs of blocks.");
    one.left = 3;
    one.why = "More words.";
    EXPECT_EQ(judgedSentence(one), "B beside A: faster by 10.0 % [5.0 %, 15.0 %], in 12 pairs of blocks, 3 left out. More words.");
}

TEST(FloorAdvice, DoesNotCallWhatIsClaimedUnbelievable) {
    EXPECT_EQ(floorAdvice(1.01, 1.05, "faster"), " A smaller difference should not be believed.");
    EXPECT_EQ(floorAdvice(1.01, 1.005, "inconclusive"), " A smaller difference should not be believed.");
    for (const auto& [ratio, outcome] : {std::pair{1.008, "faster"}, {0.992, "slower"}})
        EXPECT_EQ(floorAdvice(1.01, ratio, outcome), " The difference that is claimed is smaller: measure once more before relying on it.");
    EXPECT_EQ(floorAdvice(1.244, 0.79, "slower"), floorAdvice(1.01, 0.992, "slower")) << "21 % beside 24.4 %, as they are printed";
    EXPECT_EQ(floorAdvice(1.244, 0.74, "slower"), " A smaller difference should not be believed.");
    EXPECT_EQ(floorAdvice(kUnknown, 1.05, "faster"), "");
}

TEST(LossApart, OfADifferenceThatRoundsToNothingIsNone) {
    for (const double none : {0.0, -0.0, 4.9e-5, -4.9e-5}) EXPECT_EQ(lossApart(none), "the same to four digits") << none;
    EXPECT_EQ(lossApart(5.1e-5), "that of B is 0.0001 higher on average");
    EXPECT_EQ(lossApart(-0.0123), "that of B is 0.0123 lower on average");
}

TEST(MeansSentence, IsSaidOnlyWhereTheTableAndTheVerdictAreNotAlike) {
    const ExperimentJudged one = judged("faster", 1.1, 1.05, 1.15);
    EXPECT_EQ(meansSentence(one, 1.1, 0.01), "");
    EXPECT_EQ(meansSentence(one, 1.115, 0.01), "");
    EXPECT_THAT(meansSentence(one, 1.31, 0.01), HasSubstr("1.310 times as many tokens a second as A, while the mean of the pairs is 1.100"));
    EXPECT_EQ(meansSentence(one, 1.15, 0.1), "") << "within what counts as equal";
    EXPECT_EQ(meansSentence(one, kUnknown, 0.01), "");
    EXPECT_EQ(meansSentence(judged("inconclusive", kUnknown, kUnknown, kUnknown), 1.31, 0.01), "");
}

TEST(WhyJudged, HasASentenceForEachReasonAndNoneForAVerdict) {
    PairedVerdict verdict{.outcome = PairedOutcome::Faster, .reason = PairedReason::None, .ratio = 1.1, .low = 1.05, .high = 1.2, .pairs = 20};
    EXPECT_EQ(whyJudged(verdict, {}), "");
    verdict.outcome = PairedOutcome::Inconclusive;
    for (const auto& [reason, words] : std::vector<std::pair<PairedReason, const char*>>{{PairedReason::TooFewPairs, "budget"},
                                                                                         {PairedReason::TooWide, "[1.050, 1.200]"},
                                                                                         {PairedReason::RebuildsDiffer, "instance"},
                                                                                         {PairedReason::OrderMatters, "first"},
                                                                                         {PairedReason::DiscardsDecide, "left out"},
                                                                                         {PairedReason::RareSlowSteps, "rare slow steps"},
                                                                                         {PairedReason::WithinFloor, "beside itself"}}) {
        verdict.reason = reason;
        EXPECT_THAT(whyJudged(verdict, {}), HasSubstr(words));
    }
}

TEST(WhyJudged, SaysHowMuchMoreWouldDecideIt) {
    const PairedVerdict verdict{
        .outcome = PairedOutcome::Inconclusive, .reason = PairedReason::TooWide, .ratio = 1, .low = 0.9, .high = 1.1, .pairs = 20};
    EXPECT_THAT(whyJudged(verdict, {.secondsToGo = 42}), HasSubstr("About 42 s more would decide it."));
    EXPECT_THAT(whyJudged(verdict, {.secondsToGo = 600}), HasSubstr("About 10 minutes more"));
    EXPECT_THAT(whyJudged(verdict, {.secondsToGo = 1e9}), HasSubstr("no time that is worth it"));
    PairedVerdict instances = verdict;
    instances.reason = PairedReason::RebuildsDiffer;
    EXPECT_THAT(whyJudged(instances, {.secondsToGo = 42}), HasSubstr("About 42 s more would decide it."));
    const PairedVerdict few{.outcome = PairedOutcome::Inconclusive, .reason = PairedReason::TooFewPairs, .pairs = 3};
    EXPECT_EQ(whyJudged(few, {.ended = EndedBy::Person, .secondsToGo = 20}),
              "It was stopped after 3 pairs, too few to say anything. About 20 s more would give an interval.");
    EXPECT_THAT(whyJudged(few, {.ended = EndedBy::Breakage, .broke = "B diverged.", .secondsToGo = 20}), Not(HasSubstr("more")))
        << "time does not mend that";
}

TEST(WhyJudged, SaysWhatEndedItAndOfNothingButAPersonThatItWasStopped) {
    const PairedVerdict few{.outcome = PairedOutcome::Inconclusive, .reason = PairedReason::TooFewPairs, .pairs = 3};
    const PairedVerdict open{
        .outcome = PairedOutcome::Inconclusive, .reason = PairedReason::TooWide, .ratio = 1, .low = 0.9, .high = 1.1, .pairs = 20};
    const PairedVerdict known{.outcome = PairedOutcome::Faster, .reason = PairedReason::None, .ratio = 1.1, .low = 1.05, .high = 1.2, .pairs = 20};
    for (const auto& [ended, words] : std::vector<std::pair<EndedBy, std::string>>{{EndedBy::Person, "It was stopped"},
                                                                                   {EndedBy::RunsEnd, "The run ended"},
                                                                                   {EndedBy::RunStopped, "The run was stopped"},
                                                                                   {EndedBy::ASetting, "A setting of the run was changed"},
                                                                                   {EndedBy::Budget, "The budget was spent"}}) {
        EXPECT_THAT(whyJudged(few, {.ended = ended, .secondsToGo = 20, .leastSeconds = 60}), StartsWith(words + " after 3 pairs"));
        EXPECT_THAT(whyJudged(open, {.ended = ended, .secondsToGo = 20}), StartsWith(words + " before it was decided. The interval ["));
        EXPECT_EQ(whyJudged(known, {.ended = ended}), "") << "what is known is known";
    }
    EXPECT_THAT(whyJudged(few, {.ended = EndedBy::RunsEnd, .secondsToGo = 20}), EndsWith("About 20 s more would give an interval."));
    EXPECT_THAT(whyJudged(few, {.ended = EndedBy::Budget}), Not(HasSubstr("stopped")));
    EXPECT_THAT(whyJudged(open, {}), StartsWith("The interval ["));
}

TEST(WhyJudged, OfPairsThatBoundNothingSaysSoInsteadOfAnIntervalWithoutAnEnd) {
    const PairedVerdict verdict{.outcome = PairedOutcome::Inconclusive, .reason = PairedReason::TooWide, .ratio = 1.2, .pairs = 9};
    EXPECT_EQ(whyJudged(verdict, {.secondsToGo = 30}),
              "9 pairs that scatter like these are too few for an interval. About 30 s more would give one.");
    EXPECT_THAT(whyJudged(verdict, {}), Not(HasSubstr("inf")));
}

TEST(WhyJudged, SaysFirstWhatBrokeAndNeverThatSomebodyStoppedIt) {
    PairedVerdict verdict{.outcome = PairedOutcome::Inconclusive, .reason = PairedReason::TooFewPairs, .pairs = 3};
    EXPECT_EQ(whyJudged(verdict, {.ended = EndedBy::Breakage, .broke = "B diverged."}),
              "B diverged. That was after 3 pairs, too few to say anything.");
    verdict = {.outcome = PairedOutcome::Faster, .reason = PairedReason::None, .ratio = 1.1, .low = 1.05, .high = 1.2, .pairs = 20};
    EXPECT_EQ(whyJudged(verdict, {.ended = EndedBy::Breakage, .broke = "B diverged."}), "B diverged.");
}

TEST(WhyJudged, OfPairsEnoughSaysThatItIsInstancesThatAreTooFew) {
    const PairedVerdict verdict{.outcome = PairedOutcome::Inconclusive,
                                .reason = PairedReason::TooFewPairs,
                                .ratio = 0.9,
                                .low = 0.8,
                                .high = 1.1,
                                .pairs = 46,
                                .rebuilds = 5};
    EXPECT_EQ(
        whyJudged(verdict, {.secondsToGo = 42, .leastSeconds = 40}),
        "The budget was spent after 46 pairs, with the programs built again 5 times; a verdict needs 6, as where memory happens to lie may be what "
        "differs. About 42 s more would decide it.");
    const std::string stopped = whyJudged(verdict, {.ended = EndedBy::Person});
    EXPECT_THAT(stopped, HasSubstr("It was stopped after 46 pairs, with the programs built again 5 times"));
    EXPECT_THAT(stopped, Not(HasSubstr("too few to say anything"))) << "eight would do";
    EXPECT_THAT(whyJudged(verdict, {.broke = "B diverged.", .secondsToGo = 42}), Not(HasSubstr("more would"))) << "time does not mend that";
}

TEST(UndecidedSentence, NeverCountsHoursToTheSecondAndSaysWhatUsuallyTakesThem) {
    ExperimentJudged open = judged("inconclusive", 1.05, 0.74, 1.52);
    open.pairs = 7;
    EXPECT_EQ(undecidedSentence(open, 100), "8 pairs are the least that says anything.");
    open.pairs = 28;
    open.secondsToGo = 97'609;
    EXPECT_EQ(undecidedSentence(open, 100),
              "If the pairs go on to scatter like this, it takes hours to decide. Mostly other programs on this machine are why: close them.");
    open.secondsToGo = 42;
    EXPECT_EQ(undecidedSentence(open, 100), "If the pairs go on to scatter like this, about 42 s more decide it.");
    EXPECT_EQ(undecidedSentence(open, 20),
              "If the pairs go on to scatter like this, about 42 s more decide it, longer than the time that it was given.");
    open.high = std::numeric_limits<double>::infinity();
    EXPECT_EQ(undecidedSentence(open, 100), "The pairs scatter too much for an interval so far.") << "of more than eight it is not their number";
}

TEST(WhyJudged, NamesOtherProgramsWhereTheyAreWhyThereAreFewPairs) {
    const PairedVerdict verdict{.outcome = PairedOutcome::Inconclusive, .reason = PairedReason::TooFewPairs, .pairs = 3, .discarded = 20};
    EXPECT_THAT(whyJudged(verdict, {.leastSeconds = 60}), HasSubstr("20 of 23 pairs were left out"));
    EXPECT_THAT(whyJudged(verdict, {.ended = EndedBy::Person}), HasSubstr("stopped after 3 pairs"));
}

TEST(WhyJudged, SaysThatOtherProgramsComputedAllTheTimeWhateverTheVerdict) {
    PairedVerdict verdict{.outcome = PairedOutcome::Faster, .reason = PairedReason::None, .ratio = 4.7, .low = 2.9, .high = 7.6, .pairs = 21};
    EXPECT_EQ(whyJudged(verdict, {.others = 1.42}),
              "Other programs took 1.4 processors meanwhile: it holds beside them, and may be another one on a quiet machine.");
    EXPECT_EQ(whyJudged(verdict, {.others = 0.2}), "");
    verdict.outcome = PairedOutcome::Inconclusive;
    verdict.reason = PairedReason::TooWide;
    EXPECT_THAT(whyJudged(verdict, {.others = 0.98}),
                HasSubstr("\"different\". Other programs took 1.0 processor meanwhile: close them and ask again."))
        << "what is open holds of nothing";
}

TEST(WhyJudged, NamesWhatTheHostTookWhereThatMayBeWhyItIsInconclusive) {
    PairedVerdict verdict{.outcome = PairedOutcome::Inconclusive, .reason = PairedReason::TooWide, .ratio = 1, .low = 0.9, .high = 1.1, .pairs = 20};
    EXPECT_THAT(whyJudged(verdict, {.stealOfA = 0.2, .stealOfB = 1.4}),
                HasSubstr("gave 0.2 % of the processors' time to somebody else during the blocks "
                          "of A and 1.4 % during those of B, which moves their ratio"));
    EXPECT_THAT(whyJudged(verdict, {.stealOfA = 6, .stealOfB = 6.5}), HasSubstr("6.5 % during those of B; ask again"));
    for (const WhyContext& little : {WhyContext{.stealOfA = 4.5, .stealOfB = 5.2}, WhyContext{.stealOfA = 0.1, .stealOfB = 1}, WhyContext{},
                                     WhyContext{.delta = 0.05, .stealOfA = 1, .stealOfB = 5}})
        EXPECT_THAT(whyJudged(verdict, little), Not(HasSubstr("host")));
}

TEST(WhyJudged, CallsTwoValuesThatTookTurnsInARunByTheirNamesAndSaysWhichWayItsIntervalIs) {
    const PairedVerdict open{
        .outcome = PairedOutcome::Inconclusive, .reason = PairedReason::TooWide, .ratio = 1, .low = 0.9, .high = 1.1, .pairs = 20};
    const std::string said = whyJudged(open, {.stealOfA = 0.2, .stealOfB = 1.4, .ofA = "off", .ofB = "step"});
    EXPECT_THAT(said, HasSubstr("The speed of step as a multiple of off's, [0.900, 1.100], holds both"));
    EXPECT_THAT(said, HasSubstr("during the blocks of off and 1.4 % during those of step"));
    EXPECT_THAT(said, Not(HasSubstr(" A ")));
    EXPECT_THAT(said, Not(HasSubstr(" B")));
}

TEST(WhyJudged, SaysOfAnyVerdictWhereTheHostTookMoreFromOneSideAndWhatThatMayMean) {
    PairedVerdict verdict{.outcome = PairedOutcome::Faster, .reason = PairedReason::None, .ratio = 1.1, .low = 1.05, .high = 1.2, .pairs = 20};
    EXPECT_EQ(
        whyJudged(verdict, {.stealOfA = 30, .stealOfB = 0}),
        "This machine is a virtual one, and its host gave 30.0 % of the processors' time to somebody else during the blocks of A and 0.0 % during "
        "those of B: part of the difference may be the host's.");
    EXPECT_THAT(whyJudged(verdict, {.stealOfA = 0, .stealOfB = 30}), HasSubstr("30.0 % during those of B: without it the difference may be larger."));
    EXPECT_EQ(whyJudged(verdict, {.stealOfA = 20, .stealOfB = 20.5}), "") << "it met both alike, and the pairs decided it all the same";
    verdict.outcome = PairedOutcome::Slower;
    EXPECT_THAT(whyJudged(verdict, {.stealOfA = 0, .stealOfB = 30}), HasSubstr("part of the difference may be the host's."));
    verdict.outcome = PairedOutcome::Equivalent;
    EXPECT_THAT(whyJudged(verdict, {.stealOfA = 0, .stealOfB = 30}), HasSubstr("it may hide a difference of theirs."));
    EXPECT_EQ(whyJudged(verdict, {.delta = 0.5, .stealOfA = 0, .stealOfB = 30}), "") << "half is equal where a person says so";
}

TEST(MachineSentence, SaysThatClocksWentUpAndDownAndThatAQuotaStoppedTheThreads) {
    EXPECT_EQ(machineSentence({}), "");
    EXPECT_EQ(machineSentence({.cpuMhzLow = 2900, .cpuMhzHigh = 3000, .throttledPct = 0.5}), "") << "a little is usual";
    EXPECT_EQ(machineSentence({.gpuMhzLow = 1410, .gpuMhzHigh = 1980}),
              "The GPU ran at 1\u202F410 to 1\u202F980 MHz meanwhile (nine of ten samples).");
    EXPECT_EQ(machineSentence({.cpuMhzLow = 900, .cpuMhzHigh = 999.6, .throttledPct = 12.4}),
              "The processors ran at 900 to 1\u202F000 MHz meanwhile (nine of ten samples). A quota stopped the threads in 12 % of its periods "
              "meanwhile.");
    EXPECT_EQ(machineSentence({.throttledPct = 3}), "A quota stopped the threads in 3 % of its periods meanwhile.");
}

TEST(MachineSentence, SaysThatOtherProgramsWereOnTheGpuAndWhetherTheyComputedThere) {
    EXPECT_EQ(machineSentence({.gpuOthersPct = 0, .gpuOthersBusyPct = 0}), "");
    EXPECT_EQ(machineSentence({.gpuOthersPct = 0.4, .gpuOthersBusyPct = 3}), "") << "one sample of hundreds";
    EXPECT_EQ(
        machineSentence({.gpuOthersPct = 40.4, .gpuOthersBusyPct = 22.6}),
        "Other programs were on the GPU in 40 % of the samples meanwhile, and computed there 23 % of the time: what was found holds beside them, "
        "and may be another on a GPU that nobody shares.");
    EXPECT_EQ(machineSentence({.gpuOthersPct = 40}),
              "Other programs were on the GPU in 40 % of the samples meanwhile: what was found holds beside them, and may be another on a GPU that "
              "nobody shares.");
    EXPECT_EQ(machineSentence({.throttledPct = 3, .gpuOthersPct = 100, .gpuOthersBusyPct = 0}),
              "A quota stopped the threads in 3 % of its periods meanwhile. Other programs were on the GPU in 100 % of the samples meanwhile, and "
              "computed nothing there that was seen.");
}

TEST(BesideItself, NamesNoSidesAndCallsAClaimWhatItIs) {
    ExperimentJudged one = judged("equivalent", 1.001, 0.995, 1.004);
    EXPECT_EQ(headlineBesideItself(one, 0.01), "No difference of more than 1 %");
    EXPECT_EQ(sentenceBesideItself(one, 0.01), "One configuration beside itself: no difference of more than 1 %, in 12 pairs of blocks.");
    EXPECT_EQ(claimBesideItself(one, 0.05), "");
    one = judged("faster", 1.123, 1.101, 1.146);
    EXPECT_EQ(headlineBesideItself(one, 0.01), "Faster by 12.3 % [10.1 %, 14.6 %], though both sides are the same");
    EXPECT_THAT(claimBesideItself(one, 0.05), StartsWith("Both sides are the same, so this difference is none of their settings: up to 5 % of such"));
    EXPECT_NE(claimBesideItself(judged("slower", 0.9, 0.88, 0.93), 0.05), "");
}

TEST(TurnsSentence, NamesBothValuesTheFloorAndTheOneThatStayed) {
    ExperimentJudged one = judged("faster", 1.1, 1.05, 1.15);
    one.floor = 1.007;
    one.why = "More words.";
    EXPECT_EQ(turnsSentence(one, 0.01, {.id = "fusion", .from = "off", .to = "kernels", .changed = true, .same = 4}),
              "fusion kernels beside off: faster by 10.0 % [5.0 %, 15.0 %], in 12 pairs of blocks. More words. A value beside itself here: within "
              "0.70 %. A "
              "smaller difference should not be believed. fusion became kernels.");
    one = judged("inconclusive", 1.2, 0.9, 1.5);
    one.floor = kUnknown;
    EXPECT_EQ(
        turnsSentence(one, 0.01, {.id = "fusion", .from = "off", .to = "kernels"}),
        "fusion kernels beside off: inconclusive, in 12 pairs of blocks. A value beside itself here: not known: no two blocks of one side came in "
        "turn. fusion stayed off.");
}

}  // namespace
}  // namespace stepscope
