// Which checkpoints stay: the newest, the best, and what a person asked for.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/state/Checkpoint.h"
#include "core/state/CheckpointRetention.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

TEST(CheckpointRetention, KeepsTheNewest) {
    CheckpointRetention retention(2, false);
    EXPECT_THAT(retention.add("a", 1.0), IsEmpty());
    EXPECT_THAT(retention.add("b", 2.0), IsEmpty());
    EXPECT_THAT(retention.add("c", 3.0), ElementsAre("a"));
    EXPECT_THAT(retention.add("c", 3.0), IsEmpty()) << "the same once more";
    EXPECT_THAT(retention.add("d", NAN), ElementsAre("b"));
    CheckpointRetention all(0, true);
    for (const char* path : {"a", "b", "c", "d"}) EXPECT_THAT(all.add(path, 1.0), IsEmpty());
}

TEST(CheckpointRetention, KeepsTheBestBesideThem) {
    CheckpointRetention retention(1, true);
    EXPECT_THAT(retention.add("a", NAN), IsEmpty());
    EXPECT_THAT(retention.add("b", 2.0), ElementsAre("a")) << "one that nobody validated is not the best";
    EXPECT_THAT(retention.add("c", 3.0), IsEmpty()) << "b is the best, c the newest";
    EXPECT_THAT(retention.add("d", 1.0), ElementsAre("b", "c"));
    EXPECT_THAT(retention.add("e", 5.0), IsEmpty());
    EXPECT_THAT(retention.add("f", 4.0), ElementsAre("e"));
}

TEST(CheckpointRetention, NeverTakesWhatAPersonAskedFor) {
    CheckpointRetention retention(1, false);
    EXPECT_THAT(retention.add("a", 1.0), IsEmpty());
    retention.protect("a");
    EXPECT_THAT(retention.add("b", 1.0), IsEmpty());
    EXPECT_THAT(retention.add("c", 1.0), ElementsAre("b"));
}

TEST(CheckpointRetention, PlansWhatWillBeWrittenAndKept) {
    EXPECT_EQ(planCheckpoints(0, 1000, 100, true, 0, false).written, 10);
    EXPECT_EQ(planCheckpoints(0, 1050, 100, true, 0, false).written, 11) << "one at the end";
    EXPECT_EQ(planCheckpoints(250, 1000, 100, false, 0, false).written, 8) << "300, 400, ... 1000";
    EXPECT_EQ(planCheckpoints(0, 1000, 0, true, 0, false).written, 1);
    EXPECT_EQ(planCheckpoints(0, 1000, 0, false, 3, true).written, 0);
    EXPECT_EQ(planCheckpoints(0, 1000, 100, true, 3, false).kept, 3);
    EXPECT_EQ(planCheckpoints(0, 1000, 100, true, 3, true).kept, 4);
    EXPECT_EQ(planCheckpoints(0, 1000, 500, true, 3, true).kept, 2);
    EXPECT_EQ(planCheckpoints(0, 1000, 100, true, 3, false).atOnce, 4) << "the oldest goes when the newest is there";
    EXPECT_EQ(planCheckpoints(0, 1000, 100, true, 3, true).atOnce, 5);
    EXPECT_EQ(planCheckpoints(0, 1000, 500, true, 3, true).atOnce, 2) << "none of them ever goes";
    EXPECT_EQ(planCheckpoints(0, 1000, 100, true, 0, false).atOnce, 10);
    EXPECT_EQ(planCheckpoints(0, 1000, 0, false, 3, true).atOnce, 0);
    for (const bool best : {false, true})
        for (const std::int64_t every : {0, 100, 500, 600})
            EXPECT_EQ(planCheckpoints(0, 1000, every, true, 3, best).leastAtOnce, planCheckpoints(0, 1000, every, true, 1, best).atOnce)
                << every << " " << best;
}

class RetentionOfARun : public ::testing::Test {
protected:
    RetentionOfARun() { fs::remove_all(folder); }
    ~RetentionOfARun() override { fs::remove_all(folder); }
    std::vector<std::string> run(const std::function<void(RunConfig&)>& change, testing::TinyTrainer** running = nullptr) {
        RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), 60);
        config.checkpointEvery = 10;
        change(config);
        testing::TinyTrainer trainer(config);
        if (running != nullptr) *running = &trainer;
        trainer.setup.checkpointFolder = folder.string();
        trainer.setup.cameFrom = cameFrom;
        trainer.setup.validated = validatedBefore;
        if (!cameFrom.empty()) trainer.setup.state = loadCheckpoint(cameFrom, trainer.setup.state.config.paddedVocabulary).value();
        trainer.sink.onEvent = [&](const Event& event) {
            if (onEvent) onEvent(event, trainer);
        };
        EXPECT_EQ(trainer.run().state, RunState::Finished);
        validated = trainer.sink.all<ValidationDone>();
        std::vector<std::string> left;
        for (const auto& entry : fs::directory_iterator(folder)) left.push_back(entry.path().filename().string());
        std::ranges::sort(left);
        return left;
    }

    // The session goes on from one of its checkpoints, in another process.
    std::vector<std::string> goOn(int step, const std::function<void(RunConfig&)>& change) {
        cameFrom = (folder / fmt::format("step-{:07}", step)).string();
        return run([&](RunConfig& config) {
            config.steps = 80;
            change(config);
        });
    }

    std::function<void(const Event&, testing::TinyTrainer&)> onEvent;
    std::string cameFrom;
    std::map<std::int64_t, double> validatedBefore;  // by step
    std::vector<ValidationDone> validated;
    const fs::path folder = fs::temp_directory_path() / ("stepscope-retention-" + std::to_string(::getpid()));
};

TEST_F(RetentionOfARun, LeavesTheNewestOnTheDisk) {
    EXPECT_THAT(run([](RunConfig& config) { config.keep = 2; }), ElementsAre("step-0000050", "step-0000060"));
}

TEST_F(RetentionOfARun, LeavesAllWithoutALimit) {
    EXPECT_EQ(run([](RunConfig&) {}).size(), 6u);
}

TEST_F(RetentionOfARun, LeavesTheBestByAValidationOfThoseVeryWeights) {
    // A rate that spoils what was learnt: the best is not the newest.
    const auto left = run([](RunConfig& config) {
        config.keep = 1;
        config.keepBest = "on";
        config.schedule = "range-test";
        config.minLr = 1e-3;
        config.lr = 3.0;
        config.switches["grad-clip"] = 1.0;
    });
    ASSERT_EQ(validated.size(), 6u) << "each is validated when it is written";
    const auto best = std::ranges::min_element(validated, {}, &ValidationDone::loss)->step;
    ASSERT_NE(best, 60) << "then this test would show nothing";
    EXPECT_THAT(left, ElementsAre(fmt::format("step-{:07}", best), "step-0000060"));
}

TEST_F(RetentionOfARun, LeavesWhatWasAskedFor) {
    onEvent = [](const Event& event, testing::TinyTrainer& trainer) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && done->step == 15) trainer.commands.push(SaveCheckpoint{});
        if (done != nullptr && done->step == 30) trainer.commands.push(SaveCheckpoint{});  // that is due as well
    };
    EXPECT_THAT(run([](RunConfig& config) { config.keep = 1; }), ElementsAre("step-0000015", "step-0000030", "step-0000060"));
}

TEST_F(RetentionOfARun, CountsThoseOfTheProcessBeforeWhereTheSessionGoesOn) {
    const auto two = [](RunConfig& config) { config.keep = 2; };
    EXPECT_EQ(run(two).size(), 2u);
    EXPECT_THAT(goOn(60, two), ElementsAre("step-0000070", "step-0000080"));
}

TEST_F(RetentionOfARun, LeavesWhatWasAskedOfTheProcessBefore) {
    onEvent = [](const Event& event, testing::TinyTrainer& trainer) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && (done->step == 15 || done->step == 30)) trainer.commands.push(SaveCheckpoint{});
    };
    const auto one = [](RunConfig& config) { config.keep = 1; };
    EXPECT_THAT(run(one), ElementsAre("step-0000015", "step-0000030", "step-0000060"));
    onEvent = {};
    EXPECT_THAT(goOn(60, one), ElementsAre("step-0000015", "step-0000030", "step-0000080"));
}

TEST_F(RetentionOfARun, WhatWasAskedOfTheProcessBeforeTakesThePlaceOfNoneThatWasDue) {
    onEvent = [](const Event& event, testing::TinyTrainer& trainer) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && done->step == 55) trainer.commands.push(SaveCheckpoint{});
    };
    EXPECT_THAT(run([](RunConfig& config) { config.keep = 3; }), ElementsAre("step-0000040", "step-0000050", "step-0000055", "step-0000060"));
    onEvent = {};
    fs::remove_all(folder / "step-0000060");  // as if it had been killed before
    EXPECT_THAT(goOn(55,
                     [](RunConfig& config) {
                         config.keep = 3;
                         config.steps = 70;
                     }),
                ElementsAre("step-0000050", "step-0000055", "step-0000060", "step-0000070"));
}

TEST_F(RetentionOfARun, RemembersWhichOfTheProcessBeforeWasTheBest) {
    const auto best = [](RunConfig& config) {
        config.keep = 1;
        config.keepBest = "on";
    };
    const auto before = run([&](RunConfig& config) {
        best(config);
        // A rate that spoils what was learnt: the best is not the newest.
        config.schedule = "range-test";
        config.minLr = 1e-3;
        config.lr = 3.0;
        config.switches["grad-clip"] = 1.0;
    });
    ASSERT_EQ(before.size(), 2u) << "the best and the newest";
    const auto step = std::ranges::min_element(validated, {}, &ValidationDone::loss)->step;
    // As its session stored it: nothing that comes is as good.
    validatedBefore = {{step, 1e-6}, {60, 1e6}};
    EXPECT_THAT(goOn(60, best), ElementsAre(before.front(), "step-0000080"));
}

TEST_F(RetentionOfARun, RemovesWhatTheProcessBeforeKeptAsTheBestWhereABetterOneComes) {
    const auto best = [](RunConfig& config) {
        config.keep = 1;
        config.keepBest = "on";
    };
    ASSERT_FALSE(run(best).empty());
    for (const ValidationDone& one : validated) validatedBefore[one.step] = 1e6;
    const auto left = goOn(60, best);
    EXPECT_THAT(left, ::testing::Not(::testing::Contains("step-0000060")));
    EXPECT_THAT(left, ::testing::Contains("step-0000080"));
    EXPECT_LE(left.size(), 2u) << "the newest, and the best where that is another";
}

TEST_F(RetentionOfARun, LeavesThoseOfTheProcessBeforeWhereTheBestIsKept) {
    const auto best = [](RunConfig& config) {
        config.keep = 1;
        config.keepBest = "on";
    };
    const auto before = run(best), after = goOn(60, best);
    for (const std::string& one : before) EXPECT_THAT(after, ::testing::Contains(one)) << "it may be the best";
}

}  // namespace
}  // namespace stepscope
