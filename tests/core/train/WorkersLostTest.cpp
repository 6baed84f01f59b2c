// What the first worker keeps where it loses another one behind the update of a step (a captured one is made before all know of it), and where they
// stop while it writes a checkpoint. Graphs are played, workers are threads. CTest.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "PlayedCapture.h"
#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/program/GraphProgram.h"
#include "tests/core/train/TrainedTogether.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Captured steps, one of which breaks where it says so: within its update.
class BreakingFactory final : public ProgramFactory {
public:
    BreakingFactory(const ProgramFactory& real, int breaksAtUpdate) : m_real(real), m_breaksAt(breaksAtUpdate) {}
    Result<RunConfig> flipped(const RunConfig& config, const std::string& id, const Value& value) const override {
        return m_real.flipped(config, id, value);
    }
    Result<RunPlan> plan(const RunConfig& config, std::int64_t vocabulary) const override { return m_real.plan(config, vocabulary); }
    StateForm formOf(const RunPlan& plan, const TrainState& state) const override { return m_real.formOf(plan, state); }
    std::unique_ptr<StepProgram> build(const RunPlan&) const override {
        const auto played = std::make_shared<testing::Played>();
        ProgramParts parts = testing::playedParts(1, false, played);
        parts.captured.update = [played, real = parts.captured.update, breaksAt = m_breaksAt, made = std::make_shared<int>(0)](
                                    ParameterGroup& group, const at::Tensor& step, const at::Tensor& norm, double maxNorm) {
            if (played->replaying && ++*made == breaksAt) throw std::runtime_error("a mistake of this worker alone");
            real(group, step, norm, maxNorm);
        };
        return std::make_unique<GraphProgram>(std::move(parts), std::make_unique<const testing::PlayedCapture>(played));
    }

private:
    const ProgramFactory& m_real;
    int m_breaksAt;
};

// Its weights are of the sixth step by then, which it does not count: gone on from as the fifth, that step would be made twice.
TEST(WorkersLost, BehindTheUpdateOfACapturedStepNothingIsKeptButTheCheckpointBeforeIt) {
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-workers-lost-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    RunConfig config = testing::tinyConfig(testing::registry(), 1'000'000);
    config.checkpointEvery = 4;
    std::array<std::unique_ptr<testing::TinyTrainer>, 2> workers;
    for (auto& worker : workers) worker = std::make_unique<testing::TinyTrainer>(config);
    // The first three steps are eager, and an update has two groups: it is the sixth step's.
    const BreakingFactory whole(*workers[0]->registry, 0), breaking(*workers[1]->registry, 5);
    workers[0]->setup.factory = &whole;
    workers[1]->setup.factory = &breaking;
    workers[0]->setup.checkpointFolder = folder.string();
    testing::ThreadWorkers group{2};
    const auto outcomes = testing::trainTogether(group, workers);
    EXPECT_THAT(outcomes[1].error.sentence, HasSubstr("a mistake of this worker alone"));
    EXPECT_THAT(outcomes[0].error.sentence, HasSubstr("Another worker has left. Step 4 is kept; resume from"));
    EXPECT_EQ(workers[0]->sink.losses().size(), 5u);
    std::vector<std::int64_t> kept;
    for (const auto& saved : workers[0]->sink.all<CheckpointSaved>()) kept.push_back(saved.step);
    EXPECT_THAT(kept, ElementsAre(4));
    std::filesystem::remove_all(folder);
}

// Nobody but the first has heard of it when they stop.
TEST(WorkersLost, ACheckpointThatIsAskedForWhileTheyAgreeToStopIsWrittenAllTheSame) {
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-workers-late-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    RunConfig config = testing::tinyConfig(testing::registry(), 1'000'000);
    config.checkpointEvery = 5;
    std::array<std::unique_ptr<testing::TinyTrainer>, 2> workers;
    for (auto& worker : workers) worker = std::make_unique<testing::TinyTrainer>(config);
    workers[0]->setup.checkpointFolder = (folder / "due").string();
    workers[0]->setup.beat = std::chrono::milliseconds(10);
    bool asked = false;
    workers[0]->sink.onEvent = [&](const Event& event) {
        if (!std::holds_alternative<CheckpointSaved>(event) || std::exchange(asked, true)) return;
        workers[0]->commands.push(SaveCheckpoint{(folder / "asked").string()});
        workers[1]->commands.push(Stop{});
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    };
    testing::ThreadWorkers group{2};
    for (const auto& outcome : testing::trainTogether(group, workers)) EXPECT_EQ(outcome.state, RunState::Stopped) << outcome.error.sentence;
    EXPECT_TRUE(std::filesystem::exists(folder / "asked" / "model.safetensors"));
    EXPECT_EQ(workers[0]->sink.all<CheckpointSaved>().size(), 2u);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stepscope
