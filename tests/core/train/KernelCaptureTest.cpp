// Kernels of a run on a GPU, played by the emulation and a fake CUPTI: every kernel of a captured step comes with the operation, phase, layer and
// role that had it launched; captures begin and end a hundred times; and where CUPTI refuses, the operations are captured all the same. CTest, as
// OnHost.*.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "../cuda/cupti/FakeCupti.h"
#include "TinyTraining.h"
#include "core/analysis/captures/OperationSummary.h"
#include "core/base/OperationSpan.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/events/Event.h"
#include "core/profile/KernelSource.h"
#include "core/trace/Note.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::TinyTrainer;

// Keeps the slices and notes, and hands the events on. Chunks come from several threads.
class KernelSink final : public EventSink {
public:
    explicit KernelSink(EventSink& events) : m_events(events) {}
    void publish(Event event) override { m_events.publish(std::move(event)); }
    void publishChunk(ChunkPtr chunk) override {
        const std::lock_guard lock(m_mutex);
        if (chunk->kind == kNote && chunk->lane == kCaptureNotes) notes.push_back(noteOf(*chunk));
        if (!isSlices(chunk->kind)) return;
        auto block = decodeSlices(*chunk);
        ASSERT_TRUE(block) << block.error().sentence;
        blocks.push_back(std::move(*block));
    }
    struct Shown {
        std::string name, phase, role, extra;
        Slice slice;
        SliceThread thread;
    };
    std::vector<Shown> all(SliceKind kind) const {
        std::vector<Shown> found;
        for (const auto& block : blocks)
            for (const auto& slice : block.slices)
                if (slice.kind == kind)
                    found.push_back({block.strings[slice.name], block.strings[slice.phase], block.strings[slice.role],
                                     block.arguments[slice.arguments].extra, slice, block.thread});
        return found;
    }
    std::vector<SliceBlock> blocks;
    std::vector<std::string> notes;

private:
    EventSink& m_events;
    std::mutex m_mutex;
};

RunConfig kernelConfig(std::int64_t steps, const std::string& fusion = "kernels") {
    const Registry registry(testing::plainCpu());
    RunConfig made = testing::tinyConfig(registry, steps);
    made.switches["fusion"] = fusion;
    return made;
}

struct OnGpu {
    explicit OnGpu(const RunConfig& config, const FakeCuptiScript& script = {}) : trainer(config), kept(trainer.sink) {
        fakeCuptiPlay(&script);
        trainer.setup.sink = &kept;
    }
    ~OnGpu() {
        const FakeCuptiScript none;
        fakeCuptiPlay(&none);
    }
    std::vector<std::string> warnings() const {
        std::vector<std::string> found;
        for (const auto& line : trainer.sink.all<LogLine>())
            if (line.level == LogLevel::Warning) found.push_back(line.text);
        return found;
    }
    TinyTrainer trainer;
    KernelSink kept;
};

TEST(KernelCapture, GivesEveryKernelTheOperationPhaseLayerAndRoleThatLaunchedIt) {
    OnGpu run(kernelConfig(8));
    run.trainer.commands.push(Capture{.steps = 3, .firstStep = 3, .warmUp = 1});
    ASSERT_EQ(run.trainer.run().state, RunState::Finished);
    EXPECT_TRUE(run.warnings().empty()) << run.warnings().front();
    const auto kernels = run.kept.all(SliceKind::Kernel);
    ASSERT_FALSE(kernels.empty());
    std::map<std::int64_t, KernelSink::Shown> operations, calls;
    for (const SliceKind kind : {SliceKind::Operation, SliceKind::Own, SliceKind::Backward})
        for (const auto& one : run.kept.all(kind)) operations.emplace(one.slice.external, one);
    for (const auto& one : run.kept.all(SliceKind::Runtime)) calls.emplace(one.slice.correlation, one);
    std::set<std::int64_t> steps;
    std::set<std::string> phases, roles;
    std::set<std::int32_t> layers;
    for (const auto& kernel : kernels) {
        SCOPED_TRACE(kernel.name);
        steps.insert(kernel.slice.step);
        phases.insert(kernel.phase);
        roles.insert(kernel.role);
        layers.insert(kernel.slice.layer);
        ASSERT_TRUE(operations.contains(kernel.slice.external));
        const auto& operation = operations.at(kernel.slice.external);
        EXPECT_EQ(kernel.phase, operation.phase);
        EXPECT_EQ(kernel.role, operation.role);
        EXPECT_EQ(kernel.slice.layer, operation.slice.layer);
        EXPECT_EQ(kernel.slice.step, operation.slice.step);
        EXPECT_THAT(kernel.extra, HasSubstr("\"operation\":\"" + operation.name + "\""));
        EXPECT_GE(kernel.slice.start + 2000, operation.slice.start) << "clocks are mapped to a microsecond or so";
        EXPECT_LE(kernel.slice.start + kernel.slice.duration, operation.slice.start + operation.slice.duration + 2000);
        ASSERT_TRUE(calls.contains(kernel.slice.correlation));
        EXPECT_EQ(calls.at(kernel.slice.correlation).name, "cudaLaunchKernel");
        EXPECT_EQ(calls.at(kernel.slice.correlation).thread.name, "trainer: CUDA calls");
        EXPECT_EQ(kernel.thread.name, "stream 7");
        EXPECT_EQ(kernel.thread.device, 0);
        EXPECT_THAT(kernel.name, HasSubstr("stepscope::"));
    }
    EXPECT_EQ(steps, (std::set<std::int64_t>{3, 4, 5}));
    for (const char* phase : {"forward", "backward", "optimizer"}) EXPECT_TRUE(phases.contains(phase)) << phase;
    EXPECT_TRUE(layers.contains(0) && layers.contains(1));
    EXPECT_TRUE(roles.contains("optimizer") && roles.contains("head/loss")) << "of " << ::testing::PrintToString(roles);
    for (const auto& block : run.kept.blocks) EXPECT_EQ(block.lost + block.invalid, 0) << block.thread.name;
    EXPECT_EQ(fakeCuptiState().enabled, 0);
}

// As on a real GPU, where these were a second capture of a few records in the session.
TEST(KernelCapture, WhatItsEndCallsBehindTheLastStepIsNoPartOfIt) {
    OnGpu run(kernelConfig(8), {.flushCalls = true});
    run.trainer.commands.push(Capture{.steps = 3, .firstStep = 3, .warmUp = 1});
    ASSERT_EQ(run.trainer.run().state, RunState::Finished);
    EXPECT_TRUE(run.warnings().empty()) << run.warnings().front();
    const auto captures = run.trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    EXPECT_FALSE(run.kept.all(SliceKind::Kernel).empty());
    for (const auto& block : run.kept.blocks)
        for (const auto& slice : block.slices) EXPECT_LE(slice.start, captures[0].at.ns) << block.strings[slice.name];
}

TEST(KernelCapture, BeginsAndEndsAHundredTimesOverFlipsPausesAndCountedSteps) {
    OnGpu run(kernelConfig(130));
    run.trainer.sink.onEvent = [&](const Event& event) {
        const auto* step = std::get_if<StepDone>(&event);
        if (step == nullptr) return;
        if (step->step % 10 == 0) run.trainer.commands.push(Flip{"fusion", std::string(step->step % 20 == 0 ? "kernels" : "off")});
        if (step->step % 15 == 0) {
            run.trainer.commands.push(Pause{});
            run.trainer.commands.push(Resume{});
        }
        run.trainer.commands.push(Capture{});
    };
    ASSERT_EQ(run.trainer.run().state, RunState::Finished);
    const auto captures = run.trainer.sink.all<CaptureDone>();
    ASSERT_GE(captures.size(), 100u);
    std::map<std::int64_t, int> kernels;
    for (const auto& kernel : run.kept.all(SliceKind::Kernel)) kernels[kernel.slice.step] += 1;
    for (const auto& capture : captures) EXPECT_GT(capture.operations, 0) << capture.step;
    int withKernels = 0;
    for (const auto& capture : captures) withKernels += kernels.contains(capture.step) ? 1 : 0;
    EXPECT_GT(kernels[captures.back().step] + kernels[captures[captures.size() - 12].step], 0) << "not deaf at the end";
    EXPECT_GE(withKernels, 40) << "half of the steps run kernels of our own";
    EXPECT_TRUE(stepObservers.empty()) << "and nobody is left listening";
    EXPECT_EQ(fakeCuptiState().enabled, 0);
    EXPECT_EQ(fakeCuptiState().pushed, 0);
}

struct Refused {
    const char* name;
    CUptiResult subscribe, kernels;
    const char* says;
};
void PrintTo(const Refused& refused, std::ostream* out) {
    *out << refused.name;
}
class KernelsRefused : public ::testing::TestWithParam<Refused> {};

TEST_P(KernelsRefused, AreOneSentenceAndTheOperationsAreCapturedAllTheSame) {
    FakeCuptiScript script;
    script.subscribe = GetParam().subscribe;
    script.enableKernels = GetParam().kernels;
    OnGpu run(kernelConfig(6), script);
    run.trainer.commands.push(Capture{.steps = 2, .firstStep = 3});
    ASSERT_EQ(run.trainer.run().state, RunState::Finished);
    ASSERT_EQ(run.trainer.sink.all<CaptureDone>().size(), 1u);
    EXPECT_EQ(run.trainer.sink.all<CaptureDone>()[0].steps, 2);
    EXPECT_TRUE(run.kept.all(SliceKind::Kernel).empty());
    EXPECT_FALSE(run.kept.all(SliceKind::Own).empty());
    EXPECT_THAT(run.warnings(), Contains(HasSubstr(GetParam().says)));
    EXPECT_EQ(run.warnings().size(), 1u) << "said once";
    EXPECT_THAT(run.kept.notes, ::testing::ElementsAre(HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(By, KernelsRefused,
                         ::testing::Values(Refused{"AnotherProfiler", CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, CUPTI_SUCCESS,
                                                   "another profiler"},
                                           Refused{"Permission", CUPTI_SUCCESS, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "ERR_NVGPUCTRPERM"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(KernelCapture, SaysWhatWasLostWhereRecordsNeverCome) {
    FakeCuptiScript script;
    script.keepsRecords = true;
    OnGpu run(kernelConfig(6), script);
    run.trainer.commands.push(Capture{.steps = 2, .firstStep = 3});
    ASSERT_EQ(run.trainer.run().state, RunState::Finished);
    EXPECT_THAT(run.warnings(), Contains(HasSubstr("CUPTI handed over no kernel")));
    EXPECT_THAT(run.kept.notes, Contains(HasSubstr("CUPTI handed over no kernel")));
}

TEST(KernelCapture, SaysWhichKindsOfRecordsCannotBeHadAndWhatTheirLackMeans) {
    FakeCuptiScript script;
    script.enableOthers = CUPTI_ERROR_INVALID_KIND;
    OnGpu run(kernelConfig(6), script);
    run.trainer.commands.push(Capture{.steps = 2, .firstStep = 3});
    ASSERT_EQ(run.trainer.run().state, RunState::Finished);
    const auto kernels = run.kept.all(SliceKind::Kernel);
    ASSERT_FALSE(kernels.empty());
    for (const auto& kernel : kernels) EXPECT_TRUE(kernel.role.empty()) << "ids of operations are of a kind that is refused";
    EXPECT_THAT(run.warnings(), Contains(HasSubstr("7 kinds of records beside kernels cannot be had")));
    EXPECT_THAT(run.warnings(), Contains(HasSubstr("kernels belong to no operation that was seen")));
    EXPECT_THAT(run.kept.notes, Contains(HasSubstr("kernels belong to no operation that was seen")));
}

// Within the time of one step.
class Slow final : public StepObserver {
public:
    explicit Slow(std::int64_t step) : m_step(step) {}
    void rangeBegins(const RangeFacts& range) noexcept override {
        if (range.kind == RangeFacts::Kind::Step && range.step == m_step) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }

private:
    std::int64_t m_step;
};

constexpr std::int64_t kSlowStep = 240;

TEST(SlowestKernels, AreThoseOfTheKeptStepsAloneAndAllOfThem) {
    OnGpu run(kernelConfig(kSlowStep + 10));
    const Listening<StepObserver> slow(stepObservers, std::make_shared<Slow>(kSlowStep));
    run.trainer.commands.push(Capture{.slowest = true});
    ASSERT_EQ(run.trainer.run().state, RunState::Finished);
    EXPECT_TRUE(run.warnings().empty()) << run.warnings().front();
    std::set<std::int64_t> captured;
    std::vector<TimeNs> ends;
    for (const CaptureDone& done : run.trainer.sink.all<CaptureDone>()) {
        for (std::int64_t step = done.firstStep; step <= done.step; ++step) captured.insert(step);
        ends.push_back(done.at);
    }
    for (const std::int64_t step : {kSlowStep - 1, kSlowStep, kSlowStep + 1}) EXPECT_TRUE(captured.contains(step)) << step;
    std::map<std::int64_t, KernelSink::Shown> operations;
    for (const SliceKind kind : {SliceKind::Operation, SliceKind::Own, SliceKind::Backward})
        for (const auto& one : run.kept.all(kind)) operations.emplace(one.slice.external, one);
    std::map<std::int64_t, std::int64_t> kernels, calls;  // by step
    for (const auto& kernel : run.kept.all(SliceKind::Kernel)) {
        kernels[kernel.slice.step] += 1;
        ASSERT_TRUE(operations.contains(kernel.slice.external)) << kernel.name;
        EXPECT_EQ(operations.at(kernel.slice.external).slice.step, kernel.slice.step);
        EXPECT_EQ(kernel.thread.device, 0);
    }
    for (const auto& call : run.kept.all(SliceKind::Runtime)) calls[call.slice.step] += 1;
    ASSERT_EQ(kernels.size(), captured.size());
    for (const auto& [step, count] : kernels) {
        EXPECT_TRUE(captured.contains(step)) << step;
        EXPECT_EQ(count, kernels.at(kSlowStep)) << "a step launches what every other one does; of step " << step;
        EXPECT_EQ(calls[step], calls.at(kSlowStep)) << step;
    }
    for (const auto& block : run.kept.blocks) EXPECT_EQ(block.lost + block.invalid, 0) << block.thread.name;
    EXPECT_EQ(fakeCuptiState().enabled, 0);
    EXPECT_TRUE(std::ranges::is_sorted(ends));
    for (const auto& block : run.kept.blocks)
        if (!block.slices.empty()) {
            EXPECT_LE(block.slices.front().start, ends.back().ns) << "of the last capture, and no other behind it";
        }
}

TEST(SlowestKernels, WhyThereAreNoneIsSaidOnceHoweverOftenTheProgramChanges) {
    FakeCuptiScript script;
    script.enableKernels = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    OnGpu run(kernelConfig(kSlowStep + 100), script);
    const Listening<StepObserver> slow(stepObservers, std::make_shared<Slow>(kSlowStep));
    run.trainer.sink.onEvent = [&](const Event& event) {
        const auto* step = std::get_if<StepDone>(&event);
        if (step != nullptr && step->step == kSlowStep + 5) run.trainer.commands.push(Flip{"fusion", std::string("off")});
    };
    run.trainer.commands.push(Capture{.slowest = true});
    ASSERT_EQ(run.trainer.run().state, RunState::Finished);
    const auto said = run.warnings();
    EXPECT_EQ(std::ranges::count_if(said, [](const std::string& one) { return one.find("ERR_NVGPUCTRPERM") != std::string::npos; }), 1);
    EXPECT_EQ(std::ranges::count_if(run.kept.notes, [](const std::string& one) { return one.find("ERR_NVGPUCTRPERM") != std::string::npos; }), 1);
    EXPECT_TRUE(run.kept.all(SliceKind::Kernel).empty());
    EXPECT_FALSE(run.kept.all(SliceKind::Own).empty()) << "the rest is kept all the same";
    std::vector<std::int64_t> at;
    for (const auto& line : run.trainer.sink.all<LogLine>())
        if (line.text.find("ERR_NVGPUCTRPERM") != std::string::npos) at.push_back(line.step);
    ASSERT_EQ(at.size(), 1u);
    EXPECT_LT(at[0], kSlowStep) << "when they would have begun, and not at the end";
}

TEST(KernelCapture, CuptiIsAskedAgainAndAgainWhileACaptureGoesOn) {
    static_assert(KernelSource::kFetch >= std::chrono::milliseconds(100) && KernelSource::kFetch <= std::chrono::milliseconds(250));
    const FakeCuptiScript script;
    fakeCuptiPlay(&script);
    testing::CollectingSink events;
    KernelSink kept(events);
    const SessionClock clock;
    KernelSource source({.sink = &kept, .clock = &clock, .gpu = true}, cudaPlugin());
    const std::int64_t atFirst = fakeCuptiState().flushes;
    // However long that takes here: nobody has asked for the end.
    while (fakeCuptiState().flushes < atFirst + 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CaptureDone done;
    (void)source.finish(done);
    const std::int64_t atEnd = fakeCuptiState().flushes;
    EXPECT_GE(atEnd, atFirst + 4) << "and once more for what was left";
}

TEST(KernelCapture, LosesNothingOfTheRun) {
    OnGpu plain(kernelConfig(8)), captured(kernelConfig(8));
    captured.trainer.commands.push(Capture{.steps = 5, .firstStep = 2});
    plain.trainer.run();
    captured.trainer.run();
    EXPECT_EQ(plain.trainer.sink.losses(), captured.trainer.sink.losses());
}

TEST(KernelCapture, GoesOnWithoutACuptiThatDoesNotComeBackUntilItDoes) {
    FakeCuptiScript script;
    script.flushSeconds = 3;
    fakeCuptiPlay(&script);
    testing::CollectingSink events;
    KernelSink kept(events);
    const SessionClock clock;
    {
        KernelSource source({.sink = &kept, .clock = &clock, .gpu = true}, cudaPlugin(), std::chrono::milliseconds(100));
        CaptureDone done;
        EXPECT_THAT(source.finish(done), HasSubstr("CUPTI did not hand its records over within"));
    }
    KernelSource second({.sink = &kept, .clock = &clock, .gpu = true}, cudaPlugin(), std::chrono::milliseconds(100));
    CaptureDone done;
    EXPECT_THAT(second.finish(done), HasSubstr("start the program again"));
    const FakeCuptiScript none;
    fakeCuptiPlay(&none);
    std::string sentence = "start the program again";
    for (int i = 0; i < 600 && sentence.find("start the program again") != std::string::npos; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        KernelSource later({.sink = &kept, .clock = &clock, .gpu = true}, cudaPlugin());
        sentence = later.finish(done);
    }
    EXPECT_THAT(sentence, HasSubstr("CUPTI handed over no kernel")) << "of a step that ran none";
}

}  // namespace
}  // namespace stepscope
