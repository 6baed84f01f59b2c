// The bytes of a file as a reader gets them: whole, unpacked, bounded; and what of it is damaged said in a sentence with the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <random>

#include "sessions/importers/ByteSource.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::importing {
namespace {

using ::testing::HasSubstr;

struct ByteSourceOf : ::testing::Test {
    test::TempFolder folder;

    struct Read {
        std::string bytes;
        Status status;
        bool packed = false;
        double fraction = 0;
    };
    Read read(const std::string& content, const std::string& name = "a.json") {
        test::writeFile(folder.file(name), content);
        auto source = ByteSource::open(folder.file(name));
        EXPECT_TRUE(source.ok());
        Read all;
        for (std::string piece = (*source)->next(); !piece.empty(); piece = (*source)->next()) all.bytes += piece;
        all.status = (*source)->status();
        all.packed = (*source)->packed();
        all.fraction = (*source)->fraction();
        return all;
    }
    static std::string packed(const std::string& text, int level = 6) {
        z_stream zlib{};
        EXPECT_EQ(deflateInit2(&zlib, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        std::string out(deflateBound(&zlib, text.size()) + 64, '\0');
        zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
        zlib.avail_in = static_cast<uInt>(text.size());
        zlib.next_out = reinterpret_cast<Bytef*>(out.data());
        zlib.avail_out = static_cast<uInt>(out.size());
        EXPECT_EQ(deflate(&zlib, Z_FINISH), Z_STREAM_END);
        out.resize(zlib.total_out);
        deflateEnd(&zlib);
        return out;
    }
    static std::string noise(std::size_t count) {
        std::mt19937 random(5);
        std::string text(count, '\0');
        for (char& c : text) c = static_cast<char>(random());
        return text;
    }
};

TEST_F(ByteSourceOf, APlainFileAreItsBytesHoweverManyPiecesTheyTake) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, (std::size_t{5} << 20) + 3}) {
        const std::string content = 'x' + noise(size);
        const Read all = read(content);
        EXPECT_TRUE(all.status.ok());
        EXPECT_FALSE(all.packed);
        EXPECT_EQ(all.bytes == content, true) << size;
        EXPECT_EQ(all.fraction, 1);
    }
    EXPECT_TRUE(read("").bytes.empty());
}

TEST_F(ByteSourceOf, APackedFileIsUnpackedWhateverItIsCalled) {
    const std::string content = noise(3 << 20);
    const Read all = read(packed(content), "trace.json");
    EXPECT_TRUE(all.status.ok());
    EXPECT_TRUE(all.packed);
    EXPECT_EQ(all.bytes == content, true);
}

TEST_F(ByteSourceOf, SeveralMembersAreOneAfterTheOtherEmptyOnesTooAndPaddingIsPassedOver) {
    std::string file;
    for (int i = 0; i < 100; ++i) file += packed("") + packed("part " + std::to_string(i) + ';');
    const Read all = read(file + std::string(512, '\0'));
    EXPECT_TRUE(all.status.ok());
    EXPECT_TRUE(all.bytes.starts_with("part 0;part 1;"));
    EXPECT_TRUE(all.bytes.ends_with("part 99;"));
}

TEST_F(ByteSourceOf, OneThatEndsInTheMiddleGivesWhatThereIsAndSaysSo) {
    const std::string content = noise(1 << 20), whole = packed(content);
    for (const std::size_t kept : {whole.size() - 1, whole.size() / 2, std::size_t{12}}) {
        const Read all = read(whole.substr(0, kept));
        ASSERT_FALSE(all.status.ok()) << kept;
        EXPECT_THAT(all.status.error().sentence, HasSubstr("it ends in the middle"));
        EXPECT_THAT(all.status.error().sentence, HasSubstr(" at byte " + std::to_string(kept)));
        EXPECT_EQ(content.starts_with(all.bytes), true);
        EXPECT_EQ(all.status.error().subject.kind, Subject::Kind::File);
    }
}

TEST_F(ByteSourceOf, ADamagedOneSaysWhere) {
    std::string file = packed(noise(1 << 20));
    for (std::size_t i = 0; i < 64; ++i) file[file.size() / 2 + i] = static_cast<char>(0xff);
    const Read all = read(file);
    ASSERT_FALSE(all.status.ok());
    EXPECT_EQ(all.status.error().code, ErrorCode::BadInput);
    EXPECT_THAT(all.status.error().sentence, HasSubstr("is damaged at byte "));
    EXPECT_LT(all.bytes.size(), std::size_t{2} << 20);
}

TEST_F(ByteSourceOf, ABombIsGivenUpLongBeforeItsEnd) {
    // 600 MB of zeros in 0.6 MB.
    std::string piece = packed(std::string(std::size_t{60} << 20, '\0'), 9), file;
    for (int i = 0; i < 10; ++i) file += piece;
    test::writeFile(folder.file("bomb.gz"), file);
    auto source = ByteSource::open(folder.file("bomb.gz"));
    ASSERT_TRUE(source.ok());
    std::size_t taken = 0;
    for (std::string part = (*source)->next(); !part.empty(); part = (*source)->next()) taken += part.size();
    ASSERT_FALSE((*source)->status().ok());
    EXPECT_THAT((*source)->status().error().sentence, HasSubstr("more than 250 times its size"));
    EXPECT_LT(taken, std::size_t{300} << 20);
}

TEST_F(ByteSourceOf, WhatIsNoFileIsRefusedAtOnce) {
    const auto missing = ByteSource::open(folder.file("none"));
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_THAT(missing.error().sentence, HasSubstr("none"));
    const auto directory = ByteSource::open(folder.path());
    ASSERT_FALSE(directory.ok());
    EXPECT_THAT(directory.error().sentence, HasSubstr("is no file"));
}

TEST_F(ByteSourceOf, OneThatNobodyReadsToItsEndIsLetGoOf) {
    test::writeFile(folder.file("long"), noise(std::size_t{20} << 20));
    auto source = ByteSource::open(folder.file("long"));
    ASSERT_TRUE(source.ok());
    EXPECT_FALSE((*source)->next().empty());
    source->reset();  // its thread waits for room
    SUCCEED();
}

}  // namespace
}  // namespace stepscope::importing
