// The loader: the same batches in the same order whatever cuts them and however many threads do, errors where they belong, and
// no thread left behind.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "TemporaryFolder.h"
#include "core/data/BatchLoader.h"
#include "core/data/TextRow.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

using Batch = std::vector<std::int64_t>;  // inputs, then targets

constexpr std::int64_t kBatch = 3, kContext = 17;

Corpus textCorpus() {
    const std::string text = testing::lines(3000);
    const auto tokenizer = byteTokenizer();
    const auto ids = tokenizer->encode(text);
    Corpus corpus;
    corpus.tokens = inRam(std::vector<std::uint16_t>(ids->begin(), ids->end()));
    corpus.text =
        std::make_shared<TextRow>(std::make_shared<const SourceText>(SourceText{.name = "a text", .owned = text}), tokenizer, corpus.tokens);
    corpus.vocabulary = 256;
    corpus.trainTokens = corpus.tokens->size() * 9 / 10;
    return corpus;
}

BlockMaker plainBlocks(std::int64_t batch = kBatch, std::int64_t context = kContext) {
    return [=]() -> TokenBlock {
        auto ids = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(2 * batch * context), -1);
        auto* data = ids->data();
        return {std::move(ids), data};
    };
}

BatchLoader::Settings settings(std::int64_t workers = 0, std::int64_t prefetch = 2) {
    return {.batch = kBatch, .context = kContext, .workers = workers, .prefetch = prefetch};
}

Batch copyOf(const TokenBlock& block) {
    return {block.ids, block.ids + 2 * kBatch * kContext};
}

Batch expected(const BatchSource& source, std::uint64_t seed, std::int64_t cursor) {
    Batch batch(2 * kBatch * kContext);
    source.fill(Split::Train, seed, cursor, kBatch, kContext, batch.data(), batch.data() + kBatch * kContext);
    return batch;
}

int threadsNow() {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// A thread that was joined is still listed for a moment: whoever waits for it is woken before the system has taken it off the list.
int threadsOnceThereAre(int wanted) {
    for (int i = 0; i < 500 && threadsNow() != wanted; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return threadsNow();
}

// A row whose reads can be held up or fail from a place on.
class TroubledRow final : public TokenRow {
public:
    explicit TroubledRow(std::shared_ptr<const TokenRow> row) : m_row(std::move(row)) {}
    std::int64_t size() const override { return m_row->size(); }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override {
        ++reads;
        if (fails) throw DataChanged("the disk went away");
        m_row->copy(begin, count, into);
    }
    mutable std::atomic<std::int64_t> reads{0};
    std::atomic<bool> fails{false};

private:
    std::shared_ptr<const TokenRow> m_row;
};

TEST(BatchLoader, EveryPlaceAndEveryWayOfCuttingGivesTheSameBatches) {
    const BatchSource source(textCorpus());
    for (const TokenPlace place : {TokenPlace::Text, TokenPlace::Mapped, TokenPlace::Ram}) {
        for (const BatchCreation creation : {BatchCreation::Loop, BatchCreation::Vectorised, BatchCreation::Strided}) {
            for (const std::int64_t workers : {0, 2}) {
                BatchLoader::Settings wanted = settings(workers);
                wanted.place = place;
                wanted.creation = creation;
                BatchLoader loader(wanted, plainBlocks());
                for (std::int64_t cursor = 0; cursor < 10 * kBatch; cursor += kBatch)
                    ASSERT_EQ(copyOf(loader.next(source, 7, cursor)), expected(source, 7, cursor))
                        << static_cast<int>(place) << static_cast<int>(creation);
            }
        }
    }
}

TEST(BatchLoader, TheCopyInMemoryIsMadeOnceHoweverManyThreadsCut) {
    for (const std::int64_t workers : {0, 2}) {
        const BatchSource source(textCorpus());
        auto wanted = settings(workers);
        wanted.place = TokenPlace::Ram;
        BatchLoader loader(wanted, plainBlocks());
        loader.next(source, 1, 0);
        const std::weak_ptr<const TokenRow> copy = source.tokens(TokenPlace::Ram);
        EXPECT_FALSE(copy.expired()) << "somebody must hold it between two steps; " << workers << " workers";
        loader.next(source, 1, kBatch);
        EXPECT_EQ(copy.lock(), source.tokens(TokenPlace::Ram)) << workers << " workers";
    }
}

TEST(BatchLoader, TheOrderDoesNotDependOnTheNumberOfWorkers) {
    const BatchSource source(textCorpus());
    for (const std::int64_t workers : {0, 1, 2, 7, 64}) {
        for (const std::int64_t prefetch : {1, 2, 9}) {
            BatchLoader loader(settings(workers, prefetch), plainBlocks());
            for (std::int64_t cursor = 30; cursor < 30 + 100 * kBatch; cursor += kBatch)
                ASSERT_EQ(copyOf(loader.next(source, 3, cursor)), expected(source, 3, cursor)) << workers << " workers, " << prefetch << " ahead";
        }
    }
}

TEST(BatchLoader, StartsAnewWhereItIsAskedForAnotherSeedPlaceOrData) {
    const BatchSource source(textCorpus());
    auto other = std::make_unique<BatchSource>(textCorpus());
    BatchLoader loader(settings(3, 4), plainBlocks());
    for (const std::int64_t cursor : {0L, 3L, 6L, 600L, 603L, 3L, 6L}) EXPECT_EQ(copyOf(loader.next(source, 1, cursor)), expected(source, 1, cursor));
    EXPECT_EQ(copyOf(loader.next(source, 2, 9)), expected(source, 2, 9));
    EXPECT_EQ(copyOf(loader.next(*other, 2, 12)), expected(source, 2, 12));
    other.reset();  // the workers hold on to what they read
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(copyOf(loader.next(source, 2, 15)), expected(source, 2, 15));
}

TEST(BatchLoader, KeepsAsManyBatchesReadyAsAskedAndNoMore) {
    Corpus corpus = textCorpus();
    const auto row = std::make_shared<TroubledRow>(corpus.tokens);
    corpus.tokens = row;
    const BatchSource source(std::move(corpus));
    constexpr std::int64_t kReadsOfABatch = 2 * kBatch;  // inputs and targets of each sequence
    BatchLoader loader(settings(2, 5), plainBlocks());
    loader.next(source, 1, 0);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (row->reads < 6 * kReadsOfABatch && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(row->reads, 6 * kReadsOfABatch) << "one handed out, five ahead";
}

TEST(BatchLoader, ThrowsWhatAWorkerMetAtTheBatchWhereItMetItAndGoesOnAfterwards) {
    for (const std::int64_t workers : {0, 2}) {
        Corpus corpus = textCorpus();
        const auto row = std::make_shared<TroubledRow>(corpus.tokens);
        corpus.tokens = row;
        const BatchSource source(std::move(corpus));
        BatchLoader loader(settings(workers, 1), plainBlocks());
        EXPECT_EQ(copyOf(loader.next(source, 1, 0)), expected(source, 1, 0));
        row->fails = true;
        std::string problem;
        for (std::int64_t cursor = kBatch; problem.empty() && cursor < 10 * kBatch; cursor += kBatch) {
            try {
                loader.next(source, 1, cursor);
            } catch (const DataChanged& changed) {
                problem = changed.what();
            }
        }
        EXPECT_EQ(problem, "the disk went away");
        row->fails = false;
        for (std::int64_t cursor = 300; cursor < 330; cursor += kBatch)
            EXPECT_EQ(copyOf(loader.next(source, 1, cursor)), expected(source, 1, cursor));
    }
}

TEST(BatchLoader, SaysThatThereIsNoTextAndThatTokensWereOverwritten) {
    Corpus corpus = textCorpus();
    corpus.text = nullptr;
    corpus.whyNoText = "No text here.";
    BatchLoader::Settings wanted = settings();
    wanted.place = TokenPlace::Text;
    EXPECT_THROW(BatchLoader(wanted, plainBlocks()).next(BatchSource(corpus), 1, 0), DataChanged);
    corpus.vocabulary = 50;  // letters are beyond it
    EXPECT_THROW(BatchLoader(settings(), plainBlocks()).next(BatchSource(corpus), 1, 0), DataChanged);
    EXPECT_THROW(BatchLoader(settings(2), plainBlocks()).next(BatchSource(corpus), 1, 0), DataChanged);
}

TEST(BatchLoader, LeavesNoThreadBehindWheneverItEnds) {
    const BatchSource source(textCorpus());
    const int before = threadsNow();
    for (int round = 0; round < 30; ++round) {
        BatchLoader loader(settings(4, 3), plainBlocks());
        EXPECT_EQ(threadsOnceThereAre(before + 4), before + 4);
        for (std::int64_t i = 0; i < round % 4; ++i) loader.next(source, 1, i * kBatch);
    }
    EXPECT_EQ(threadsOnceThereAre(before), before);
}

TEST(BatchLoader, ReusesItsMemoryUnlessACopyMayStillReadIt) {
    const BatchSource source(textCorpus());
    std::atomic<int> made{0};
    const auto counted = [&]() -> TokenBlock {
        ++made;
        return plainBlocks()();
    };
    {
        BatchLoader loader(settings(), counted);
        for (std::int64_t i = 0; i < 20; ++i) loader.next(source, 1, i * kBatch);
        EXPECT_EQ(made, 1);
    }
    made = 0;
    BatchLoader::Settings wanted = settings(2, 3);
    {
        BatchLoader loader(wanted, counted);
        for (std::int64_t i = 0; i < 50; ++i) loader.next(source, 1, i * kBatch);
        EXPECT_LE(made, 3 + 2 + 1);
    }
    made = 0;
    wanted.reuseBlocks = false;
    BatchLoader loader(wanted, counted);
    for (std::int64_t i = 0; i < 50; ++i) loader.next(source, 1, i * kBatch);
    EXPECT_GE(made, 50);
}

}  // namespace
}  // namespace stepscope
