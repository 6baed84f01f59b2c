// The token cache: used when it matches, made again when it does not, survives kill -9, and never stands in the way.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "TemporaryFolder.h"
#include "core/data/tokens/TokenCache.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TokenCache : public ::testing::Test {
protected:
    CachedTokens open(const std::string& text, const Tokenizer& tokenizer, const std::string& folder) {
        m_said.clear();
        auto tokens = cachedTokens(
            text, "the text", tokenizer, folder, [this](const std::string& what, double) { m_said += what + "\n"; }, testing::kNeverCancelled);
        EXPECT_TRUE(tokens.ok()) << tokens.error().sentence;
        return *std::move(tokens);
    }
    static std::vector<std::int64_t> bytesOf(const std::string& text) {
        std::vector<std::int64_t> ids;
        for (const unsigned char c : text) ids.push_back(c);
        return ids;
    }

    testing::TemporaryFolder m_folder;
    std::string m_said;
    std::string m_text = testing::lines(1000);
    std::shared_ptr<const Tokenizer> m_bytes = byteTokenizer();
};

TEST_F(TokenCache, MakesTokensOnceAndThenReadsThem) {
    EXPECT_EQ(testing::idsOf(*open(m_text, *m_bytes, m_folder.path()).row), bytesOf(m_text));
    EXPECT_THAT(m_said, HasSubstr("Tokenising the text (byte)"));
    const auto again = open(m_text, *m_bytes, m_folder.path());
    EXPECT_EQ(testing::idsOf(*again.row), bytesOf(m_text));
    EXPECT_THAT(m_said, HasSubstr("come from the cache"));
    EXPECT_THAT(again.note, IsEmpty());
}

TEST_F(TokenCache, MakesNewTokensForAnotherTextOrTokenizer) {
    open(m_text, *m_bytes, m_folder.path());
    const std::string other = m_text + "!";
    EXPECT_EQ(testing::idsOf(*open(other, *m_bytes, m_folder.path()).row), bytesOf(other));
    EXPECT_THAT(m_said, HasSubstr("Tokenising"));
    const auto characters = charTokenizer(m_text);
    EXPECT_NE(testing::idsOf(*open(m_text, *characters, m_folder.path()).row), bytesOf(m_text));
    EXPECT_THAT(m_said, HasSubstr("Tokenising"));
}

TEST_F(TokenCache, MakesADamagedOneAgainAndSaysSo) {
    open(m_text, *m_bytes, m_folder.path());
    const std::string path = tokenCachePath(m_folder.path(), m_text, *m_bytes);
    const std::string good = testing::readFile(path);
    std::string flipped = good;
    flipped[flipped.size() / 2] ^= 4;
    for (const std::string& bad : {std::string(), std::string("garbage"), good.substr(0, good.size() / 2), flipped}) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;
        const auto tokens = open(m_text, *m_bytes, m_folder.path());
        EXPECT_EQ(testing::idsOf(*tokens.row), bytesOf(m_text));
        EXPECT_THAT(tokens.note, HasSubstr("damaged"));
        EXPECT_THAT(m_said, HasSubstr("damaged"));
        EXPECT_EQ(testing::readFile(path), good);
    }
}

TEST_F(TokenCache, KeepsTokensInMemoryWhereNoFolderCanBeMade) {
    m_folder.write("file", "not a folder");
    for (const std::string& folder : {m_folder.path("file/tokens"), std::string()}) {
        const auto tokens = open(m_text, *m_bytes, folder);
        EXPECT_EQ(testing::idsOf(*tokens.row), bytesOf(m_text));
        EXPECT_THAT(tokens.note, HasSubstr("kept in memory"));
    }
}

TEST_F(TokenCache, KeepsTokensInMemoryWhenTheDiskIsFull) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto tokens = open(m_text, *m_bytes, m_folder.path());
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, oldHandler);
    EXPECT_EQ(testing::idsOf(*tokens.row), bytesOf(m_text));
    EXPECT_THAT(tokens.note, HasSubstr("kept in memory"));
    EXPECT_TRUE(std::filesystem::is_empty(m_folder.path()));
}

TEST_F(TokenCache, RefusesTokensThatFitNeitherIntoACacheNorIntoMemory) {
    const auto within = [&](std::int64_t free) {
        return cachedTokens(
            m_text, "the text", *m_bytes, "", [](const std::string&, double) {}, testing::kNeverCancelled, [free] { return Bytes{free}; });
    };
    const auto needed = static_cast<std::int64_t>(4 * m_text.size());  // 16 bits each, and a copy as they grow
    EXPECT_TRUE(within(needed).ok());
    const auto refused = within(needed - 1);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);
    EXPECT_THAT(refused.error().sentence, HasSubstr("the text"));
}

// byteTokenizer(), but for how a piece is encoded.
class PlayedTokenizer : public Tokenizer {
public:
    std::string name() const override { return m_bytes->name(); }
    std::int64_t vocabulary() const override { return m_bytes->vocabulary(); }
    Result<std::vector<std::int32_t>> encode(std::string_view text) const override { return m_bytes->encode(text); }
    std::string decode(std::span<const std::int32_t> ids) const override { return m_bytes->decode(ids); }
    std::size_t bytesOf(std::int32_t id) const override { return m_bytes->bytesOf(id); }
    std::size_t cutAfter(std::string_view text, std::size_t wanted) const override { return m_bytes->cutAfter(text, wanted); }
    std::string toJson() const override { return m_bytes->toJson(); }

private:
    std::shared_ptr<const Tokenizer> m_bytes = byteTokenizer();
};

// Takes as long over a piece as nobody cancels.
class SlowTokenizer final : public PlayedTokenizer {
public:
    Result<std::vector<std::int32_t>> encodeUnless(const std::atomic<bool>& cancelled, std::string_view text) const override {
        begun = true;
        for (int i = 0; i < 4000 && !cancelled; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (cancelled) return makeError(ErrorCode::Cancelled, "Given up.");
        return encode(text);
    }

    mutable std::atomic<bool> begun{false};
};

// Who encodes the first piece waits for another that is encoded beside it: alone it would wait in vain.
class MeetingTokenizer final : public PlayedTokenizer {
public:
    Result<std::vector<std::int32_t>> encodeUnless(const std::atomic<bool>&, std::string_view text) const override {
        {
            std::unique_lock lock(m_mutex);
            most = std::max(most, ++m_inside);
            m_changed.notify_all();
            if (!m_changed.wait_for(lock, m_patience, [this] { return most > 1; })) m_patience = std::chrono::seconds(0);
        }
        auto ids = encode(text);
        const std::lock_guard lock(m_mutex);
        --m_inside;
        return ids;
    }
    void alone() const { m_patience = std::chrono::seconds(0); }

    mutable int most = 0;  // pieces at a time

private:
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    mutable std::chrono::seconds m_patience{30};
    mutable int m_inside = 0;
};

TEST_F(TokenCache, EncodesPiecesBesideEachOtherAndNoMoreOfThemThanItMay) {
    for (const std::size_t atOnce : {1, 2, 3}) {
        const MeetingTokenizer meeting;
        if (atOnce == 1) meeting.alone();
        const auto tokens = cachedTokens(
            m_text, "the text", meeting, "", [](const std::string&, double) {}, testing::kNeverCancelled, [] { return kUnbounded; },
            {.piece = m_text.size() / 9, .atOnce = atOnce});
        ASSERT_TRUE(tokens.ok()) << tokens.error().sentence;
        EXPECT_EQ(testing::idsOf(*tokens->row), bytesOf(m_text)) << "in the order of the text";
        EXPECT_LE(meeting.most, static_cast<int>(atOnce));
        EXPECT_GE(meeting.most, atOnce > 1 ? 2 : 1) << "pieces are encoded one after the other";
    }
}

TEST_F(TokenCache, StopsInTheMiddleOfAPieceToo) {
    const SlowTokenizer slow;
    std::atomic<bool> cancelled{false};
    std::thread person([&] {
        while (!slow.begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        cancelled = true;
    });
    const auto tokens = cachedTokens(
        m_text, "the text", slow, m_folder.path(), [](const std::string&, double) {}, cancelled, [] { return kUnbounded; }, {.piece = 1000});
    person.join();
    ASSERT_FALSE(tokens.ok());
    EXPECT_EQ(tokens.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(tokens.error().sentence, "Tokenising the text was cancelled.");
}

TEST_F(TokenCache, StopsWhenCancelledAndLeavesNothing) {
    const std::atomic<bool> cancelled{true};
    const auto tokens = cachedTokens(
        m_text, "the text", *m_bytes, m_folder.path(), [](const std::string&, double) {}, cancelled);
    ASSERT_FALSE(tokens.ok());
    EXPECT_EQ(tokens.error().code, ErrorCode::Cancelled);
    EXPECT_TRUE(std::filesystem::is_empty(m_folder.path()));
}

// What was made by then is whole, and the next one finds it.
TEST_F(TokenCache, IsNotWaitedForWhereNobodyWantsItsTokensAnyMore) {
    std::atomic<bool> cancelled{false};
    const auto tokens = cachedTokens(
        m_text, "the text", *m_bytes, m_folder.path(), [&](const std::string& what, double) { cancelled = what.starts_with("Tokenised"); },
        cancelled);
    ASSERT_FALSE(tokens.ok());
    EXPECT_EQ(tokens.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(testing::idsOf(*open(m_text, *m_bytes, m_folder.path()).row), bytesOf(m_text));
    EXPECT_THAT(m_said, HasSubstr("come from the cache"));
}

TEST_F(TokenCache, TokenisesALongTextInPiecesWithoutAJoint) {
    std::string text;
    while (text.size() < 20'000'000) text += m_text;
    const auto characters = charTokenizer(text);
    const auto whole = characters->encode(text).value();
    const auto pieces = open(text, *characters, m_folder.path());
    EXPECT_EQ(testing::idsOf(*pieces.row), std::vector<std::int64_t>(whole.begin(), whole.end()));
}

TEST_F(TokenCache, HoldsAfterTheWriterWasKilledAtAnyMoment) {
    std::string text;
    while (text.size() < 3'000'000) text += m_text;
    const auto expected = bytesOf(text);
    for (int attempt = 0; attempt < 20; ++attempt) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            while (true) {  // until killed: made, removed, made again
                (void)cachedTokens(
                    text, "the text", *m_bytes, m_folder.path(), [](const std::string&, double) {}, testing::kNeverCancelled);
                ::unlink(tokenCachePath(m_folder.path(), text, *m_bytes).c_str());
            }
        }
        ::usleep(static_cast<useconds_t>(2000 + 1700 * attempt));
        ::kill(child, SIGKILL);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
        const auto tokens = open(text, *m_bytes, m_folder.path());
        ASSERT_EQ(testing::idsOf(*tokens.row), expected);
        ASSERT_THAT(tokens.note, IsEmpty()) << "a killed writer must not even leave a damaged file";
    }
}

}  // namespace
}  // namespace stepscope
