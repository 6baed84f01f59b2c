// Workers that train together stop, wait, change and fail at the same step, and the first one alone writes. Workers are threads here. CTest.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/program/DataParallel.h"
#include "core/program/WorkerBeats.h"
#include "core/state/Checkpoint.h"
#include "core/trace/WorkerTimes.h"
#include "core/train/SharedCommand.h"
#include "core/train/workers/ClockExchange.h"
#include "tests/core/train/TrainedTogether.h"

namespace stepscope {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::ThreadWorkers;
using testing::TinyTrainer;

RunConfig tiny(std::int64_t steps) {
    return testing::tinyConfig(Registry(testing::plainCpu()), steps);
}

class Together {
public:
    explicit Together(const RunConfig& config) {
        for (int rank = 0; rank < 2; ++rank) workers[static_cast<std::size_t>(rank)] = std::make_unique<TinyTrainer>(config);
    }
    std::array<TrainerOutcome, 2> run() { return testing::trainTogether(m_group, workers); }
    TinyTrainer& operator[](int rank) { return *workers[static_cast<std::size_t>(rank)]; }
    // They meet behind this step, however short steps are.
    void meetBehind(std::int64_t step) {
        for (const int rank : {0, 1}) (*this)[rank].setup.commandsBefore = [step](std::int64_t next) { return next == step + 1; };
    }
    // When a worker has made a step, on its thread.
    void after(int rank, std::int64_t step, std::function<void()> what) {
        (*this)[rank].sink.onEvent = [step, what = std::move(what)](const Event& event) {
            if (const auto* done = std::get_if<StepDone>(&event); done != nullptr && done->step == step) what();
        };
    }
    int gathers() const { return m_group.gathers() / 2; }  // of each worker
    std::size_t steps(int rank) { return (*this)[rank].sink.losses().size(); }

    std::array<std::unique_ptr<TinyTrainer>, 2> workers;

private:
    ThreadWorkers m_group{2};
};

std::vector<double> lossesTogether(std::int64_t steps) {
    Together together(tiny(steps));
    together.run();
    return together[0].sink.losses();
}

TEST(WorkersTogether, MakeTheSameStepsAndTellTheSameLosses) {
    Together together(tiny(20));
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    EXPECT_EQ(together[0].sink.losses(), together[1].sink.losses());
    RunConfig alone = tiny(20);
    alone.switches["grad-accumulation"] = std::int64_t{2};
    TinyTrainer trainer(alone);
    trainer.run();
    EXPECT_EQ(together[0].sink.losses(), trainer.sink.losses());
    EXPECT_EQ(together[0].sink.all<StepDone>()[0].tokens, 2 * 4 * 12);
}

TEST(WorkersTogether, TheFirstOneHasTheTimesOfAllByPhase) {
    constexpr std::size_t kColumns = kPhases + 1;
    Together together(tiny(70));
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    EXPECT_TRUE(together[1].sink.chunks().empty());
    auto chunks = together[0].sink.chunks();
    std::erase_if(chunks, [](const ChunkPtr& chunk) { return chunk->kind != kWorkerTimes; });
    ASSERT_EQ(chunks.size(), 2u) << "some steps at a time, and what is left at the end";
    const std::array<std::vector<StepDone>, 2> told{together[0].sink.all<StepDone>(), together[1].sink.all<StepDone>()};
    std::size_t step = 0;
    for (const auto& chunk : chunks) {
        const auto times = decodeWorkerTimes(*chunk);
        ASSERT_TRUE(times) << times.error().sentence;
        EXPECT_EQ(times->phases.size(), kColumns);
        ASSERT_EQ(times->workers, 2);
        for (std::size_t i = 0; i < times->steps.size(); ++i, ++step)
            for (std::size_t rank = 0; rank < 2; ++rank) {
                EXPECT_EQ(times->steps[i].number, told[rank].at(step).step);
                std::int64_t sum = 0;
                for (std::size_t column = 0; column < kColumns; ++column) sum += times->ns[(i * 2 + rank) * kColumns + column];
                EXPECT_GE(sum, told[rank].at(step).duration.ns) << "of worker " << rank;
                const auto waiting = static_cast<std::size_t>(Phase::Waiting);
                EXPECT_EQ(times->ns[(i * 2 + rank) * kColumns + waiting], told[rank].at(step).phaseNs[waiting]);
            }
    }
    EXPECT_EQ(step, 70u);
}

TEST(WorkersTogether, AStopAskedOfOneStopsAllAfterTheSameStep) {
    for (const int asked : {0, 1}) {
        Together together(tiny(1'000'000));
        together.after(asked, 7, [&] { together[asked].commands.push(Stop{}); });
        for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Stopped) << outcome.error.sentence;
        EXPECT_EQ(together.steps(0), together.steps(1));
        EXPECT_THAT(together.steps(0), AnyOf(7u, 8u)) << "at this boundary where steps are long, else at the next one";
    }
}

TEST(WorkersTogether, APauseOfOneHoldsAllUntilItGoesOn) {
    for (const int asked : {0, 1}) {
        Together together(tiny(12));
        std::jthread resumes;
        std::size_t meanwhile = 0;
        together.after(asked, 5, [&] {
            together[asked].commands.push(Pause{});
            resumes = std::jthread([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(300));
                meanwhile = together.steps(1 - asked);
                together[asked].commands.push(Resume{});
            });
        });
        for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
        resumes.join();
        EXPECT_LE(meanwhile, 6u);
        EXPECT_EQ(together[0].sink.losses(), lossesTogether(12));
    }
}

TEST(WorkersTogether, AStopEndsAPauseOfTheOther) {
    Together together(tiny(1'000'000));
    together.after(0, 3, [&] {
        together[0].commands.push(Pause{});
        together[1].commands.push(Stop{});
    });
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Stopped) << outcome.error.sentence;
    EXPECT_EQ(together.steps(0), together.steps(1));
}

TEST(WorkersTogether, WaitForAFirstOneThatCannotRecordAtTheMoment) {
    Together together(tiny(8));
    std::atomic<int> asked{0};
    together[0].setup.mustWait = [&] { return asked++ < 20; };
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    EXPECT_EQ(together[0].sink.losses(), lossesTogether(8));
}

TEST(WorkersTogether, FlipASwitchBeforeTheStepThatWasNamedBeforehand) {
    Together together(tiny(12));
    for (const int rank : {0, 1}) together[rank].setup.commandsBefore = [](std::int64_t step) { return step == 5; };
    for (const int rank : {0, 1}) together.after(rank, 4, [&, rank] { together[rank].commands.push(Flip{"fusion", std::string("kernels")}); });
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    for (const int rank : {0, 1}) {
        const auto applied = together[rank].sink.all<SwitchApplied>();
        ASSERT_EQ(applied.size(), 1u);
        EXPECT_EQ(applied[0].step, 4);
    }
    EXPECT_EQ(together[0].sink.losses(), together[1].sink.losses());
}

TEST(WorkersTogether, AFlipAskedOfTheFirstAloneIsMadeByAllBeforeTheSameStep) {
    Together together(tiny(12));
    together.after(0, 4, [&] {
        together[0].commands.push(Flip{"fusion", std::string("kernels")});
        together[0].commands.push(Flip{"grad-clip", 0.25});
    });
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    for (const int rank : {0, 1}) {
        const auto applied = together[rank].sink.all<SwitchApplied>();
        ASSERT_EQ(applied.size(), 2u) << rank;
        EXPECT_THAT(applied[0].step, AnyOf(4, 5)) << "at this boundary where steps are long, else at the next one";
        EXPECT_EQ(applied[0].step, together[0].sink.all<SwitchApplied>()[0].step);
        EXPECT_EQ(applied[1].step, applied[0].step);
        EXPECT_EQ(applied[0].id, "fusion");
        EXPECT_EQ(std::get<double>(applied[1].to), 0.25);
    }
    EXPECT_EQ(together[0].sink.losses(), together[1].sink.losses());
}

TEST(WorkersTogether, AFlipAskedOfTheFirstWhileAllWaitIsMadeBeforeTheyGoOn) {
    Together together(tiny(8));
    std::jthread person;
    std::atomic<std::size_t> flipped{0};
    together.after(0, 3, [&] {
        together[0].commands.push(Pause{});
        person = std::jthread([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            together[0].commands.push(Flip{"fusion", std::string("kernels")});
            for (int look = 0; look < 1000 && flipped == 0; ++look) {
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
                flipped = together[0].sink.all<SwitchApplied>().size();
            }
            together[0].commands.push(Resume{});
        });
    });
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    person.join();
    EXPECT_EQ(flipped, 1u) << "while it was paused";
    for (const int rank : {0, 1}) {
        const auto applied = together[rank].sink.all<SwitchApplied>();
        ASSERT_EQ(applied.size(), 1u);
        EXPECT_THAT(applied[0].step, AnyOf(3, 4));
    }
}

// The boundaries behind them are as far apart as without the other worker: nothing is exchanged there.
TEST(WorkersTogether, ExchangeNothingBetweenStepsWhereNobodyHasAnythingToSay) {
    Together together(tiny(30));
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    // The first two boundaries, the last one and the times of all; a long step, on a busy machine, adds its own.
    std::int64_t longSteps = 0;
    for (const int rank : {0, 1})
        for (const StepDone& done : together[rank].sink.all<StepDone>()) longSteps += done.duration.ns >= 100'000'000 ? 1 : 0;
    EXPECT_GE(together.gathers(), 30) << "the losses";
    EXPECT_LE(together.gathers(), 30 + 4 + ClockExchange::kGathers + longSteps) << "and their clocks, once";
}

TEST(SharedCommand, ComesBackAsItWasAndWhatIsNoneIsNone) {
    for (const Flip& flip : {Flip{"batch-size", std::int64_t{12}}, Flip{"grad-clip", 1.0}, Flip{"grad-clip", 0.1}, Flip{"amp", std::string("bf16")},
                             Flip{"checkpointing", std::string()}}) {
        const auto back = commandFrom(sayCommand(flip));
        ASSERT_TRUE(back && std::holds_alternative<Flip>(*back)) << sayCommand(flip);
        EXPECT_EQ(std::get<Flip>(*back).id, flip.id);
        EXPECT_EQ(std::get<Flip>(*back).value, flip.value) << sayCommand(flip);
    }
    for (const std::int64_t seed : {std::int64_t{0}, std::int64_t{-7}, std::int64_t{1'000'000'000'000}}) {
        const auto back = commandFrom(sayCommand(Reseed{seed}));
        ASSERT_TRUE(back && std::holds_alternative<Reseed>(*back)) << seed;
        EXPECT_EQ(std::get<Reseed>(*back).seed, seed);
    }
    const auto kept = commandFrom(sayCommand(SaveCheckpoint{"/somewhere/of/the/first"}));
    ASSERT_TRUE(kept && std::holds_alternative<SaveCheckpoint>(*kept));
    EXPECT_EQ(std::get<SaveCheckpoint>(*kept).path, "") << "which is nobody else's";
    const auto validation = commandFrom(sayCommand(ValidateNow{}));
    EXPECT_TRUE(validation && std::holds_alternative<ValidateNow>(*validation));
    for (const char* said : {"", "amp", "=wbf16", "amp=", "amp=xbf16", "batch-size=i", "batch-size=i12 ", "grad-clip=rtrue", "!", "!seed ", "!seed x",
                             "!seed 1 2", "!checkpoints"})
        EXPECT_FALSE(commandFrom(said)) << said;
}

TEST(WorkersTogether, AValidationAskedOfTheFirstIsMadeByAllAsOneThatIsDue) {
    RunConfig due = tiny(9);
    due.switches["validation-every"] = std::int64_t{5};
    Together planned(due), asked(tiny(9));
    planned.run();
    asked.meetBehind(5);
    asked.after(0, 5, [&] { asked[0].commands.push(ValidateNow{}); });
    for (const auto& outcome : asked.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    ASSERT_FALSE(planned[0].sink.all<ValidationDone>().empty());
    const ValidationDone expected = planned[0].sink.all<ValidationDone>()[0];
    for (const int rank : {0, 1}) {
        const auto done = asked[rank].sink.all<ValidationDone>();
        ASSERT_EQ(done.size(), 1u) << rank;
        EXPECT_EQ(done[0].step, 5);
        EXPECT_EQ(done[0].loss, expected.loss);
    }
    EXPECT_EQ(asked[0].sink.losses(), lossesTogether(9));
}

TEST(WorkersTogether, AnotherSeedAskedOfTheFirstIsThatOfAllFromTheSameStepOn) {
    Together together(tiny(12));
    together.meetBehind(5);
    together.after(0, 5, [&] { together[0].commands.push(Reseed{99}); });
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    RunConfig config = tiny(12);
    config.switches["grad-accumulation"] = std::int64_t{2};
    TinyTrainer alone(config);
    alone.sink.onEvent = [&](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event); done != nullptr && done->step == 5) alone.commands.push(Reseed{99});
    };
    alone.run();
    for (const int rank : {0, 1}) EXPECT_EQ(together[rank].sink.losses(), alone.sink.losses()) << rank;
    EXPECT_NE(together[0].sink.losses(), lossesTogether(12));
}

TEST(WorkersTogether, RoundTheirSumsFromTheSameStepOnWhenThatIsFlipped) {
    Together together(tiny(12));
    for (const int rank : {0, 1}) together[rank].setup.commandsBefore = [](std::int64_t step) { return step == 5; };
    for (const int rank : {0, 1}) together.after(rank, 4, [&, rank] { together[rank].commands.push(Flip{"grad-sums", std::string("bf16")}); });
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    for (const int rank : {0, 1}) {
        const auto applied = together[rank].sink.all<SwitchApplied>();
        ASSERT_EQ(applied.size(), 1u);
        EXPECT_EQ(applied[0].step, 4);
    }
    const auto flipped = together[0].sink.losses(), whole = lossesTogether(12);
    EXPECT_EQ(flipped, together[1].sink.losses());
    ASSERT_EQ(flipped.size(), 12u);
    EXPECT_TRUE(std::equal(flipped.begin(), flipped.begin() + 5, whole.begin())) << "step 5 rounds first, and its loss is of weights from before";
    EXPECT_NE(flipped, whole);
}

TEST(WorkersTogether, DoNotFlipWhatOneOfThemCannot) {
    Together together(tiny(12));
    for (const int rank : {0, 1}) together.after(rank, 4, [&, rank] { together[rank].commands.push(Flip{"fusion", std::string("kernels")}); });
    together[1].setup.fits = [](const RunPlan&, const RunPlan&) { return Status(makeError(ErrorCode::OutOfMemory, "There is no room for it.")); };
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    const char* why[] = {"worker 1 of 2 cannot do it", "There is no room for it."};
    for (const int rank : {0, 1}) {
        EXPECT_TRUE(together[rank].sink.all<SwitchApplied>().empty());
        const auto refused = together[rank].sink.all<SwitchRefused>();
        ASSERT_EQ(refused.size(), 1u);
        EXPECT_THAT(refused[0].why, HasSubstr(why[rank]));
    }
    EXPECT_EQ(together[0].sink.losses(), lossesTogether(12));
}

TEST(WorkersTogether, RefuseAFlipThatIsTooLongToBeSaidAndGoOn) {
    Together together(tiny(8));
    together.after(0, 3, [&] { together[0].commands.push(Flip{"amp", std::string(100'000, 'x')}); });
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    const auto refused = together[0].sink.all<SwitchRefused>();
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_EQ(refused[0].why, "no switch has a value that long.");
    EXPECT_EQ(together[0].sink.losses(), lossesTogether(8));
}

TEST(WorkersTogether, FailTogetherWhenTheLossIsNoNumberAnyMore) {
    RunConfig config = tiny(500);
    config.lr = 1e30;
    config.switches["grad-clip"] = 0.0;
    Together together(config);
    const auto outcomes = together.run();
    EXPECT_EQ(together.steps(0), together.steps(1));
    for (const auto& outcome : outcomes) {
        EXPECT_EQ(outcome.state, RunState::Failed);
        EXPECT_THAT(outcome.error.sentence, HasSubstr("not a number at step"));
    }
}

TEST(WorkersTogether, KeepOneCheckpointAndAnyNumberOfThemGoesOnFromIt) {
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-workers-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    RunConfig config = tiny(10);
    config.checkpointEvery = 5;
    config.keepBest = "on";
    Together together(config);
    together[0].setup.checkpointFolder = folder.string();
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    EXPECT_EQ(together[0].sink.all<CheckpointSaved>().size(), 2u);
    EXPECT_TRUE(together[1].sink.all<CheckpointSaved>().empty());
    EXPECT_EQ(together[1].sink.all<ValidationDone>().size(), 2u) << "for keep-best, with the first";
    const auto losses = together[0].sink.losses();

    RunConfig rest = tiny(10);
    rest.switches["grad-accumulation"] = std::int64_t{2};
    TinyTrainer alone(rest);
    alone.setup.state = loadCheckpoint((folder / "step-0000005").string(), alone.setup.state.config.paddedVocabulary).value();
    alone.run();
    EXPECT_EQ(alone.sink.losses(), std::vector(losses.begin() + 5, losses.end()));
    std::filesystem::remove_all(folder);
}

TEST(WorkersTogether, WaitForTheCheckpointOfTheLastStepWhereTheFirstOneFindsNoRoomForIt) {
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-workers-no-room-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    std::ofstream(folder) << "in the way";
    RunConfig config = tiny(6);
    config.checkpointEvery = 6;
    Together together(config);
    together[0].setup.checkpointFolder = (folder / "checkpoints").string();
    int asked = 0;
    together[0].setup.room = [&] {
        if (++asked < 8) return std::int64_t{1000};
        std::filesystem::remove(folder);
        return std::int64_t{1} << 40;
    };
    for (const auto& outcome : together.run()) {
        EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
        EXPECT_EQ(outcome.lostCheckpoints, 0);
    }
    EXPECT_EQ(together[0].sink.all<CheckpointSaved>().size(), 1u);
    EXPECT_EQ(together[0].sink.losses(), lossesTogether(6));
    std::filesystem::remove_all(folder);
}

TEST(WorkersTogether, OneThatFailsAloneEndsTheOtherWithASentenceAndACheckpoint) {
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-workers-left-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    Together together(tiny(1'000'000));
    together[0].setup.checkpointFolder = folder.string();
    together.after(1, 6, [] { throw std::runtime_error("a mistake of this worker alone"); });
    const auto outcomes = together.run();
    EXPECT_EQ(outcomes[0].state, RunState::Failed);
    EXPECT_THAT(outcomes[0].error.sentence, HasSubstr("Another worker has left. Step 6 is kept; resume from"));
    EXPECT_THAT(outcomes[1].error.sentence, HasSubstr("a mistake of this worker alone"));
    std::filesystem::remove_all(folder);
}

// Of one that is due, and of one that a person asks for.
TEST(WorkersTogether, AreHeardOfAsOftenAsTheyWantWhileTheFirstWritesACheckpoint) {
    for (const bool due : {true, false}) {
        const auto folder = std::filesystem::temp_directory_path() / ("stepscope-workers-beats-" + std::to_string(::getpid()));
        std::filesystem::remove_all(folder);
        RunConfig config = tiny(8);
        if (due) config.checkpointEvery = 5;
        Together together(config);
        together[0].setup.checkpointFolder = folder.string();
        together[0].setup.beat = std::chrono::milliseconds(10);
        int heard = 0;
        together[0].sink.onEvent = [&](const Event& event) {
            if (const auto* done = std::get_if<StepDone>(&event); !due && done != nullptr && done->step == 5)
                together[0].commands.push(SaveCheckpoint{});
            if (!std::holds_alternative<CheckpointSaved>(event)) return;
            const int before = together.gathers();
            std::this_thread::sleep_for(std::chrono::milliseconds(400));
            heard = together.gathers() - before;
        };
        for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
        EXPECT_EQ(together[0].sink.all<CheckpointSaved>().size(), 1u);
        EXPECT_GT(heard, 3) << (due ? "due" : "asked for");
        EXPECT_EQ(together[0].sink.losses(), lossesTogether(8));
        std::filesystem::remove_all(folder);
    }
}

TEST(WorkersTogether, AStopOfTheOtherWhileTheFirstWritesWhatItWasAskedForStopsBoth) {
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-workers-stops-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    Together together(tiny(1'000'000));
    together[0].setup.checkpointFolder = folder.string();
    together[0].setup.beat = std::chrono::milliseconds(10);
    together[0].sink.onEvent = [&](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event); done != nullptr && done->step == 5) together[0].commands.push(SaveCheckpoint{});
        if (!std::holds_alternative<CheckpointSaved>(event)) return;
        together[1].commands.push(Stop{});
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    };
    for (const auto& outcome : together.run()) EXPECT_EQ(outcome.state, RunState::Stopped) << outcome.error.sentence;
    EXPECT_EQ(together.steps(0), together.steps(1));
    std::filesystem::remove_all(folder);
}

TEST(WorkerBeats, ComeLongBeforeAnybodyIsTakenForLost) {
    EXPECT_EQ(beatWithin(std::chrono::seconds(300)), std::chrono::seconds(1));
    EXPECT_EQ(beatWithin(std::chrono::seconds(1)), std::chrono::milliseconds(250));
}

// A checkpoint that takes longer to write than workers wait for one that hangs.
TEST(WorkerBeats, TheOthersHearThatTheFirstIsStillThereForAsLongAsItTakes) {
    ThreadWorkers group{2};
    int waits = 0;
    group.run([&](int rank) {
        DataParallel others(group.of(rank));
        if (rank == 0) {
            WorkerBeats beats(&others, std::chrono::milliseconds(10));
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            EXPECT_FALSE(beats.end());
            EXPECT_EQ(others.agree(Wish::GoOn), Wish::GoOn);
        } else {
            WorkerBeats none(&others, std::chrono::milliseconds(1));  // the first one's alone are heard
            while (others.agree(Wish::GoOn) == Wish::Wait) ++waits;
        }
    });
    EXPECT_GT(waits, 2);
}

TEST(WorkerBeats, AStopThatAnotherAsksForMeanwhileIsHeard) {
    ThreadWorkers group{2};
    group.run([&](int rank) {
        DataParallel others(group.of(rank));
        if (rank == 0) {
            WorkerBeats beats(&others, std::chrono::milliseconds(10));
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            EXPECT_TRUE(beats.end());
        } else {
            EXPECT_EQ(others.agree(Wish::Stop), Wish::Stop);
        }
    });
}

}  // namespace
}  // namespace stepscope
