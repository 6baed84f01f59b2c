// What an engine that outlives its line keeps of what it said: in which order it comes back, what is let go of, a disk that takes nothing, and files
// that somebody has damaged. CTest.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/workbench/engine/detached/Journal.h"
#include "core/trace/ByteColumns.h"
#include "tests/sessions/FileSizeLimit.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class JournalTest : public ::testing::Test {
protected:
    JournalTest() {
        std::string made = (fs::temp_directory_path() / "stepscope-journal-XXXXXX").string();
        m_folder = ::mkdtemp(made.data());
    }
    ~JournalTest() override { fs::remove_all(m_folder); }

    static FrameBytes payload(std::uint64_t number, std::size_t size) {
        ByteWriter bytes;
        bytes.whole(number);
        FrameBytes all = bytes.take();
        all.resize(std::max(all.size(), size), static_cast<std::byte>(number));
        return all;
    }
    static void say(Journal& journal, std::uint64_t from, std::uint64_t to, std::size_t size = 100) {
        for (std::uint64_t number = from; number <= to; ++number) journal.append(FrameType::Event, payload(number, size), number);
    }
    // The numbers of what is read from there on; 0 stands for what has none.
    static std::vector<std::uint64_t> numbers(const Journal& journal, std::uint64_t behind) {
        std::vector<std::uint64_t> all;
        auto reader = journal.behind(behind);
        EXPECT_TRUE(reader) << reader.error().sentence;
        if (!reader) return all;
        for (auto frame = reader->next(); frame && *frame; frame = reader->next())
            all.push_back((*frame)->type == FrameType::Event ? ByteReader((*frame)->payload).whole() : 0);
        return all;
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator(m_folder))
            if (entry.path().filename().string().starts_with("said-")) all.push_back(entry.path());
        std::ranges::sort(all);
        return all;
    }
    std::string folder() const { return m_folder.string(); }

    fs::path m_folder;
};

std::vector<std::uint64_t> range(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> all;
    for (; from <= to; ++from) all.push_back(from);
    return all;
}

TEST_F(JournalTest, TellsFromAnyNumberOnWhatWasSaidAfterIt) {
    const auto journal = Journal::create(folder()).value();
    journal->append(FrameType::Keep, {std::byte{1}}, 0);
    say(*journal, 1, 20);
    journal->append(FrameType::Summary, {}, 0);
    auto all = range(1, 20);
    all.insert(all.begin(), 0);
    all.push_back(0);
    EXPECT_EQ(numbers(*journal, 0), all);
    for (std::uint64_t number = 1; number <= 20; ++number) {
        auto rest = range(number + 1, 20);
        rest.push_back(0);
        EXPECT_EQ(numbers(*journal, number), rest);
    }
    EXPECT_THAT(journal->behind(21).error().sentence, HasSubstr("has heard event 21 of this engine, which has said 20"));
}

TEST_F(JournalTest, AReaderGoesOnWithWhatIsSaidLater) {
    const auto journal = Journal::create(folder()).value();
    auto reader = journal->behind(0).value();
    EXPECT_FALSE(*reader.next());
    for (std::uint64_t number = 1; number <= 30; ++number) {
        say(*journal, number, number, 1 << 20);  // in files of 8 MB
        const auto frame = reader.next();
        ASSERT_TRUE(frame && *frame) << number;
        EXPECT_EQ(ByteReader((*frame)->payload).whole(), number);
        EXPECT_FALSE(*reader.next());
    }
    EXPECT_GT(files().size(), 2u);
}

TEST_F(JournalTest, LetsGoOfWholeFilesThatAreStoredElsewhere) {
    auto journal = Journal::create(folder()).value();
    auto slow = journal->behind(0).value();
    say(*journal, 1, 30, 1 << 20);
    const std::size_t before = files().size();
    for (std::uint64_t number = 1; number <= 12; ++number) ASSERT_TRUE(*slow.next());
    journal->letGo(12);
    EXPECT_LT(files().size(), before);
    EXPECT_EQ(ByteReader((*slow.next())->payload).whole(), 13u) << "who was that far is not disturbed";
    EXPECT_EQ(numbers(*journal, 12), range(13, 30));
    EXPECT_THAT(journal->behind(1).error().sentence, HasSubstr("no longer there"));
    EXPECT_FALSE(journal->allHeard());
    EXPECT_EQ(journal->heard(), 12u);
    EXPECT_EQ(Journal::open(folder()).value()->heard(), 12u) << "who comes later may ask from there on";
    journal->letGo(30);
    EXPECT_TRUE(journal->allHeard());
    EXPECT_EQ(numbers(*journal, 30), range(1, 0));

    journal = Journal::open(folder()).value();
    EXPECT_TRUE(journal->allHeard()) << "that is known to others, too";
    EXPECT_EQ(journal->newest(), 30u);
}

TEST_F(JournalTest, WhatWasHeardIsKnownWhereThatCouldNotBeWritten) {
    {
        const auto journal = Journal::create(folder()).value();
        say(*journal, 1, 30, 1 << 20);
        journal->letGo(12);
        const test::FileSizeLimit full(1);
        journal->letGo(14);
        EXPECT_EQ(journal->heard(), 14u);
    }
    EXPECT_EQ(Journal::open(folder()).value()->heard(), 12u) << "as it stood before the disk was full";
    // Its engine was killed between making the file and writing into it.
    std::ofstream(m_folder / "heard", std::ios::trunc).flush();
    const auto journal = Journal::open(folder()).value();
    ASSERT_GT(journal->heard(), 0u);
    const auto behind = journal->behind(journal->heard());
    ASSERT_TRUE(behind) << behind.error().sentence;
    EXPECT_EQ(numbers(*journal, journal->heard()), range(journal->heard() + 1, 30));
}

TEST_F(JournalTest, ADiskThatTakesNothingLosesNothing) {
    const auto journal = Journal::create(folder()).value();
    say(*journal, 1, 10);
    {
        const test::FileSizeLimit full(3'000);
        say(*journal, 11, 100);
        EXPECT_THAT(journal->refusal(), HasSubstr("File too large"));
        EXPECT_FALSE(journal->settle());
        EXPECT_EQ(numbers(*journal, 0), range(1, 100)) << "the rest is in memory";
        EXPECT_EQ(numbers(*journal, 50), range(51, 100));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_TRUE(journal->settle());
    EXPECT_EQ(journal->refusal(), "");
    say(*journal, 101, 102);
    EXPECT_EQ(numbers(*Journal::open(folder()).value(), 0), range(1, 102));
}

TEST_F(JournalTest, WhoAppendsWaitsWhileMemoryIsFullTooUntilTheRunIsToStop) {
    const auto journal = Journal::create(folder()).value();
    const test::FileSizeLimit full(1'000);
    std::atomic<bool> over{false};
    std::thread run([&] {
        say(*journal, 1, 3, std::size_t{40} << 20);
        over = true;
    });
    while (journal->newest() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(over) << "80 MB wait already";
    journal->giveUp();
    run.join();
    EXPECT_EQ(numbers(*journal, 0), range(1, 3));
}

TEST_F(JournalTest, WhatItsEngineCouldNotWriteToItsEndIsLeftOut) {
    {
        const auto journal = Journal::create(folder()).value();
        say(*journal, 1, 10);
    }
    fs::resize_file(files().at(0), fs::file_size(files().at(0)) - 7);
    const auto journal = Journal::open(folder()).value();
    EXPECT_EQ(journal->newest(), 9u);
    EXPECT_EQ(numbers(*journal, 4), range(5, 9));
}

TEST_F(JournalTest, FilesThatSomebodyDamagedTellWhatStandsBeforeThat) {
    {
        const auto journal = Journal::create(folder()).value();
        say(*journal, 1, 10);
    }
    {
        std::fstream file(files().at(0), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(5 * 108);
        file << "garbage";
    }
    std::ofstream(m_folder / "said-no number") << "x";
    std::ofstream(m_folder / "heard") << "nothing";
    const auto journal = Journal::open(folder()).value();
    EXPECT_EQ(journal->newest(), 5u);
    EXPECT_EQ(numbers(*journal, 0), range(1, 5));
    EXPECT_FALSE(journal->behind(7));
    EXPECT_THAT(Journal::open(folder() + "/nowhere").error().sentence, HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace stepscope
