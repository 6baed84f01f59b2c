// CudaPlugin.h: driver, then LibTorch's CUDA half, then the plug-in; the first that is missing gives the sentence.
// Nothing is unloaded again: libtorch_cuda registers operators that cannot be taken back.
#include "core/cuda/loader/CudaPlugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>

namespace stepscope {
namespace {

constexpr int kNeededDriver = 13000;  // CUDA 13.0, what the wheel is built for

std::string lastLoaderError() {
    const char* text = dlerror();
    return text ? text : "unknown reason";
}

std::string cudaVersion(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// Empty when the driver is there, new enough and sees a GPU; else the sentence.
std::string whyNoDriver(const std::string& name) {
    void* driver = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!driver) return "No NVIDIA driver is installed.";
    using Initialise = int (*)(unsigned);
    using ReadNumber = int (*)(int*);
    const auto initialise = reinterpret_cast<Initialise>(dlsym(driver, "cuInit"));
    const auto version = reinterpret_cast<ReadNumber>(dlsym(driver, "cuDriverGetVersion"));
    const auto deviceCount = reinterpret_cast<ReadNumber>(dlsym(driver, "cuDeviceGetCount"));
    if (!initialise || !version || !deviceCount) return "The NVIDIA driver library " + name + " lacks functions of the CUDA driver.";
    int number = 0, devices = 0;
    if (version(&number) != 0 || number < kNeededDriver)
        return "The NVIDIA driver supports CUDA " + cudaVersion(number) + " and LibTorch needs " + cudaVersion(kNeededDriver) +
               ": install driver 580 or newer.";
    if (initialise(0) != 0 || deviceCount(&devices) != 0 || devices == 0)
        return "The NVIDIA driver is installed but finds no GPU that it can use; nvidia-smi says more.";
    return {};
}

std::string folderOfExecutable() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) return ".";
    const std::string file(path, static_cast<std::size_t>(length));
    return file.substr(0, file.rfind('/'));
}

std::string ownLibrary(const std::string& given, const std::string& name) {
    if (!given.empty()) return given;
    const std::string folder = folderOfExecutable();
    const std::string beside = folder + "/" + name;
    return access(beside.c_str(), F_OK) == 0 ? beside : folder + "/../lib/stepscope/" + name;
}

// The table behind one of our libraries' doors; null with the sentence.
template <class Table>
const Table* openTable(const std::string& path, const char* door, int version, std::string& why) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        why = "Stepscope's CUDA plug-in could not be loaded (" + lastLoaderError() + ").";
        return nullptr;
    }
    using Entry = const Table* (*)(int);
    const auto entry = reinterpret_cast<Entry>(dlsym(handle, door));
    const Table* table = entry ? entry(version) : nullptr;
    if (!table) why = "Stepscope's CUDA plug-in is of another version than the program; build both again.";
    return table;
}

}  // namespace

CudaPlugin loadCudaPlugin(const CudaLibraries& libraries) {
    CudaPlugin plugin;
    plugin.whyNot = whyNoDriver(libraries.driver);
    if (!plugin.whyNot.empty()) return plugin;

    // Global, because LibTorch's later libraries (linalg, nvshmem) look its symbols up by name.
    if (!dlopen(libraries.torchCuda.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
        plugin.whyNot = "The CUDA libraries of LibTorch are not installed; run packaging/run on this machine again (" + lastLoaderError() + ").";
        return plugin;
    }
    plugin.torchCuda = true;

    const std::string path = ownLibrary(libraries.plugin, "libstepscope_cuda.so");
    if (access(path.c_str(), F_OK) != 0) {
        plugin.whyNot = "Stepscope was built without its CUDA plug-in, because no CUDA 13 compiler (nvcc) was found; run packaging/run again.";
        return plugin;
    }
    plugin.interface = openTable<CudaInterface>(path, "stepscope_cuda_interface", kCudaInterfaceVersion, plugin.whyNot);
    if (plugin.interface)
        plugin.graphs = openTable<CudaGraphs>(ownLibrary(libraries.graphs, "libstepscope_cuda_graphs.so"), "stepscope_cuda_graphs",
                                              kCudaGraphsVersion, plugin.whyNoGraphs);
    return plugin;
}

}  // namespace stepscope
