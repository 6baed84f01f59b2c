#include "core/cuda/cupti/CuptiLibrary.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <type_traits>
#include <vector>

namespace stepscope::cupti {
namespace {

constexpr const char* kSoname = "libcupti.so.13";
constexpr std::uint32_t kMajor = 13;  // whose records core/cuda/cupti/Records.cpp reads; NVIDIA only adds to their end within one

std::string folderOfCudaRuntime() {
    Dl_info runtime{};
    if (dladdr(reinterpret_cast<void*>(&cudaGetDeviceCount), &runtime) == 0 || runtime.dli_fname == nullptr) return {};
    const std::string file = runtime.dli_fname;
    const auto slash = file.rfind('/');
    return slash == std::string::npos ? std::string() : file.substr(0, slash + 1);
}

void* openNvidias() {
    // libtorch_cpu has loaded one already (Kineto is linked into it): that very copy must answer, hence its soname first.
    std::vector<std::string> places{kSoname};
    if (const std::string beside = folderOfCudaRuntime(); !beside.empty()) {
        places.push_back(beside + kSoname);                             // the wheels: nvidia/cu13/lib
        places.push_back(beside + "../../cuda_cupti/lib/" + kSoname);   // older ones: nvidia/cuda_cupti/lib beside nvidia/cuda_runtime/lib
        places.push_back(beside + "../extras/CUPTI/lib64/" + kSoname);  // the toolkit: lib64 and extras/CUPTI/lib64
    }
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = std::getenv(variable)) places.push_back(home + std::string("/extras/CUPTI/lib64/") + kSoname);
    places.push_back(std::string("/usr/local/cuda/extras/CUPTI/lib64/") + kSoname);
    places.push_back(std::string("/usr/local/cuda/lib64/") + kSoname);
    for (const std::string& place : places)
        if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    return nullptr;
}

std::unique_ptr<Library> opened(const char* path) {
    auto cupti = std::make_unique<Library>();
    void* handle = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : openNvidias();
    if (handle == nullptr) {
        cupti->whyNot = "Kernels are not recorded: NVIDIA's CUPTI 13 is not installed; packaging/run installs it beside LibTorch.";
        return cupti;
    }
    std::string missing;
    const auto bind = [&](auto& function, const char* symbol) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
        if (function == nullptr && missing.empty()) missing = symbol;
    };
    bind(cupti->getVersion, "cuptiGetVersion");
    std::uint32_t version = 0;
    if (cupti->getVersion != nullptr && cupti->getVersion(&version) == CUPTI_SUCCESS && version / 10000 != kMajor) {
        cupti->whyNot = "Kernels are not recorded: the CUPTI that was found is of version " + std::to_string(version) +
                        " and Stepscope reads that of CUDA 13 (130000 and above); remove the other from LD_LIBRARY_PATH.";
        return cupti;
    }
    bind(cupti->getResultString, "cuptiGetResultString");
    bind(cupti->subscribe, "cuptiSubscribe");
    bind(cupti->unsubscribe, "cuptiUnsubscribe");
    bind(cupti->enableCallback, "cuptiEnableCallback");
    bind(cupti->registerCallbacks, "cuptiActivityRegisterCallbacks");
    bind(cupti->enable, "cuptiActivityEnable");
    bind(cupti->disable, "cuptiActivityDisable");
    bind(cupti->flushAll, "cuptiActivityFlushAll");
    bind(cupti->nextRecord, "cuptiActivityGetNextRecord");
    bind(cupti->droppedRecords, "cuptiActivityGetNumDroppedRecords");
    bind(cupti->pushExternal, "cuptiActivityPushExternalCorrelationId");
    bind(cupti->popExternal, "cuptiActivityPopExternalCorrelationId");
    bind(cupti->timestamp, "cuptiGetTimestamp");
    bind(cupti->callbackName, "cuptiGetCallbackName");
    bind(cupti->graphNodeId, "cuptiGetGraphNodeId");
    bind(cupti->threadIdType, "cuptiSetThreadIdType");
    if (!missing.empty())
        cupti->whyNot =
            "Kernels are not recorded: the CUPTI that was found lacks " + missing + "; packaging/run installs the one that belongs to LibTorch.";
    return cupti;
}

// The words after "Kernels are not recorded: "; empty where `result` has none of its own.
std::string reason(CUptiResult result) {
    switch (static_cast<int>(result)) {
        case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
            return "another profiler (nsys, ncu or that of PyTorch) is attached to this process and CUPTI serves one alone; start without it.";
        case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
            return "the NVIDIA driver lets only administrators do it (ERR_NVGPUCTRPERM); load its module with NVreg_RestrictProfilingToAdminUsers=0 "
                   "or "
                   "add CAP_SYS_ADMIN to the container.";
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
            return "this virtual GPU does not allow profiling; ask who runs the machine for a whole one.";
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
            return "profiling is switched off for this virtual GPU; its host can switch it on (pciPassthru.cfg.enable_profiling for VMware vGPU).";
        case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
            return "CUPTI does not record on this slice of a GPU (MIG); take the whole GPU, or an instance that holds all of it.";
        case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
            return "CUPTI does not record under this WSL; update the Windows driver and allow GPU performance counters to all users in its control "
                   "panel, "
                   "or boot Linux.";
        case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
            return "the GPU is in confidential-computing mode, which hides what it runs; its DevTools mode allows it.";
        case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
            return "CUPTI does not record on mining cards (CMP).";
        case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
            return "CUPTI does not record with SLI on; switch it off.";
        case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
        case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
            return "an older profiler's interface is in use in this process or not possible on this GPU; start without other profilers.";
        case CUPTI_ERROR_NOT_INITIALIZED:
            return "CUPTI found no NVIDIA driver that it can use; nvidia-smi says more.";
        case CUPTI_ERROR_NOT_COMPATIBLE:
            return "CUPTI and the NVIDIA driver do not fit together; install driver 580 or newer.";
        case CUPTI_ERROR_OUT_OF_MEMORY:
            return "CUPTI had no memory left; make the batch smaller while capturing.";
        default:
            return {};
    }
}

}  // namespace

const Library& library(const char* path) {
    static auto* mutex = new std::mutex;
    static auto* all = new std::map<std::string, std::unique_ptr<Library>>;
    const std::lock_guard lock(*mutex);
    auto& one = (*all)[path != nullptr ? path : ""];
    if (!one) one = opened(path);
    return *one;
}

const char* sentence(const Library& library, CUptiResult result, const char* asked) {
    std::string text = reason(result);
    if (text.empty()) {
        const char* name = nullptr;
        if (library.getResultString(result, &name) != CUPTI_SUCCESS || name == nullptr) name = "an unknown error";
        text = "CUPTI answered " + std::string(name) + " (" + std::to_string(static_cast<int>(result)) + ") when asked to " + asked + ".";
    }
    static auto* mutex = new std::mutex;
    static auto* said = new std::set<std::string>;
    const std::lock_guard lock(*mutex);
    return said->insert("Kernels are not recorded: " + text).first->c_str();
}

}  // namespace stepscope::cupti
