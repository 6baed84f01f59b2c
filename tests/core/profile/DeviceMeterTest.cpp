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
    DeviceMeter meter(cuda, 1);
    meter.read(100);
    meter.read(200);
    const auto block = decodeSamples(encodeSamples(meter.take()));
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
    EXPECT_TRUE(meter.take().samples.empty());
}

TEST(DeviceMeter, OfAGpuThatIsNotThereReadsNothing) {
    const CudaInterface cuda = gpuThatAnswers(), none{};
    DeviceMeter meter(cuda, 0), without(none, 0);
    meter.read(1);
    without.read(1);
    EXPECT_TRUE(meter.take().samples.empty() && without.take().samples.empty());
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
