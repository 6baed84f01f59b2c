// What is written packed is there byte for byte when zlib unpacks it, wherever its buffers end; and a disk that is full is noticed at the latest when
// the stream ends.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <streambuf>
#include <string>

#include "sessions/exporters/Gzip.h"

namespace stepscope {
namespace {

std::string incompressible(std::size_t size, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text;
    while (text.size() < size) text += static_cast<char>(random());
    return text;
}

// Of one gzip member, and nothing behind it.
std::string unpackedWhole(std::string packed, std::size_t most) {
    z_stream zlib{};
    EXPECT_EQ(inflateInit2(&zlib, 15 + 16), Z_OK);
    std::string text(most + 1, '\0');
    zlib.next_in = reinterpret_cast<Bytef*>(packed.data());
    zlib.avail_in = static_cast<uInt>(packed.size());
    zlib.next_out = reinterpret_cast<Bytef*>(text.data());
    zlib.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(inflate(&zlib, Z_FINISH), Z_STREAM_END) << "the sum at its end is checked too";
    EXPECT_EQ(zlib.avail_in, 0u);
    text.resize(zlib.total_out);
    inflateEnd(&zlib);
    return text;
}

// Takes so many bytes and no more.
class SmallDisk final : public std::streambuf {
public:
    explicit SmallDisk(std::size_t room) : m_room(room) {}

protected:
    int_type overflow(int_type c) override {
        if (m_room == 0) return traits_type::eof();
        --m_room;
        return traits_type::not_eof(c);
    }

private:
    std::size_t m_room;
};

TEST(GzipStream, IsUnpackedToEveryByteWhereverItsBuffersEnd) {
    constexpr std::size_t kBuffer = 1 << 16;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kBuffer - 1, kBuffer, kBuffer + 1, 3 * kBuffer + 17}) {
        const std::string text = incompressible(size, size);
        std::ostringstream packed;
        GzipStream gzip(packed);
        std::mt19937 random(1);
        for (std::size_t at = 0; at < size;) {
            const std::size_t piece = std::min<std::size_t>(size - at, random() % 4 == 0 ? 1 : 1 + random() % 30'000);
            if (piece == 1)
                gzip.put(text[at]);
            else
                gzip.write(text.data() + at, static_cast<std::streamsize>(piece));
            at += piece;
            if (random() % 8 == 0) gzip.flush();
        }
        ASSERT_TRUE(gzip.finish()) << size;
        EXPECT_TRUE(unpackedWhole(packed.str(), size) == text) << size;
    }
}

TEST(GzipStream, PacksWhatRepeatsItself) {
    std::ostringstream packed;
    GzipStream gzip(packed);
    for (int i = 0; i < 20'000; ++i) gzip << "{\"ph\":\"X\",\"name\":\"aten::mm\",\"ts\":" << i << "},\n";
    ASSERT_TRUE(gzip.finish());
    EXPECT_LT(packed.str().size(), 200'000u) << "of more than 700 kB";
    EXPECT_EQ(packed.str().substr(0, 2), "\x1F\x8B") << "what a reader knows gzip by";
}

TEST(GzipStream, SaysThatSomethingWasNotWrittenHoweverLittleIsMissing) {
    std::ostringstream whole;
    const std::string text = incompressible(200'000, 5);
    {
        GzipStream gzip(whole);
        gzip << text;
        ASSERT_TRUE(gzip.finish());
    }
    const std::size_t size = whole.str().size();
    for (const std::size_t room : {std::size_t{0}, std::size_t{100}, size / 2, size - 1, size}) {
        SmallDisk disk(room);
        std::ostream into(&disk);
        GzipStream gzip(into);
        gzip << text;
        EXPECT_EQ(gzip.finish(), room == size) << room;
    }
}

}  // namespace
}  // namespace stepscope
