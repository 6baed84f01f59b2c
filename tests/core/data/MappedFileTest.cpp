// Mapped files that another program cuts short, and the signal that would end the program.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <numeric>
#include <thread>

#include "TemporaryFolder.h"
#include "core/data/Corpus.h"
#include "core/data/MappedFile.h"
#include "core/data/tokens/ReadyTokens.h"

namespace stepscope {
namespace {

std::int64_t sumOf(std::string_view bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

TEST(MappedFile, ReadsZerosWhereTheFileWasCutShortAndSaysSo) {
    const testing::TemporaryFolder folder;
    const std::string path = folder.write("a", std::string(1'000'000, '\1'));
    auto file = MappedFile::open(path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(sumOf(file->bytes()), 1'000'000);
    ASSERT_EQ(::truncate(path.c_str(), 100'000), 0);
    EXPECT_FALSE(file->cutShort()) << "nobody has read what is gone";
    const std::int64_t left = sumOf(file->bytes());
    EXPECT_TRUE(file->cutShort());
    EXPECT_GE(left, 100'000);
    EXPECT_LT(left, 100'000 + ::sysconf(_SC_PAGESIZE));

    // Another mapping of the same place is not damaged by what happened to the former one.
    const MappedFile moved = std::move(*file);
    EXPECT_TRUE(moved.cutShort());
    auto other = MappedFile::open(folder.write("b", std::string(1'000'000, '\1')));
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(sumOf(other->bytes()), 1'000'000);
    EXPECT_FALSE(other->cutShort());
}

TEST(MappedFile, WhatWasLetGoIsThereWhenItIsReadAgain) {
    const testing::TemporaryFolder folder;
    const auto file = MappedFile::open(folder.write("a", std::string(1'000'000, '\1')));
    ASSERT_TRUE(file.ok());
    for (const auto& [begin, size] : {std::pair<std::size_t, std::size_t>{0, 1'000'000}, {5000, 700'001}, {999'999, 1}, {1'000'000, 0}}) {
        file->letGo(file->bytes().substr(begin, size));
        EXPECT_EQ(sumOf(file->bytes()), 1'000'000);
        EXPECT_FALSE(file->cutShort());
    }
    // Nothing of another's memory: a page of it that was let go would be zeros.
    std::string other(1'000'000, '\1');
    file->letGo(other);
    MappedFile().letGo(other);
    EXPECT_EQ(sumOf(other), 1'000'000);
}

TEST(MappedFile, SeveralThreadsMayMeetTheEndAtOnce) {
    const testing::TemporaryFolder folder;
    const std::string path = folder.write("a", std::string(8'000'000, '\1'));
    const auto file = MappedFile::open(path);
    ASSERT_TRUE(file.ok());
    ASSERT_EQ(::truncate(path.c_str(), 0), 0);
    std::vector<std::int64_t> sums(4, -1);
    {
        std::vector<std::jthread> readers;
        for (auto& sum : sums) readers.emplace_back([&] { sum = sumOf(file->bytes()); });
    }
    EXPECT_THAT(sums, ::testing::Each(0));
    EXPECT_TRUE(file->cutShort());
}

// As a folder of shards is read.
TEST(MappedFile, HundredsAtATimeAreWatched) {
    const testing::TemporaryFolder folder;
    std::vector<MappedFile> files;
    for (int i = 0; i < 300; ++i) {
        auto file = MappedFile::open(folder.write(std::to_string(i), std::string(10'000, '\1')));
        ASSERT_TRUE(file.ok());
        files.push_back(std::move(*file));
    }
    ASSERT_EQ(::truncate(files.back().path().c_str(), 0), 0);
    EXPECT_EQ(sumOf(files.back().bytes()), 0);
    EXPECT_TRUE(files.back().cutShort());
    EXPECT_FALSE(files.front().cutShort());
}

TEST(MappedFileDeathTest, LeavesEverybodyElsesBusErrorsAlone) {
    const testing::TemporaryFolder folder;
    const auto watched = MappedFile::open(folder.write("a", "text"));
    ASSERT_TRUE(watched.ok());
    EXPECT_EXIT(
        {
            const int file = ::memfd_create("another", 0);
            const auto* gone = static_cast<const volatile char*>(::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0));
            static_cast<void>(gone[0]);
            ::_exit(0);
        },
        // The handler that was there before gets it: the system's, or a sanitizer's, which reports and exits.
        [](int status) { return (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) || (WIFEXITED(status) && WEXITSTATUS(status) != 0); }, "");
}

TEST(MappedFile, ReadyTokensThatAreCutShortEndWithASentence) {
    const testing::TemporaryFolder folder;
    const std::string path = folder.write("train.bin", testing::bytesOf(std::vector<std::uint16_t>(500'000, 7)));
    const auto ready = openReadyTokens(path);
    ASSERT_TRUE(ready.ok());
    ASSERT_EQ(::truncate(path.c_str(), 1000), 0);
    std::vector<std::int64_t> ids(64), next(64);
    ready->row->copy(0, 64, ids.data());
    EXPECT_THAT(ids, ::testing::Each(7));
    const auto problem = [&](auto read) -> std::string {
        try {
            read();
        } catch (const DataChanged& changed) {
            return changed.what();
        }
        return {};
    };
    EXPECT_THAT(problem([&] { ready->row->copy(400'000, 64, ids.data()); }), ::testing::HasSubstr("train.bin was cut short"));
    EXPECT_THAT(problem([&] { ready->row->copyPair(0, 64, ids.data(), next.data()); }), ::testing::HasSubstr("train.bin was cut short"));
}

}  // namespace
}  // namespace stepscope
