// What a capture keeps of the processor's counters: phases of each thread and of all, operations without what they called, what it cost, and a
// sentence where nothing or not all could be counted. The kernel is a stand-in, so that every figure is known.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "FakePerf.h"
#include "core/analysis/captures/OperationCounters.h"
#include "core/base/OperationSpan.h"
#include "core/events/Event.h"
#include "core/profile/HardwareSource.h"
#include "core/trace/Note.h"
#include "core/trace/SampleCodec.h"

namespace stepscope {
namespace {

using testing::FakePerf;

class SampleSink final : public EventSink {
public:
    void publish(Event) override {}
    void publishChunk(ChunkPtr chunk) override {
        if (chunk->kind == kNote) {
            EXPECT_EQ(chunk->lane, kCounterNotes);
            notes.push_back(noteOf(*chunk));
            return;
        }
        auto block = decodeSamples(*chunk);
        ASSERT_TRUE(block) << block.error().sentence;
        operations.add(*block);
        if (block->name == kCountedOperations) return;
        for (const auto& sample : block->samples) values[block->series[sample.series].name].push_back(sample.value);
    }
    std::map<std::string, std::vector<double>> values;  // of phases, by series
    OperationCounters operations;
    std::vector<std::string> notes;
};

struct HardwareSourceTest : ::testing::Test {
    HardwareSourceTest() { at::set_num_threads(1); }
    FakePerf perf;
    SampleSink sink;
    SessionClock clock;
    CaptureDone done{.duration = TimeNs::fromSeconds(1), .steps = 1};
    std::unique_ptr<HardwareSource> source;

    void begin() { source = std::make_unique<HardwareSource>(CaptureOutlet{.sink = &sink, .clock = &clock}, perf); }
    void phase(Activity activity, const std::function<void()>& work) {
        const PlaceScope place(activity);
        const StepRange range({.kind = RangeFacts::Kind::Phase, .activity = activity});
        work();
    }
    void end() {
        EXPECT_TRUE(source->finish(done).empty());
        source.reset();
        EXPECT_EQ(perf.open(), 0u) << "descriptors are few";
        EXPECT_TRUE(stepObservers.empty());
    }
};

TEST_F(HardwareSourceTest, CountsPhasesAndOperationsWithoutWhatTheyCalled) {
    begin();
    phase(Activity::Forward, [&] {
        perf.ticks += 100;
        const OperationSpan outer("outer");
        perf.ticks += 300;
        {
            const OperationSpan inner("inner");
            perf.ticks += 600;
        }
        perf.ticks += 50;
    });
    phase(Activity::Backward, [&] { perf.ticks += 10; });
    source->stepDone();
    end();
    EXPECT_EQ(sink.values["instructions per cycle"], (std::vector<double>{1.5, 1.5}));
    EXPECT_EQ(sink.values["stalled cycles"], (std::vector<double>{25, 25}));
    ASSERT_EQ(sink.values["fetched past the last cache"].size(), 2u);
    EXPECT_GT(sink.values["fetched past the last cache"][0], 0);
    EXPECT_EQ(sink.values.size(), 3u) << "of one thread no lane beside that of all";
    const CountedOperation outer = sink.operations.of("outer");
    EXPECT_DOUBLE_EQ(outer.instructionsPerCycle.value(), 1.5);
    EXPECT_DOUBLE_EQ(outer.stalledShare.value(), 0.25);
    EXPECT_GT(sink.operations.of("inner").bytesPerSecond.value(), 0);
    EXPECT_FALSE(sink.operations.of("another").instructionsPerCycle);
    ASSERT_EQ(sink.notes.size(), 1u);
    EXPECT_TRUE(sink.notes[0].starts_with("Hardware counters of 1 thread: 8 readings took ")) << sink.notes[0];
    EXPECT_NE(sink.notes[0].find("% of the captured steps."), std::string::npos) << sink.notes[0];
}

TEST_F(HardwareSourceTest, CountsPhasesAloneWhereEveryStepIsObservedAndOnThreadsOfATeamToo) {
    source = std::make_unique<HardwareSource>(CaptureOutlet{.sink = &sink, .clock = &clock, .late = &sink}, perf);
    for (int step = 0; step < 2; ++step) {
        source->stepBegins();
        for (const Activity activity : {Activity::Forward, Activity::Backward})
            phase(activity, [&] {
                const OperationSpan outer("outer");
                const OperationSpan shared("shared", 1);
                perf.ticks += 100;
            });
        source->stepEnds(clock.now());
    }
    std::thread([&] { const OperationSpan span("shared", 1); }).join();
    phase(Activity::Forward, [&] { perf.ticks += 10; });
    end();
    EXPECT_EQ(sink.values["instructions per cycle"].size(), 5u);
    EXPECT_EQ(sink.values["instructions per cycle, worker 1"].size(), 1u);
    EXPECT_FALSE(sink.operations.of("outer").instructionsPerCycle) << "sums over steps of which few are kept";
    ASSERT_EQ(sink.notes.size(), 1u);
    EXPECT_EQ(sink.notes[0].find("Operations were counted"), std::string::npos) << sink.notes[0];
}

TEST_F(HardwareSourceTest, MembersOfATeamAreCountedOnThreadsOfTheirOwn) {
    begin();
    const auto both = [&] {
        std::thread([&] {
            const OperationSpan span("shared", 1);
            perf.ticks += 40;
        }).join();
    };
    phase(Activity::Forward, both);
    phase(Activity::Backward, both);
    end();
    EXPECT_EQ(sink.values["instructions per cycle, trainer"].size(), 2u);
    EXPECT_EQ(sink.values["instructions per cycle, worker 1"].size(), 1u) << "the first phase had begun before it was heard";
    EXPECT_EQ(sink.values["instructions per cycle"].size(), 2u);
    EXPECT_DOUBLE_EQ(sink.operations.of("shared").instructionsPerCycle.value(), 1.5);
    EXPECT_NE(sink.notes.back().find("of 3 threads"), std::string::npos) << "each of the two threads was a worker: " << sink.notes.back();
}

TEST_F(HardwareSourceTest, OperationsAreCountedInSoManyStepsAsTheCostAllows) {
    begin();
    const auto step = [&](int operations, int sleepMs) {
        phase(Activity::Forward, [&] {
            for (int i = 0; i < operations; ++i) const OperationSpan span("work");
            std::this_thread::sleep_for(std::chrono::milliseconds(sleepMs));
            perf.ticks += 10;
        });
        source->stepDone();
    };
    step(1, 30);
    step(1, 30);
    step(20'000, 0);  // reading is most of what it does
    step(1, 0);
    end();
    EXPECT_NE(sink.notes[0].find("Operations were counted in 3 of 4 steps"), std::string::npos) << sink.notes[0];
    EXPECT_EQ(sink.values["instructions per cycle"].size(), 4u) << "phases are, in each";
}

TEST_F(HardwareSourceTest, SaysThatCountersWereTakenInTurnAndStoodStill) {
    begin();
    phase(Activity::Forward, [&] {
        perf.ticks += 100;
        perf.away += 50;
    });
    phase(Activity::Backward, [&] {
        perf.ticks += 100;
        perf.away += 100;
    });
    end();
    EXPECT_EQ(sink.values["instructions per cycle"], std::vector<double>{1.5}) << "the second is unknown";
    EXPECT_NE(sink.notes[0].find("counted 25 % of the time"), std::string::npos) << sink.notes[0];
    EXPECT_NE(sink.notes[0].find("In 1 phases of threads they stood still"), std::string::npos) << sink.notes[0];
}

TEST_F(HardwareSourceTest, LeavesOutReadingsThatFailAndSaysHowMany) {
    begin();
    phase(Activity::Forward, [&] {
        const OperationSpan span("lost");
        perf.inError = true;
    });
    end();
    EXPECT_TRUE(sink.values.empty());
    EXPECT_FALSE(sink.operations.known());
    EXPECT_NE(sink.notes[0].find("2 readings failed"), std::string::npos) << sink.notes[0];
}

TEST_F(HardwareSourceTest, AThreadForWhichFilesRunOutIsToldAndTheOthersCount) {
    perf.mostOpen = 4;
    begin();
    phase(Activity::Forward, [&] {
        perf.ticks += 10;
        std::thread([&] { const OperationSpan span("shared", 1); }).join();
    });
    end();
    EXPECT_EQ(sink.values["instructions per cycle"].size(), 1u);
    EXPECT_NE(sink.notes[0].find("1 threads are not counted. Hardware counters: too many open files"), std::string::npos) << sink.notes[0];
}

TEST_F(HardwareSourceTest, WhereNothingIsCountedItListensToNothing) {
    perf.refused = EACCES;
    perf.level = 3;
    begin();
    EXPECT_TRUE(stepObservers.empty()) << "it costs nothing";
    phase(Activity::Forward, [] {});
    source->stepDone();
    end();
    ASSERT_EQ(sink.notes.size(), 1u);
    EXPECT_NE(sink.notes[0].find("perf_event_paranoid = 3 forbids it"), std::string::npos) << sink.notes[0];
    EXPECT_TRUE(sink.values.empty());
}

TEST_F(HardwareSourceTest, OneThatIsDroppedInTheMiddleGivesItsCountersBack) {
    begin();
    phase(Activity::Forward, [&] { const OperationSpan span("any"); });
    source.reset();
    EXPECT_EQ(perf.open(), 0u);
    EXPECT_TRUE(stepObservers.empty());
    EXPECT_TRUE(sink.notes.empty());
}

}  // namespace
}  // namespace stepscope
