// Workers that train together capture the same steps, and the first one has what all of them saw, in its own time. Workers are threads here, so each
// one's capture hears the ranges of both: what is looked at is what its own trainer thread ran. CTest.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/MemorySource.h"
#include "core/program/DataParallel.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/Note.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "core/trace/WorkerClocks.h"
#include "core/train/SharedCommand.h"
#include "core/train/workers/CapturesTogether.h"
#include "core/train/workers/ClockExchange.h"
#include "core/train/workers/SaidChunks.h"
#include "tests/core/train/TrainedTogether.h"

namespace stepscope {
namespace {

using ::testing::AnyOf;
using testing::CollectingSink;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ThreadWorkers;
using testing::TinyTrainer;

class CapturedTogether {
public:
    explicit CapturedTogether(std::int64_t steps) {
        const RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), steps);
        for (auto& worker : workers) worker = std::make_unique<TinyTrainer>(config);
        workers[1]->clock.set(TimeNs{5'000'000'000'000});  // as nobody's start would make it
    }
    std::array<TrainerOutcome, 2> run() { return testing::trainTogether(m_group, workers); }
    void after(std::size_t rank, std::int64_t step, std::function<void()> what) {
        workers[rank]->sink.onEvent = [step, what = std::move(what)](const Event& event) {
            if (const auto* done = std::get_if<StepDone>(&event); done != nullptr && done->step == step) what();
        };
    }
    CollectingSink& sink(std::size_t rank) { return workers[rank]->sink; }
    // Of the first one's session: the numbers of the steps that the trainer thread of a worker ran.
    std::multiset<std::int64_t> steps(std::int64_t rank) {
        std::multiset<std::int64_t> found;
        for (const SliceBlock& block : blocks())
            if (block.thread.rank == rank && block.thread.name == "trainer")
                for (const Slice& slice : block.slices)
                    if (slice.kind == SliceKind::Step) found.insert(slice.step);
        return found;
    }
    std::vector<SliceBlock> blocks() {
        std::vector<SliceBlock> all;
        for (const ChunkPtr& chunk : sink(0).chunks())
            if (isSlices(chunk->kind)) all.push_back(decodeSlices(*chunk).value());
        return all;
    }
    std::vector<WorkerClocks> clocks() {
        std::vector<WorkerClocks> all;
        for (const ChunkPtr& chunk : sink(0).chunks())
            if (chunk->kind == kWorkerClocks) all.push_back(decodeWorkerClocks(*chunk).value());
        return all;
    }
    int gathers() const { return m_group.gathers() / 2; }  // of each worker
    std::vector<std::string> told() {
        std::vector<std::string> all;
        for (const LogLine& line : sink(0).all<LogLine>()) all.push_back(line.text);
        return all;
    }

    std::array<std::unique_ptr<TinyTrainer>, 2> workers;

private:
    ThreadWorkers m_group{2};
};

Chunk someSlicesOf(std::int64_t lane, std::int64_t count, std::int64_t from = 0) {
    SliceBlock block{.thread = {.process = 1, .thread = 7, .name = "trainer", .lane = lane, .rank = 1}};
    block.strings = {"", "aten::mm"};
    for (std::int64_t i = 0; i < count; ++i) block.slices.push_back({.start = from + 10 * i, .duration = 8, .name = 1});
    return encodeSlices(block);
}

TEST(WorkersCapture, ACaptureAskedOfTheFirstIsOfTheSameStepsWithAll) {
    CapturedTogether together(9);
    together.workers[0]->commands.push(Capture{.steps = 2, .firstStep = 4, .warmUp = 1});
    together.workers[1]->commands.push(Capture{.steps = 1, .firstStep = 7});  // as a script says it to each; the first one's counts
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    for (const std::int64_t rank : {0, 1}) EXPECT_THAT(together.steps(rank), ElementsAre(4, 5)) << rank;
    const auto captures = together.sink(0).all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    EXPECT_EQ(captures[0].firstStep, 4);
    EXPECT_EQ(captures[0].step, 5);
    ASSERT_NE(captures[0].rows, nullptr);
    EXPECT_THAT(together.told(), Contains(HasSubstr("All 2 workers captured steps 4 to 5; times of the others")));
    EXPECT_TRUE(together.sink(1).chunks().empty()) << "the first one alone hands them on";
    // Both went through the same steps at the same time, and nothing is told that began behind the capture's end.
    std::map<std::int64_t, std::array<std::int64_t, 2>> first;  // begin of a step, by worker
    std::map<std::int64_t, std::array<std::int64_t, 2>> last;   //   and its end
    std::set<std::int64_t> lanes;
    for (const SliceBlock& block : together.blocks()) {
        lanes.insert(block.thread.laneNumber());
        if (block.thread.name != "trainer") continue;
        for (const Slice& slice : block.slices) {
            EXPECT_LE(slice.start, captures[0].at.ns);
            if (slice.kind != SliceKind::Step) continue;
            first[slice.step][static_cast<std::size_t>(block.thread.rank)] = slice.start;
            last[slice.step][static_cast<std::size_t>(block.thread.rank)] = slice.start + slice.duration;
        }
    }
    EXPECT_GE(lanes.size(), 2u);
    std::int64_t error = 0;
    for (const WorkerClocks& found : together.clocks()) error = std::max(error, found.readings[1].error);
    for (const std::int64_t step : {4, 5}) {
        EXPECT_LT(first[step][0], last[step][1] + 2 * error) << "of step " << step;
        EXPECT_LT(first[step][1], last[step][0] + 2 * error) << "of step " << step;
    }
}

TEST(WorkersCapture, HasTheMemoryOfEachWorkerInItsOwnLaneAndInTheTimeOfTheFirst) {
    host_memory::install();
    host_memory::refreshBudget();
    CapturedTogether together(7);
    together.workers[0]->commands.push(Capture{.steps = 2, .firstStep = 4});
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    const auto captures = together.sink(0).all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    std::map<std::int64_t, std::map<std::uint64_t, std::int64_t>> open;  // by rank and address
    std::map<std::int64_t, std::set<std::string>> kinds;                 // by rank
    for (const ChunkPtr& chunk : together.sink(0).chunks()) {
        if (chunk->kind != kAllocations) continue;
        EXPECT_LE(chunk->begin, captures[0].at) << "or the next capture would have it";
        const auto block = decodeAllocations(*chunk);
        ASSERT_TRUE(block) << block.error().sentence;
        EXPECT_EQ(block->lane, memoryLane(block->rank));
        EXPECT_EQ(block->lost + block->invalid, 0);
        for (const Allocation& one : block->allocations) {
            open[block->rank][one.address] += one.bytes;
            kinds[block->rank].insert(block->strings[one.kind]);
            EXPECT_LE(one.at, captures[0].at.ns) << "rank " << block->rank;
            EXPECT_GE(one.at, 0) << "the other's clock shows 5000 s";
        }
    }
    for (const std::int64_t rank : {0, 1}) {
        ASSERT_TRUE(open.contains(rank)) << rank;
        for (const char* kind : {"weights", "moments"}) EXPECT_TRUE(kinds[rank].contains(kind)) << rank << ' ' << kind;
        for (const auto& [address, bytes] : open[rank]) EXPECT_EQ(bytes, 0) << rank;
    }
}

TEST(WorkersCapture, TheirClocksAreComparedBeforeTheFirstStepAndAroundACapture) {
    CapturedTogether together(6);
    together.workers[0]->commands.push(Capture{.steps = 1, .firstStep = 3});
    // What the first one's clock shows, less what the other's does: here both can be read at once.
    const SessionClock &mine = together.workers[0]->clock, &its = together.workers[1]->clock;
    std::int64_t least = 0, most = 0;
    for (std::int64_t look = 0, width = -1; look < 1000; ++look) {
        const std::int64_t before = mine.now().ns, there = its.now().ns, after = mine.now().ns;
        if (width >= 0 && after - before >= width) continue;
        width = after - before;
        least = before - there;
        most = after - there;
    }
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    const auto exchanges = together.clocks();
    for (const WorkerClocks& clocks : exchanges) {
        ASSERT_EQ(clocks.readings.size(), 2u);
        EXPECT_EQ(clocks.readings[0].offset, 0);
        const ClockReading& other = clocks.readings[1];
        EXPECT_GE(other.offset + other.error, least);
        EXPECT_LE(other.offset - other.error, most);
        EXPECT_LT(other.error, 1'000'000'000);
    }
    EXPECT_EQ(exchanges.size(), 3u) << "at the start, before the capture and behind it";
}

TEST(WorkersCapture, WhatAPersonEndsEndsWithAllAfterTheSameStep) {
    CapturedTogether together(40);
    together.workers[0]->commands.push(Capture{.steps = 1000, .firstStep = 3});
    together.after(0, 6, [&] { together.workers[0]->commands.push(StopCapture{}); });
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    const auto steps = together.steps(0);
    EXPECT_THAT(steps.size(), AnyOf(4u, 5u)) << "at this boundary where steps are long, else at the next one";
    EXPECT_EQ(together.steps(1), steps);
    EXPECT_THAT(together.told(), Contains(HasSubstr("of 1000 steps: it was ended.")));
    EXPECT_EQ(together.sink(0).all<CaptureDone>().size(), 1u);
}

TEST(WorkersCapture, WhatIsRefusedOfTheFirstIsDoneByNobody) {
    CapturedTogether together(8);
    together.workers[0]->commands.push(Capture{.steps = 2, .firstStep = 4});
    together.workers[0]->commands.push(Capture{.steps = 2, .firstStep = 5});
    together.workers[0]->commands.push(Capture{.steps = 100'000});
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    for (const std::int64_t rank : {0, 1}) EXPECT_THAT(together.steps(rank), ElementsAre(4, 5)) << rank;
    EXPECT_THAT(together.told(), Contains(HasSubstr("A capture is of 1 to 1000 steps")));
}

TEST(WorkersCapture, ACaptureThatTheRunEndsBeforeIsToldByAllTheSame) {
    CapturedTogether together(5);
    together.workers[0]->commands.push(Capture{.steps = 3, .firstStep = 4});
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    for (const std::int64_t rank : {0, 1}) EXPECT_THAT(together.steps(rank), ElementsAre(4, 5)) << rank;
    EXPECT_THAT(together.told(), Contains(HasSubstr("The capture has 2 of 3 steps: the run has ended.")));
    EXPECT_EQ(together.sink(0).all<CaptureDone>().size(), 1u);
}

TEST(WorkersCapture, ASessionWithoutRoomForMoreEndsItWithAll) {
    CapturedTogether together(12);
    std::atomic<std::int64_t> stored{0};
    together.workers[0]->setup.captureBytes = [&] { return stored.load(); };
    together.workers[0]->setup.captureCap = 50;
    together.workers[0]->commands.push(Capture{.steps = 8, .firstStep = 3});
    together.after(0, 4, [&] { stored = 100; });
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    const auto steps = together.steps(0);
    EXPECT_GE(steps.size(), 2u);
    EXPECT_LE(steps.size(), 4u);
    EXPECT_EQ(together.steps(1), steps);
    EXPECT_THAT(together.told(), Contains(HasSubstr("is the most for a session (--capture-cap).")));
}

// Nothing is stored before it has ended, and the others' parts come then.
TEST(WorkersCapture, WhatTheOthersHoldCountsAgainstTheRoomOfASession) {
    CapturedTogether together(600);
    together.workers[0]->setup.captureBytes = [] { return std::int64_t{0}; };
    together.workers[0]->setup.captureCap = 1000;
    together.workers[0]->commands.push(Capture{.steps = 500, .firstStep = 3});
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    const auto steps = together.steps(0);
    EXPECT_GE(steps.size(), 1u);
    EXPECT_LT(steps.size(), 500u);
    EXPECT_EQ(together.steps(1), steps);
    EXPECT_THAT(together.told(),
                Contains(::testing::AllOf(HasSubstr("of 500 steps: its captures take "), HasSubstr(" with the other workers, and "))));
}

// Its disk is full: whoever waited for it without hearing of it would take it for lost when the patience is over.
TEST(WorkersCapture, AFirstOneThatCannotStoreMoreAtTheMomentIsHeardOfUntilItCan) {
    CapturedTogether together(6);
    std::atomic<int> asked{0};
    together.workers[0]->setup.captureBytesInHand = [&] { return asked++ < 20 ? std::int64_t{1} << 30 : std::int64_t{0}; };
    together.workers[0]->commands.push(Capture{.steps = 2, .firstStep = 3});
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    EXPECT_GT(asked.load(), 20);
    EXPECT_GT(together.gathers(), 20);
    for (const std::int64_t rank : {0, 1}) EXPECT_THAT(together.steps(rank), ElementsAre(3, 4)) << rank;
}

TEST(WorkersCapture, WhatCannotBeStoredIsWaitedForUntilTheRunIsStoppedAndThenSaid) {
    CapturedTogether together(1'000'000);
    std::atomic<int> asked{0};
    auto& first = *together.workers[0];
    first.setup.captureBytesInHand = [&] {
        if (++asked == 6) first.commands.push(Stop{});
        return std::int64_t{1} << 30;
    };
    first.setup.stopIsAsked = [&] { return asked > 5; };
    first.setup.mustWait = [&] { return asked > 0; };
    first.commands.push(Capture{.steps = 2, .firstStep = 3});
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Stopped) << outcome.error.sentence;
    EXPECT_THAT(together.steps(0), ElementsAre(3, 4)) << "which it had handed on by itself";
    EXPECT_THAT(together.steps(1), IsEmpty());
    EXPECT_THAT(together.told(), Contains(HasSubstr("slices of the other workers are not in the session: the run was stopped while nothing could be "
                                                    "stored.")));
}

TEST(WorkersCapture, AStopAskedOfAnotherWorkerIsHeardWhileTheFirstOneCannotStore) {
    constexpr int kFreeAgain = 1000;  // looks at the disk, so that a stop that nobody hears is a failure and no test without end
    CapturedTogether together(1'000'000);
    std::atomic<int> asked{0};
    std::atomic<bool> stops{false};
    auto &first = *together.workers[0], &other = *together.workers[1];
    first.setup.captureBytesInHand = [&] {
        if (++asked == 6) {
            stops = true;
            other.commands.push(Stop{});
        }
        return asked < kFreeAgain ? std::int64_t{1} << 30 : std::int64_t{0};
    };
    first.setup.mustWait = [&] { return asked > 0 && asked < kFreeAgain; };
    other.setup.stopIsAsked = [&] { return stops.load(); };
    first.commands.push(Capture{.steps = 2, .firstStep = 3});
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Stopped) << outcome.error.sentence;
    EXPECT_LT(asked.load(), kFreeAgain);
    EXPECT_THAT(together.steps(0), ElementsAre(3, 4)) << "which it had handed on by itself";
    EXPECT_THAT(together.steps(1), IsEmpty());
    EXPECT_THAT(together.told(), Contains(HasSubstr("slices of the other workers are not in the session: the run was stopped while nothing could be "
                                                    "stored.")));
}

// One of two workers hears what the other, who is none, says of its capture: `says` is given what they say things by.
std::vector<std::string> toldOf(const std::function<void(DataParallel& others)>& says, CollectingSink& sink) {
    std::vector<std::string> told;
    ThreadWorkers group{2};
    group.run([&](int rank) {
        DataParallel others(group.of(rank));
        const SessionClock clock;
        CollectingSink nowhere;
        ClockExchange clocks(&others, &clock, rank == 0 ? &sink : &nowhere);
        try {
            if (rank == 0) {
                CapturesTogether captures(&others, &sink, &clock, clocks, {.mostHeld = 1000});
                CaptureDone done{.step = 3, .firstStep = 3, .steps = 1};
                captures.collect(done);
            } else {
                clocks.exchange();
                others.gather({0, 0});
                says(others);
            }
        } catch (const WorkersApart& apart) {
            if (rank == 0) told.push_back(apart.error().sentence);
        }
        group.leave();
    });
    for (const LogLine& line : sink.all<LogLine>()) told.push_back(line.text);
    return told;
}

TEST(WorkersCapture, AStrangerThatNeverEndsIsHeardNoLongerThanAWorkerCanSpeak) {
    CollectingSink sink;
    std::size_t said = 0;
    const auto told = toldOf(
        [&](DataParallel& others) {
            for (; said < 100'000; said += 100) {
                others.gather({100, 0});
                others.gatherBytes(std::vector<std::byte>(100));
            }
        },
        sink);
    EXPECT_THAT(told, ElementsAre("What came from worker 1 is nothing that Stepscope says; start all workers with the same program."));
    EXPECT_LE(said, 3000u);
}

TEST(WorkersCapture, WhatAStrangerSaysOfTimesThatNoClockHasIsNotStored) {
    CollectingSink sink;
    const auto told = toldOf(
        [](DataParallel& others) {
            std::vector<std::byte> said;
            sayChunk(someSlicesOf(1, 3, std::numeric_limits<std::int64_t>::max() - 100), said);
            others.gather({static_cast<double>(said.size()), 0});
            others.gatherBytes(said);
            others.gather({0, 0});
        },
        sink);
    EXPECT_THAT(told, Contains(HasSubstr("could not be read; it is not in the session")));
    for (const ChunkPtr& chunk : sink.chunks()) EXPECT_FALSE(isSlices(chunk->kind));
}

TEST(WorkersCapture, KernelsMetersAndWhatAGpuIsComeWithTheRankOfTheWorkerWhateverItSaysItself) {
    CollectingSink sink;
    const std::int64_t stream = (std::int64_t{1} << 40) + 77;
    const auto told = toldOf(
        [&](DataParallel& others) {
            SliceBlock kernels{.thread = {.process = 3, .thread = 7, .name = "stream 7", .lane = stream, .device = 3}};
            kernels.strings = {"", "gemm"};
            kernels.slices = {{.start = 1000, .duration = 50, .name = 1, .kind = SliceKind::Kernel, .step = 3}};
            SampleBlock meter{.lane = (std::int64_t{1} << 50) + 3, .device = 3, .rank = 9, .name = "GPU 3"};
            meter.series = {{}, {"GPU power", "W"}};
            meter.samples = {{1010, 1, 250}};
            const Chunk facts{
                .kind = "device/1", .lane = 3, .begin = {1}, .end = {2}, .count = 1, .bytes = std::vector<std::byte>(2, std::byte{'{'})};
            std::vector<std::byte> said;
            for (const Chunk& chunk : {encodeSlices(kernels), encodeSamples(meter), facts, facts}) sayChunk(chunk, said);
            others.gather({static_cast<double>(said.size()), 0});
            others.gatherBytes(said);
            others.gather({0, 0});
        },
        sink);
    std::int64_t kernels = 0, samples = 0, facts = 0;
    for (const ChunkPtr& chunk : sink.chunks()) {
        if (isSlices(chunk->kind)) {
            const auto block = decodeSlices(*chunk);
            ASSERT_TRUE(block) << block.error().sentence;
            EXPECT_EQ(block->thread.rank, 1);
            EXPECT_EQ(block->thread.device, 3);
            EXPECT_EQ(block->thread.laneNumber(), laneOfWorker(stream, 1));
            kernels += chunk->count;
        } else if (chunk->kind == kSamples) {
            const auto block = decodeSamples(*chunk);
            ASSERT_TRUE(block) << block.error().sentence;
            EXPECT_EQ(block->rank, 1);
            EXPECT_EQ(block->lane, laneOfWorker((std::int64_t{1} << 50) + 3, 1));
            samples += chunk->count;
        } else if (chunk->kind == "device/1") {
            EXPECT_EQ(chunk->lane, 3);
            ++facts;
        }
    }
    EXPECT_EQ(kernels, 1);
    EXPECT_EQ(samples, 1);
    EXPECT_EQ(facts, 1) << "of one ordinal once";
    EXPECT_THAT(told, Contains(HasSubstr("All 2 workers captured step 3")));
}

TEST(WorkersCapture, AWorkerThatIsLostMeanwhileCostsItsPartAlone) {
    CapturedTogether together(1'000'000);
    together.workers[0]->commands.push(Capture{.steps = 50, .firstStep = 3});
    together.after(1, 6, [] { throw std::runtime_error("a mistake of this worker alone"); });
    const auto outcomes = together.run();
    EXPECT_EQ(outcomes[0].state, RunState::Failed);
    EXPECT_THAT(together.steps(0), Contains(3));
    EXPECT_THAT(together.steps(1), IsEmpty());
    EXPECT_EQ(together.sink(0).all<CaptureDone>().size(), 1u);
    EXPECT_THAT(together.told(), Contains(HasSubstr("What the other workers captured of these steps is not in the session")));
}

TEST(SharedCapture, ComesBackAsItWasAndWhatIsNoneIsNone) {
    const auto back = commandFrom(sayCommand(Capture{.steps = 3, .firstStep = 40, .warmUp = 2}));
    ASSERT_TRUE(back && std::holds_alternative<Capture>(*back));
    const Capture& capture = std::get<Capture>(*back);
    EXPECT_EQ(capture.steps, 3);
    EXPECT_EQ(capture.firstStep, 40);
    EXPECT_EQ(capture.warmUp, 2);
    EXPECT_FALSE(capture.slowest);
    const auto end = commandFrom(sayCommand(StopCapture{})), nothing = commandFrom(sayCommand(std::monostate{}));
    EXPECT_TRUE(end && std::holds_alternative<StopCapture>(*end));
    EXPECT_TRUE(nothing && std::holds_alternative<std::monostate>(*nothing));
    for (const char* said : {"!capture", "!capture ", "!capture 1 2", "!capture 1 2 x", "!capture 1  2", "!capture 1 2 3 4", "!capture end"})
        EXPECT_FALSE(commandFrom(said)) << said;
}

}  // namespace
}  // namespace stepscope
