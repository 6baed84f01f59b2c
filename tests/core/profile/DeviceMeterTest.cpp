// What NVML says of a GPU becomes samples, and what it cannot say is left out; a GPU's facts are the JSON of PyTorch's profiler. NVML is a stand-in.
#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "core/profile/DeviceFacts.h"
#include "core/profile/DeviceMeter.h"
#include "core/trace/SampleCodec.h"

namespace stepscope {
namespace {

CudaInterface gpuThatAnswers() {
    CudaInterface cuda{};
    cuda.sampleGpu = [](std::int32_t device, CudaGpuSample* sample) -> const char* {
        if (device != 1) return "There is no GPU of that number on this machine.";
        *sample = {.utilisationPct = 97,
                   .memoryBusyPct = -1,
                   .memoryUsedBytes = 5'000'000'000,
                   .memoryTotalBytes = 8,
                   .powerWatts = 301.5,
                   .temperatureCelsius = 60,
                   .smClockMHz = 1410,
                   .energyJoules = 12.25,
                   .throttleReasons = 4,
                   .pcieSentBytes = 0,
                   .pcieReceivedBytes = -1};
        return nullptr;
    };
    cuda.describeGpu = [](std::int32_t device, CudaGpuDescription* gpu) -> const char* {
        if (device != 1) return "There is no GPU of that number on this machine.";
        *gpu = {};
        std::strcpy(gpu->name, "A \"quoted\"\n\\GPU");
        gpu->multiprocessors = 108;
        gpu->threadsPerMultiprocessor = 2048;
        gpu->memoryClockKHz = 1'215'000;
        gpu->memoryBusBits = 5120;
        gpu->bandwidthBytesPerSecond = 1.5552e12;
        return nullptr;
    };
    return cuda;
}

TEST(DeviceMeter, ReadsWhatTheGpuTellsAndLeavesOutWhatItCannot) {
    const CudaInterface cuda = gpuThatAnswers();
    std::vector<SampleBlock> taken;
    DeviceMeter meter(cuda, 1, 0, [&](SampleBlock block) { taken.push_back(std::move(block)); });
    meter.read(100);
    meter.read(200);
    meter.finish();
    ASSERT_EQ(taken.size(), 1u);
    const auto block = decodeSamples(encodeSamples(taken.front()));
    ASSERT_TRUE(block) << block.error().sentence;
    EXPECT_EQ(block->device, 1);
    EXPECT_EQ(block->invalid, 0);
    std::map<std::string, double> values;
    for (const auto& sample : block->samples) values[block->series[sample.series].name] = sample.value;
    EXPECT_EQ(values, (std::map<std::string, double>{{"GPU utilisation", 97},
                                                     {"GPU memory", 5e9},
                                                     {"GPU power", 301.5},
                                                     {"GPU energy", 12.25},
                                                     {"GPU temperature", 60},
                                                     {"SM clock", 1410},
                                                     {"clock throttle reasons", 4},
                                                     {"PCIe sent", 0}}));
    EXPECT_EQ(block->samples.size(), 16u);
    meter.finish();
    EXPECT_EQ(taken.size(), 1u) << "nothing was read since";
}

TEST(DeviceMeter, HandsOnWhatItReadBlockByBlockHoweverLongItGoesOnAndSaysWhoseItIs) {
    const CudaInterface cuda = gpuThatAnswers();
    std::size_t samples = 0, blocks = 0;
    DeviceMeter meter(cuda, 1, 3, [&](const SampleBlock& block) {
        EXPECT_EQ(block.rank, 3);
        EXPECT_LT(block.samples.size(), DeviceMeter::kFull + 10);
        samples += block.samples.size();
        ++blocks;
    });
    constexpr std::size_t kReads = 2000;
    for (std::size_t i = 0; i < kReads; ++i) meter.read(static_cast<std::int64_t>(i));
    EXPECT_EQ(blocks, 8 * kReads / DeviceMeter::kFull);
    meter.finish();
    EXPECT_EQ(samples, 8 * kReads);
}

TEST(DeviceMeter, OfTwoWorkersIsInLanesOfItsOwn) {
    const CudaInterface cuda = gpuThatAnswers();
    std::vector<std::int64_t> lanes;
    for (const std::int64_t rank : {0, 1}) {
        DeviceMeter meter(cuda, 1, rank, [&](const SampleBlock& block) { lanes.push_back(block.lane); });
        meter.read(1);
        meter.finish();
    }
    ASSERT_EQ(lanes.size(), 2u);
    EXPECT_NE(lanes[0], lanes[1]) << "both call their GPU the first";
}

TEST(DeviceMeter, OfAGpuThatIsNotThereReadsNothing) {
    const CudaInterface cuda = gpuThatAnswers(), none{};
    const auto never = [](const SampleBlock&) { ADD_FAILURE() << "there is nothing to hand on"; };
    DeviceMeter meter(cuda, 0, 0, never), without(none, 0, 0, never);
    for (DeviceMeter* one : {&meter, &without}) {
        one->read(1);
        one->finish();
    }
}

TEST(DeviceFacts, AreWhatTracesOfPyTorchSayOfADevice) {
    const CudaInterface cuda = gpuThatAnswers();
    EXPECT_EQ(deviceFacts(cuda, 0, {5}), nullptr);
    const auto chunk = deviceFacts(cuda, 1, {5});
    ASSERT_NE(chunk, nullptr);
    EXPECT_TRUE(checkChunk(*chunk));
    const auto json = nlohmann::json::parse(std::string(reinterpret_cast<const char*>(chunk->bytes.data()), chunk->bytes.size()));
    EXPECT_EQ(json["name"], "A quotedGPU");
    EXPECT_EQ(json["numSms"], 108);
    EXPECT_EQ(json["maxThreadsPerMultiprocessor"], 2048);
    EXPECT_EQ(json["bandwidthBytesPerSecond"], 1'555'200'000'000);
}

}  // namespace
}  // namespace stepscope
