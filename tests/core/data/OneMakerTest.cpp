// Of several processes that need the same tokens, or the same text put together, one makes them and the others wait; nobody waits for one that died,
// was stopped, or cannot be heard of.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "TemporaryFolder.h"
#include "core/data/Corpus.h"
#include "core/data/tokens/OneMaker.h"
#include "core/data/tokens/TokenCache.h"
#include "core/data/tokens/UnfinishedTokens.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr MakerPatience kLong{.looks = milliseconds(5), .silence = std::chrono::minutes(2)},
    kShort{.looks = milliseconds(5), .silence = milliseconds(50)};

// Another process, which opens something and stays where it is when it says `where` for the first time.
class HeldProcess {
public:
    using Open = std::function<void(const Progress&)>;
    HeldProcess(const std::string& where, const Open& open) {
        int ready[2];
        EXPECT_EQ(::pipe(ready), 0);
        m_process = ::fork();
        if (m_process == 0) {
            open([&](const std::string& what, double) {
                if (what.find(where) == std::string::npos) return;
                (void)!::write(ready[1], "x", 1);
                ::pause();
            });
            ::_exit(0);
        }
        ::close(ready[1]);
        char told = 0;
        EXPECT_EQ(::read(ready[0], &told, 1), 1) << "it never came to " << where;
        ::close(ready[0]);
    }
    ~HeldProcess() { kill(); }
    void kill() {
        if (m_process <= 0) return;
        ::kill(m_process, SIGKILL);
        ::waitpid(m_process, nullptr, 0);
        m_process = -1;
    }

private:
    pid_t m_process = -1;
};

class OneMaker : public ::testing::Test {
protected:
    OneMaker() {
        m_folder.write("texts/a.txt", testing::lines(300));
        m_folder.write("texts/b.txt", testing::lines(200));
        m_request.data = m_folder.path("texts");
        m_request.tokenizer = "byte";
        m_request.context = 8;
        m_request.cacheFolder = m_folder.path("cache");
        m_request.keptInRam = 0;
        m_request.patience = kLong;
    }
    // A text of one's own, of which the cache knows nothing but its tokens.
    Result<CachedTokens> tokens(const Progress& progress, const MakerPatience& patience,
                                const std::atomic<bool>& cancelled = testing::kNeverCancelled) {
        return cachedTokens(m_text, "the text", *m_bytes, m_folder.path("cache"), progress, cancelled, [] { return kUnbounded; },
                            {.piece = 1000, .keepEvery = 4000, .patience = patience});
    }
    Progress hear(const std::function<void(const std::string&)>& then = {}) {
        return [this, then](const std::string& what, double) {
            m_said += what + "\n";
            if (then) then(what);
        };
    }
    bool isRight(const CachedTokens& made) const {
        std::vector<std::int64_t> expected;
        for (const unsigned char c : m_text) expected.push_back(c);
        return testing::idsOf(*made.row) == expected;
    }
    // Whether nothing is left that somebody had locked, or was making.
    bool isTidy() const {
        return std::ranges::none_of(fs::directory_iterator(m_folder.path("cache")),
                                    [](const auto& entry) { return entry.path().extension() == ".part"; });
    }

    testing::TemporaryFolder m_folder;
    CorpusRequest m_request;
    std::string m_said;
    std::string m_text = testing::lines(1200);
    std::shared_ptr<const Tokenizer> m_bytes = byteTokenizer();
};

TEST_F(OneMaker, TokensAreMadeOnceByTwoThatNeedThemAtOnce) {
    std::atomic<bool> waits{false};
    std::string saidByFirst;
    std::atomic<int> pieces{0};
    std::thread first([&] {
        const auto made = tokens(
            [&](const std::string& what, double) {
                saidByFirst += what + "\n";
                // The other one comes to wait while this is at it.
                if (++pieces == 10)
                    for (int i = 0; i < 2000 && !waits; ++i) std::this_thread::sleep_for(milliseconds(5));
            },
            kLong);
        EXPECT_TRUE(made.ok() && isRight(*made));
    });
    // Its file may be there before it is the one that makes it.
    while (pieces == 0) std::this_thread::sleep_for(milliseconds(1));
    const auto taken = tokens(hear([&](const std::string& what) { waits = waits || what.starts_with("Waiting for another process"); }), kLong);
    first.join();
    ASSERT_TRUE(taken.ok()) << taken.error().sentence;
    EXPECT_TRUE(isRight(*taken));
    EXPECT_THAT(m_said, AllOf(HasSubstr("Waiting for another process, which makes the tokens of the text (byte)"), HasSubstr("come from the cache"),
                              Not(HasSubstr("Tokenising"))));
    EXPECT_THAT(saidByFirst, Not(HasSubstr("Waiting")));
    EXPECT_TRUE(isTidy());
}

TEST_F(OneMaker, OneThatDiesIsFollowedByAnotherWhichGoesOnWhereItWas) {
    int said = 0;
    HeldProcess maker("goes nowhere else", [&](const Progress& progress) {
        (void)tokens(
            [&](const std::string&, double) {
                if (++said == 30) progress("goes nowhere else", 0);
            },
            kLong);
    });
    const auto made = tokens(hear([&](const std::string& what) {
                                 if (what.starts_with("Waiting")) maker.kill();
                             }),
                             kLong);
    ASSERT_TRUE(made.ok()) << made.error().sentence;
    EXPECT_TRUE(isRight(*made));
    EXPECT_THAT(made->note, IsEmpty());
    EXPECT_THAT(m_said, AllOf(HasSubstr("Waiting"), HasSubstr("goes on where it was stopped")));
    EXPECT_TRUE(isTidy());
}

TEST_F(OneMaker, OneThatIsSilentForTooLongIsNotWaitedFor) {
    const HeldProcess maker("Tokenising", [&](const Progress& progress) { (void)tokens(progress, kLong); });
    const auto made = tokens(hear(), kShort);
    ASSERT_TRUE(made.ok()) << made.error().sentence;
    EXPECT_TRUE(isRight(*made));
    EXPECT_THAT(m_said, AllOf(HasSubstr("Waiting"), HasSubstr("Tokenising")));
}

TEST_F(OneMaker, WhoWaitsCanBeStopped) {
    const HeldProcess maker("Tokenising", [&](const Progress& progress) { (void)tokens(progress, kLong); });
    std::atomic<bool> cancelled{false};
    const auto stopped = tokens(hear([&](const std::string&) { cancelled = true; }), kLong, cancelled);
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
    m_said.clear();
    m_request.settledNs = 0;
    const HeldProcess reader("Reading", [&](const Progress& progress) { (void)openCorpus(m_request, progress, testing::kNeverCancelled); });
    cancelled = false;
    const auto none = openCorpus(
        m_request, [&](const std::string& what, double) { cancelled = cancelled || what.starts_with("Waiting"); }, cancelled);
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code, ErrorCode::Cancelled);
}

TEST_F(OneMaker, ATextIsPutTogetherOnceByTwoThatNeedItAtOnceThoughItsFilesAreNew) {
    std::atomic<bool> reads{false}, waits{false};
    std::string saidByFirst;
    std::thread first([&] {
        const auto made = openCorpus(
            m_request,
            [&](const std::string& what, double) {
                saidByFirst += what + "\n";
                reads = true;
                for (int i = 0; i < 2000 && !waits; ++i) std::this_thread::sleep_for(milliseconds(5));
            },
            testing::kNeverCancelled);
        EXPECT_TRUE(made.ok());
    });
    while (!reads) std::this_thread::sleep_for(milliseconds(1));
    const auto taken = openCorpus(m_request, hear([&](const std::string& what) { waits = waits || what.starts_with("Waiting for another process"); }),
                                  testing::kNeverCancelled);
    first.join();
    ASSERT_TRUE(taken.ok()) << taken.error().sentence;
    EXPECT_THAT(m_said, AllOf(HasSubstr("puts the text of " + m_request.data + " together: Reading " + m_request.data),
                              HasSubstr("not put together again"), Not(HasSubstr("Tokenising"))));
    EXPECT_THAT(saidByFirst, Not(HasSubstr("Waiting")));
    EXPECT_EQ(taken->tokens->size(), static_cast<std::int64_t>(testing::lines(300).size() + 1 + testing::lines(200).size()));
    EXPECT_TRUE(isTidy());
}

TEST_F(OneMaker, ATextIsPutTogetherByAnotherWhereTheFirstDies) {
    HeldProcess reader("Reading", [&](const Progress& progress) { (void)openCorpus(m_request, progress, testing::kNeverCancelled); });
    const auto made = openCorpus(m_request, hear([&](const std::string& what) {
                                     if (what.starts_with("Waiting")) reader.kill();
                                 }),
                                 testing::kNeverCancelled);
    ASSERT_TRUE(made.ok()) << made.error().sentence;
    EXPECT_THAT(m_said, AllOf(HasSubstr("Waiting"), HasSubstr("Tokenising")));
    EXPECT_TRUE(isTidy());
}

// As workers of one run open it: one after the other, all having begun before the first has made it.
TEST_F(OneMaker, ATextOfNewFilesIsTakenByWhoHasBeenOpeningItSinceBeforeItWasMadeAndByNobodyElse) {
    const auto isTaken = [&] {
        m_said.clear();
        EXPECT_TRUE(openCorpus(m_request, hear(), testing::kNeverCancelled).ok());
        return m_said.find("not put together again") != std::string::npos;
    };
    m_request.sinceNs = nowForFilesNs();
    EXPECT_FALSE(isTaken());
    EXPECT_TRUE(isTaken());
    m_request.sinceNs = nowForFilesNs() + 1;
    EXPECT_FALSE(isTaken());
    m_folder.write("texts/c.txt", "one more");
    m_request.sinceNs = 1;
    EXPECT_FALSE(isTaken()) << "another text";
}

TEST_F(OneMaker, TheCharactersOfATextAreCountedOnceByWorkersThatNeedThem) {
    m_request.tokenizer = "char";
    m_request.sinceNs = nowForFilesNs();
    const auto first = openCorpus(m_request, hear(), testing::kNeverCancelled);
    ASSERT_TRUE(first.ok()) << first.error().sentence;
    EXPECT_THAT(m_said, HasSubstr("Tokenising"));
    m_said.clear();
    const auto second = openCorpus(m_request, hear(), testing::kNeverCancelled);
    ASSERT_TRUE(second.ok()) << second.error().sentence;
    EXPECT_THAT(m_said, AllOf(HasSubstr("not put together again"), Not(HasSubstr("Reading")), Not(HasSubstr("Counting"))));
    EXPECT_EQ(second->tokenizer->toJson(), first->tokenizer->toJson());
    EXPECT_EQ(testing::idsOf(*second->tokens), testing::idsOf(*first->tokens));
}

TEST_F(OneMaker, EachMakesItsOwnWhereNothingCanBeLocked) {
    m_folder.write("file", "no folder");
    m_request.cacheFolder = m_folder.path("file/tokens");
    const auto made = openCorpus(m_request, hear(), testing::kNeverCancelled);
    ASSERT_TRUE(made.ok()) << made.error().sentence;
    EXPECT_THAT(m_said, AllOf(HasSubstr("Tokenising"), Not(HasSubstr("Waiting"))));
    EXPECT_THAT(made->description, HasSubstr("kept in memory"));
}

TEST_F(OneMaker, WhatItSaysIsHeardAndWhatIsNothingOfTheKindIsNot) {
    const std::string path = m_folder.path("cache/x.part");
    {
        const MakerTurn turn = takeTurn(
            path, testing::kNeverCancelled, [] {}, kLong);
        ASSERT_TRUE(turn.lock);
        EXPECT_FALSE(turn.waited);
        EXPECT_FALSE(heardOfMaker(path));
        turn.lock.say("Reading a long name " + std::string(1000, 'n'), 0.25);
        turn.lock.say("Reading \x1b[2J", 0.5);
        const auto said = heardOfMaker(path);
        ASSERT_TRUE(said);
        EXPECT_EQ(said->what, "Reading \uFFFD[2J");
        EXPECT_EQ(said->share, 0.5);
        EXPECT_EQ(fs::file_size(path), 512U);
        EXPECT_TRUE(tryLockUnfinished(path).isTaken);
    }
    EXPECT_FALSE(fs::exists(path));
    for (const char* bytes : {"", "x", "0.5", "\n", "nan Reading\n", " \n", "0,5 Reading", "0.5\nReading "}) {
        m_folder.write("cache/x.part", bytes);
        const auto said = heardOfMaker(path);
        EXPECT_FALSE(said) << bytes;
    }
}

}  // namespace
}  // namespace stepscope
