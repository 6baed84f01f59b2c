// Which tokens are in a batch: a function of seed and cursor only, and never outside the part they belong to.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/data/BatchSource.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

// Ids that are their own positions, so that a batch tells where it was read.
Corpus counting(std::int64_t size, std::int64_t trainTokens) {
    std::vector<std::uint32_t> ids(static_cast<std::size_t>(size));
    std::iota(ids.begin(), ids.end(), 0);
    Corpus corpus;
    corpus.tokens = inRam(std::move(ids));
    corpus.vocabulary = size;
    corpus.trainTokens = trainTokens;
    return corpus;
}

struct Batch {
    std::vector<std::int64_t> inputs, targets;
    bool operator==(const Batch&) const = default;
};

Batch take(const BatchSource& source, Split split, std::uint64_t seed, std::int64_t cursor, std::int64_t batch, std::int64_t context) {
    Batch taken{std::vector<std::int64_t>(static_cast<std::size_t>(batch * context), -1),
                std::vector<std::int64_t>(static_cast<std::size_t>(batch * context), -1)};
    source.fill(split, seed, cursor, batch, context, taken.inputs.data(), taken.targets.data());
    return taken;
}

TEST(BatchSource, TargetsAreTheInputsOneTokenLater) {
    const BatchSource source(counting(10'000, 9000));
    for (const Split split : {Split::Train, Split::Validation}) {
        const Batch batch = take(source, split, 1, 0, 16, 32);
        for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
            ASSERT_EQ(batch.targets[i], batch.inputs[i] + 1);
            if (i % 32 == 0) continue;
            ASSERT_EQ(batch.inputs[i], batch.inputs[i - 1] + 1);
        }
    }
}

TEST(BatchSource, CopiesTheTokensToRamOnlyWhereThereIsRoomForThem) {
    Corpus corpus = counting(100'000, 90'000);  // 32 bits each
    std::int64_t free = 400'000;
    corpus.freeMemory = [&] { return Bytes{free}; };
    const BatchSource source(std::move(corpus));
    RunPlan plan{.context = 16, .feed = {.place = TokenPlace::Ram}};
    EXPECT_TRUE(source.accepts(plan).ok());
    free = 399'999;
    const Status refused = source.accepts(plan);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);
    EXPECT_NE(refused.error().sentence.find("data-source=mmap"), std::string::npos) << refused.error().sentence;
    const auto copy = source.tokens(TokenPlace::Ram);
    EXPECT_TRUE(source.accepts(plan).ok()) << "it is there already";
    plan.feed.place = TokenPlace::Mapped;
    EXPECT_TRUE(source.accepts(plan).ok());
}

TEST(BatchSource, RefusesATextThatCannotBeReadBeforeAnythingReadsIt) {
    struct Uncut final : TokenRow {
        std::int64_t size() const override { return 10'000; }
        void copy(std::int64_t, std::int64_t, std::int64_t*) const override { throw DataChanged("read"); }
        Status prepare(const std::function<bool()>&) const override { return makeError(ErrorCode::Unsupported, "It cannot be cut."); }
    };
    Corpus corpus = counting(10'000, 9000);
    corpus.text = std::make_shared<Uncut>();
    const BatchSource source(std::move(corpus));
    RunPlan plan{.context = 16, .feed = {.place = TokenPlace::Text}};
    const Status refused = source.accepts(plan);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().sentence, "It cannot be cut.");
    plan.feed.place = TokenPlace::Mapped;
    EXPECT_TRUE(source.accepts(plan).ok());
}

TEST(BatchSource, GivesTheSameSequencesHoweverTheyAreSplitIntoBatches) {
    const BatchSource source(counting(10'000, 9000));
    constexpr std::int64_t kContext = 16, kTotal = 48;
    for (const Split split : {Split::Train, Split::Validation}) {
        const Batch whole = take(source, split, 7, 100, kTotal, kContext);
        for (const std::int64_t size : {1, 2, 3, 4, 6, 8, 12, 16, 24}) {
            Batch joined;
            for (std::int64_t at = 0; at < kTotal; at += size) {
                const Batch part = take(source, split, 7, 100 + at, size, kContext);
                joined.inputs.insert(joined.inputs.end(), part.inputs.begin(), part.inputs.end());
                joined.targets.insert(joined.targets.end(), part.targets.begin(), part.targets.end());
            }
            EXPECT_EQ(joined, whole) << "batches of " << size;
        }
    }
}

TEST(BatchSource, TrainingDependsOnTheSeedAndValidationDoesNot) {
    const BatchSource source(counting(10'000, 9000));
    EXPECT_EQ(take(source, Split::Train, 1, 0, 8, 16), take(source, Split::Train, 1, 0, 8, 16));
    EXPECT_NE(take(source, Split::Train, 1, 0, 8, 16), take(source, Split::Train, 2, 0, 8, 16));
    EXPECT_NE(take(source, Split::Train, 1, 0, 8, 16), take(source, Split::Train, 1, 8, 8, 16));
    EXPECT_EQ(take(source, Split::Validation, 1, 0, 8, 16), take(source, Split::Validation, 2, 0, 8, 16));
}

TEST(BatchSource, NeverReadsAcrossTheSplitAndReachesBothEndsOfEachPart) {
    constexpr std::int64_t kTrain = 40, kSize = 60, kContext = 9;
    const BatchSource source(counting(kSize, kTrain));
    const Batch train = take(source, Split::Train, 3, 0, 5000, kContext);
    EXPECT_EQ(std::ranges::min(train.inputs), 0);
    EXPECT_EQ(std::ranges::max(train.targets), kTrain - 1);
    const Batch validation = take(source, Split::Validation, 3, 0, 5000, kContext);
    EXPECT_EQ(std::ranges::min(validation.inputs), kTrain);
    EXPECT_EQ(std::ranges::max(validation.targets), kSize - 1);
}

TEST(BatchSource, TakesPartsThatHoldExactlyOneSequence) {
    const BatchSource source(counting(20, 11));
    const Batch train = take(source, Split::Train, 5, 3, 1, 10);
    EXPECT_EQ(train.inputs.front(), 0);
    EXPECT_EQ(train.targets.back(), 10);
    const Batch validation = take(source, Split::Validation, 5, 3, 1, 8);
    EXPECT_EQ(validation.inputs.front(), 11);
    EXPECT_EQ(validation.targets.back(), 19);
}

TEST(BatchSource, RefusesAContextThatDoesNotFit) {
    const BatchSource source(counting(20, 11));
    std::vector<std::int64_t> into(64);
    EXPECT_ANY_THROW(source.fill(Split::Train, 1, 0, 1, 11, into.data(), into.data() + 32));
    EXPECT_ANY_THROW(source.fill(Split::Validation, 1, 0, 1, 9, into.data(), into.data() + 32));
    EXPECT_ANY_THROW(source.fill(Split::Train, 1, -1, 1, 4, into.data(), into.data() + 32));
}

TEST(BatchSource, SpreadsValidationEvenlyHoweverManySequencesAreTaken) {
    constexpr std::int64_t kTrain = 1000, kSize = 101'001, kContext = 1;
    const BatchSource source(counting(kSize, kTrain));
    for (const std::int64_t count : {4, 10, 48, 100, 500}) {
        const Batch batch = take(source, Split::Validation, 1, 0, count, kContext);
        std::vector<std::int64_t> starts = batch.inputs;
        std::ranges::sort(starts);
        starts.insert(starts.begin(), kTrain);
        starts.push_back(kSize);
        std::int64_t widest = 0;
        for (std::size_t i = 1; i < starts.size(); ++i) widest = std::max(widest, starts[i] - starts[i - 1]);
        // Three-gap theorem: with the golden ratio no gap exceeds 2.62 times the even one.
        EXPECT_LT(static_cast<double>(widest), 2.7 * static_cast<double>(kSize - kTrain) / static_cast<double>(count)) << count;
    }
}

TEST(BatchSource, DrawsTrainingSequencesUniformly) {
    const BatchSource source(counting(100'011, 100'011));
    const Batch batch = take(source, Split::Train, 1, 0, 20'000, 10);
    std::vector<int> bins(10, 0);
    for (std::size_t i = 0; i < batch.inputs.size(); i += 10) ++bins[static_cast<std::size_t>(batch.inputs[i] / 10'001)];
    double chiSquared = 0;
    for (const int n : bins) chiSquared += (n - 2000.0) * (n - 2000.0) / 2000.0;
    EXPECT_LT(chiSquared, 27.9);  // 9 degrees of freedom, 0.1 %
}

}  // namespace
}  // namespace stepscope
