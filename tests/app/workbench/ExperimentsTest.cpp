// Experiments and studies as the engine carries them out, in this process: what a side runs with, and what becomes of a study whose file cannot be
// written.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "app/workbench/RunRecorder.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/experiments/LiveStudy.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "core/base/OperationSpan.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "sessions/record/Recorder.h"

namespace stepscope {
namespace {

struct Silence final : EventSink {
    void publish(Event) override {}
    void publishChunk(ChunkPtr) override {}
};

// Among how many threads LibTorch shares the operations of each phase that begins.
class ThreadsOfPhases final : public StepObserver {
public:
    void rangeBegins(const RangeFacts& facts) noexcept override {
        if (facts.kind != RangeFacts::Kind::Phase) return;
        const std::lock_guard lock(m_mutex);
        m_seen.insert(at::get_num_threads());
    }
    std::set<int> seen() const {
        const std::lock_guard lock(m_mutex);
        return m_seen;
    }

private:
    mutable std::mutex m_mutex;
    std::set<int> m_seen;
};

RunConfig small() {
    RunConfig config = presetConfig("tiny-cpu").value();
    config.data = "generated";
    config.layers = 1;
    config.width = 32;
    config.heads = 2;
    return config;
}

TEST(ExperimentsOf, ASideWithoutANumberOfThreadsHasAllOfTheMachineWhateverTheOtherOneSets) {
    const auto workbench = Workbench::create();
    ExperimentRequest request;
    request.a = request.b = *workbench->complete(small());
    request.a.threads = 1;
    request.b.threads = 0;
    request.budgetSeconds = kShortestBudget;
    request.record = false;
    request.whyWindows = 0;
    Silence sink;
    const auto threads = std::make_shared<ThreadsOfPhases>();
    const Listening<StepObserver> listening(stepObservers, threads);
    auto started = workbench->startExperiment(std::move(request), sink);
    ASSERT_TRUE(started) << started.error().sentence;
    EXPECT_EQ((*started)->wait().state, RunState::Finished);
    EXPECT_EQ(threads->seen(), (std::set<int>{1, workbench->machine().cores}));
}

// A study of one experiment, which a stand-in plays.
class OneLeg final : public LiveStudy {
public:
    OneLeg(const std::string& database, ExperimentStart start, EventSink& sink)
        : LiveStudy({.kind = SessionKind::Ladder, .name = "one leg", .database = database, .record = !database.empty(), .config = small()},
                    std::move(start), sink) {}
    ~OneLeg() override { end(); }

private:
    Outcome study() override {
        ExperimentHistory history;
        ExperimentRequest request;
        request.a = request.b = small();
        return measure(std::move(request), history, {});
    }
    StudyBegan began() const override { return {.kind = "ladder"}; }
};

// Goes on until it is stopped, as a leg of five minutes does.
class PatientLeg final : public Run {
public:
    explicit PatientLeg(EventSink& sink) { sink.publish(SessionStarted{0, std::make_shared<SessionInfo>(), false}); }
    void send(Command command) override { m_stopped = m_stopped || std::holds_alternative<Stop>(command); }
    bool done() const override { return m_stopped; }
    RunSummary wait() override {
        for (int look = 0; look < 3000 && !m_stopped; ++look) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        told = m_stopped;
        RunSummary summary;
        summary.state = RunState::Stopped;
        return summary;
    }
    static inline bool told = false;

private:
    std::atomic<bool> m_stopped{false};
};

TEST(StudiesOf, OneWhoseFileCannotBeWrittenEndsTheExperimentThatRuns) {
    Silence sink;
    OneLeg study(
        "/proc/none/of/this/s.db",
        [](ExperimentRequest, EventSink& events) -> Result<std::unique_ptr<stepscope::Run>> {
            return std::unique_ptr<stepscope::Run>(std::make_unique<PatientLeg>(events));
        },
        sink);
    study.begin();
    const RunSummary summary = study.wait();
    EXPECT_TRUE(PatientLeg::told) << "nothing of it could be kept";
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, ::testing::HasSubstr("/proc/none"));
}

TEST(StudiesOf, ItsExperimentsCaptureNoReasonsWhichNobodyWouldSee) {
    std::int64_t windows = -1;
    bool recorded = true;
    Silence sink;
    OneLeg study(
        "",
        [&](ExperimentRequest request, EventSink&) -> Result<std::unique_ptr<stepscope::Run>> {
            windows = request.whyWindows;
            recorded = request.record;
            return makeError(ErrorCode::Unsupported, "Not today.");
        },
        sink);
    study.begin();
    EXPECT_EQ(study.wait().why, "Not today.");
    EXPECT_EQ(windows, 0);
    EXPECT_FALSE(recorded);
}

// When a session says that it began.
class Began final : public EventSink {
public:
    void publish(Event event) override {
        if (const auto* started = std::get_if<SessionStarted>(&event)) m_unixMs = started->info->startedUnixMs;
    }
    void publishChunk(ChunkPtr) override {}
    std::int64_t unixMs() const { return m_unixMs; }
    bool wait() const {
        for (int look = 0; look < 3000 && m_unixMs == 0; ++look) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return m_unixMs != 0;
    }

private:
    std::atomic<std::int64_t> m_unixMs{0};
};

// One that is over as soon as its session has begun.
class EndedLeg final : public Run {
public:
    explicit EndedLeg(EventSink& sink) { sink.publish(SessionStarted{0, std::make_shared<SessionInfo>(), false}); }
    void send(Command) override {}
    bool done() const override { return true; }
    RunSummary wait() override {
        RunSummary summary;
        summary.state = RunState::Stopped;
        return summary;
    }
};

// A window that loses its display waits for the run that another thread waits for already.
TEST(ARun, IsWaitedForBySeveralAtOnce) {
    const auto workbench = Workbench::create();
    for (int again = 0; again < 5; ++again) {
        Began sink;
        RunRequest request;
        request.config = *workbench->complete(small());
        request.config.steps = 1'000'000;
        request.record = false;
        auto run = workbench->start(std::move(request), sink);
        ASSERT_TRUE(run) << run.error().sentence;
        RunState first = RunState::Preparing, second = RunState::Preparing;
        {
            const std::jthread one([&] { first = (*run)->wait().state; }), other([&] { second = (*run)->wait().state; });
            EXPECT_TRUE(sink.wait());
            (*run)->send(Stop{});
        }
        EXPECT_EQ(first, RunState::Stopped);
        EXPECT_EQ(second, RunState::Stopped);
    }
}

// The times of its events count from there: a session that said that it began when its preparation was over would date all of them too late.
TEST(SessionsOf, ARunAnExperimentAndAStudyBeginWithTheirClockBeforeTheirPreparation) {
    const auto workbench = Workbench::create();
    const auto expectBetween = [](const char* what, const Began& sink, std::int64_t before, std::int64_t made) {
        EXPECT_GE(sink.unixMs(), before - 1) << what;
        EXPECT_LE(sink.unixMs(), made + 1) << what;
    };
    {
        Began sink;
        RunRequest request;
        request.config = *workbench->complete(small());
        request.config.steps = 1;
        request.record = false;
        const std::int64_t before = unixMillisecondsNow();
        auto run = workbench->start(std::move(request), sink);
        const std::int64_t made = unixMillisecondsNow();
        ASSERT_TRUE(run) << run.error().sentence;
        EXPECT_EQ((*run)->wait().state, RunState::Finished);
        expectBetween("a run", sink, before, made);
    }
    {
        Began sink;
        ExperimentRequest request;
        request.a = request.b = *workbench->complete(small());
        request.a.threads = 1;
        request.record = false;
        const std::int64_t before = unixMillisecondsNow();
        auto run = workbench->startExperiment(std::move(request), sink);
        const std::int64_t made = unixMillisecondsNow();
        ASSERT_TRUE(run) << run.error().sentence;
        EXPECT_TRUE(sink.wait());
        (*run)->send(Stop{});
        (void)(*run)->wait();
        expectBetween("an experiment", sink, before, made);
    }
    Began sink;
    const std::int64_t before = unixMillisecondsNow();
    OneLeg study(
        "",
        [](ExperimentRequest, EventSink& events) -> Result<std::unique_ptr<stepscope::Run>> {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            return std::unique_ptr<stepscope::Run>(std::make_unique<EndedLeg>(events));
        },
        sink);
    const std::int64_t made = unixMillisecondsNow();
    study.begin();
    (void)study.wait();
    expectBetween("a study", sink, before, made);
}

TEST(StudiesOf, ALadderDoesNotGoOnWhereAnotherGpuIs) {
    const auto file = std::filesystem::temp_directory_path() / ("stepscope-ladder-of-a-gpu-" + std::to_string(::getpid()) + ".db");
    const auto removed = [&] {
        for (const char* part : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(file.string() + part);
    };
    removed();
    Machine machine{.cpu = "A processor", .cores = 2, .gpus = {{.name = "One GPU", .memory = {80}, .computeMajor = 9}}};
    {
        SessionInfo info;
        info.kind = SessionKind::Ladder;
        info.config = small();
        info.machine = machine;
        auto recorder = Recorder::open({.path = file.string()}, info);
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        (*recorder)->publish(StateChanged{{}, 0, RunState::Stopped, {}});
        ASSERT_TRUE((*recorder)->finish());
    }
    EXPECT_THAT(resumedLadder(file.string(), 1, machine).error().sentence, ::testing::HasSubstr("before its ladder began"));
    machine.gpus[0].name = "Another GPU";
    EXPECT_THAT(resumedLadder(file.string(), 1, machine).error().sentence, ::testing::HasSubstr("another machine (A processor, One GPU)"));
    removed();
}

// The rows of a search, as each was told first, until one is said to be refused for its memory.
class RowsUntilMemory final : public EventSink {
public:
    void publish(Event event) override {
        const auto* row = std::get_if<StudyRow>(&event);
        if (row == nullptr) return;
        const std::lock_guard lock(m_mutex);
        m_rows.insert({row->settings, *row});
        m_refused = m_refused || row->why.find("that were allowed") != std::string::npos;
    }
    void publishChunk(ChunkPtr) override {}
    bool refused() const {
        const std::lock_guard lock(m_mutex);
        return m_refused;
    }
    std::map<std::string, StudyRow> rows() const {  // by what differs from the present settings
        const std::lock_guard lock(m_mutex);
        return m_rows;
    }

private:
    mutable std::mutex m_mutex;
    std::map<std::string, StudyRow> m_rows;
    bool m_refused = false;
};

TEST(ASearch, LetsNothingRaceThatIsPredictedToTakeMoreMemoryThanIsAllowed) {
    const auto workbench = Workbench::create();
    const auto with = [&](const std::string& settings) {  // "key=value key=value"
        RunConfig config = small();
        std::istringstream words("batch-size=32 " + settings);
        for (std::string word; words >> word;) {
            const std::size_t equals = word.find('=');
            EXPECT_TRUE(setKey(config, workbench->switches(config), word.substr(0, equals), word.substr(equals + 1))) << word;
        }
        return workbench->complete(std::move(config)).value();
    };
    const auto takes = [&](const std::string& settings) { return workbench->estimate(with(settings)).total; };
    ASSERT_GT(takes("batch-size=64"), takes(""));
    TuneRequest request;
    request.config = with("");
    request.budgetSeconds = 10 * kShortestTune;  // it is stopped when one was refused, however busy the machine is
    request.sizes = true;
    request.record = false;
    request.memory = Bytes{(takes("").count + takes("batch-size=64").count) / 2};
    RowsUntilMemory sink;
    auto run = workbench->startTune(request, sink);
    ASSERT_TRUE(run) << run.error().sentence;
    while (!sink.refused() && !(*run)->done()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    (*run)->send(Stop{});
    (*run)->wait();
    int raced = 0, refused = 0;
    for (const auto& [settings, row] : sink.rows()) {
        if (settings.empty() || row.role != study::kCandidate) continue;
        if (row.why.find("that were allowed") != std::string::npos) {
            EXPECT_EQ(row.state, study::kSkipped) << settings;
            EXPECT_GT(takes(settings), *request.memory) << settings;
            ++refused;
        } else if (row.state != study::kSkipped) {
            EXPECT_LE(takes(settings), *request.memory) << settings;
            ++raced;
        }
    }
    EXPECT_GT(refused, 0);
    EXPECT_GT(raced, 0);
}

TEST(ASearch, ThatThePresentSettingsAloneWouldBreakTheMemoryBoundOfIsRefusedBeforeAnythingRaces) {
    const auto workbench = Workbench::create();
    TuneRequest request;
    request.config = workbench->complete(small()).value();
    request.budgetSeconds = kShortestTune;
    request.record = false;
    request.memory = Bytes{1000};
    RowsUntilMemory sink;
    auto run = workbench->startTune(request, sink);
    ASSERT_TRUE(run) << run.error().sentence;
    const RunSummary summary = (*run)->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_EQ(summary.code, ErrorCode::BadInput);
    EXPECT_THAT(summary.why, ::testing::HasSubstr("The present settings are predicted to take"));
    EXPECT_TRUE(sink.rows().empty());
}

}  // namespace
}  // namespace stepscope
