// What streams of GPUs did, against sums over every nanosecond of small timelines, whatever the order and the cuts of the blocks; how much of a GPU a
// launch fills; and what no slice may break.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "core/analysis/captures/DeviceSummary.h"
#include "core/analysis/captures/QueueFold.h"

namespace stepscope {
namespace {

constexpr GpuShape kV100{
    .multiprocessors = 80, .threadsPerMultiprocessor = 2048, .registersPerMultiprocessor = 65536, .sharedPerMultiprocessorBytes = 98304};

SliceArguments launchOf(std::int64_t blocks, std::int64_t threads, std::int64_t registers = 0, std::int64_t shared = 0) {
    return {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .registers = registers, .sharedBytes = shared};
}

struct DeviceCase {
    std::vector<SliceBlock> blocks;  // one slice each

    void work(std::int64_t stream, std::int64_t start, std::int64_t end, std::int64_t correlation = 0, SliceKind kind = SliceKind::Kernel,
              const SliceArguments& arguments = {}, const std::string& name = "gemm") {
        SliceBlock block;
        block.thread = {.process = 0, .thread = stream, .device = 0};
        block.strings = {"", name};
        block.arguments = {{}, arguments};
        block.slices = {{.start = start, .duration = end - start, .name = 1, .arguments = 1, .kind = kind, .correlation = correlation}};
        blocks.push_back(std::move(block));
    }
    void call(std::int64_t start, std::int64_t correlation) {
        SliceBlock block;
        block.thread = {.process = 1, .thread = 1};
        block.strings = {"", "cudaLaunchKernel"};
        block.slices = {{.start = start, .duration = 3, .name = 1, .kind = SliceKind::Runtime, .correlation = correlation}};
        blocks.push_back(std::move(block));
    }
    DeviceSummary summary(const GpuShape& gpu = kV100) const {
        DeviceSummary made(gpu);
        for (const auto& block : blocks) made.add(block);
        return made;
    }
};

TEST(DeviceSummary, TellsWhatAStreamWaitedFor) {
    DeviceCase one;
    one.call(0, 1), one.work(7, 10, 100, 1);
    one.call(20, 2), one.work(7, 105, 200, 2);   // launched long before: 5 ns between kernels
    one.call(250, 3), one.work(7, 260, 300, 3);  // launched 50 ns after the stream had run dry
    one.call(270, 4), one.work(7, 400, 450, 4);  // launched in time and begun late: it waited for something else
    one.work(7, 460, 470);                       // by nobody knows whom
    const auto streams = one.summary().streams({30});
    ASSERT_EQ(streams.size(), 1u);
    EXPECT_EQ(streams[0].works, 5);
    EXPECT_EQ(streams[0].busy.ns, 90 + 95 + 40 + 50 + 10);
    EXPECT_EQ(streams[0].hostWait.ns, 60);
    EXPECT_EQ(streams[0].kernelWait.ns, 5 + 10);
    EXPECT_EQ(streams[0].otherIdle.ns, 100);
    EXPECT_EQ(one.summary().streams({6})[0].kernelWait.ns, 5) << "the last gap of 10 ns is longer";
}

TEST(DeviceSummary, TellsHowLongLaunchesWaitedAndHowManyAtOnce) {
    DeviceCase one;
    one.call(0, 1), one.work(7, 10, 100, 1);
    one.call(20, 2), one.work(7, 120, 130, 2);
    one.call(30, 3), one.work(7, 130, 140, 3);
    one.work(7, 150, 160);  // by nobody knows whom
    one.work(9, 200, 210);
    const auto launches = one.summary().launches();
    ASSERT_EQ(launches.size(), 1u) << "of stream 9 nothing is known";
    EXPECT_EQ(launches[0].stream, 7);
    EXPECT_EQ(launches[0].launched, 3);
    EXPECT_EQ(launches[0].total.ns, 10 + 100 + 100);
    EXPECT_EQ(launches[0].median.ns, 100);
    EXPECT_EQ(launches[0].longest.ns, 100);
    EXPECT_EQ(launches[0].longestQueue, 2);
    // 1 from 0 to 10, none to 20, 1 to 30, 2 to 120, 1 to 130.
    EXPECT_DOUBLE_EQ(launches[0].meanQueue, (10.0 + 10 + 180 + 10) / 130);
}

TEST(DeviceSummary, EachDeviceHasItsOwnShape) {
    DeviceCase one;
    one.work(7, 0, 100, 0, SliceKind::Kernel, launchOf(160, 256));
    DeviceSummary summary;
    summary.setShape(0, kV100);
    for (const auto& block : one.blocks) summary.add(block);
    EXPECT_DOUBLE_EQ(summary.kernels()[0].blocksPerMultiprocessor, 2);
    DeviceSummary another;
    another.setShape(1, kV100);
    for (const auto& block : one.blocks) another.add(block);
    EXPECT_LT(another.kernels()[0].occupancy, 0) << "nothing is known of device 0";
}

TEST(DeviceSummary, AddsUpToWhatEveryNanosecondSays) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        DeviceCase one;
        std::vector<int> busy(600), kernels(600);
        std::map<std::int64_t, std::vector<int>> ofStream;
        std::int64_t correlation = 0, first = 600, last = 0;
        for (int i = 0; i < 20; ++i) {
            const auto stream = 7 + static_cast<std::int64_t>(random() % 3);
            const auto start = static_cast<std::int64_t>(random() % 500);
            const auto end = start + static_cast<std::int64_t>(random() % 60);
            const bool kernel = random() % 3 != 0;
            one.work(stream, start, end, ++correlation, kernel ? SliceKind::Kernel : SliceKind::Memcpy);
            if (random() % 2 == 0) one.call(start - static_cast<std::int64_t>(random() % 80), correlation);
            auto& marks = ofStream.try_emplace(stream, std::vector<int>(600)).first->second;
            for (auto at = static_cast<std::size_t>(start); at < static_cast<std::size_t>(end); ++at)
                busy[at] = marks[at] = 1, kernels[at] |= kernel ? 1 : 0;
            first = std::min(first, start);
            last = std::max(last, end);
        }
        const auto count = [](const std::vector<int>& marks) { return std::ranges::count(marks, 1); };
        const DeviceSummary summary = one.summary();
        ASSERT_EQ(summary.devices().size(), 1u);
        const DeviceTime device = summary.devices()[0];
        EXPECT_EQ(device.busy.ns, count(busy));
        EXPECT_EQ(device.kernels.ns, count(kernels));
        EXPECT_EQ(device.copies.ns, count(busy) - count(kernels));
        EXPECT_EQ(device.begin.ns, first);
        EXPECT_EQ(device.end.ns, last);
        for (const StreamTime& stream : summary.streams()) {
            EXPECT_EQ(stream.busy.ns, count(ofStream.at(stream.stream)));
            EXPECT_EQ(stream.busy + stream.idle(), stream.end - stream.begin);
            std::int64_t waited = 0, before = 0, length = 0;
            for (const QueuePoint& point : summary.queue(0, stream.stream)) {
                EXPECT_GE(point.length, 0);
                waited += length * (point.at.ns - before);
                before = point.at.ns;
                length = point.length;
            }
            EXPECT_EQ(length, 0) << "whatever was launched has begun";
            EXPECT_GE(waited, 0);
        }
    }
}

TEST(DeviceSummary, IsTheSameInWhateverOrderAndHoweverCut) {
    std::mt19937 random(9);
    DeviceCase one;
    for (std::int64_t i = 1; i <= 500; ++i) {
        const auto start = static_cast<std::int64_t>(random() % 100'000);
        one.call(start - 40, i);
        one.work(7 + i % 2, start, start + static_cast<std::int64_t>(random() % 300), i, i % 5 == 0 ? SliceKind::Memcpy : SliceKind::Kernel,
                 launchOf(i, 128, 32), "kernel " + std::to_string(i % 7));
    }
    const auto said = [](const DeviceSummary& summary) {
        std::string text;
        for (const auto& row : summary.kernels()) text += row.name + std::to_string(row.total.ns) + " " + std::to_string(row.launchDelay.ns) + ";";
        for (const auto& row : summary.copies()) text += row.name + std::to_string(row.total.ns) + ";";
        for (const auto& row : summary.streams()) text += std::to_string(row.hostWait.ns) + " " + std::to_string(row.kernelWait.ns) + ";";
        for (const auto& point : summary.queue(0, 7)) text += std::to_string(point.at.ns) + " " + std::to_string(point.length) + ";";
        return text;
    };
    const std::string whole = said(one.summary());
    EXPECT_FALSE(whole.empty());
    for (int round = 0; round < 5; ++round) {
        std::ranges::shuffle(one.blocks, random);
        EXPECT_EQ(said(one.summary()), whole);
    }
}

TEST(DeviceSummary, KnowsHowMuchOfAGpuALaunchFills) {
    // 160 blocks of 256 threads: two on each of 80 multiprocessors, 512 of 2048 threads.
    auto fill = kernelFill(launchOf(160, 256, 32), kV100);
    ASSERT_TRUE(fill);
    EXPECT_DOUBLE_EQ(fill->blocksPerMultiprocessor, 2);
    EXPECT_DOUBLE_EQ(fill->occupancy, 0.25);
    // As many as fit: 8 of 256 threads, whatever the grid.
    EXPECT_DOUBLE_EQ(kernelFill(launchOf(1'000'000, 256, 32), kV100)->occupancy, 1);
    // 255 registers a thread leave room for 8 warps, one block of 256 threads.
    EXPECT_DOUBLE_EQ(kernelFill(launchOf(1'000'000, 256, 255), kV100)->occupancy, 0.125);
    // 48 KiB of shared memory a block: two of them.
    EXPECT_DOUBLE_EQ(kernelFill(launchOf(1'000'000, 256, 32, 49152), kV100)->occupancy, 0.25);
    // An A100 takes 1 KiB of each block beside its 32: four blocks where five would fit, as PyTorch's profiler says of such a kernel.
    constexpr GpuShape kA100{.multiprocessors = 108,
                             .threadsPerMultiprocessor = 2048,
                             .registersPerMultiprocessor = 65536,
                             .sharedPerMultiprocessorBytes = 167936,
                             .sharedReservedBytes = 1024};
    EXPECT_DOUBLE_EQ(kernelFill(launchOf(512, 128, 86, 32768), kA100)->occupancy, 0.25);
    EXPECT_DOUBLE_EQ(kernelFill(launchOf(1'000'000, 256, 32), kA100)->occupancy, 1) << "what uses none is bounded by none";
    EXPECT_FALSE(kernelFill({}, kV100));
    EXPECT_FALSE(kernelFill(launchOf(1, 1), {}));
    GpuShape unlisted = kV100;
    unlisted.blocksPerMultiprocessor = 0;
    EXPECT_FALSE(kernelFill(launchOf(160, 256), unlisted)) << "how many blocks fit is not guessed";
    EXPECT_FALSE(kernelFill({.grid = {std::int64_t{1} << 40, std::int64_t{1} << 40, 1}, .block = {1, 1, 1}}, kV100)) << "no GPU has as many blocks";
}

TEST(DeviceSummary, AFileMaySayAnyNumberOfALaunchAndOfAGpu) {
    // What a warp takes of registers would be 2^64, which is 0 in 64 bits.
    GpuShape wide = kV100;
    wide.warp = std::int64_t{1} << 32;
    const auto fill = kernelFill(launchOf(1, 1, std::int64_t{1} << 32), wide);
    ASSERT_TRUE(fill);
    EXPECT_EQ(fill->occupancy, 0) << "of as many registers no warp fits in";
    EXPECT_EQ(kernelFill(launchOf(160, 256, std::int64_t{1} << 62), kV100)->occupancy, 0);
    EXPECT_DOUBLE_EQ(kernelFill(launchOf(160, 256, 32), kV100)->occupancy, 0.25) << "what there can be stays as it is";

    std::mt19937_64 random(17);
    const auto any = [&] {
        const auto bits = random() % 64;
        const auto near = static_cast<std::int64_t>(random() % 3) - 1;
        if (bits == 63) return std::numeric_limits<std::int64_t>::min() + (near + 1);
        return (std::int64_t{1} << bits) + near;
    };
    for (int round = 0; round < 100'000; ++round) {
        const SliceArguments launch{.grid = {any(), 1, 1}, .block = {any(), 1, 1}, .registers = any(), .sharedBytes = any()};
        const GpuShape gpu{.multiprocessors = any(),
                           .threadsPerMultiprocessor = any(),
                           .registersPerMultiprocessor = any(),
                           .sharedPerMultiprocessorBytes = any(),
                           .blocksPerMultiprocessor = any(),
                           .warp = any(),
                           .sharedReservedBytes = any()};
        const auto some = kernelFill(launch, gpu);
        if (!some) continue;
        ASSERT_GT(some->blocksPerMultiprocessor, 0);
        ASSERT_GE(some->warpsPerMultiprocessor, 0);
        ASSERT_TRUE(some->occupancy >= 0 && some->occupancy <= 1) << some->occupancy;
    }
}

TEST(DeviceSummary, TimesAndSizesThatDoNotAddUpToANumberAreTheLargestThereIs) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();
    DeviceCase one;
    one.call(kLeast, 1);
    for (const std::int64_t start : {kLeast, std::int64_t{0}}) {
        one.work(7, start, start + kMost, 1, SliceKind::Memcpy, {.bytes = kMost}, "copy");
        one.work(7, start, start + kMost, 1, SliceKind::Kernel, launchOf(1, 1), "kernel");
    }
    one.work(8, kLeast, kLeast + 1);
    one.work(8, kMost - 1, kMost);
    const DeviceSummary summary = one.summary();
    EXPECT_EQ(summary.copies().at(0).bytes, kMost);
    EXPECT_EQ(summary.copies().at(0).total.ns, kMost);
    EXPECT_EQ(summary.kernels().at(0).total.ns, kMost);
    EXPECT_EQ(summary.kernels().at(0).launchDelay.ns, kMost);
    EXPECT_EQ(summary.devices().at(0).busy.ns, kMost);
    EXPECT_EQ(summary.streams().at(1).otherIdle.ns, kMost) << "from the first to the last there is";
    EXPECT_EQ(summary.launches().at(0).total.ns, kMost);
    EXPECT_GT(summary.launches().at(0).meanQueue, 0);
}

TEST(DeviceSummary, WeighsEfficiencyAndOccupancyAsTensorBoardsProfilerDoes) {
    DeviceCase one;
    one.work(7, 0, 100, 0, SliceKind::Kernel, launchOf(40, 256, 32));  // half of the multiprocessors
    one.work(7, 100, 400, 0, SliceKind::Kernel, launchOf(8000, 256, 32));
    one.work(7, 900, 1000, 0, SliceKind::Memcpy, {.bytes = 500});
    const DeviceTime device = one.summary().devices()[0];
    EXPECT_DOUBLE_EQ(device.efficiency, (0.5 * 100 + 300) / 1000);
    EXPECT_NEAR(device.occupancy, (0.0625 * 100 + 1.0 * 300) / 400, 1e-6);
    EXPECT_LT(one.summary({}).devices()[0].efficiency, 0) << "of a GPU that nobody described it is not known";
    ASSERT_EQ(one.summary().copies().size(), 1u);
    EXPECT_DOUBLE_EQ(one.summary().copies()[0].bytesPerSecond(), 5e9);
}

TEST(DeviceSummary, KernelsThatRunAtOnceFillNoMoreThanTheDeviceAsTensorBoardsProfilerHasIt) {
    DeviceCase one;
    one.work(7, 0, 100, 0, SliceKind::Kernel, launchOf(8000, 256, 32));
    one.work(20, 50, 150, 0, SliceKind::Kernel, launchOf(24, 256, 32));  // as NCCL's: on 24 of 80
    one.work(9, 120, 150, 0, SliceKind::Kernel, launchOf(24, 256, 32));
    one.work(7, 150, 200, 0, SliceKind::Memcpy, {.bytes = 500});
    // All of it until 100, then 0.3, and from 120 on 0.6.
    EXPECT_NEAR(one.summary().devices()[0].efficiency, (100 + 0.3 * 20 + 0.6 * 30) / 200, 1e-7);
}

TEST(DeviceSummary, NamesTheOperationThatLaunchedAKernel) {
    DeviceCase one;
    one.work(7, 0, 10, 0, SliceKind::Kernel, {.extra = R"({"operation":"aten::\"mm\"","graph id":3})"});
    one.work(7, 10, 40, 0, SliceKind::Kernel, {.extra = R"({"operation":"aten::addmm"})"});
    ASSERT_EQ(one.summary().kernels().size(), 1u);
    EXPECT_EQ(one.summary().kernels()[0].operation, "aten::addmm") << "the one where most time went";
    EXPECT_EQ(launchingOperation(R"({"operation":"aten::\"mm\"","graph id":3})"), "aten::\"mm\"");
    EXPECT_EQ(launchingOperation(R"({"operation":"unended)"), "unended");
    EXPECT_EQ(launchingOperation("nothing of it"), "");
}

TEST(DeviceSummary, OfNothingIsNothing) {
    const DeviceSummary none;
    EXPECT_TRUE(none.empty());
    EXPECT_TRUE(none.streams().empty() && none.devices().empty() && none.kernels().empty() && none.copies().empty() && none.queue(0, 7).empty());
}

// ns x works, of values that hold until the next.
template <class Points, class Length>
double areaOf(const Points& points, Length length, std::int64_t from, std::int64_t to) {
    double area = 0;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        const std::int64_t begin = std::clamp(points[i].at.ns, from, to), end = std::clamp(points[i + 1].at.ns, from, to);
        area += static_cast<double>(length(points[i])) * static_cast<double>(end - begin);
    }
    return area;
}

TEST(QueueFold, HasTheMeanOfEveryStretchThatAllSlicesWouldGive) {
    std::mt19937 random(7);
    const auto upTo = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most)); };
    for (const std::size_t stretches : {1u, 7u, 100u, 5000u}) {
        DeviceCase one;
        QueueFold fold(2000, stretches);
        std::int64_t begun = 0;
        for (std::int64_t i = 1; i <= 2000; ++i) {
            begun += 100 + upTo(900) + (i % 500 == 0 ? 3 * QueueFold::kBreak : 0);
            const std::int64_t launched = begun - upTo(i % 100 == 0 ? 200'000 : 5'000);
            one.call(launched, i), one.work(7, begun, begun + 50, i);
            fold.add(launched, begun);
        }
        const auto exact = one.summary().queue(0, 7);
        const auto means = fold.means();
        ASSERT_GT(means.size(), 1u);
        EXPECT_LE(means.size(), 2 * stretches + 1);
        EXPECT_EQ(means.back().at, exact.back().at);
        EXPECT_EQ(means.back().length, 0);
        const auto exactly = [](const QueuePoint& point) { return point.length; };
        for (std::size_t i = 1; i + 1 < means.size(); ++i) {
            const std::int64_t from = means[i].at.ns, to = means[i + 1].at.ns;
            EXPECT_NEAR(means[i].length, areaOf(exact, exactly, from, to) / static_cast<double>(to - from), 1e-6) << i << " of " << stretches;
        }
    }
}

TEST(QueueFold, ABreakBetweenCapturesIsNoPartOfWhatIsBesideIt) {
    QueueFold fold(1000, 2);
    for (const std::int64_t capture : {std::int64_t{0}, std::int64_t{60'000'000'000}})
        for (std::int64_t i = 0; i < 100; ++i) fold.add(capture + 1000 * i, capture + 1000 * (i + 1));
    const auto means = fold.means();
    ASSERT_EQ(means.size(), 4u);
    EXPECT_DOUBLE_EQ(means[0].length, 1);
    EXPECT_EQ(means[1].at.ns, 100'000);
    EXPECT_DOUBLE_EQ(means[1].length, 0);
    EXPECT_EQ(means[2].at.ns, 60'000'000'000);
    EXPECT_DOUBLE_EQ(means[2].length, 1);
}

TEST(QueueFold, HoldsNoMoreCallsThanItMayAndOfSeveralWithOneNumberTheEarliest) {
    NewestLaunches launches(3);
    const auto call = [&](std::int64_t start, std::int64_t correlation) {
        launches.add(2, {.start = start, .kind = SliceKind::Runtime, .correlation = correlation});
    };
    const auto launched = [&](std::int64_t rank, std::int64_t correlation) {
        return launches.of(rank, {.kind = SliceKind::Kernel, .correlation = correlation});
    };
    call(10, 1);
    call(20, 1);
    call(30, 0);  // of nothing
    launches.add(2, {.start = 5, .kind = SliceKind::Operation, .correlation = 1});
    EXPECT_EQ(launched(2, 1), 10);
    EXPECT_EQ(launched(0, 1), std::nullopt) << "of another worker";
    EXPECT_EQ(launched(2, 0), std::nullopt);
    for (std::int64_t i = 2; i <= 4; ++i) call(10 * i, i);
    EXPECT_EQ(launched(2, 1), std::nullopt) << "the oldest is forgotten";
    EXPECT_EQ(launched(2, 4), 40);
}

TEST(QueueFold, TimesThatAreAsFarApartAsTheyCanBeGiveNumbers) {
    QueueFold fold(2, 10);
    fold.add(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max() - 1);
    fold.add(0, std::numeric_limits<std::int64_t>::max());
    for (const QueueMean& mean : fold.means()) EXPECT_TRUE(mean.length >= 0 && mean.length < 3);
    EXPECT_TRUE(QueueFold(0, 0).means().empty());
}

}  // namespace
}  // namespace stepscope
