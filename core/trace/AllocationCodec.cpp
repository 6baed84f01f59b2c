#include "core/trace/AllocationCodec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/trace/ByteColumns.h"
#include "core/trace/CodecParts.h"

namespace stepscope {
namespace {

constexpr std::size_t kAllocationColumns = 8;  // each has a byte an allocation at least
constexpr std::uint64_t kMostAllocationsCounted = 1ULL << 62;

bool canBeStored(const Allocation& one) {
    return one.at < std::numeric_limits<std::int64_t>::max() && one.device >= -1 && one.totalAllocated >= -1 && one.totalReserved >= -1;
}

Error damagedAllocations(std::size_t at, std::string_view what) {
    return makeError(ErrorCode::Damaged, fmt::format("A block of allocations is damaged at byte {}: {}.", at, what));
}

// A column as differences from one to the next.
template <class Field>
void writeColumn(ByteWriter& out, const std::vector<Allocation>& all, Field field) {
    std::int64_t before = 0;
    for (const auto& one : all) {
        const auto now = static_cast<std::int64_t>(one.*field);
        out.integer(wrappingDifference(now, before));
        before = now;
    }
}
template <class Field>
void readColumn(ByteReader& in, std::vector<Allocation>& all, Field field) {
    std::int64_t before = 0;
    for (auto& one : all) {
        before = wrappingSum(before, in.integer());
        one.*field = static_cast<std::remove_reference_t<decltype(one.*field)>>(before);
    }
}

void readLosses(ByteReader& in, AllocationBlock& block) {
    const std::size_t devices = in.upTo(std::min(kMostLossDevices, in.left() / 2), "there are more devices than bytes");
    std::int64_t left = block.lost;
    for (std::size_t i = 0; i < devices && in.good(); ++i) {
        LostAllocations one{.device = in.integer()};
        one.lost = static_cast<std::int64_t>(in.upTo(static_cast<std::uint64_t>(left), "devices lost more than all of them together"));
        left -= one.lost;
        if (one.device < -1) in.fail("a device that lost some cannot be");
        block.lostOf.push_back(one);
    }
    if (devices == 0) in.fail("bytes follow its end");
}

}  // namespace

Chunk encodeAllocations(AllocationBlock block, TimeNs at) {
    auto& all = block.allocations;
    SS_CHECK(all.size() <= kMostAllocations);
    block.invalid += static_cast<std::int64_t>(std::erase_if(all, [](const Allocation& one) { return !canBeStored(one); }));
    Chunk chunk = chunkOfMoments(kAllocations, block.lane, all, at);
    UsedOf<std::string> strings(block.strings);
    ByteWriter columns;
    writeMoments(columns, all, chunk.begin);
    writeColumn(columns, all, &Allocation::address);
    writeColumn(columns, all, &Allocation::bytes);
    writeColumn(columns, all, &Allocation::device);
    writeColumn(columns, all, &Allocation::totalAllocated);
    writeColumn(columns, all, &Allocation::totalReserved);
    for (const auto& one : all) columns.whole(strings.placeOf(one.kind));
    for (const auto& one : all) columns.whole(strings.placeOf(one.owner));

    ByteWriter out;
    out.integer(block.process);
    out.integer(block.thread);
    out.integer(block.rank);
    out.whole(static_cast<std::uint64_t>(block.lost));
    out.whole(static_cast<std::uint64_t>(block.invalid));
    SS_CHECK(strings.kept().size() <= kMostAllocationStrings);
    out.whole(strings.kept().size());
    for (const std::uint32_t place : strings.kept()) out.text(std::string_view(block.strings[place]).substr(0, kLongestAllocationName));
    out.whole(all.size());
    out.bytes(columns.take());
    SS_CHECK(block.lostOf.size() <= kMostLossDevices);
    if (!block.lostOf.empty()) out.whole(block.lostOf.size());  // blocks from before that was told end with their columns
    for (const auto& one : block.lostOf) {
        out.integer(one.device);
        out.whole(static_cast<std::uint64_t>(one.lost));
    }
    chunk.bytes = out.take();
    return chunk;
}

Result<AllocationBlock> decodeAllocations(const Chunk& chunk) {
    if (chunk.kind != kAllocations)
        return makeError(ErrorCode::BadInput,
                         fmt::format("A block of kind {} holds no allocations; those are of kind {}.", chunk.kind, kAllocations));
    if (const Status good = checkChunk(chunk); !good) return good.error();
    ByteReader in(chunk.bytes);
    AllocationBlock block;
    block.lane = chunk.lane;
    block.process = in.integer();
    block.thread = in.integer();
    block.rank = in.integer();
    block.lost = static_cast<std::int64_t>(in.upTo(kMostAllocationsCounted, "more allocations are lost than there can be"));
    block.invalid = static_cast<std::int64_t>(in.upTo(kMostAllocationsCounted, "more allocations are invalid than there can be"));
    const std::size_t strings = in.upTo(std::min(kMostAllocationStrings, in.left()), "there are more names than bytes");
    for (std::size_t i = 0; i < strings && in.good(); ++i) block.strings.push_back(in.text(kLongestAllocationName));
    const std::size_t count = in.upTo(std::min(kMostAllocations, in.left() / kAllocationColumns), "there are more allocations than bytes");
    if (!in.good()) return damagedAllocations(in.wrongAt(), in.wrong());
    if (static_cast<std::int64_t>(count) != chunk.count)
        return damagedAllocations(in.at(), fmt::format("it says that it holds {} allocations, and its row says {}", count, chunk.count));
    auto& all = block.allocations;
    all.resize(count);
    readMoments(in, all, chunk.begin);
    readColumn(in, all, &Allocation::address);
    readColumn(in, all, &Allocation::bytes);
    readColumn(in, all, &Allocation::device);
    readColumn(in, all, &Allocation::totalAllocated);
    readColumn(in, all, &Allocation::totalReserved);
    for (auto& one : all) one.kind = static_cast<std::uint32_t>(in.upTo(strings, "a kind is not in its table"));
    for (auto& one : all) one.owner = static_cast<std::uint32_t>(in.upTo(strings, "an owner is not in its table"));
    if (in.left() > 0) readLosses(in, block);
    if (!in.good()) return damagedAllocations(in.wrongAt(), in.wrong());
    if (in.left() > 0) return damagedAllocations(in.at(), "bytes follow its end");
    for (std::size_t i = 0; i < count; ++i) {
        const auto& one = all[i];
        if (!canBeStored(one) || one.at < chunk.begin.ns || one.at >= chunk.end.ns || (i > 0 && one.at < all[i - 1].at))
            return damagedAllocations(chunk.bytes.size(), fmt::format("allocation {} of it cannot be or lies outside of the block", i));
    }
    return block;
}

}  // namespace stepscope
