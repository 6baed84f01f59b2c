// A text that is tokenised anew at each read gives the ids that were made once, and says so when it no longer can.
#include <gmock/gmock.h>
#include <unistd.h>

#include "RandomText.h"
#include "TemporaryFolder.h"
#include "core/data/TextRow.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

struct Both {
    std::shared_ptr<const TokenRow> once;
    std::shared_ptr<const TextRow> anew;
};

Both rowsOf(SourceText source, std::shared_ptr<const Tokenizer> tokenizer) {
    const auto text = std::make_shared<const SourceText>(std::move(source));
    auto ids = tokenizer->encode(text->text());
    EXPECT_TRUE(ids.ok());
    auto once = inRam(std::vector<std::uint32_t>(ids->begin(), ids->end()));
    return {once, std::make_shared<const TextRow>(text, std::move(tokenizer), once)};
}

// Reads of every length at random places, and at both ends.
void expectTheSame(const Both& rows, std::uint64_t seed) {
    ASSERT_TRUE(rows.anew->prepare().ok()) << rows.anew->prepare().error().sentence;
    ASSERT_EQ(rows.anew->size(), rows.once->size());
    testing::RandomText random(seed);
    for (int i = 0; i < 200; ++i) {
        const auto count = static_cast<std::int64_t>(1 + random.below(i % 10 == 0 ? 3000 : 40));
        if (count + 1 > rows.once->size()) continue;
        const auto last = static_cast<std::uint64_t>(rows.once->size() - count - 1);
        const std::int64_t begin = i == 0 ? 0 : i == 1 ? static_cast<std::int64_t>(last) : static_cast<std::int64_t>(random.below(last + 1));
        std::vector<std::int64_t> a(static_cast<std::size_t>(count)), b(a), c(a), d(a);
        rows.once->copy(begin, count, a.data());
        rows.anew->copy(begin, count, b.data());
        ASSERT_EQ(a, b) << "[" << begin << ", +" << count << ")";
        rows.once->copyPair(begin, count, a.data(), c.data());
        rows.anew->copyPair(begin, count, b.data(), d.data());
        ASSERT_EQ(a, b);
        ASSERT_EQ(c, d);
    }
}

TEST(TextRow, GivesTheSameIdsWhereverItIsRead) {
    testing::RandomText random(4);
    const std::string text = random.characters(20'000);
    expectTheSame(rowsOf({.name = "a text", .owned = text}, byteTokenizer()), 1);
    expectTheSame(rowsOf({.name = "a text", .owned = text}, charTokenizer(text)), 2);
    const auto gpt2 = gpt2Tokenizer();
    ASSERT_TRUE(gpt2.ok()) << gpt2.error().sentence;
    expectTheSame(rowsOf({.name = "a text", .owned = text}, *gpt2), 3);
    expectTheSame(rowsOf({.name = "lines", .owned = testing::lines(2000)}, *gpt2), 4);
}

TEST(TextRow, TakesATextThatIsShorterThanOneMark) {
    expectTheSame(rowsOf({.name = "a text", .owned = "A few words only."}, byteTokenizer()), 5);
}

TEST(TextRow, IsPreparedLaterWhereNobodyWantedToWait) {
    const auto rows = rowsOf({.name = "lines", .owned = testing::lines(5000)}, byteTokenizer());
    int asked = 0;
    const Status stopped = rows.anew->prepare([&] { return ++asked < 2; });
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(asked, 2);
    expectTheSame(rows, 7);
}

TEST(TextRow, RefusesATextInWhichNoPlaceToCutIsNear) {
    const auto gpt2 = gpt2Tokenizer();
    ASSERT_TRUE(gpt2.ok());
    const auto rows = rowsOf({.name = "genome.txt", .owned = std::string(1'200'000, 'x')}, *gpt2);
    ASSERT_FALSE(rows.anew->prepare().ok());
    EXPECT_THAT(rows.anew->prepare().error().sentence, ::testing::AllOf(HasSubstr("genome.txt"), HasSubstr("choose mmap")));
    expectTheSame(rowsOf({.name = "genome.txt", .owned = std::string(1'200'000, 'x')}, byteTokenizer()), 6);
}

TEST(TextRow, SaysThatTheTextWasChangedOrCutShortUnderTheRun) {
    const testing::TemporaryFolder folder;
    const std::string path = folder.write("a.txt", testing::lines(5000));
    const auto read = [&] {
        auto source = readText(path, testing::kNeverCancelled);
        EXPECT_TRUE(source.ok());
        const auto rows = rowsOf(*std::move(source), charTokenizer(testing::lines(5000)));
        EXPECT_TRUE(rows.anew->prepare().ok());
        return rows.anew;
    };
    std::vector<std::int64_t> ids(100);
    const auto problem = [&](const TextRow& row) -> std::string {
        try {
            row.copy(row.size() - 100, 100, ids.data());
        } catch (const DataChanged& changed) {
            return changed.what();
        }
        return {};
    };
    const auto cut = read();
    ASSERT_EQ(::truncate(path.c_str(), 10), 0);
    EXPECT_THAT(problem(*cut), ::testing::AllOf(HasSubstr("a.txt"), HasSubstr("cut short")));

    folder.write("a.txt", testing::lines(5000));
    const auto changed = read();
    EXPECT_EQ(problem(*changed), "");
    std::fstream(path, std::ios::in | std::ios::out)
        .write(std::string(testing::lines(5000).size(), '#').data(), static_cast<std::streamsize>(testing::lines(5000).size()));
    EXPECT_THAT(problem(*changed), ::testing::AllOf(HasSubstr("a.txt"), HasSubstr("changed")));
}

}  // namespace
}  // namespace stepscope
