// The time of a team of threads in classes: against every nanosecond of every thread, what is waiting and what is nobody's, and which lanes of a
// capture count.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "core/analysis/panes/RangePanes.h"
#include "core/analysis/panes/StepDivision.h"
#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"

namespace stepscope {
namespace {

const std::vector<std::string> kTeamTexts{"step", "span"};

NestedSlice teamSlice(std::int64_t start, std::int64_t end, std::int32_t depth, WorkClass work, SliceKind kind = SliceKind::Own) {
    return {.start = start, .end = end, .text = kind == SliceKind::Step ? 0U : 1U, .depth = depth, .kind = kind, .work = work};
}

void addTrainer(StepDivision& division, std::vector<NestedSlice> slices) {
    nestLane(slices);
    division.addThread("trainer", slices, kTeamTexts, {.process = 1});
}
void addMember(StepDivision& division, std::vector<NestedSlice> slices, std::int64_t process = 1) {
    LaneFacts facts{.process = process, .team = true};
    for (const NestedSlice& one : slices) facts.whole.emplace_back(one.start, one.end);
    nestLane(slices);
    division.addThread("worker 1", slices, kTeamTexts, std::move(facts));
}

std::int64_t sumOf(const DividedSteps& steps) {
    std::int64_t sum = 0;
    for (const ClassTime& one : steps.classes) sum += one.time.ns;
    return sum;
}
std::int64_t timeOf(const DividedSteps& steps, const std::string& name) {
    const auto found = std::ranges::find(steps.classes, name, &ClassTime::name);
    return found == steps.classes.end() ? -1 : found->time.ns;
}
std::int64_t timeOf(const DividedSteps& steps, WorkClass work) {
    return timeOf(steps, std::string(toString(work)));
}

// Spans side by side from `from` to `to` with gaps between them, each with others in it.
std::vector<NestedSlice> someSpans(std::mt19937& random, std::int64_t from, std::int64_t to, std::int32_t depth) {
    std::vector<NestedSlice> all;
    for (std::int64_t at = from + static_cast<std::int64_t>(random() % 10); at < to;) {
        const std::int64_t end = std::min(to, at + 1 + static_cast<std::int64_t>(random() % 30));
        all.push_back(teamSlice(at, end, depth, static_cast<WorkClass>(random() % (kWorkClasses - 1))));
        if (depth < 4 && random() % 2 == 0) {
            const auto inner = someSpans(random, at, end, depth + 1);
            all.insert(all.end(), inner.begin(), inner.end());
        }
        at = end + static_cast<std::int64_t>(random() % 15);
    }
    return all;
}

// By nanosecond the class of the innermost slice; -1: none.
std::vector<int> innermost(const std::vector<NestedSlice>& slices, std::size_t length) {
    std::vector<int> work(length, -1), depth(length, -1);
    for (const NestedSlice& one : slices)
        for (auto at = static_cast<std::size_t>(one.start); at < static_cast<std::size_t>(one.end); ++at)
            if (one.depth > depth[at]) depth[at] = one.depth, work[at] = static_cast<int>(one.work);
    return work;
}

TEST(TeamTime, ClassesAreThreadsTimesStepAtEveryNanosecond) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        constexpr std::size_t kLength = 700;
        std::vector<std::pair<std::int64_t, std::int64_t>> steps{{50, 250}, {260, 400}, {400, 640}};
        std::array<std::int64_t, kWorkClasses> truth{};
        std::int64_t waiting = 0, divided = 0;
        StepDivision division(0);
        std::vector<NestedSlice> trainer;
        for (const auto& [from, to] : steps) {
            trainer.push_back(teamSlice(from, to, 0, WorkClass::Host, SliceKind::Step));
            const auto within = someSpans(random, from, to, 1);
            trainer.insert(trainer.end(), within.begin(), within.end());
            divided += to - from;
        }
        const std::vector<int> runs = innermost(trainer, kLength);
        for (const auto& [from, to] : steps)
            for (std::int64_t at = from; at < to; ++at) truth[static_cast<std::size_t>(runs[static_cast<std::size_t>(at)])] += 1;
        addTrainer(division, trainer);
        const int members = static_cast<int>(random() % 4);
        for (int member = 0; member < members; ++member) {
            // Over the edges of steps, too.
            const auto from = static_cast<std::int64_t>(random() % 300);
            const std::vector<NestedSlice> spans = someSpans(random, from, from + static_cast<std::int64_t>(random() % 400), 0);
            const std::vector<int> work = innermost(spans, kLength);
            for (const auto& [begin, end] : steps) {
                const auto first = work.begin() + begin, last = work.begin() + end;
                if (std::ranges::all_of(first, last, [](int one) { return one < 0; })) continue;
                divided += end - begin;
                for (auto at = first; at != last; ++at) {
                    if (*at < 0)
                        waiting += 1;
                    else
                        truth[static_cast<std::size_t>(*at)] += 1;
                }
            }
            addMember(division, spans);
        }
        const DividedSteps found = division.result();
        EXPECT_EQ(found.window.ns, 200 + 140 + 240);
        EXPECT_EQ(found.divided().ns, divided) << round;
        EXPECT_EQ(sumOf(found), divided) << round;
        for (std::size_t i = 0; i + 1 < truth.size(); ++i) EXPECT_EQ(found.classes[i].time.ns, truth[i]) << round << ", " << found.classes[i].name;
        EXPECT_EQ(timeOf(found, kTeamWaits), found.mostThreads > 1 ? waiting : -1) << round;
        EXPECT_LE(found.mostThreads, 1 + members);
    }
}

std::vector<NestedSlice> aStep() {
    return {teamSlice(0, 100, 0, WorkClass::Host, SliceKind::Step), teamSlice(10, 60, 1, WorkClass::MatrixProducts),
            teamSlice(70, 90, 1, WorkClass::Optimizer)};
}

TEST(TeamTime, OfOneThreadTheClassesAreItsOwnAndNothingWaits) {
    StepDivision division(0);
    addTrainer(division, aStep());
    const DividedSteps steps = division.result();
    ASSERT_EQ(steps.classes.size(), static_cast<std::size_t>(kWorkClasses) - 1);
    EXPECT_EQ(timeOf(steps, WorkClass::MatrixProducts), 50);
    EXPECT_EQ(timeOf(steps, WorkClass::Optimizer), 20);
    EXPECT_EQ(timeOf(steps, WorkClass::Host), 30);
    EXPECT_EQ(steps.mostThreads, 1);
    EXPECT_EQ(steps.divided().ns, 100);
    EXPECT_EQ(steps.eachThread({37}).ns, 37);
}

TEST(TeamTime, AThreadThatBeginsLateHasWaitedUntilThen) {
    StepDivision division(0);
    addTrainer(division, aStep());
    addMember(division, {teamSlice(80, 90, 0, WorkClass::Optimizer)});
    const DividedSteps steps = division.result();
    EXPECT_EQ(steps.fewestThreads, 2);
    EXPECT_EQ(steps.mostThreads, 2);
    EXPECT_EQ(timeOf(steps, kTeamWaits), 90);
    EXPECT_EQ(timeOf(steps, WorkClass::Optimizer), 20 + 10);
    EXPECT_EQ(timeOf(steps, WorkClass::Host), 30) << "of the thread that runs the step alone";
    EXPECT_EQ(steps.window.ns, 100) << "a step takes as long as before";
    EXPECT_EQ(sumOf(steps), 200);
    EXPECT_EQ(steps.eachThread({90}).ns, 45);
}

TEST(TeamTime, TheInnermostOfNestedSpansCounts) {
    StepDivision division(0);
    addTrainer(division, aStep());
    addMember(division, {teamSlice(10, 60, 0, WorkClass::Loss), teamSlice(20, 50, 1, WorkClass::Attention), teamSlice(30, 40, 2, WorkClass::Copies)});
    const DividedSteps steps = division.result();
    EXPECT_EQ(timeOf(steps, WorkClass::Loss), 20);
    EXPECT_EQ(timeOf(steps, WorkClass::Attention), 20);
    EXPECT_EQ(timeOf(steps, WorkClass::Copies), 10);
    EXPECT_EQ(timeOf(steps, kTeamWaits), 50);
}

TEST(TeamTime, WhatIsTangledCountsOnce) {
    std::vector<NestedSlice> slices{teamSlice(0, 10, 0, WorkClass::Loss), teamSlice(5, 20, 1, WorkClass::Attention),
                                    teamSlice(15, 15, 0, WorkClass::Copies), teamSlice(18, 30, 0, WorkClass::Copies)};
    nestLane(slices);
    std::int64_t at = 0, sum = 0;
    for (const OwnTime& one : ownTimes(slices)) {
        EXPECT_GE(one.start, at);
        EXPECT_GT(one.end, one.start);
        at = one.end;
        sum += one.end - one.start;
    }
    EXPECT_EQ(sum, 30);
}

TEST(TeamTime, OfAStepThatAThreadDidNothingInItIsNotOfTheTeam) {
    StepDivision division(0);
    std::vector<NestedSlice> two = aStep();
    two.push_back(teamSlice(100, 300, 0, WorkClass::Host, SliceKind::Step));
    addTrainer(division, two);
    addMember(division, {teamSlice(20, 50, 0, WorkClass::MatrixProducts)});
    const DividedSteps steps = division.result();
    EXPECT_EQ(steps.fewestThreads, 1);
    EXPECT_EQ(steps.mostThreads, 2);
    EXPECT_EQ(steps.divided().ns, 2 * 100 + 200);
    EXPECT_EQ(timeOf(steps, kTeamWaits), 70) << "what it did in the other step nobody knows";
}

TEST(TeamTime, AThreadOfAnotherProcessIsOfAnotherTeam) {
    StepDivision division(0);
    addTrainer(division, aStep());
    addMember(division, {teamSlice(20, 50, 0, WorkClass::MatrixProducts)}, 2);
    EXPECT_EQ(division.result().mostThreads, 1);
    EXPECT_EQ(sumOf(division.result()), 100);
}

// A step of a millisecond on two threads; `other` is what the third lane is called, busy for all of the step.
RangePanes capturedTeam(const std::string& other, std::int64_t from, std::int64_t to) {
    constexpr std::int64_t kMs = 1'000'000;
    SliceBlock trainer, worker, third;
    trainer.thread = {.process = 1, .thread = 10, .name = "trainer"};
    trainer.strings = {"", "MLP", "forward", "mlp/up"};
    trainer.slices = {{.start = 0, .duration = kMs, .called = kMs / 2, .kind = SliceKind::Step, .step = 1},
                      {.start = 0, .duration = kMs / 2, .name = 1, .phase = 2, .role = 3, .depth = 1, .layer = 0, .kind = SliceKind::Own, .step = 1}};
    worker.thread = {.process = 1, .thread = 11, .name = "worker 1"};
    worker.strings = trainer.strings;
    worker.slices = {{.start = kMs / 10, .duration = kMs / 5, .name = 1, .phase = 2, .role = 3, .layer = 0, .kind = SliceKind::Own, .step = 1}};
    third.thread = {.process = 1, .thread = 12, .name = other};
    third.strings = trainer.strings;
    third.slices = {{.start = 0, .duration = kMs, .name = 1, .phase = 2, .role = 3, .layer = 0, .kind = SliceKind::Own, .step = 1}};
    MemoryTrace trace;
    for (const SliceBlock* one : {&trainer, &worker, &third}) trace.add(encodeSlices(SliceBlock(*one)));
    trace.finish();
    PanesReader reader(trace, {}, [] { return true; });
    EXPECT_TRUE(reader.open());
    auto panes = reader.read(from, to);
    EXPECT_TRUE(panes) << panes.error().sentence;
    return panes ? std::move(*panes) : RangePanes{};
}

TEST(TeamTime, OfACaptureTheThreadsOfAPlannedStepCountAndNoOthers) {
    for (const char* other : {"LibTorch", "loader 1", "worker"}) {
        const RangePanes panes = capturedTeam(other, 0, 0);
        ASSERT_EQ(panes.steps.size(), 1u);
        const DividedSteps& steps = panes.steps[0];
        EXPECT_EQ(steps.mostThreads, 2) << other;
        EXPECT_EQ(steps.divided().ns, 2'000'000);
        EXPECT_EQ(sumOf(steps), 2'000'000);
        EXPECT_EQ(timeOf(steps, WorkClass::MatrixProducts), 700'000);
        EXPECT_EQ(timeOf(steps, kTeamWaits), 800'000);
        EXPECT_EQ(timeOf(steps, WorkClass::Host), 500'000);
    }
    EXPECT_EQ(capturedTeam("worker 2", 0, 0).steps.at(0).mostThreads, 3);
}

TEST(TeamTime, OfAPartOfAStepTheTeamIsThatOfTheWholeStep) {
    const RangePanes panes = capturedTeam("LibTorch", 600'000, 900'000);
    ASSERT_EQ(panes.steps.size(), 1u);
    const DividedSteps& steps = panes.steps[0];
    EXPECT_EQ(steps.window.ns, 300'000);
    EXPECT_EQ(steps.mostThreads, 2) << "it worked before the range";
    EXPECT_EQ(timeOf(steps, kTeamWaits), 300'000);
    EXPECT_EQ(timeOf(steps, WorkClass::Host), 300'000);
    EXPECT_EQ(panes.operations.size(), 0u) << "none begins in the range";
}

}  // namespace
}  // namespace stepscope
