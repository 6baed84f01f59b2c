// What of a GPU a run may take: NVML's reading through a plug-in that a test makes up, and what LibTorch's allocator holds through one that it makes
// up too; and the words of a refusal.
#include <c10/core/CachingDeviceAllocator.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "app/workbench/MemoryNeed.h"
#include "app/workbench/diagnose/FindBatch.h"
#include "core/base/Format.h"
#include "core/fused/CudaLoss.h"
#include "core/memory/HostAllocator.h"
#include "core/prediction/CudaFormMemory.h"

namespace stepscope {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kGB = 1'000'000'000, kVocabulary = 50'257;

CudaGpuSample g_reading;
const char* g_problem = nullptr;

std::string gigabytes(std::int64_t count) {
    return format::bytes({count * kGB});
}

// What NVML says from here on.
class GpuThatSays {
public:
    GpuThatSays(std::int64_t used, std::int64_t total, const char* problem = nullptr) {
        g_reading = {};
        g_reading.memoryUsedBytes = used;
        g_reading.memoryTotalBytes = total;
        g_problem = problem;
        m_interface.sampleGpu = [](std::int32_t, CudaGpuSample* sample) {
            *sample = g_reading;
            return g_problem;
        };
        plugin.interface = &m_interface;
    }
    GpuThatSays(const GpuThatSays&) = delete;
    GpuThatSays& operator=(const GpuThatSays&) = delete;
    CudaPlugin plugin;

private:
    CudaInterface m_interface{};
};

class AllocatorThatHolds final : public c10::DeviceAllocator {
public:
    explicit AllocatorThatHolds(std::int64_t bytes) : m_bytes(bytes) {}
    bool initialized() override { return m_bytes > 0; }
    c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
        c10::CachingDeviceAllocator::DeviceStats stats;
        stats.reserved_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)].current = m_bytes;
        return stats;
    }
    void emptyCache(c10::MempoolId_t) override {}
    void recordStream(const c10::DataPtr&, c10::Stream) override {}
    void resetAccumulatedStats(c10::DeviceIndex) override {}
    void resetPeakStats(c10::DeviceIndex) override {}
    c10::DataPtr allocate(std::size_t) override { return {}; }
    void copy_data(void*, const void*, std::size_t) const override {}

private:
    std::int64_t m_bytes;
};

const Registry& withGpu(int computeMajor = 9) {
    const auto made = [](int major) {
        Machine machine;
        machine.cores = 2;
        machine.gpus.push_back({.name = "NVIDIA H200", .memory = {150 * kGB}, .computeMajor = major, .computeMinor = 0});
        return machine;
    };
    static const Registry hopper(made(9)), ampere(made(8));
    return computeMajor == 9 ? hopper : ampere;
}

RunPlan planOf(std::int64_t batch, const char* device = "cuda:0") {
    RunConfig made = presetConfig("gpu-8gb").value();
    made.switches["device"] = std::string(device);
    made.switches["batch-size"] = batch;
    return withGpu().plan(withGpu().complete(std::move(made)).value()).value();
}

Workbench::Estimate estimate(const CudaPlugin& plugin) {
    return estimateMemory(withGpu(), planOf(64), kVocabulary, plugin);
}

TEST(MemoryOfAGpu, IsWhatNvmlSaysIsFree) {
    const GpuThatSays gpu(30 * kGB, 150 * kGB);
    EXPECT_EQ(estimate(gpu.plugin).available.count, 120 * kGB);
    const std::string room = "on cuda:0, NVIDIA H200: " + gigabytes(120) + " of " + gigabytes(150) + " are free";
    EXPECT_EQ(estimate(gpu.plugin).room, room);
    EXPECT_THAT(forecastOf(estimate(gpu.plugin)).sentence, EndsWith(room + "."));
}

TEST(MemoryOfAGpu, IsAllOfTheCardWhereNvmlCannotTellOrTellsOfAnother) {
    const auto holds = [](const CudaPlugin& plugin) {
        const Workbench::Estimate all = estimate(plugin);
        EXPECT_EQ(all.available.count, 150 * kGB);
        EXPECT_EQ(all.room, "on cuda:0, NVIDIA H200: it has " + gigabytes(150));
    };
    holds(GpuThatSays(30 * kGB, 150 * kGB, "The GPU is lost.").plugin);
    holds(GpuThatSays(-1, -1).plugin);
    holds(GpuThatSays(30 * kGB, 80 * kGB).plugin);
    holds(CudaPlugin{});
}

TEST(MemoryOfAGpu, HasWithWhatIsFreeWhatOurAllocatorHoldsAlready) {
    GpuThatSays gpu(110 * kGB, 150 * kGB);
    gpu.plugin.torchCuda = true;
    static AllocatorThatHolds none(0), much(100 * kGB);  // for good: LibTorch keeps the pointer
    c10::SetAllocator(c10::kCUDA, &none);
    EXPECT_EQ(estimate(gpu.plugin).available.count, 40 * kGB) << "before the first tensor";
    c10::SetAllocator(c10::kCUDA, &much);
    EXPECT_EQ(estimate(gpu.plugin).available.count, 140 * kGB);
    EXPECT_EQ(estimate(gpu.plugin).room,
              "on cuda:0, NVIDIA H200: " + gigabytes(40) + " of " + gigabytes(150) + " are free, and " + gigabytes(100) + " are this program's");
}

TEST(MemoryOfAGpu, ThatIsTooLittleIsRefusedWithTheDevicesName) {
    const GpuThatSays gpu(147 * kGB, 150 * kGB);
    const auto refused = checkMemory(planOf(64), estimate(gpu.plugin));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);
    EXPECT_THAT(refused.error().sentence, EndsWith(" on cuda:0, NVIDIA H200: " + gigabytes(3) + " of " + gigabytes(150) +
                                                   " are free; lower batch-size, context or the model's size."));
}

TEST(MemoryOfAGpu, IsAskedForAtAFlipToMoreAndNotAtOneToLess) {
    const GpuThatSays gpu(147 * kGB, 150 * kGB);
    EXPECT_TRUE(checkMemoryOfFlip(withGpu(), planOf(64), planOf(32), kVocabulary, gpu.plugin).ok());
    const auto refused = checkMemoryOfFlip(withGpu(), planOf(32), planOf(64), kVocabulary, gpu.plugin);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().sentence, HasSubstr("on cuda:0, NVIDIA H200"));
}

TEST(MemoryOfAGpu, IsAskedForForBothValuesThatTakeTurns) {
    const std::int64_t alone = estimate(CudaPlugin{}).tensors.count;
    const auto withRoomFor = [](std::int64_t bytes) { return GpuThatSays(150 * kGB - bytes, 150 * kGB); };
    {
        const auto gpu = withRoomFor(alone + 1'000'000);
        EXPECT_TRUE(checkMemory(planOf(64), estimate(gpu.plugin)).ok()) << "one of them alone fits";
        const auto refused = checkMemoryOfTurns(withGpu(), planOf(64), planOf(64), kVocabulary, gpu.plugin);
        ASSERT_FALSE(refused.ok()) << "the gradients of the other one lie beside it";
        EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);
        EXPECT_THAT(refused.error().sentence, HasSubstr("both values"));
    }
    const auto gpu = withRoomFor(2 * alone);
    EXPECT_TRUE(checkMemoryOfTurns(withGpu(), planOf(64), planOf(64), kVocabulary, gpu.plugin).ok());
}

TEST(MemoryOfAGpu, IsAskedForForAllTokensWhereTheyAreToLieThere) {
    RunPlan there = planOf(64);
    there.feed.place = TokenPlace::Device;
    const std::int64_t alone = estimate(CudaPlugin{}).tensors.count;
    const GpuThatSays gpu(149 * kGB - alone, 150 * kGB);  // with one of them to spare
    EXPECT_TRUE(checkMemoryOfFlip(withGpu(), planOf(64), there, {kVocabulary, 200'000'000}, gpu.plugin).ok());
    const auto refused = checkMemoryOfFlip(withGpu(), planOf(64), there, {kVocabulary, 300'000'000}, gpu.plugin);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);
    EXPECT_THAT(refused.error().sentence, EndsWith("lower batch-size, context or the model's size, or leave the tokens off the GPU."));
    EXPECT_FALSE(checkMemory(there, estimateMemory(withGpu(), there, {kVocabulary, 300'000'000}, gpu.plugin)).ok()) << "and of a run that begins so";
}

TEST(MemoryOfAGpu, IsRefusedWithAllTokensNamedOnlyWhereItIsKnownHowManyThereAre) {
    RunPlan there = planOf(64);
    there.feed.place = TokenPlace::Device;
    const GpuThatSays gpu(149 * kGB, 150 * kGB);
    const Workbench::Estimate read = estimateMemory(withGpu(), there, {kVocabulary, 300'000'000}, gpu.plugin);
    const Workbench::Estimate unread = estimateMemory(withGpu(), there, kVocabulary, gpu.plugin);
    EXPECT_EQ(read.tokens.count, 1'200'000'000);
    EXPECT_EQ(unread.tokens.count, 0) << "before the data are read";
    EXPECT_EQ(estimateMemory(withGpu(), planOf(64), {kVocabulary, 300'000'000}, gpu.plugin).tokens.count, 0) << "they lie elsewhere";

    const Status withThem = checkMemory(there, read), withoutThem = checkMemory(there, unread);
    ASSERT_FALSE(withThem.ok() || withoutThem.ok());
    EXPECT_THAT(withThem.error().sentence, HasSubstr("with this model and all tokens needs about"));
    EXPECT_THAT(withoutThem.error().sentence, Not(HasSubstr("tokens")));
    EXPECT_THAT(noBatchFits(there, read).sentence, HasSubstr(" with all tokens (" + format::bytes({1'200'000'000}) + "), and "));
    EXPECT_THAT(noBatchFits(there, read).sentence, EndsWith("lower context or the model's size, or leave the tokens off the GPU."));
    EXPECT_THAT(noBatchFits(there, unread).sentence, Not(HasSubstr("tokens")));
}

TEST(MemoryOfAGpu, GivesHoppersHandlesMore) {
    const auto tensors = [](int major) { return estimateMemory(withGpu(major), planOf(64), kVocabulary, CudaPlugin{}).tensors.count; };
    EXPECT_EQ(tensors(9) - tensors(8), 2 * (33'554'432 - 8'519'680));
}

TEST(MemoryOfACpu, IsSpokenOfAsBefore) {
    host_memory::install();
    Workbench::Estimate needed = estimateMemory(withGpu(), planOf(64, "cpu"), kVocabulary, GpuThatSays(0, 150 * kGB).plugin);
    EXPECT_EQ(needed.room, "");
    needed.available = {2 * kGB};
    const auto refused = checkMemory(planOf(64, "cpu"), needed);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().sentence, EndsWith(", and " + gigabytes(2) + " are available; lower batch-size, context or the model's size."));
}

TEST(PredictedRowsOfLogits, AreThoseOfTheLossItself) {
    for (const std::int64_t rows : {1, 127, 128, 1000, 16'384, 1'000'000})
        for (const std::int64_t columns : {1, 61, 256, 50'257, 50'304, 10'000'000})
            EXPECT_EQ(cuda_form::rowsOfLogits(static_cast<double>(rows), static_cast<double>(columns)),
                      static_cast<double>(std::min(rows, fused::rowsOfLogits(rows, columns))))
                << rows << " x " << columns;
}

}  // namespace
}  // namespace stepscope
