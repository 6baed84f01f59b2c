// What a flip of a switch about data or validation changes, seen where it happens: which rows are read, how, by whom, how far ahead, and in which
// precision. That losses stay what they are is tested in FlipTest.cpp, and a flip that did nothing would pass there.
#include <gmock/gmock.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "TinyTraining.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Not;

struct Read {
    std::int64_t count = 0;
    bool pair = false;     // inputs and targets at once
    bool trainer = false;  // on the thread that trains
};

// A row that remembers who has read it, and how.
class ObservedRow final : public TokenRow {
public:
    explicit ObservedRow(std::shared_ptr<const TokenRow> row) : m_row(std::move(row)) {}
    std::int64_t size() const override { return m_row->size(); }
    bool randomAccess() const override { return m_row->randomAccess(); }
    Status prepare(const std::function<bool()>& wanted) const override { return m_row->prepare(wanted); }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override {
        note(count, false);
        m_row->copy(begin, count, into);
    }
    void copyPair(std::int64_t begin, std::int64_t count, std::int64_t* ids, std::int64_t* next) const override {
        note(count, true);
        m_row->copyPair(begin, count, ids, next);
    }
    std::vector<Read> reads() const {
        const std::lock_guard lock(m_mutex);
        return m_reads;
    }
    void forget() {
        const std::lock_guard lock(m_mutex);
        m_reads.clear();
    }

private:
    void note(std::int64_t count, bool pair) const {
        const std::lock_guard lock(m_mutex);
        m_reads.push_back({count, pair, std::this_thread::get_id() == m_trainer});
    }

    std::shared_ptr<const TokenRow> m_row;
    const std::thread::id m_trainer = std::this_thread::get_id();  // tests train on their own thread
    mutable std::mutex m_mutex;
    mutable std::vector<Read> m_reads;
};

// A run of 9 steps whose switch is flipped after the third and back after the sixth. Reads are those of steps 2-3, 5-6 and 8-9: the step after a flip
// may still copy or look ahead.
struct Watched {
    std::vector<Read> tokens[3], text[3];
};

Watched watch(const std::string& id, const Value& to, const std::vector<std::pair<std::string, Value>>& beside = {}) {
    Corpus corpus = testing::tinyBatches()->corpus();
    const auto tokens = std::make_shared<ObservedRow>(corpus.tokens), text = std::make_shared<ObservedRow>(corpus.text);
    corpus.tokens = tokens;
    corpus.text = text;
    RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), 9);
    for (const auto& [other, value] : beside) config.switches[other] = value;
    const Value from = config.switches.at(id);
    testing::TinyTrainer trainer(config, std::make_shared<BatchSource>(std::move(corpus)));
    Watched watched;
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr) return;
        const auto part = static_cast<std::size_t>((done->step - 1) / 3);
        if (done->step % 3 == 1) {
            tokens->forget();
            text->forget();
        }
        if (done->step % 3 == 0) {
            watched.tokens[part] = tokens->reads();
            watched.text[part] = text->reads();
        }
        if (done->step == 3) trainer.commands.push(Flip{id, to});
        if (done->step == 6) trainer.commands.push(Flip{id, from});
    };
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_EQ(trainer.sink.all<SwitchApplied>().size(), 2u);
    return watched;
}

const auto kWholeSequences = AllOf(Not(IsEmpty()), Each(AllOf(Field(&Read::count, 12), Field(&Read::pair, false))));

TEST(FlippedData, BatchesAreCutIdByIdByTheLoop) {
    const Watched seen = watch("batch-creation", std::string("loop"));
    EXPECT_THAT(seen.tokens[0], kWholeSequences);
    EXPECT_THAT(seen.tokens[1], AllOf(Not(IsEmpty()), Each(Field(&Read::count, 1))));
    EXPECT_THAT(seen.tokens[2], kWholeSequences);
}

TEST(FlippedData, StridedBatchesReadEachIdOnceForInputsAndTargets) {
    const Watched seen = watch("batch-creation", std::string("strided"));
    EXPECT_THAT(seen.tokens[0], kWholeSequences);
    EXPECT_THAT(seen.tokens[1], AllOf(Not(IsEmpty()), Each(AllOf(Field(&Read::count, 12), Field(&Read::pair, true)))));
    EXPECT_EQ(seen.tokens[1].size() * 2, seen.tokens[0].size());
    EXPECT_THAT(seen.tokens[2], kWholeSequences);
}

TEST(FlippedData, TokensInRamAreReadThereAndNoMoreFromWhereTheyLay) {
    const Watched seen = watch("data-source", std::string("ram"));
    EXPECT_THAT(seen.tokens[0], kWholeSequences);
    EXPECT_THAT(seen.tokens[1], IsEmpty());
    EXPECT_THAT(seen.tokens[2], kWholeSequences);
}

TEST(FlippedData, TheTextIsReadInPlaceOfItsTokens) {
    const Watched seen = watch("data-source", std::string("text"));
    EXPECT_THAT(seen.text[0], IsEmpty());
    EXPECT_THAT(seen.text[1], Not(IsEmpty()));
    EXPECT_THAT(seen.tokens[1], IsEmpty());
    EXPECT_THAT(seen.text[2], IsEmpty());
}

TEST(FlippedData, WorkersReadOnThreadsOfTheirOwn) {
    const Watched seen = watch("loader-workers", std::int64_t{3});
    EXPECT_THAT(seen.tokens[0], AllOf(Not(IsEmpty()), Each(Field(&Read::trainer, true))));
    EXPECT_THAT(seen.tokens[1], AllOf(Not(IsEmpty()), Each(Field(&Read::trainer, false))));
    EXPECT_THAT(seen.tokens[2], AllOf(Not(IsEmpty()), Each(Field(&Read::trainer, true))));
}

// How many batches lie ready when the trainer has waited long enough.
TEST(FlippedData, PrefetchIsHowManyBatchesAreCutAhead) {
    Corpus corpus = testing::tinyBatches()->corpus();
    const auto tokens = std::make_shared<ObservedRow>(corpus.tokens);
    corpus.tokens = tokens;
    RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), 6);
    config.switches["loader-workers"] = std::int64_t{2};
    config.switches["loader-prefetch"] = std::int64_t{2};
    testing::TinyTrainer trainer(config, std::make_shared<BatchSource>(std::move(corpus)));
    std::vector<std::size_t> ahead;
    std::size_t stepsOfProgram = 0;
    trainer.sink.onEvent = [&](const Event& event) {
        if (std::holds_alternative<SwitchApplied>(event)) {
            tokens->forget();
            stepsOfProgram = 0;
        }
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr) return;
        ++stepsOfProgram;
        constexpr std::size_t kReadsOfBatch = 2 * 4;
        const std::size_t expected = done->step <= 3 ? 2 : 7;
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        const auto cut = [&] { return tokens->reads().size() / kReadsOfBatch - stepsOfProgram; };
        while (cut() < expected && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(30));  // time to go too far
        ahead.push_back(cut());
        if (done->step == 3) trainer.commands.push(Flip{"loader-prefetch", std::int64_t{7}});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_THAT(ahead, ::testing::ElementsAre(2, 2, 2, 7, 7, 7));
}

TEST(FlippedValidation, TakesThePrecisionOfTrainingWhereThatIsAskedFor) {
    const auto validated = [](const std::string& amp, bool flips) {
        RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), 8);
        config.switches["amp"] = amp;
        config.switches["validation-every"] = std::int64_t{1};
        testing::TinyTrainer trainer(config);
        trainer.sink.onEvent = [&, flips](const Event& event) {
            const auto* done = std::get_if<StepDone>(&event);
            if (flips && done != nullptr && done->step == 4) trainer.commands.push(Flip{"validation-amp", std::string("on")});
        };
        EXPECT_EQ(trainer.run().state, RunState::Finished);
        std::vector<double> losses;
        for (const auto& one : trainer.sink.all<ValidationDone>()) losses.push_back(one.loss);
        return losses;
    };
    const auto inFloat32 = validated("bf16", false), flipped = validated("bf16", true);
    ASSERT_EQ(flipped.size(), 8u);
    for (std::size_t i = 0; i < 8; ++i) {
        if (i < 4)
            EXPECT_EQ(flipped[i], inFloat32[i]) << i;
        else
            EXPECT_NE(flipped[i], inFloat32[i]) << i << ": rounded as training is";
        EXPECT_NEAR(flipped[i], inFloat32[i], 2e-2) << i;
    }
    EXPECT_EQ(validated("off", true), validated("off", false)) << "where training is in float32 there is nothing to take over";
}

}  // namespace
}  // namespace stepscope
