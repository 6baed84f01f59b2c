// Batches as tensors, and the switches about data inside the loop: order, ends, errors and checkpoints do not depend on them.
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/program/BatchFeed.h"
#include "core/state/Checkpoint.h"

namespace stepscope {
namespace {

using testing::tinyBatches;
using testing::TinyTrainer;

using Pair = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;

std::vector<std::int64_t> idsOf(const at::Tensor& tensor) {
    EXPECT_TRUE(tensor.is_contiguous());
    return {tensor.data_ptr<std::int64_t>(), tensor.data_ptr<std::int64_t>() + tensor.numel()};
}

Pair idsOf(const BatchFeed::Batch& batch) {
    return {idsOf(batch.inputs), idsOf(batch.targets)};
}

Pair expected(const BatchSource& source, Split split, std::int64_t cursor) {
    Pair pair{std::vector<std::int64_t>(20), std::vector<std::int64_t>(20)};
    source.fill(split, 5, cursor, 4, 5, pair.first.data(), pair.second.data());
    return pair;
}

RunConfig config(std::int64_t steps, std::vector<std::pair<std::string, Value>> switches) {
    RunConfig made = testing::tinyConfig(Registry(testing::plainCpu()), steps);
    for (auto& [id, value] : switches) made.switches[id] = value;
    return made;
}

using testing::lossesOf;

// Reads the row it is given, until that is no longer there.
class FailingRow final : public TokenRow {
public:
    FailingRow(std::shared_ptr<const TokenRow> row, std::int64_t reads) : m_row(std::move(row)), m_left(reads) {}
    std::int64_t size() const override { return m_row->size(); }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override {
        if (--m_left < 0) throw DataChanged("ids.bin was cut short by another program while the run read it");
        m_row->copy(begin, count, into);
    }

private:
    std::shared_ptr<const TokenRow> m_row;
    mutable std::atomic<std::int64_t> m_left;
};

TEST(BatchFeed, GivesTheSameBatchesWhereverTheyAreCut) {
    const auto source = tinyBatches();
    for (const TokenPlace place : {TokenPlace::Text, TokenPlace::Mapped, TokenPlace::Ram, TokenPlace::Device}) {
        for (const std::int64_t workers : {0, 2}) {
            BatchFeed feed({.place = place, .workers = workers, .pinned = true, .nonBlocking = true}, at::kCPU, 4, 5);
            for (const std::int64_t cursor : {0, 4, 8, 100}) {
                feed.cut(*source, 5, cursor);
                EXPECT_EQ(idsOf(feed.copy()), expected(*source, Split::Train, cursor)) << static_cast<int>(place);
                EXPECT_EQ(idsOf(feed.validation(*source, cursor, 4)), expected(*source, Split::Validation, cursor)) << static_cast<int>(place);
            }
        }
    }
}

TEST(BatchFeed, WhatACapturedStepReadsFromItsSlotIsTheBatchThatWasCut) {
    const auto source = tinyBatches();
    for (const TokenPlace place : {TokenPlace::Mapped, TokenPlace::Device}) {
        BatchFeed feed({.place = place}, at::kCPU, 4, 5);
        EXPECT_EQ(feed.cutsOnDevice(), place == TokenPlace::Device);
        EXPECT_EQ(feed.prepare(*source), feed.cutsOnDevice());
        EXPECT_FALSE(feed.prepare(*source)) << "nothing on the device has changed";
        at::Tensor slot = at::zeros({feed.slotSize()}, at::kLong);
        for (const std::int64_t cursor : {0, 4, 100}) {
            feed.cut(*source, 5, cursor);
            feed.copyInto(slot);
            EXPECT_EQ(idsOf(feed.read(slot)), expected(*source, Split::Train, cursor)) << static_cast<int>(place);
            EXPECT_TRUE(!feed.cutsOnDevice() || idsOf(slot) == feed.places());
        }
    }
}

TEST(BatchFeed, ValidationInBetweenDoesNotDisturbTheOrderOfTraining) {
    const auto plain = lossesOf(config(20, {}));
    const RunConfig validated =
        config(20, {{"validation-every", std::int64_t{3}}, {"loader-workers", std::int64_t{2}}, {"grad-accumulation", std::int64_t{1}}});
    EXPECT_EQ(lossesOf(validated), plain);
}

TEST(BatchFeed, MicroBatchesComeInTheSameOrderFromWorkers) {
    const std::pair<std::string, Value> three{"grad-accumulation", std::int64_t{3}};
    EXPECT_EQ(lossesOf(config(15, {three, {"loader-workers", std::int64_t{4}}, {"loader-prefetch", std::int64_t{5}}})),
              lossesOf(config(15, {three})));
}

TEST(BatchFeed, ThePlannedStepTakesTheSameBatches) {
    const std::pair<std::string, Value> planned{"fusion", std::string("step")};
    const auto plain = lossesOf(config(12, {planned}));
    EXPECT_EQ(lossesOf(config(12, {planned, {"loader-workers", std::int64_t{2}}, {"data-source", std::string("text")}})), plain);
    EXPECT_EQ(lossesOf(config(12, {planned, {"batch-creation", std::string("strided")}, {"data-source", std::string("ram")}})), plain);
}

TEST(BatchFeed, FlipsOfSizeAndLoaderGoOnWithTheNextSequence) {
    const auto run = [](std::int64_t workers) {
        TinyTrainer trainer(config(30, {{"loader-workers", workers}, {"loader-prefetch", std::int64_t{4}}}));
        trainer.sink.onEvent = [&](const Event& event) {
            const auto* done = std::get_if<StepDone>(&event);
            if (done == nullptr) return;
            if (done->step == 7) trainer.commands.push(Flip{"batch-size", std::int64_t{3}});
            if (done->step == 13) trainer.commands.push(Flip{"context", std::int64_t{9}});
            if (done->step == 17) trainer.commands.push(Flip{"loader-workers", workers == 0 ? workers : std::int64_t{1}});
            if (done->step == 21) trainer.commands.push(Reseed{12});
            if (done->step == 25) trainer.commands.push(Flip{"data-source", std::string("text")});
        };
        EXPECT_EQ(trainer.run().state, RunState::Finished);
        return trainer.sink.losses();
    };
    EXPECT_EQ(run(3), run(0));
}

TEST(BatchFeed, ACheckpointHoldsWhatWasTrainedOnNotWhatLiesReady) {
    const auto path = (std::filesystem::temp_directory_path() / ("stepscope-feed-" + std::to_string(::getpid()))).string();
    TinyTrainer trainer(config(6, {{"loader-workers", std::int64_t{2}}, {"loader-prefetch", std::int64_t{16}}}));
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && done->step == 5) trainer.commands.push(SaveCheckpoint{path});
    };
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    const auto meta = readCheckpointMeta(path);
    std::filesystem::remove_all(path);
    ASSERT_TRUE(meta.ok());
    EXPECT_EQ(meta->step, 5);
    EXPECT_EQ(meta->cursor, 5 * 4);
}

TEST(BatchFeed, WhatAWorkerMeetsEndsTheRunWithASentence) {
    for (const std::int64_t workers : {0, 2}) {
        Corpus corpus = tinyBatches()->corpus();
        corpus.tokens = std::make_shared<FailingRow>(corpus.tokens, 60);
        TinyTrainer trainer(config(100, {{"loader-workers", workers}}), std::make_shared<BatchSource>(std::move(corpus)));
        const auto outcome = trainer.run();
        EXPECT_EQ(outcome.state, RunState::Failed);
        EXPECT_THAT(outcome.error.sentence, ::testing::HasSubstr("ids.bin was cut short"));
        EXPECT_GT(trainer.sink.losses().size(), 3u) << "what could be read was trained on";
    }
}

TEST(BatchFeed, StopAndPauseDoNotWaitForWorkersThatHaveNothingToDo) {
    TinyTrainer trainer(config(1000, {{"loader-workers", std::int64_t{5}}, {"loader-prefetch", std::int64_t{3}}}));
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr || done->step != 4) return;
        trainer.commands.push(Pause{});
        trainer.commands.push(Stop{});
    };
    EXPECT_EQ(trainer.run().state, RunState::Stopped);
    EXPECT_EQ(trainer.sink.losses().size(), 4u);
}

}  // namespace
}  // namespace stepscope
