// What a person is told when CUDA cannot be used, and that the plug-in loads where everything before it is there. The
// driver is a stand-in, so this runs on machines without a GPU. Linked without LibTorch: the loader must not need it.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "core/cuda/loader/CudaPlugin.h"

namespace stepscope {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kPresentLibrary = "libm.so.6";  // stands in for libtorch_cuda where only its presence matters

TEST(CudaPlugin, SaysCalmlyThatThereIsNoDriver) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const CudaPlugin plugin = loadCudaPlugin({.driver = "libcuda-that-is-not-there.so.1"});
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(plugin.whyNot, "No NVIDIA driver is installed.");
    EXPECT_FALSE(plugin.usable());
}

TEST(CudaPlugin, AnswersInUnder50MillisecondsWithoutADriver) {
    const auto begin = std::chrono::steady_clock::now();
    const CudaPlugin plugin = loadCudaPlugin({.driver = "libcuda-that-is-not-there.so.1"});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 50.0);
    EXPECT_FALSE(plugin.whyNot.empty());
}

TEST(CudaPlugin, NamesADriverThatIsTooOldForTheWheel) {
    const CudaPlugin plugin = loadCudaPlugin({.driver = FAKE_DRIVER_TOO_OLD});
    EXPECT_EQ(plugin.whyNot, "The NVIDIA driver supports CUDA 12.4 and LibTorch needs 13.0: install driver 580 or newer.");
}

TEST(CudaPlugin, SaysThatADriverWithoutAGpuHelpsNobody) {
    EXPECT_THAT(loadCudaPlugin({.driver = FAKE_DRIVER_WITHOUT_GPU}).whyNot, HasSubstr("finds no GPU"));
}

TEST(CudaPlugin, SaysWhatToDoWhenTheCudaLibrariesOfLibTorchAreMissing) {
    const CudaPlugin plugin = loadCudaPlugin({.driver = FAKE_DRIVER, .torchCuda = "libtorch_cuda-that-is-not-there.so"});
    EXPECT_THAT(plugin.whyNot, StartsWith("The CUDA libraries of LibTorch are not installed; run packaging/run"));
    EXPECT_THAT(plugin.whyNot, EndsWith("."));
    EXPECT_FALSE(plugin.torchCuda);
}

TEST(CudaPlugin, SaysThatTheProgramWasBuiltWithoutThePlugin) {
    const CudaPlugin plugin = loadCudaPlugin({.driver = FAKE_DRIVER, .torchCuda = kPresentLibrary, .plugin = "./no-such-plugin.so"});
    EXPECT_THAT(plugin.whyNot, HasSubstr("built without its CUDA plug-in"));
    EXPECT_TRUE(plugin.torchCuda);
}

TEST(CudaPlugin, SaysThatAFileThatIsNoLibraryCannotBeLoaded) {
    const CudaPlugin plugin = loadCudaPlugin({.driver = FAKE_DRIVER, .torchCuda = kPresentLibrary, .plugin = "/proc/self/cmdline"});
    EXPECT_THAT(plugin.whyNot, StartsWith("Stepscope's CUDA plug-in could not be loaded ("));
}

TEST(CudaPlugin, RefusesAPluginOfAnotherVersion) {
    const CudaPlugin plugin = loadCudaPlugin({.driver = FAKE_DRIVER, .torchCuda = kPresentLibrary, .plugin = FAKE_PLUGIN});
    EXPECT_THAT(plugin.whyNot, HasSubstr("of another version"));
    EXPECT_EQ(plugin.interface, nullptr);
}

#ifdef PLUGIN
CudaPlugin loadRealPlugin() {
    return loadCudaPlugin({.driver = FAKE_DRIVER, .torchCuda = kPresentLibrary, .plugin = PLUGIN});
}

TEST(CudaPlugin, LoadsThePluginWhereEverythingBeforeItIsThere) {
    const CudaPlugin plugin = loadRealPlugin();
    ASSERT_NE(plugin.interface, nullptr) << plugin.whyNot;
    EXPECT_EQ(plugin.whyNot, "");
    EXPECT_TRUE(plugin.usable());
    EXPECT_EQ(plugin.interface->version, kCudaInterfaceVersion);
    EXPECT_EQ(plugin.interface->columnSumsWorkspaceBytes(4096, 3072), 256u * 3072u * sizeof(float));
    EXPECT_EQ(plugin.interface->columnSumsWorkspaceBytes(1, 8), 8u * sizeof(float));
    EXPECT_EQ(plugin.interface->residualNormWorkspaceBytes(8, 768), 2u * 2u * 768u * sizeof(float));
    EXPECT_EQ(plugin.interface->embeddingBackwardWorkspaceBytes(33, 768), 2u * 768u * sizeof(float));
    const std::vector<CudaParameter> many(150, CudaParameter{.count = 16385});  // three launches, two chunks a parameter
    EXPECT_EQ(plugin.interface->globalNormWorkspaceBytes({many.data(), 150, nullptr}), 300u * sizeof(double));
}

TEST(CudaPlugin, WithoutTheLibraryThatCapturesTheKernelsStillRun) {
    const CudaPlugin plugin =
        loadCudaPlugin({.driver = FAKE_DRIVER, .torchCuda = kPresentLibrary, .plugin = PLUGIN, .graphs = "./no-such-library.so"});
    EXPECT_TRUE(plugin.usable());
    EXPECT_EQ(plugin.graphs, nullptr);
    EXPECT_THAT(plugin.whyNoGraphs, StartsWith("Stepscope's CUDA plug-in could not be loaded ("));
}

TEST(CudaPlugin, TheDoorOfThePluginIsShutForEveryOtherVersion) {
    void* handle = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    const auto door = reinterpret_cast<const CudaInterface* (*)(int)>(dlsym(handle, "stepscope_cuda_interface"));
    ASSERT_NE(door, nullptr);
    for (const int version : {kCudaInterfaceVersion - 1, kCudaInterfaceVersion + 1, -1, 1000}) EXPECT_EQ(door(version), nullptr) << version;
    EXPECT_NE(door(kCudaInterfaceVersion), nullptr);
}

TEST(CudaPlugin, RefusesShapesThatTheKernelCannotTakeBeforeItTouchesTheDevice) {
    const CudaPlugin plugin = loadRealPlugin();
    ASSERT_NE(plugin.interface, nullptr) << plugin.whyNot;
    EXPECT_NE(plugin.interface->biasGeluForward({CudaScalar::Float32, -1, 8, nullptr}, nullptr, nullptr, nullptr), nullptr);
    EXPECT_NE(plugin.interface->biasGeluForward({CudaScalar::BFloat16, 4, 0, nullptr}, nullptr, nullptr, nullptr), nullptr);
    EXPECT_NE(plugin.interface->biasGeluForward({static_cast<CudaScalar>(7), 4, 8, nullptr}, nullptr, nullptr, nullptr), nullptr);
    EXPECT_EQ(plugin.interface->biasGeluForward({CudaScalar::Float32, 0, 8, nullptr}, nullptr, nullptr, nullptr), nullptr);
    EXPECT_THAT(plugin.interface->residualNormForward({CudaScalar::Float32, 1, kMostNormColumns + 1, nullptr}, {}), HasSubstr("16384"));
    EXPECT_THAT(plugin.interface->crossEntropy({CudaScalar::Float32, 1, 8, nullptr}, {.vocabulary = 9}), HasSubstr("vocabulary"));
    EXPECT_THAT(plugin.interface->mergeHeads({CudaScalar::Float32, 1, 10, nullptr}, 1, 2, {{}, {}, {}}, nullptr, nullptr, nullptr),
                HasSubstr("heads"));
}

TEST(CudaPlugin, ReportsTheVersionOfTheCuptiBesideLibTorch) {
    const CudaPlugin plugin = loadRealPlugin();
    ASSERT_NE(plugin.interface, nullptr) << plugin.whyNot;
    std::uint32_t version = 0;
    const char* why = plugin.interface->cuptiVersion(&version);
    EXPECT_EQ(why, nullptr) << why;
    EXPECT_GE(version, 130000u);
}

TEST(CudaPlugin, TheManagementLibraryAnswersOrSaysWhyNot) {
    const CudaPlugin plugin = loadRealPlugin();
    ASSERT_NE(plugin.interface, nullptr) << plugin.whyNot;
    std::int32_t count = -1;
    const char* why = plugin.interface->gpuCount(&count);
    CudaGpuSample sample;
    CudaGpuOthers others;
    if (why) {
        EXPECT_THAT(why, HasSubstr("management library"));
        EXPECT_EQ(count, 0);
        EXPECT_STREQ(plugin.interface->sampleGpu(0, &sample), why);
        EXPECT_LT(sample.memoryUsedBytes, 0);
        EXPECT_STREQ(plugin.interface->othersOnGpu(0, &others), why);
        EXPECT_LT(others.processes, 0);
    } else {
        CudaGpuDescription gpu;
        for (std::int32_t device = 0; device < count; ++device) {
            EXPECT_EQ(plugin.interface->describeGpu(device, &gpu), nullptr);
            EXPECT_GT(std::strlen(gpu.name), 0u);
            EXPECT_EQ(plugin.interface->sampleGpu(device, &sample), nullptr);
            EXPECT_EQ(plugin.interface->othersOnGpu(device, &others), nullptr);
        }
        EXPECT_STREQ(plugin.interface->sampleGpu(count, &sample), "There is no GPU of that number on this machine.");
    }
}
#endif

}  // namespace
}  // namespace stepscope
