#include "core/trace/SampleCodec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/trace/ByteColumns.h"
#include "core/trace/CodecParts.h"

namespace stepscope {
namespace {

constexpr std::size_t kSampleColumns = 3;  // each has a byte a sample at least
constexpr std::uint64_t kMostSamplesCounted = 1ULL << 62;

// Numbers that people count with have zeros at the low end of their mantissa: turned round they are small.
std::uint64_t turned(std::uint64_t bits) {
    std::uint64_t out = 0;
    for (int i = 0; i < 8; ++i) {
        std::uint64_t byte = (bits >> (8 * i)) & 0xff;
        byte = (byte & 0xf0) >> 4 | (byte & 0x0f) << 4;
        byte = (byte & 0xcc) >> 2 | (byte & 0x33) << 2;
        byte = (byte & 0xaa) >> 1 | (byte & 0x55) << 1;
        out |= byte << (56 - 8 * i);
    }
    return out;
}

bool canBeStored(const Sample& sample) {
    return sample.series != 0 && std::isfinite(sample.value) && sample.at < std::numeric_limits<std::int64_t>::max();
}

Error damagedSamples(std::size_t at, std::string_view what) {
    return makeError(ErrorCode::Damaged, fmt::format("A block of samples is damaged at byte {}: {}.", at, what));
}

}  // namespace

Chunk encodeSamples(SampleBlock block, TimeNs at) {
    auto& all = block.samples;
    SS_CHECK(all.size() <= kMostSamples);
    block.invalid += static_cast<std::int64_t>(std::erase_if(all, [](const Sample& sample) { return !canBeStored(sample); }));
    Chunk chunk = chunkOfMoments(kSamples, block.lane, all, at);
    UsedOf<SampleSeries> series(block.series);
    ByteWriter columns;
    writeMoments(columns, all, chunk.begin);
    for (const auto& sample : all) columns.whole(series.placeOf(sample.series));
    std::vector<std::uint64_t> last(block.series.size(), 0);
    for (const auto& sample : all) {
        const auto bits = std::bit_cast<std::uint64_t>(sample.value);
        columns.whole(turned(bits ^ last[sample.series]));
        last[sample.series] = bits;
    }

    ByteWriter out;
    out.integer(block.process);
    out.integer(block.device);
    out.integer(block.rank);
    out.text(std::string_view(block.name).substr(0, kLongestSampleName));
    out.whole(static_cast<std::uint64_t>(block.lost));
    out.whole(static_cast<std::uint64_t>(block.invalid));
    SS_CHECK(series.kept().size() <= kMostSampleSeries);
    out.whole(series.kept().size());
    for (const std::uint32_t place : series.kept()) {
        out.text(std::string_view(block.series[place].name).substr(0, kLongestSampleName));
        out.text(std::string_view(block.series[place].unit).substr(0, kLongestSampleName));
    }
    out.whole(all.size());
    out.bytes(columns.take());
    chunk.bytes = out.take();
    return chunk;
}

Result<SampleBlock> decodeSamples(const Chunk& chunk) {
    if (chunk.kind != kSamples)
        return makeError(ErrorCode::BadInput, fmt::format("A block of kind {} holds no samples; those are of kind {}.", chunk.kind, kSamples));
    if (const Status good = checkChunk(chunk); !good) return good.error();
    ByteReader in(chunk.bytes);
    SampleBlock block;
    block.lane = chunk.lane;
    block.process = in.integer();
    block.device = in.integer();
    block.rank = in.integer();
    block.name = in.text(kLongestSampleName);
    block.lost = static_cast<std::int64_t>(in.upTo(kMostSamplesCounted, "more samples are lost than there can be"));
    block.invalid = static_cast<std::int64_t>(in.upTo(kMostSamplesCounted, "more samples are invalid than there can be"));
    const std::size_t series = in.upTo(std::min(kMostSampleSeries, in.left() / 2), "there are more series than bytes");
    for (std::size_t i = 0; i < series && in.good(); ++i) {
        SampleSeries one;
        one.name = in.text(kLongestSampleName);
        one.unit = in.text(kLongestSampleName);
        block.series.push_back(std::move(one));
    }
    const std::size_t count = in.upTo(std::min(kMostSamples, in.left() / kSampleColumns), "there are more samples than bytes");
    if (!in.good()) return damagedSamples(in.wrongAt(), in.wrong());
    if (static_cast<std::int64_t>(count) != chunk.count)
        return damagedSamples(in.at(), fmt::format("it says that it holds {} samples, and its row says {}", count, chunk.count));
    block.samples.resize(count);
    readMoments(in, block.samples, chunk.begin);
    for (auto& sample : block.samples) {
        sample.series = static_cast<std::uint32_t>(in.upTo(block.series.size() - 1, "a series is not in its table"));
        if (sample.series == 0) in.fail("a sample is of no series");
    }
    std::vector<std::uint64_t> last(block.series.size(), 0);
    for (auto& sample : block.samples) {
        last[sample.series] ^= turned(in.whole());
        sample.value = std::bit_cast<double>(last[sample.series]);
        if (!std::isfinite(sample.value)) in.fail("a value is no finite number");
    }
    if (!in.good()) return damagedSamples(in.wrongAt(), in.wrong());
    if (in.left() > 0) return damagedSamples(in.at(), "bytes follow its end");
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t at = block.samples[i].at;
        if (at < chunk.begin.ns || at >= chunk.end.ns || (i > 0 && at < block.samples[i - 1].at))
            return damagedSamples(chunk.bytes.size(), fmt::format("sample {} of it lies outside of the block or is out of order", i));
    }
    return block;
}

}  // namespace stepscope
