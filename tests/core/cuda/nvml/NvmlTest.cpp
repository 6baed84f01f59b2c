// Readings of a GPU by the driver's management library, which is a fake here, as is the CUDA runtime: each number in its unit, the right device
// whatever CUDA calls it, what a device cannot tell told as unknown, and a sentence where the library is missing, too old or does not start. The
// library is opened once a process: what depends on that runs in a process of its own.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/cuda/Nvml.h"
#include "tests/core/cuda/nvml/FakeNvml.h"

namespace {

// What CUDA says: which devices there are, in its own order, and how often its last error was taken away.
struct FakeRuntime {
    const char* buses[2] = {"0000:41:00.0", "0000:01:00.0"};
    int devices = 2, cleared = 0;
    cudaError_t countAnswer = cudaSuccess;
    bool tells = true;  // attributes
} runtime;

}  // namespace

extern "C" cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char* out, int size, int number) {
    if (number < 0 || number >= runtime.devices) return cudaErrorInvalidDevice;
    std::snprintf(out, static_cast<std::size_t>(size), "%s", runtime.buses[number]);
    return cudaSuccess;
}
extern "C" cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
    *count = runtime.countAnswer == cudaSuccess ? runtime.devices : -7;
    return runtime.countAnswer;
}
extern "C" cudaError_t CUDARTAPI cudaGetLastError() {
    ++runtime.cleared;
    return cudaSuccess;
}
extern "C" cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    if (!runtime.tells) return cudaErrorInvalidValue;
    *value = attribute == cudaDevAttrMemoryClockRate ? 3'200'000 : attribute == cudaDevAttrGlobalMemoryBusWidth ? 6144 : 1000 + attribute;
    return cudaSuccess;
}

namespace stepscope {
namespace {

// Puts a file of this name before all others: dlopen takes a library that the process has by its name.
FakeNvml* openFake(const char* file) {
    void* handle = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    EXPECT_NE(handle, nullptr) << dlerror();
    return handle == nullptr ? nullptr : reinterpret_cast<FakeNvml* (*)()>(dlsym(handle, "fakeNvml"))();
}

std::string inAProcessOfItsOwn(const std::function<std::string()>& body) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const std::string said = body();
        const auto written = write(ends[1], said.data(), said.size());
        _exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string said;
    char buffer[512];
    for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return said;
}

std::string orNothing(const char* why) {
    return why == nullptr ? "nothing" : why;
}

// First: their processes begin as copies of this one, which must not have opened any library yet.
TEST(NvmlLibrary, OfADriverBefore535HasItsReasonsUnderTheirOldName) {
    EXPECT_EQ(inAProcessOfItsOwn([] {
                  FakeNvml* old = openFake(FAKE_NVML_OLD);
                  old->gpus[0].bus = runtime.buses[0];
                  CudaGpuSample sample{};
                  if (const char* why = sampleGpu(0, &sample)) return std::string(why);
                  return std::to_string(sample.throttleReasons) + " " + std::to_string(sample.energyJoules < 0) + " " +
                         std::to_string(sample.pcieSentBytes);
              }),
              "32 1 -1");
}

// Others bear numbers from 5'000'000 on: Linux gives none above 4'194'304, so that none of them is this process.
// How many others, and how busy they are, by the library of this file: beside this process one that kernels run of half of the time, and an idle one.
std::string othersBy(const char* file) {
    return inAProcessOfItsOwn([file] {
        FakeGpu& gpu = openFake(file)->gpus[0];
        gpu.bus = runtime.buses[0];
        gpu.processCount = 3;
        gpu.processes[0] = 5'000'001;
        gpu.processes[1] = static_cast<unsigned>(getpid());
        gpu.processes[2] = 5'000'002;
        gpu.busy[0] = 50;
        gpu.busy[1] = 40;
        CudaGpuOthers others{};
        if (const char* why = othersOnGpu(0, &others)) return std::string(why);
        return std::to_string(others.processes) + " " + std::to_string(static_cast<int>(others.busyPct));
    });
}

TEST(NvmlLibrary, ListsProcessesInTheFormThatItHasAndNoneWhereItHasNone) {
    EXPECT_EQ(othersBy(FAKE_NVML), "2 50");
    EXPECT_EQ(othersBy(FAKE_NVML_V2), "2 50");
    EXPECT_EQ(othersBy(FAKE_NVML_OLD), "2 -1") << "it does not say how busy they are";
    EXPECT_EQ(othersBy(FAKE_NVML_WITHOUT_PROCESSES), "-1 -1");
    EXPECT_EQ(othersBy(FAKE_NVML_TOO_OLD), "The NVIDIA driver's management library is too old: it lacks a function that Stepscope reads.");
}

TEST(NvmlLibrary, ThatLacksWhatIsReadIsTooOld) {
    EXPECT_EQ(inAProcessOfItsOwn([] {
                  openFake(FAKE_NVML_TOO_OLD);
                  CudaGpuSample sample{};
                  return orNothing(sampleGpu(0, &sample));
              }),
              "The NVIDIA driver's management library is too old: it lacks a function that Stepscope reads.");
}

TEST(NvmlLibrary, ThatDoesNotStartSaysWhereToLook) {
    EXPECT_EQ(inAProcessOfItsOwn([] {
                  openFake(FAKE_NVML)->initAnswer = 9;
                  std::int32_t count = 5;
                  const std::string why = orNothing(gpuCount(&count));
                  return why + std::to_string(count);
              }),
              "The NVIDIA driver's management library could not be started; nvidia-smi says more.0");
}

struct Nvml : testing::Test {
    FakeNvml& fake = *openFake(FAKE_NVML);
    CudaGpuSample sample{};
    CudaGpuDescription about{};
    CudaGpuOthers others{};
    const unsigned own = static_cast<unsigned>(getpid());

    // Processes and how busy each of them is.
    void computing(const std::vector<std::pair<unsigned, unsigned>>& processes) {
        FakeGpu& gpu = fake.gpus[0];
        gpu.processCount = 0;
        for (const auto& [pid, busy] : processes) {
            gpu.processes[gpu.processCount] = pid;
            gpu.busy[gpu.processCount++] = busy;
        }
        others = {7, 7};
    }
    // What is told of the first GPU's others.
    std::pair<std::int64_t, double> told() {
        EXPECT_EQ(othersOnGpu(1, &others), nullptr) << "what is not known is no failure";
        return {others.processes, others.busyPct};
    }

    void SetUp() override {
        runtime = {};
        fake.refuses = nullptr;
        fake.refusal = 3;
        fake.bytesOfAProcess = 24;
        fake.asked = 0;
        fake.gpus[0] = {"0000:01:00.0", "NVIDIA H200", 150'754'820'096, 1'000'000'000, 123'456, 0x4, 37, 12, 305'250, 61, 1980, 5, 9};
        fake.gpus[1] = {"0000:41:00.0", "NVIDIA A10", 24'000'000'000, 24'000'000'000, 0, 0, 100, 90, 0, 0, 0, 0, 0};
    }
};

TEST_F(Nvml, TellsEveryReadingInTheUnitThatItsFieldHas) {
    ASSERT_EQ(sampleGpu(1, &sample), nullptr);
    EXPECT_EQ(sample.memoryUsedBytes, 1'000'000'000);
    EXPECT_EQ(sample.memoryTotalBytes, 150'754'820'096);
    EXPECT_EQ(sample.utilisationPct, 37);
    EXPECT_EQ(sample.memoryBusyPct, 12);
    EXPECT_DOUBLE_EQ(sample.powerWatts, 305.25);
    EXPECT_EQ(sample.temperatureCelsius, 61);
    EXPECT_EQ(sample.smClockMHz, 1980);
    EXPECT_DOUBLE_EQ(sample.energyJoules, 123.456);
    EXPECT_EQ(sample.throttleReasons, 4);
    EXPECT_EQ(sample.pcieSentBytes, 5000);
    EXPECT_EQ(sample.pcieReceivedBytes, 9000);
}

TEST_F(Nvml, AZeroIsAReadingAndNotSomethingUnknown) {
    ASSERT_EQ(sampleGpu(0, &sample), nullptr);
    EXPECT_EQ(sample.powerWatts, 0);
    EXPECT_EQ(sample.temperatureCelsius, 0);
    EXPECT_EQ(sample.smClockMHz, 0);
    EXPECT_EQ(sample.throttleReasons, 0);
}

using Others = std::pair<std::int64_t, double>;

TEST_F(Nvml, CountsTheOtherProcessesThatComputeAndHowMuchOfTheTimeTheyDo) {
    computing({{own, 90}});
    EXPECT_EQ(told(), Others(0, 0)) << "it is alone";
    computing({{own, 60}, {5'000'001, 30}});
    EXPECT_EQ(told(), Others(1, 30)) << "the newest share, and not that of this process";
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    EXPECT_NEAR(static_cast<double>(now - static_cast<std::int64_t>(fake.since)), 1e6, 9e5) << "of the last second";
    computing({{own, 60}, {5'000'001, 0}});
    EXPECT_EQ(told(), Others(1, 0)) << "one that only holds memory is there all the same";
    computing({{5'000'001, 80}, {own, 0}, {5'000'002, 70}, {5'000'001, 80}});
    EXPECT_EQ(told(), Others(2, 100)) << "each once, and no more than all of the time";
}

TEST_F(Nvml, WhoElseIsThereIsUnknownWhereTheDriverDoesNotListThisProcess) {
    computing({});
    EXPECT_EQ(told(), Others(-1, -1)) << "in a container all may be hidden";
    computing({{5'000'001, 30}, {5'000'002, 30}});
    EXPECT_EQ(told(), Others(-1, -1)) << "one of them may be this process by another number";
    computing({{own, 60}, {0, 30}});
    EXPECT_EQ(told(), Others(-1, -1)) << "no process has the number 0";
    fake.bytesOfAProcess = 32;
    computing({{own, 60}, {5'000'001, 30}});
    EXPECT_EQ(told(), Others(-1, -1)) << "a driver that writes a field more";
    computing({{own, 60}});
    EXPECT_EQ(told(), Others(0, 0));
}

TEST_F(Nvml, WhatADeviceDoesNotSayOfItsProcessesIsUnknown) {
    computing({{own, 60}, {5'000'001, 30}});
    for (const int refusal : {3, 4, 13, 999}) {  // not supported, no permission, no such function, unknown
        fake.refusal = refusal;
        fake.refuses = "processes";
        EXPECT_EQ(told(), Others(-1, -1)) << refusal;
        fake.refuses = "shares";
        EXPECT_EQ(told(), Others(1, -1)) << refusal;
    }
    fake.refuses = nullptr;
    computing({{own, 0}, {5'000'001, 0}});
    EXPECT_EQ(told(), Others(1, -1)) << "it has no share of anybody";
    computing({{own, 60}, {5'000'001, 101}});
    EXPECT_EQ(told(), Others(1, -1)) << "no share is larger than all";
    EXPECT_STREQ(othersOnGpu(2, &others), "There is no GPU of that number on this machine.");
    EXPECT_EQ(others.processes, -1) << "nothing of the last reading stays";
}

TEST_F(Nvml, ALongListIsAskedForOnceMoreWithRoomForIt) {
    FakeGpu& gpu = fake.gpus[0];
    std::vector<std::pair<unsigned, unsigned>> many{{own, 1}};
    while (many.size() < 200) many.emplace_back(5'000'000 + static_cast<unsigned>(many.size()), many.size() <= 40 ? 1 : 0);
    computing(many);
    EXPECT_EQ(told(), Others(199, 40));
    EXPECT_EQ(fake.asked, 2u);
    gpu.processCount = 5'000;
    EXPECT_EQ(told(), Others(-1, -1)) << "nobody has so many";
    EXPECT_EQ(fake.asked, 3u);
}

TEST_F(Nvml, FindsADeviceByItsBusWhateverOrderCudaNumbersThemIn) {
    ASSERT_EQ(describeGpu(0, &about), nullptr);
    EXPECT_STREQ(about.name, "NVIDIA A10");
    std::swap(runtime.buses[0], runtime.buses[1]);
    ASSERT_EQ(describeGpu(0, &about), nullptr);
    EXPECT_STREQ(about.name, "NVIDIA H200");
    runtime.devices = 1;  // as with CUDA_VISIBLE_DEVICES
    EXPECT_STREQ(describeGpu(1, &about), "There is no GPU of that number on this machine.");
}

TEST_F(Nvml, OneReadingThatADeviceCannotGiveLeavesTheOthers) {
    const auto unknown = [&](const char* function) {
        fake.refuses = function;
        EXPECT_EQ(sampleGpu(1, &sample), nullptr) << function;
        int fields = 0;
        for (const double value : {sample.utilisationPct, sample.memoryBusyPct, sample.powerWatts, sample.temperatureCelsius, sample.energyJoules})
            fields += value < 0 ? 1 : 0;
        for (const std::int64_t value : {sample.memoryUsedBytes, sample.memoryTotalBytes, sample.smClockMHz, sample.throttleReasons,
                                         sample.pcieSentBytes, sample.pcieReceivedBytes})
            fields += value < 0 ? 1 : 0;
        return fields;
    };
    EXPECT_EQ(unknown(nullptr), 0);
    for (const char* one : {"power", "temperature", "clock", "energy", "reasons"}) EXPECT_EQ(unknown(one), 1) << one;
    for (const char* two : {"memory", "utilisation", "pcie"}) EXPECT_EQ(unknown(two), 2) << two;
}

TEST_F(Nvml, ANumberThatNoDeviceHasIsASentenceAndNoErrorIsLeftForTheNextLaunch) {
    for (const std::int32_t number : {-1, 2, INT32_MAX, INT32_MIN}) {
        const int before = runtime.cleared;
        EXPECT_STREQ(sampleGpu(number, &sample), "There is no GPU of that number on this machine.");
        EXPECT_GT(runtime.cleared, before);
        EXPECT_LT(sample.memoryUsedBytes, 0) << "nothing of the last reading stays";
        EXPECT_NE(describeGpu(number, &about), nullptr);
        EXPECT_STREQ(about.name, "");
    }
}

TEST_F(Nvml, ADeviceThatTheRuntimeHasAndTheLibraryNotIsASentence) {
    runtime.buses[0] = "0000:99:00.0";
    EXPECT_STREQ(sampleGpu(0, &sample), "There is no GPU of that number on this machine.");
}

TEST_F(Nvml, DescribesADeviceByBothLibraries) {
    ASSERT_EQ(describeGpu(1, &about), nullptr);
    EXPECT_STREQ(about.name, "NVIDIA H200");
    EXPECT_STREQ(about.driver, "580.65.06");
    EXPECT_EQ(about.memoryBytes, 150'754'820'096);
    EXPECT_EQ(about.computeMajor, 9);
    EXPECT_EQ(about.computeMinor, 0);
    EXPECT_EQ(about.multiprocessors, 1000 + cudaDevAttrMultiProcessorCount);
    EXPECT_EQ(about.l2Bytes, 1000 + cudaDevAttrL2CacheSize);
    EXPECT_EQ(about.sharedPerBlockAtMostBytes, 1000 + cudaDevAttrMaxSharedMemoryPerBlockOptin);
    // 3.2 GHz, 6144 bits, two transfers a clock.
    EXPECT_DOUBLE_EQ(about.bandwidthBytesPerSecond, 4.9152e12);
}

TEST_F(Nvml, WhatTheRuntimeDoesNotTellIsZero) {
    runtime.tells = false;
    ASSERT_EQ(describeGpu(1, &about), nullptr);
    EXPECT_EQ(about.multiprocessors, 0);
    EXPECT_EQ(about.clockKHz, 0);
    EXPECT_EQ(about.bandwidthBytesPerSecond, 0);
    EXPECT_GT(runtime.cleared, 0);
}

TEST_F(Nvml, ADeviceThatIsNotDescribedIsASentence) {
    for (const char* function : {"name", "driver", "memory", "capability"}) {
        fake.refuses = function;
        EXPECT_STREQ(describeGpu(1, &about), "The NVIDIA driver does not describe this GPU; nvidia-smi says more.") << function;
    }
}

TEST_F(Nvml, ALongNameIsCutAndEnded) {
    const std::string name(500, 'x');
    fake.gpus[0].name = name.c_str();
    ASSERT_EQ(describeGpu(1, &about), nullptr);
    EXPECT_EQ(std::strlen(about.name), sizeof about.name - 1);
}

TEST_F(Nvml, CountsTheDevicesThatCudaShows) {
    std::int32_t count = -1;
    EXPECT_EQ(gpuCount(&count), nullptr);
    EXPECT_EQ(count, 2);
    runtime.countAnswer = cudaErrorNoDevice;
    EXPECT_STREQ(gpuCount(&count), "The NVIDIA driver does not say how many GPUs there are.");
    EXPECT_EQ(count, 0) << "not what the runtime left there";
    EXPECT_EQ(runtime.cleared, 1);
}

TEST_F(Nvml, OpensTheLibraryOnce) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(sampleGpu(0, &sample), nullptr);
    EXPECT_EQ(fake.inits, 1);
}

}  // namespace
}  // namespace stepscope
