// The plug-in of this process, loaded when first asked for. A file of its own, so that a test can put another plug-in in its place:
// tests/core/cuda/emulation.
#include <cstdlib>

#include "core/cuda/loader/CudaPlugin.h"

namespace stepscope {

const CudaPlugin& cudaPlugin() {
    static const CudaPlugin loaded = [] {
        CudaLibraries libraries;
        if (const char* elsewhere = std::getenv("STEPSCOPE_CUDA_PLUGIN")) {
            libraries.plugin = elsewhere;
            libraries.graphs = libraries.plugin.substr(0, libraries.plugin.rfind('/') + 1) + "libstepscope_cuda_graphs.so";
        }
        return loadCudaPlugin(libraries);
    }();
    return loaded;
}

}  // namespace stepscope
