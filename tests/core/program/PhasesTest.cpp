// The phases that Programs tell observers: each with a begin and an end, in the order of the step, and operations that know their phase. Captured
// steps: GraphProgramTest.
#include <gtest/gtest.h>

#include <set>

#include "PhaseDiary.h"
#include "TinyTraining.h"
#include "core/events/CaptureDone.h"
#include "core/events/RunEvents.h"
#include "core/program/ProgramBuilder.h"

namespace stepscope {
namespace {

using testing::PhaseDiary;
using Words = std::vector<std::string>;

class PhasesOf : public ::testing::TestWithParam<std::string> {
protected:
    PhasesOf() {
        RunConfig config = testing::tinyConfig(m_registry);
        config.switches["fusion"] = GetParam();
        config.switches["grad-accumulation"] = std::int64_t{2};
        m_trainer = std::make_unique<testing::TinyTrainer>(config);
    }

    Registry m_registry{testing::plainCpu()};
    std::unique_ptr<testing::TinyTrainer> m_trainer;
};

TEST_P(PhasesOf, AreToldEachWithBeginAndEndInTheOrderOfTheStep) {
    const auto diary = std::make_shared<PhaseDiary>();
    const Listening<StepObserver> listening(stepObservers, diary);
    m_trainer->setup.config.steps = 2;
    ASSERT_EQ(m_trainer->run().state, RunState::Finished);
    EXPECT_EQ(diary->problems, Words{});
    const Words step{"optimizer", "batch", "forward", "backward", "batch", "forward", "backward", "clip", "optimizer"};
    Words both = step;
    both.insert(both.end(), step.begin(), step.end());
    EXPECT_EQ(diary->phases, both);
    std::array<std::int64_t, kPhases> sum{};
    for (const auto& done : m_trainer->sink.all<StepDone>())
        for (std::size_t phase = 0; phase < kPhases; ++phase) sum[phase] += done.phaseNs[phase];
    diary->expectTimesOf(sum);
}

TEST_P(PhasesOf, AreKnownToEveryOperationOfACapturedStep) {
    m_trainer->commands.push(Capture{.steps = 1, .firstStep = 4});
    ASSERT_EQ(m_trainer->run().state, RunState::Finished);
    const auto captures = m_trainer->sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    std::set<std::string> phases;
    for (const auto& row : *captures[0].rows) {
        phases.insert(row.phase);
        if (row.launches == 0) continue;  // a way into others, or a view
        EXPECT_FALSE(row.phase.empty()) << row.name;
        EXPECT_TRUE(row.phase != "forward" || !row.role.empty()) << row.name << ": its part of the model";
    }
    for (const char* phase : {"forward", "backward", "clip", "optimizer"}) EXPECT_TRUE(phases.contains(phase)) << phase;
}

INSTANTIATE_TEST_SUITE_P(Programs, PhasesOf, ::testing::Values("off", "kernels", "step"), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stepscope
