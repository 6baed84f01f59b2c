#include "core/trace/SliceCodec.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/base/Check.h"
#include "core/trace/ByteColumns.h"
#include "core/trace/CodecParts.h"

namespace stepscope {
namespace {

// Of "slices/1" each column has a byte a slice at least. Of "slices/2" the first two; of the others one byte says that they hold nothing but what
// a new Slice holds (then nothing follows) or that they are there.
constexpr std::size_t kColumns = 2, kColumnsBefore = 15;
constexpr std::uint64_t kRecomputed = 0x80;  // beside a slice's kind
constexpr std::int64_t kDeepest = 1 << 16;
constexpr std::int64_t kMostLayers = 1 << 20;
constexpr auto kMostCount = static_cast<std::uint64_t>(kMostSliceCount);

bool canBe(const Slice& slice) {
    std::int64_t end = 0;
    return slice.duration >= 0 && slice.called >= 0 && slice.called <= slice.duration && !__builtin_add_overflow(slice.start, slice.duration, &end) &&
           slice.depth >= 0 && slice.depth <= kDeepest && slice.layer >= -1 && slice.layer <= kMostLayers && slice.sequence >= -1;
}

// The column `value` of all slices as differences from slice to slice.
template <class Value>
void differences(ByteWriter& out, const std::vector<Slice>& slices, Value value) {
    std::int64_t before = 0;
    for (const auto& slice : slices) {
        const auto now = static_cast<std::int64_t>(value(slice));
        out.integer(wrappingDifference(now, before));
        before = now;
    }
}
template <class Set>
void readDifferences(ByteReader& in, std::vector<Slice>& slices, Set set) {
    std::int64_t before = 0;
    for (auto& slice : slices) {
        before = wrappingSum(before, in.integer());
        set(slice, before);
    }
}

// What is stored of a step's number. 0 has always been that of no step, so that the step of that number has the one that no step ever had.
std::int64_t storedStep(std::int64_t number) {
    return number == kNoStep ? 0 : number == 0 ? kNoStep : number;
}
std::int64_t stepStored(std::int64_t stored) {
    return storedStep(stored);  // the two change places
}

// A column where most are `none`: a 0 for those, else one more than the zigzag difference from the last that was there.
std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
template <class Value>
void sparse(ByteWriter& out, const std::vector<Slice>& slices, std::int64_t none, Value value) {
    std::int64_t before = 0;
    for (const auto& slice : slices) {
        const std::int64_t now = value(slice);
        if (now == none) {
            out.whole(0);
            continue;
        }
        const std::uint64_t code = zigzag(wrappingDifference(now, before));
        out.whole(code + 1 == 0 ? code : code + 1);  // the one difference that has no code cannot come up between numbers that are not negative
        before = now;
    }
}
template <class Set>
void readSparse(ByteReader& in, std::vector<Slice>& slices, std::int64_t none, Set set) {
    std::int64_t before = 0;
    for (auto& slice : slices) {
        const std::uint64_t code = in.whole();
        if (code == 0) {
            set(slice, none);
            continue;
        }
        const std::uint64_t zig = code - 1;
        before = wrappingSum(before, static_cast<std::int64_t>(zig >> 1) ^ -static_cast<std::int64_t>(zig & 1));
        set(slice, before);
    }
}

void writeColumns(ByteWriter& out, const std::vector<Slice>& all, std::int64_t begin, UsedOf<std::string>& strings,
                  UsedOf<SliceArguments>& arguments) {
    if (all.empty()) return;
    std::int64_t before = begin;
    for (const auto& slice : all) {
        out.whole(static_cast<std::uint64_t>(wrappingDifference(slice.start, before)));
        before = slice.start;
    }
    for (const auto& slice : all) out.whole(static_cast<std::uint64_t>(slice.duration));
    const auto column = [&](auto value, auto write) {
        const auto none = value(Slice());
        const bool there = std::ranges::any_of(all, [&](const Slice& slice) { return value(slice) != none; });
        out.whole(there ? 1 : 0);
        if (there) write(value);
    };
    const auto plain = [&](auto value) {
        for (const auto& slice : all) out.whole(static_cast<std::uint64_t>(value(slice)));
    };
    const auto string = [&](auto value) {
        for (const auto& slice : all) out.whole(strings.placeOf(value(slice)));
    };
    const auto changes = [&](auto value) { differences(out, all, value); };
    const auto seldom = [&](auto value) { sparse(out, all, value(Slice()), value); };
    column([](const Slice& s) { return s.called; }, plain);
    column([](const Slice& s) { return s.name; }, string);
    column([](const Slice& s) { return s.phase; }, string);
    column([](const Slice& s) { return s.role; }, string);
    column([](const Slice& s) { return s.arguments; },
           [&](auto value) {
               for (const auto& slice : all) out.whole(arguments.placeOf(value(slice)));
           });
    column([](const Slice& s) { return static_cast<std::uint64_t>(s.kind) | (s.recomputed ? kRecomputed : 0); }, plain);
    column([](const Slice& s) { return s.depth; }, changes);
    column([](const Slice& s) { return s.layer; }, changes);
    column([](const Slice& s) { return storedStep(s.step); }, changes);
    column([](const Slice& s) { return s.sequence; }, seldom);
    column([](const Slice& s) { return s.forwardThread; }, seldom);
    column([](const Slice& s) { return s.forwardStart; }, seldom);
    column([](const Slice& s) { return s.correlation; }, seldom);
    column([](const Slice& s) { return s.external; }, seldom);
}

void readColumns(ByteReader& in, SliceBlock& block, std::int64_t begin, bool before2) {
    auto& all = block.slices;
    if (all.empty()) return;
    const std::uint64_t strings = block.strings.size() - 1, arguments = block.arguments.size() - 1;
    const auto place = [&](std::uint64_t most, const char* what) { return static_cast<std::uint32_t>(in.upTo(most, what)); };
    const auto there = [&] { return before2 || in.upTo(1, "a column is neither there nor left out") == 1; };
    std::int64_t before = begin;
    for (auto& slice : all) slice.start = before = wrappingSum(before, static_cast<std::int64_t>(in.whole()));
    for (auto& slice : all) slice.duration = static_cast<std::int64_t>(in.whole());
    if (there())
        for (auto& slice : all) slice.called = static_cast<std::int64_t>(in.whole());
    if (there())
        for (auto& slice : all) slice.name = place(strings, "a name is not in its table");
    if (there())
        for (auto& slice : all) slice.phase = place(strings, "a phase is not in its table");
    if (there())
        for (auto& slice : all) slice.role = place(strings, "a role is not in its table");
    if (there())
        for (auto& slice : all) slice.arguments = place(arguments, "arguments are not in their table");
    if (there())
        for (auto& slice : all) {
            const std::uint64_t code = in.whole();
            if ((code & ~kRecomputed) >= kSliceKinds) in.fail("a slice is of an unknown kind");
            slice.kind = in.good() ? static_cast<SliceKind>(code & ~kRecomputed) : SliceKind::Operation;
            slice.recomputed = (code & kRecomputed) != 0;
        }
    if (there())
        readDifferences(in, all, [&](Slice& s, std::int64_t value) {
            if (value < 0 || value > kDeepest) in.fail("a slice is nested too deeply");
            s.depth = static_cast<std::int32_t>(value);
        });
    if (there())
        readDifferences(in, all, [&](Slice& s, std::int64_t value) {
            if (value < -1 || value > kMostLayers) in.fail("there is no such layer");
            s.layer = static_cast<std::int32_t>(value);
        });
    if (there()) readDifferences(in, all, [](Slice& s, std::int64_t value) { s.step = stepStored(value); });
    if (there())
        readSparse(in, all, -1, [&](Slice& s, std::int64_t value) {
            if (value < -1) in.fail("a sequence number is negative");
            s.sequence = value;
        });
    if (there()) readSparse(in, all, 0, [](Slice& s, std::int64_t value) { s.forwardThread = value; });
    if (there()) readSparse(in, all, 0, [](Slice& s, std::int64_t value) { s.forwardStart = value; });
    if (there()) readSparse(in, all, 0, [](Slice& s, std::int64_t value) { s.correlation = value; });
    if (!before2 && there()) readSparse(in, all, 0, [](Slice& s, std::int64_t value) { s.external = value; });
}

void writeArguments(ByteWriter& out, const SliceArguments& arguments) {
    // What the reader would refuse is not written: one number that cannot be must not cost the block.
    const auto number = [&](std::int64_t value) { out.whole(static_cast<std::uint64_t>(std::clamp<std::int64_t>(value, 0, kMostSliceCount))); };
    out.text(std::string_view(arguments.text).substr(0, kLongestSliceName));
    number(arguments.flops);
    number(arguments.bytes);
    const bool launch = arguments.grid != SliceArguments().grid || arguments.block != SliceArguments().block || arguments.registers != 0 ||
                        arguments.sharedBytes != 0;
    out.whole(launch ? 1 : 0);
    if (launch) {
        for (const auto& sizes : {arguments.grid, arguments.block})
            for (const std::int64_t size : sizes) number(size);
        number(arguments.registers);
        number(arguments.sharedBytes);
    }
    out.text(arguments.extra.size() <= kLongestSliceExtra ? std::string_view(arguments.extra) : std::string_view());
}

SliceArguments readArguments(ByteReader& in, bool before2) {
    const auto number = [&](const char* what) { return static_cast<std::int64_t>(in.upTo(kMostCount, what)); };
    SliceArguments one;
    one.text = in.text(kLongestSliceName);
    one.flops = number("an operation computes more than there can be");
    one.bytes = number("an operation moves more than there can be");
    if (before2) return one;
    if (in.upTo(1, "a launch is neither there nor left out") == 1) {
        for (auto* sizes : {&one.grid, &one.block})
            for (auto& size : *sizes) size = number("a kernel is launched on more than there can be");
        one.registers = number("a kernel takes more registers than there can be");
        one.sharedBytes = number("a kernel takes more shared memory than there can be");
    }
    one.extra = in.text(kLongestSliceExtra);
    return one;
}

Error damaged(std::size_t at, std::string_view what) {
    return makeError(ErrorCode::Damaged, fmt::format("A block of slices is damaged at byte {}: {}.", at, what));
}

}  // namespace

Chunk encodeSlices(SliceBlock block, TimeNs at) {
    auto& all = block.slices;
    SS_CHECK(all.size() <= kMostSlices);
    block.invalid += static_cast<std::int64_t>(std::erase_if(all, [](const Slice& slice) { return !canBe(slice); }));
    std::ranges::stable_sort(
        all, [](const Slice& a, const Slice& b) { return std::tuple(a.start, a.depth, b.duration) < std::tuple(b.start, b.depth, a.duration); });
    Chunk chunk{
        .kind = kSlices, .lane = block.thread.laneNumber(), .begin = at, .end = at, .count = static_cast<std::int64_t>(all.size()), .bytes = {}};
    if (!all.empty()) {
        chunk.begin = {all.front().start};
        chunk.end = chunk.begin;
        // Half-open: what takes no time lies in it too.
        for (const auto& slice : all) chunk.end = std::max(chunk.end, TimeNs{slice.start + slice.duration + (slice.duration == 0 ? 1 : 0)});
    }
    UsedOf<std::string> strings(block.strings);
    UsedOf<SliceArguments> arguments(block.arguments);
    ByteWriter columns;
    writeColumns(columns, all, chunk.begin.ns, strings, arguments);

    ByteWriter out;
    out.integer(block.thread.process);
    out.integer(block.thread.thread);
    out.integer(block.thread.number);
    out.text(std::string_view(block.thread.name).substr(0, kLongestSliceName));
    out.integer(block.thread.lane);
    out.integer(block.thread.device);
    out.integer(block.thread.rank);
    out.text(std::string_view(block.thread.processName).substr(0, kLongestSliceName));
    out.whole(static_cast<std::uint64_t>(block.lost));
    out.whole(static_cast<std::uint64_t>(block.invalid));
    out.whole(strings.kept().size());
    for (const std::uint32_t place : strings.kept()) out.text(std::string_view(block.strings[place]).substr(0, kLongestSliceName));
    out.whole(arguments.kept().size());
    for (const std::uint32_t place : arguments.kept()) writeArguments(out, block.arguments[place]);
    out.whole(all.size());
    chunk.bytes = out.take();
    const auto packed = columns.take();
    chunk.bytes.insert(chunk.bytes.end(), packed.begin(), packed.end());
    return chunk;
}

Result<SliceBlock> decodeSlices(const Chunk& chunk) {
    if (!isSlices(chunk.kind))
        return makeError(ErrorCode::BadInput, fmt::format("A block of kind {} holds no slices; those are of kind {}.", chunk.kind, kSlices));
    if (const Status good = checkChunk(chunk); !good) return good.error();
    const bool before2 = chunk.kind == kSlicesBefore;
    ByteReader in(chunk.bytes);
    SliceBlock block;
    block.thread.process = in.integer();
    block.thread.thread = in.integer();
    block.thread.number = in.integer();
    block.thread.name = in.text(kLongestSliceName);
    if (!before2) {
        block.thread.lane = in.integer();
        block.thread.device = in.integer();
        block.thread.rank = in.integer();
        block.thread.processName = in.text(kLongestSliceName);
    }
    block.lost = static_cast<std::int64_t>(in.upTo(kMostCount, "more slices are lost than there can be"));
    block.invalid = static_cast<std::int64_t>(in.upTo(kMostCount, "more slices are invalid than there can be"));
    // Each text takes a byte at least, each slice one of each column that is always there: a count that the bytes cannot hold is refused before
    // memory is taken for it.
    const std::size_t strings = in.upTo(std::min(kMostSliceStrings, in.left()), "there are more names than bytes");
    for (std::size_t i = 0; i < strings && in.good(); ++i) block.strings.push_back(in.text(kLongestSliceName));
    const std::size_t arguments = in.upTo(std::min(kMostSliceStrings, in.left() / 3), "there are more arguments than bytes");
    for (std::size_t i = 0; i < arguments && in.good(); ++i) block.arguments.push_back(readArguments(in, before2));
    const std::size_t count = in.upTo(std::min(kMostSlices, in.left() / (before2 ? kColumnsBefore : kColumns)), "there are more slices than bytes");
    if (!in.good()) return damaged(in.wrongAt(), in.wrong());
    if (static_cast<std::int64_t>(count) != chunk.count)
        return damaged(in.at(), fmt::format("it says that it holds {} slices, and its row says {}", count, chunk.count));
    block.slices.resize(count);
    readColumns(in, block, chunk.begin.ns, before2);
    if (!in.good()) return damaged(in.wrongAt(), in.wrong());
    if (in.left() > 0) return damaged(in.at(), "bytes follow its end");
    for (std::size_t i = 0; i < count; ++i) {
        const Slice& slice = block.slices[i];
        const bool ordered = i == 0 || block.slices[i - 1].start <= slice.start;
        if (!canBe(slice) || !ordered || slice.start < chunk.begin.ns || slice.start + slice.duration > chunk.end.ns)
            return damaged(chunk.bytes.size(), fmt::format("slice {} of it lies outside of the block or of what calls it", i));
    }
    return block;
}

}  // namespace stepscope
