// A tokenising that was stopped or killed goes on where it was, and gives byte for byte the file that it would have given; what is not what was
// written is never gone on with.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "RandomText.h"
#include "TemporaryFolder.h"
#include "core/data/tokens/TokenCache.h"
#include "core/data/tokens/UnfinishedTokens.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr TokenisingSteps kSmall{.piece = 1000, .keepEvery = 4000}, kLarger{.piece = 4000, .keepEvery = 50'000};

class ResumedTokenising : public ::testing::Test {
protected:
    struct Said {
        std::string what;
        double fraction;
    };

    Result<CachedTokens> open(const std::string& text, const Tokenizer& tokenizer, const std::string& folder, int stopAfter = -1,
                              const TokenisingSteps& steps = kSmall) {
        m_said.clear();
        std::atomic<bool> cancelled{false};
        const auto progress = [&](const std::string& what, double fraction) {
            m_said.push_back({what, fraction});
            if (stopAfter >= 0 && static_cast<int>(m_said.size()) > stopAfter) cancelled = true;
        };
        return cachedTokens(
            text, "the text", tokenizer, folder, progress, cancelled, [] { return kUnbounded; }, steps);
    }
    // What is made without an interruption.
    std::string whole(const std::string& text, const Tokenizer& tokenizer) const {
        const testing::TemporaryFolder other;
        const auto made = cachedTokens(
            text, "the text", tokenizer, other.path(), [](const std::string&, double) {}, testing::kNeverCancelled);
        EXPECT_TRUE(made.ok());
        return testing::readFile(tokenCachePath(other.path(), text, tokenizer));
    }
    void stop(const std::string& text, const Tokenizer& tokenizer, int after) {
        const auto stopped = open(text, tokenizer, m_folder.path(), after);
        ASSERT_FALSE(stopped.ok());
        ASSERT_EQ(stopped.error().code, ErrorCode::Cancelled);
    }
    // Goes on and is what it has to be; whether it went on and did not begin anew is told.
    bool goesOn(const std::string& text, const Tokenizer& tokenizer, const TokenisingSteps& steps = kSmall) {
        const auto tokens = open(text, tokenizer, m_folder.path(), -1, steps);
        EXPECT_TRUE(tokens.ok()) << tokens.error().sentence;
        EXPECT_THAT(tokens->note, IsEmpty());
        EXPECT_EQ(testing::readFile(tokenCachePath(m_folder.path(), text, tokenizer)), whole(text, tokenizer));
        EXPECT_EQ(filesIn(m_folder.path()), 1) << "nothing unfinished is left";
        return std::ranges::any_of(m_said, [](const Said& said) { return said.what.ends_with("goes on where it was stopped"); });
    }
    static int filesIn(const std::string& folder) {
        return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    }
    std::string partOf(const std::string& text, const Tokenizer& tokenizer) const {
        return tokenCachePath(m_folder.path(), text, tokenizer) + ".part";
    }
    void remove(const std::string& text, const Tokenizer& tokenizer) const { fs::remove(tokenCachePath(m_folder.path(), text, tokenizer)); }

    testing::TemporaryFolder m_folder;
    std::vector<Said> m_said;
    std::string m_text = testing::lines(1200);
    std::shared_ptr<const Tokenizer> m_bytes = byteTokenizer();
};

TEST_F(ResumedTokenising, GivesTheSameFileWhereverItWasStopped) {
    const auto characters = charTokenizer(m_text);
    for (const auto& tokenizer : {m_bytes, characters})
        for (int after = 0; after < 32; after += 5) {
            stop(m_text, *tokenizer, after);
            ASSERT_TRUE(goesOn(m_text, *tokenizer)) << "stopped after " << after;
            remove(m_text, *tokenizer);
        }
}

TEST_F(ResumedTokenising, IsStoppedAsOftenAsOneLikes) {
    int times = 0;
    for (; times < 100; ++times)
        if (open(m_text, *m_bytes, m_folder.path(), 4).ok()) break;
    EXPECT_GT(times, 5);
    EXPECT_LT(times, 30);
    EXPECT_EQ(testing::readFile(tokenCachePath(m_folder.path(), m_text, *m_bytes)), whole(m_text, *m_bytes));
}

TEST_F(ResumedTokenising, IsCancelledWhileItReadsWhatWasLeftWhichStays) {
    stop(m_text, *m_bytes, 20);
    const TokenFileKey key{hashOf(m_text), hashOf(m_bytes->toJson()), m_bytes->vocabulary()};
    std::vector<double> shares;
    const auto unwanted = TokenFileWriter::create(tokenCachePath(m_folder.path(), m_text, *m_bytes), key, [&](double share) {
        shares.push_back(share);
        return false;
    });
    ASSERT_FALSE(unwanted.ok());
    EXPECT_EQ(unwanted.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(shares, std::vector<double>{0});
    EXPECT_TRUE(goesOn(m_text, *m_bytes));
}

TEST_F(ResumedTokenising, SaysHowMuchOfALongOneWasRead) {
    const TokenFileKey key{hashOf(m_text), hashOf(m_bytes->toJson()), m_bytes->vocabulary()};
    const std::string path = m_folder.path("long.bin");
    constexpr std::size_t kBytes = std::size_t{40} << 20;  // of the text: an id each
    {
        auto writer = TokenFileWriter::create(path, key).value();
        const std::vector<std::int32_t> ids(std::size_t{8} << 20, 'x');  // 16 MiB
        for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer->append(ids).ok());
        ASSERT_TRUE(writer->keep(kBytes, hashOf("some")).ok());
    }
    std::vector<double> shares;
    auto goesOn = TokenFileWriter::create(path, key, [&](double share) {
        shares.push_back(share);
        return true;
    });
    ASSERT_TRUE(goesOn.ok());
    EXPECT_EQ((*goesOn)->done().textBytes, kBytes);
    ASSERT_EQ(shares.size(), 2U);
    EXPECT_EQ(shares[0], 0);
    EXPECT_DOUBLE_EQ(shares[1], 0.8);
    (*goesOn)->discard();
}

TEST_F(ResumedTokenising, CountsFromWhereItGoesOn) {
    stop(m_text, *m_bytes, 20);
    ASSERT_TRUE(goesOn(m_text, *m_bytes));
    EXPECT_GT(m_said.front().fraction, 0.5);
    for (std::size_t i = 1; i < m_said.size(); ++i) EXPECT_GE(m_said[i].fraction, m_said[i - 1].fraction);
    EXPECT_EQ(m_said.back().fraction, 1.0);
}

TEST_F(ResumedTokenising, BeginsAnewForAnotherTextOrTokenizerAndThenStillGoesOnWithTheFirst) {
    stop(m_text, *m_bytes, 20);
    std::string edited = m_text;
    edited[10] = '!';  // of what was tokenised already, and of the same length
    EXPECT_FALSE([&] {
        const auto tokens = open(edited, *m_bytes, m_folder.path());
        EXPECT_EQ(testing::readFile(tokenCachePath(m_folder.path(), edited, *m_bytes)), whole(edited, *m_bytes));
        return std::ranges::any_of(m_said, [](const Said& said) { return said.what.ends_with("goes on where it was stopped"); });
    }());
    const auto characters = charTokenizer(m_text);
    const auto tokens = open(m_text, *characters, m_folder.path());
    EXPECT_EQ(testing::readFile(tokenCachePath(m_folder.path(), m_text, *characters)), whole(m_text, *characters));
    EXPECT_LT(m_said.front().fraction, 0.01);
    remove(edited, *m_bytes);
    remove(m_text, *characters);
    EXPECT_TRUE(goesOn(m_text, *m_bytes));
}

TEST_F(ResumedTokenising, NeverTrustsWhatIsNotWhatWasWritten) {
    const std::string part = partOf(m_text, *m_bytes), state = part + ".state";
    const auto zeroed = [](std::string bytes, std::size_t from) {
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end(), '\0');
        return bytes;
    };
    const auto flipped = [](std::string bytes, std::size_t at) {
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        return bytes;
    };
    stop(m_text, *m_bytes, 20);
    const std::string goodPart = testing::readFile(part), goodState = testing::readFile(state);
    ASSERT_EQ(goodState.size(), sizeof(UnfinishedTokens));
    struct Case {
        std::string part, state;
    };
    std::vector<Case> cases{{goodPart.substr(0, goodPart.size() - 1), goodState},
                            {goodPart.substr(0, 64), goodState},
                            {"", goodState},
                            {zeroed(goodPart, 128), goodState},
                            {zeroed(goodPart, goodPart.size() - 2), goodState},
                            {flipped(goodPart, 128), goodState},
                            {goodPart, ""},
                            {goodPart, goodState + "x"},
                            {goodPart, zeroed(goodState, 0)},
                            {goodPart, std::string(100'000, 'x')}};
    const TokenFileKey key{hashOf(m_text), hashOf(m_bytes->toJson()), m_bytes->vocabulary()};
    ASSERT_TRUE(parseUnfinished(goodState, key).has_value());
    for (std::size_t at = 0; at < goodState.size(); ++at) ASSERT_FALSE(parseUnfinished(flipped(goodState, at), key).has_value()) << "byte " << at;
    cases.push_back({goodPart, flipped(goodState, 20)});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        std::ofstream(part, std::ios::binary | std::ios::trunc) << cases[i].part;
        std::ofstream(state, std::ios::binary | std::ios::trunc) << cases[i].state;
        ASSERT_FALSE(goesOn(m_text, *m_bytes)) << "case " << i;
        remove(m_text, *m_bytes);
    }
    std::ofstream(part, std::ios::binary) << goodPart << "what was written behind the last state";
    std::ofstream(state, std::ios::binary) << goodState;
    EXPECT_TRUE(goesOn(m_text, *m_bytes));
}

TEST_F(ResumedTokenising, TakesNoFileOfAnotherKindForUnfinishedTokens) {
    const std::string part = partOf(m_text, *m_bytes);
    fs::create_symlink(m_folder.write("elsewhere/mine", "mine"), part);
    EXPECT_TRUE(open(m_text, *m_bytes, m_folder.path()).ok());
    EXPECT_EQ(testing::readFile(m_folder.path("elsewhere/mine")), "mine");
    remove(m_text, *m_bytes);
    fs::remove(part);
    fs::create_directory(part);
    EXPECT_TRUE(open(m_text, *m_bytes, m_folder.path()).ok());
}

TEST_F(ResumedTokenising, OfTwoAtOnceEachMakesItsOwnWhereTheFirstIsNotHeardOf) {
    const TokenFileKey key{hashOf(m_text), hashOf(m_bytes->toJson()), m_bytes->vocabulary()};
    const std::string path = tokenCachePath(m_folder.path(), m_text, *m_bytes);
    auto first = TokenFileWriter::create(path, key).value();
    const std::vector<std::int32_t> ids(100, 'x');
    ASSERT_TRUE(first->append(ids).ok());
    ASSERT_TRUE(first->keep(100, hashOf("another")).ok());
    TokenisingSteps impatient = kSmall;
    impatient.patience = {.looks = std::chrono::milliseconds(1), .silence = std::chrono::milliseconds(20)};
    const auto second = open(m_text, *m_bytes, m_folder.path(), -1, impatient);
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(testing::readFile(path), whole(m_text, *m_bytes));
    EXPECT_THAT(m_said.front().what, HasSubstr("Waiting for another process"));
    EXPECT_THAT(m_said.at(1).what, Not(HasSubstr("goes on")));
    EXPECT_TRUE(fs::exists(path + ".part")) << "what the first is writing stays";
    first.reset();
    remove(m_text, *m_bytes);
    EXPECT_FALSE(goesOn(m_text, *m_bytes)) << "it was of a text that read otherwise";
}

TEST_F(ResumedTokenising, KeepsNothingOfAShortTextOrOneThatCannotBeTokenised) {
    const std::string small = testing::lines(100);
    stop(small, *m_bytes, 0);
    EXPECT_TRUE(fs::is_empty(m_folder.path()));
    const auto characters = charTokenizer(m_text);
    const auto refused = open(m_text + "?", *characters, m_folder.path());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::BadInput);
    EXPECT_TRUE(fs::is_empty(m_folder.path()));
}

TEST_F(ResumedTokenising, SaysThatTheTextWasChangedMeanwhile) {
    std::string text = m_text;
    int said = 0;
    const auto changed = cachedTokens(
        text, "the text", *m_bytes, m_folder.path(),
        [&](const std::string&, double) {
            if (++said == 2) text[text.size() - 2] = '!';
        },
        testing::kNeverCancelled, [] { return kUnbounded; }, kSmall);
    ASSERT_FALSE(changed.ok());
    EXPECT_EQ(changed.error().code, ErrorCode::Io);
    EXPECT_THAT(changed.error().sentence, HasSubstr("the text was changed by another program"));
    EXPECT_TRUE(fs::is_empty(m_folder.path()));
}

TEST_F(ResumedTokenising, LeavesThreeUnfinishedOnesAndNoneForLongerThanAWeek) {
    std::vector<std::string> texts;
    for (int i = 0; i < 5; ++i) {
        texts.push_back(m_text + std::to_string(i));
        stop(texts.back(), *m_bytes, 20);
        fs::last_write_time(partOf(texts.back(), *m_bytes), fs::file_time_type::clock::now() - std::chrono::hours(24 * (4 - i)));
    }
    removeLeftovers(m_folder.path());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(fs::exists(partOf(texts[static_cast<std::size_t>(i)], *m_bytes)), i >= 2) << i;
    fs::last_write_time(partOf(texts[4], *m_bytes), fs::file_time_type::clock::now() - std::chrono::hours(24 * 8));
    removeLeftovers(m_folder.path());
    EXPECT_EQ(filesIn(m_folder.path()), 4) << "two of them, each with its state";
}

TEST_F(ResumedTokenising, GoesOnAfterItWasKilledAtAnyMoment) {
    std::string text;
    while (text.size() < 600'000) text += m_text;
    const std::string expected = whole(text, *m_bytes), path = tokenCachePath(m_folder.path(), text, *m_bytes);
    int wentOn = 0;
    for (int attempt = 0; attempt < 20; ++attempt) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            (void)open(text, *m_bytes, m_folder.path(), -1, kLarger);
            ::_exit(0);
        }
        ::usleep(static_cast<useconds_t>(500 + 1000 * attempt));
        ::kill(child, SIGKILL);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
        const auto tokens = open(text, *m_bytes, m_folder.path(), -1, kLarger);
        ASSERT_TRUE(tokens.ok()) << tokens.error().sentence;
        ASSERT_THAT(tokens->note, IsEmpty());
        ASSERT_EQ(testing::readFile(path), expected) << attempt;
        wentOn += m_said.front().what.ends_with("goes on where it was stopped") ? 1 : 0;
        remove(text, *m_bytes);
    }
    // Whether any of these moments lay between two states is the machine's affair; here is one that does.
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int said = 0;
        (void)cachedTokens(
            text, "the text", *m_bytes, m_folder.path(),
            [&](const std::string&, double) {
                if (++said == 60) (void)!::write(ready[1], "x", 1), ::pause();
            },
            testing::kNeverCancelled, [] { return kUnbounded; }, kLarger);
        ::_exit(0);
    }
    char told = 0;
    ASSERT_EQ(::read(ready[0], &told, 1), 1);
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    ::close(ready[0]);
    ::close(ready[1]);
    EXPECT_TRUE(goesOn(text, *m_bytes, kLarger)) << wentOn << " of those before went on";
}

}  // namespace
}  // namespace stepscope
