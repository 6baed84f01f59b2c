// What stands out of a range: each rule speaks from its threshold on and not just below it, of the worst of several workers, in the same order
// always; nothing where nothing passes one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/analysis/panes/Notable.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

// Ten steps of a thousand ns together: `time` of one class, the rest halves of two others.
RangePanes rangeWith(const char* name, std::int64_t time, bool device = false) {
    DividedSteps steps{.device = device, .steps = 10};
    steps.thread = device ? "" : "trainer";
    steps.window.ns = 1000;
    const std::int64_t rest = 1000 - time;
    steps.classes = {{name, {time}}, {device ? "kernels" : "pointwise", {rest / 2}}, {device ? "other" : "normalisation", {rest - rest / 2}}};
    RangePanes panes;
    panes.devices = device;
    panes.totals.steps = 10;
    panes.steps.push_back(std::move(steps));
    return panes;
}

std::vector<std::string> rulesThatSpeak(const RangePanes& panes) {
    std::vector<std::string> all;
    for (const Notable& one : notables(panes, 99)) all.push_back(one.rule);
    return all;
}

TEST(Notable, AClassSpeaksFromItsShareOfTheStepsOn) {
    struct Case {
        const char* name;
        std::int64_t from;
        const char* rule;
        bool device;
    };
    for (const Case& one :
         {Case{"data", 50, "batches", false}, Case{"data", 50, "batches", true}, Case{"host and waiting", 300, "computes-nothing", false},
          Case{"copies", 100, "copies", false}, Case{"copies", 100, "copies", true}, Case{"matrix products", 500, "largest", false}}) {
        EXPECT_THAT(rulesThatSpeak(rangeWith(one.name, one.from, one.device)), ElementsAre(one.rule)) << one.name;
        EXPECT_THAT(rulesThatSpeak(rangeWith(one.name, one.from - 1, one.device)), IsEmpty()) << one.name;
        const auto said = notables(rangeWith(one.name, one.from, one.device));
        EXPECT_DOUBLE_EQ(said.front().share, static_cast<double>(one.from) / 1000);
        EXPECT_THAT(said.front().sentence, HasSubstr(std::to_string(one.from / 10))) << "each with its number";
    }
    EXPECT_THAT(notables(rangeWith("host and waiting", 400)).front().sentence, HasSubstr("The thread \"trainer\" computes nothing"));
}

TEST(Notable, OfPartsOfStepsItDoesNotSayWhatPaysMost) {
    RangePanes panes = rangeWith("matrix products", 900);
    panes.steps[0].cut = 9;
    EXPECT_THAT(notables(panes).front().sentence, HasSubstr("% of the time of the steps: what makes it faster pays most."));
    panes.steps[0].cut = 10;
    EXPECT_THAT(notables(panes).front().sentence, EndsWith("% of what the range has of steps.")) << "no step is whole";
}

RangePanes rangeWithGpu(std::int64_t busy, std::int64_t hostWait) {
    RangePanes panes = rangeWith("runtime calls", 10, true);
    panes.steps[0].classes = {{"kernels", {busy}}, {"other", {1000 - busy}}};
    panes.gpus.push_back({.rank = 0, .time = {.device = 2, .begin = {100}, .end = {900}, .busy = {busy}}});
    StreamTime stream{.device = 2, .stream = 7, .begin = {0}, .end = {1000}, .busy = {busy}, .hostWait = {hostWait}};
    panes.streams.push_back({.rank = 0, .time = stream});
    stream.stream = 8;
    stream.busy.ns = 1;
    stream.hostWait.ns = 900;  // of a stream that hardly works nothing is said
    panes.streams.push_back({.rank = 0, .time = stream});
    return panes;
}

TEST(Notable, AGpuWithoutWorkIsSaidWithWhetherLaunchesWereLate) {
    const auto late = notables(rangeWithGpu(800, 100)), other = notables(rangeWithGpu(800, 99));
    ASSERT_EQ(late.size(), 1u);
    EXPECT_EQ(late[0].rule, "gpu-idle");
    EXPECT_THAT(late[0].sentence, HasSubstr("GPU 2 has no work for 20"));
    EXPECT_THAT(late[0].sentence, HasSubstr("waits for launches 10"));
    ASSERT_EQ(other.size(), 1u);
    EXPECT_THAT(other[0].sentence, HasSubstr("the pane Idle"));
    EXPECT_THAT(notables(rangeWithGpu(801, 500)), IsEmpty()) << "it is busy";
    // A kernel that began before the range is in the classes, and not among what began in it; of several GPUs nobody can tell.
    RangePanes cut = rangeWithGpu(1000, 0);
    cut.gpus[0].time.busy.ns = 2;
    EXPECT_THAT(notables(cut), IsEmpty());
    // Without steps the time is that from its first work to its last.
    RangePanes alone = rangeWithGpu(640, 0);
    alone.steps.clear();
    ASSERT_EQ(notables(alone).size(), 1u);
    EXPECT_DOUBLE_EQ(notables(alone)[0].share, 0.2);
    alone.gpus[0].time.busy.ns = 641;
    EXPECT_THAT(notables(alone), IsEmpty());
}

TEST(Notable, AGpuThatHardlyWorksIsNotSaidToHaveNoWorkAtAll) {
    EXPECT_THAT(notables(rangeWithGpu(1, 999)).front().sentence, HasSubstr("no work for more than 99"));
    EXPECT_THAT(notables(rangeWithGpu(1, 999)).front().sentence, HasSubstr("waits for launches more than 99"));
    EXPECT_THAT(notables(rangeWithGpu(0, 0)).front().sentence, HasSubstr("no work for 100"));
}

TEST(Notable, DataThatIsMovedCountsWhereNoKernelComputesMeanwhile) {
    RangePanes panes = rangeWith("communication", 150, true);
    panes.steps[0].communication.ns = 150;
    panes.steps[0].overlapped.ns = 50;
    EXPECT_THAT(rulesThatSpeak(panes), ElementsAre("communication"));
    EXPECT_THAT(notables(panes).front().sentence, HasSubstr("while no kernel computes"));
    panes.steps[0].overlapped.ns = 51;
    EXPECT_THAT(rulesThatSpeak(panes), IsEmpty());
    RangePanes host = rangeWith("host and waiting", 100);
    host.steps[0].communication.ns = 150;
    host.steps[0].overlapped.ns = 50;
    EXPECT_THAT(rulesThatSpeak(host), ElementsAre("communication"));
    EXPECT_THAT(notables(host).front().sentence, HasSubstr("while no operation computes"));
}

TEST(Notable, SmallOperationsAreManyShortAndTogetherMuch) {
    const auto range = [](const char* name, std::int64_t calls, std::int64_t self, std::int64_t all) {
        RangePanes panes = rangeWith("host and waiting", 10);
        PaneOperation one;
        one.row.name = name;
        one.row.calls = calls;
        one.row.self.ns = self;
        panes.operations.push_back(one);
        panes.totals.self.ns = all;
        return panes;
    };
    const auto said = notables(range("aten::add", 1000, 300, 1000));
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0].rule, "small-operations");
    EXPECT_THAT(said[0].sentence, HasSubstr("into 100 small ones a step"));
    EXPECT_THAT(notables(range("aten::add", 999, 300, 1000)), IsEmpty()) << "fewer than 100 a step";
    EXPECT_THAT(notables(range("aten::add", 1000, 299, 1000)), IsEmpty()) << "less than 30 % of the time";
    EXPECT_EQ(notables(range("aten::add", 1000, 200'000'000, 300'000'000)).size(), 1u) << "0.2 ms each";
    EXPECT_THAT(notables(range("aten::add", 1000, 200'001'000, 300'000'000)), IsEmpty()) << "longer ones are not small";
    EXPECT_THAT(notables(range("aten::mm", 1000, 300, 1000)), IsEmpty()) << "a product";
    EXPECT_THAT(notables(range("AddmmBackward0", 1000, 300, 1000)), IsEmpty()) << "a node of autograd";
    RangePanes gpu = range("aten::add", 1000, 300, 1000);
    gpu.devices = true;
    EXPECT_THAT(notables(gpu), IsEmpty()) << "there operations only launch";
}

TEST(Notable, AKernelThatLeadsIsNamedAsFarAsALineGoes) {
    RangePanes panes = rangeWith("runtime calls", 10, true);
    PaneKernel copy, kernel;
    copy.row.kind = SliceKind::Memcpy;
    copy.row.total.ns = 700;
    kernel.row.name = "void gemm<float, " + std::string(300, 'x') + ">";
    kernel.row.total.ns = 300;
    panes.kernels = {copy, kernel};
    panes.totals.deviceTime.ns = 1000;
    const auto said = notables(panes);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0].rule, "largest");
    EXPECT_THAT(said[0].sentence, HasSubstr("The kernel gemm<float, xxx"));
    EXPECT_THAT(said[0].sentence, HasSubstr("\u2026 takes 30"));
    panes.kernels[1].row.name = std::string(300, 'y');
    EXPECT_LT(notables(panes)[0].sentence.size(), 200u);
    panes.kernels[1].row.name.clear();
    EXPECT_THAT(notables(panes)[0].sentence, HasSubstr("The kernel without a name takes 30"));
    panes.kernels[1].row.total.ns = 299;
    EXPECT_THAT(notables(panes), IsEmpty());
}

TEST(Notable, OfSeveralWorkersTheWorstIsTold) {
    RangePanes panes = rangeWith("data", 60);
    DividedSteps other = rangeWith("data", 90).steps[0];
    other.rank = 1;
    panes.steps.push_back(other);
    panes.severalRanks = true;
    const auto said = notables(panes);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_DOUBLE_EQ(said[0].share, 0.09);
    EXPECT_THAT(said[0].sentence, HasSubstr("on rank 1"));
}

TEST(Notable, OfATeamSharesAreOfAllItsThreadsAndWaitingComputesNothing) {
    RangePanes panes = rangeWith("host and waiting", 200);
    panes.steps[0].fewestThreads = panes.steps[0].mostThreads = 2;
    panes.steps[0].shared.ns = 1000;
    panes.steps[0].classes.push_back({"matrix products", {600}});
    panes.steps[0].classes.push_back({kTeamWaits, {400}});
    EXPECT_THAT(rulesThatSpeak(panes), ElementsAre("computes-nothing"));
    const auto said = notables(panes);
    EXPECT_DOUBLE_EQ(said.front().share, 0.3) << "600 of 2000";
    EXPECT_THAT(said.front().sentence, HasSubstr("The threads of the team compute nothing for 30"));
    panes.steps[0].classes.back().time.ns = 399;
    EXPECT_THAT(rulesThatSpeak(panes), IsEmpty());
}

TEST(Notable, ThereAreThreeAtMostInTheOrderOfTheRulesAndOfFoldedSlicesNone) {
    RangePanes panes = rangeWith("host and waiting", 300);
    panes.steps[0].classes = {{"data", {100}}, {"host and waiting", {300}}, {"copies", {100}}, {"matrix products", {500}}};
    EXPECT_THAT(rulesThatSpeak(panes), ElementsAre("batches", "computes-nothing", "copies", "largest"));
    const auto said = notables(panes), again = notables(panes);
    ASSERT_EQ(said.size(), 3u);
    for (std::size_t i = 0; i < said.size(); ++i) EXPECT_EQ(said[i].sentence, again[i].sentence);
    EXPECT_EQ(said[2].rule, "copies");
    panes.folded = true;
    EXPECT_THAT(notables(panes), IsEmpty());
    EXPECT_THAT(notables(RangePanes{}), IsEmpty());
}

TEST(Notable, RulesStandInTheGuideWithTheirThresholds) {
    std::ifstream file(STEPSCOPE_SOURCE "/resources/guide/panes.md");
    std::stringstream text;
    text << file.rdbuf();
    for (const NotableRule& rule : notableRules())
        EXPECT_NE(text.str().find(std::string("| ") + rule.threshold + " |"), std::string::npos) << rule.id;
}

}  // namespace
}  // namespace stepscope
