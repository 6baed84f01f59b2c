// Token files: what was written is read back; anything else is refused.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "RandomText.h"
#include "TemporaryFolder.h"
#include "core/data/tokens/TokenFile.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TokenFileKey keyWith(std::int64_t vocabulary) {
    return {hashOf("text"), hashOf("tokenizer"), vocabulary};
}

std::vector<std::int32_t> someIds(std::size_t count, std::int64_t vocabulary) {
    testing::RandomText random(9);
    std::vector<std::int32_t> ids(count);
    for (auto& id : ids) id = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary)));
    return ids;
}

void writeFile(const std::string& path, const TokenFileKey& key, const std::vector<std::int32_t>& ids) {
    auto writer = TokenFileWriter::create(path, key);
    ASSERT_TRUE(writer.ok()) << writer.error().sentence;
    const std::span all(ids);
    ASSERT_TRUE((*writer)->append(all.first(ids.size() / 3)).ok());
    ASSERT_TRUE((*writer)->append(all.subspan(ids.size() / 3)).ok());
    ASSERT_TRUE((*writer)->finish().ok());
}

TEST(TokenFile, ReadsBackWhatWasWrittenIn16And32Bits) {
    const testing::TemporaryFolder folder;
    for (const std::int64_t vocabulary : {256L, 65536L, 65537L, 1'000'000L}) {
        const auto ids = someIds(10'000, vocabulary);
        const std::string path = folder.path("a/b/tokens.bin");
        writeFile(path, keyWith(vocabulary), ids);
        EXPECT_EQ(std::filesystem::file_size(path), 128 + ids.size() * (vocabulary <= 65536 ? 2 : 4));
        const auto row = openTokenFile(path, keyWith(vocabulary));
        ASSERT_TRUE(row.ok()) << row.error().sentence;
        EXPECT_EQ(testing::idsOf(**row), std::vector<std::int64_t>(ids.begin(), ids.end()));
    }
}

TEST(TokenFile, RefusesToCopyOutsideItsRange) {
    const testing::TemporaryFolder folder;
    writeFile(folder.path("t.bin"), keyWith(256), someIds(100, 256));
    const auto row = openTokenFile(folder.path("t.bin"), keyWith(256)).value();
    std::vector<std::int64_t> into(200);
    EXPECT_ANY_THROW(row->copy(-1, 5, into.data()));
    EXPECT_ANY_THROW(row->copy(96, 5, into.data()));
    EXPECT_ANY_THROW(row->copy(0, -1, into.data()));
    EXPECT_ANY_THROW(row->copy(1, std::numeric_limits<std::int64_t>::max(), into.data()));
    EXPECT_NO_THROW(row->copy(100, 0, into.data()));
}

TEST(TokenFile, RefusesAFileWhoseHashDiffers) {
    const testing::TemporaryFolder folder;
    writeFile(folder.path("t.bin"), keyWith(256), someIds(1000, 256));
    for (const TokenFileKey& other :
         {TokenFileKey{hashOf("other"), hashOf("tokenizer"), 256}, TokenFileKey{hashOf("text"), hashOf("other"), 256}, keyWith(300)}) {
        const auto row = openTokenFile(folder.path("t.bin"), other);
        ASSERT_FALSE(row.ok());
        EXPECT_EQ(row.error().code, ErrorCode::Damaged);
        EXPECT_THAT(row.error().sentence, HasSubstr("t.bin"));
    }
}

TEST(TokenFile, FindsEveryByteThatWasChanged) {
    const testing::TemporaryFolder folder;
    writeFile(folder.path("t.bin"), keyWith(256), someIds(200, 256));
    const std::string good = testing::readFile(folder.path("t.bin"));
    for (std::size_t at = 0; at < good.size(); ++at) {
        auto bad = std::make_shared<std::string>(good);
        (*bad)[at] = static_cast<char>((*bad)[at] ^ 1);
        ASSERT_FALSE(readTokenFile(*bad, bad, "t.bin", keyWith(256)).ok()) << "byte " << at;
    }
}

TEST(TokenFile, FindsEveryCutAndEveryAddedByte) {
    const testing::TemporaryFolder folder;
    writeFile(folder.path("t.bin"), keyWith(256), someIds(200, 256));
    const std::string good = testing::readFile(folder.path("t.bin"));
    for (std::size_t size = 0; size < good.size(); ++size) {
        const auto cut = std::make_shared<std::string>(good.substr(0, size));
        ASSERT_FALSE(readTokenFile(*cut, cut, "t.bin", keyWith(256)).ok()) << size << " bytes";
    }
    for (const char* more : {"x", "xy"}) {
        const auto longer = std::make_shared<std::string>(good + more);
        EXPECT_FALSE(readTokenFile(*longer, longer, "t.bin", keyWith(256)).ok());
    }
}

TEST(TokenFile, IsReadNoLongerThanSomebodyWantsIt) {
    const testing::TemporaryFolder folder;
    writeFile(folder.path("t.bin"), keyWith(256), someIds(100, 256));
    std::vector<double> shares;
    const auto unwanted = openTokenFile(folder.path("t.bin"), keyWith(256), [&](double share) {
        shares.push_back(share);
        return false;
    });
    ASSERT_FALSE(unwanted.ok());
    EXPECT_EQ(unwanted.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(shares, std::vector<double>{0});
    EXPECT_TRUE(openTokenFile(folder.path("t.bin"), keyWith(256), [](double) { return true; }).ok());
}

TEST(TokenFile, AMissingOneIsNotFound) {
    const testing::TemporaryFolder folder;
    EXPECT_EQ(openTokenFile(folder.path("none.bin"), keyWith(256)).error().code, ErrorCode::NotFound);
}

TEST(TokenFileWriter, MakesFoldersAndFileForTheirOwnerAlone) {
    namespace fs = std::filesystem;
    const testing::TemporaryFolder folder;
    const auto before = ::umask(0);
    writeFile(folder.path("cache/tokens/t.bin"), keyWith(256), someIds(10, 256));
    ::umask(before);
    const auto modeOf = [&](const char* name) { return fs::status(folder.path(name)).permissions() & fs::perms::all; };
    EXPECT_EQ(modeOf("cache"), fs::perms::owner_all);
    EXPECT_EQ(modeOf("cache/tokens"), fs::perms::owner_all);
    EXPECT_EQ(modeOf("cache/tokens/t.bin"), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(TokenFileWriter, LeavesNothingBehindWhenItIsNotFinished) {
    const testing::TemporaryFolder folder;
    {
        auto writer = TokenFileWriter::create(folder.path("t.bin"), keyWith(256));
        ASSERT_TRUE(writer.ok());
        ASSERT_TRUE((*writer)->append(someIds(5000, 256)).ok());
        EXPECT_FALSE(std::filesystem::exists(folder.path("t.bin"))) << "nobody may see half a file";
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TokenFileWriter, RemovesWhatAKilledProcessLeftLongAgoButNotWhatAnotherIsWriting) {
    const testing::TemporaryFolder folder;
    folder.write("old.bin.abcdef.part", "half");
    folder.write("new.bin.abcdef.part", "half");
    std::filesystem::last_write_time(folder.path("old.bin.abcdef.part"), std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
    writeFile(folder.path("t.bin"), keyWith(256), someIds(10, 256));
    EXPECT_FALSE(std::filesystem::exists(folder.path("old.bin.abcdef.part")));
    EXPECT_TRUE(std::filesystem::exists(folder.path("new.bin.abcdef.part")));
}

TEST(TokenFileWriter, SaysThatTheDiskIsFull) {
    const testing::TemporaryFolder folder;
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    auto writer = TokenFileWriter::create(folder.path("t.bin"), keyWith(256));
    const Status appended = writer.ok() ? (*writer)->append(someIds(50'000, 256)) : Status(writer.error());
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, oldHandler);
    ASSERT_TRUE(writer.ok());
    ASSERT_FALSE(appended.ok());
    EXPECT_EQ(appended.error().code, ErrorCode::Io);
    EXPECT_THAT(appended.error().sentence, HasSubstr("t.bin"));
}

}  // namespace
}  // namespace stepscope
