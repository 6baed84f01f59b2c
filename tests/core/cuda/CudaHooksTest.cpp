// ATen decides once which CUDA hooks it has. Loading libtorch_cuda before the first question makes them the real ones, on
// machines without a GPU too. A program of its own, because the decision cannot be taken back.
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <gmock/gmock.h>

#include "core/cuda/loader/CudaPlugin.h"

namespace stepscope {
namespace {

TEST(CudaHooks, AnswerAfterLibTorchsCudaHalfIsLoadedOrTheLoaderSaysThatItIsNotInstalled) {
    const CudaPlugin plugin = loadCudaPlugin();
    if (!plugin.torchCuda) RecordProperty("not_run", plugin.whyNot);  // on a GPU, which packaging/gpu-check counts
    if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL)) {
        EXPECT_GE(at::detail::getCUDAHooks().versionCUDART(), 13000);
        return;
    }
    const std::string missing = dlerror();
    EXPECT_THAT(missing, testing::HasSubstr("cannot open shared object file")) << "libtorch_cuda is there and does not load";
    // The wheel was installed without its CUDA companions: the hooks stay stubs, which throw, and the loader says so.
    EXPECT_ANY_THROW(at::detail::getCUDAHooks().versionCUDART());
    EXPECT_FALSE(plugin.usable());
    EXPECT_THAT(plugin.whyNot, testing::AnyOf(testing::Eq("No NVIDIA driver is installed."), testing::StartsWith("The NVIDIA driver "),
                                              testing::StartsWith("The CUDA libraries of LibTorch are not installed; run packaging/run")));
}

}  // namespace
}  // namespace stepscope
