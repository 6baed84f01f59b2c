// Nvml.h with the few functions of libnvidia-ml.so.1 that are used, declared here by NVML's documented signatures: the
// header is not part of the CUDA wheels. Called by the sampler thread through CudaInterface.
#include "core/cuda/Nvml.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <type_traits>
#include <vector>

namespace stepscope {
namespace {

using Device = struct NvmlDevice*;
struct Memory {
    unsigned long long total, free, used;
};
struct Utilisation {
    unsigned int gpu, memory;
};
// Of a process that computes, as _v2 and _v3 write it, and as NVML did before them.
struct Process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpuInstance, computeInstance;
};
struct OldProcess {
    unsigned pid;
    unsigned long long bytes;
};
struct Share {  // of a process, per cent
    unsigned pid;
    unsigned long long at;  // us
    unsigned kernels, memory, encoder, decoder;
};
constexpr int kSuccess = 0, kInsufficientSize = 7;
constexpr int kTemperatureGpu = 0;
constexpr int kClockSm = 1;
constexpr int kPcieSent = 0, kPcieReceived = 1;

struct Library {
    int (*init)() = nullptr;
    int (*driverVersion)(char*, unsigned) = nullptr;
    int (*handle)(const char*, Device*) = nullptr;
    int (*name)(Device, char*, unsigned) = nullptr;
    int (*capability)(Device, int*, int*) = nullptr;
    int (*memory)(Device, Memory*) = nullptr;
    int (*utilisation)(Device, Utilisation*) = nullptr;
    int (*power)(Device, unsigned*) = nullptr;
    int (*temperature)(Device, int, unsigned*) = nullptr;
    int (*clock)(Device, int, unsigned*) = nullptr;
    // Not every driver and GPU has these; null where it has not.
    int (*energy)(Device, unsigned long long*) = nullptr;
    int (*throttle)(Device, unsigned long long*) = nullptr;
    int (*pcie)(Device, int, unsigned*) = nullptr;
    int (*processes)(Device, unsigned*, Process*) = nullptr;
    int (*oldProcesses)(Device, unsigned*, OldProcess*) = nullptr;
    int (*shares)(Device, Share*, unsigned*, unsigned long long) = nullptr;
    const char* why = nullptr;  // set when it cannot be used
};

Library open() {
    Library nvml;
    void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        nvml.why = "The NVIDIA driver's management library (libnvidia-ml.so.1) is not installed.";
        return nvml;
    }
    bool complete = true;
    const auto bind = [&](auto& function, const char* symbol) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
        complete = complete && function;
    };
    bind(nvml.init, "nvmlInit_v2");
    bind(nvml.driverVersion, "nvmlSystemGetDriverVersion");
    bind(nvml.handle, "nvmlDeviceGetHandleByPciBusId_v2");
    bind(nvml.name, "nvmlDeviceGetName");
    bind(nvml.capability, "nvmlDeviceGetCudaComputeCapability");
    bind(nvml.memory, "nvmlDeviceGetMemoryInfo");
    bind(nvml.utilisation, "nvmlDeviceGetUtilizationRates");
    bind(nvml.power, "nvmlDeviceGetPowerUsage");
    bind(nvml.temperature, "nvmlDeviceGetTemperature");
    bind(nvml.clock, "nvmlDeviceGetClockInfo");
    const bool allThere = complete;
    bind(nvml.energy, "nvmlDeviceGetTotalEnergyConsumption");
    bind(nvml.throttle, "nvmlDeviceGetCurrentClocksEventReasons");
    if (nvml.throttle == nullptr) bind(nvml.throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");  // as it was called before driver 535
    bind(nvml.pcie, "nvmlDeviceGetPcieThroughput");
    bind(nvml.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (nvml.processes == nullptr) bind(nvml.processes, "nvmlDeviceGetComputeRunningProcesses_v2");
    bind(nvml.oldProcesses, "nvmlDeviceGetComputeRunningProcesses");
    bind(nvml.shares, "nvmlDeviceGetProcessUtilization");
    if (!allThere)
        nvml.why = "The NVIDIA driver's management library is too old: it lacks a function that Stepscope reads.";
    else if (nvml.init() != kSuccess)
        nvml.why = "The NVIDIA driver's management library could not be started; nvidia-smi says more.";
    return nvml;
}

const Library& library() {
    static const Library nvml = open();
    return nvml;
}

// number: CUDA's, which CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER decide; NVML's own numbers know nothing of them.
const char* findDevice(std::int32_t number, Device* device) {
    if (library().why) return library().why;
    char bus[32] = {};
    if (cudaDeviceGetPCIBusId(bus, sizeof bus, number) != cudaSuccess || library().handle(bus, device) != kSuccess) {
        cudaGetLastError();  // or the next launch would be told of it
        return "There is no GPU of that number on this machine.";
    }
    return nullptr;
}

// A list of NVML's, which says how long it is when there was too little room. Nothing: it is not told.
template <class Entry, class Ask>
std::optional<std::vector<Entry>> listOf(const Ask& ask) {
    constexpr unsigned kRoom = 64, kMost = 4096;
    constexpr int kTries = 4;  // it may have grown meanwhile
    unsigned room = kRoom;
    for (int i = 0; i < kTries; ++i) {
        // Half as much behind it: some drivers of 535 write a field more of each process into _v3's list (usedGpuCcProtectedMemory), which by this
        // layout has then processes of the number 0.
        std::vector<Entry> entries(room + room / 2);
        unsigned count = room;
        const int answer = ask(&count, entries.data());
        if (answer == kSuccess && count <= room) {
            entries.resize(count);
            return entries;
        }
        if (answer != kInsufficientSize || count <= room || count > kMost) return std::nullopt;
        room = count + count / 2;
    }
    return std::nullopt;
}

// Processes that compute on a device, each once, in rising order.
std::optional<std::vector<unsigned>> processesOn(Device device) {
    const Library& nvml = library();
    std::vector<unsigned> pids;
    const auto take = [&](const auto& entries) {
        if (!entries) return false;
        for (const auto& entry : *entries) pids.push_back(entry.pid);
        return true;
    };
    bool told = false;
    if (nvml.processes)
        told = take(listOf<Process>([&](unsigned* count, Process* out) { return nvml.processes(device, count, out); }));
    else if (nvml.oldProcesses)
        told = take(listOf<OldProcess>([&](unsigned* count, OldProcess* out) { return nvml.oldProcesses(device, count, out); }));
    if (!told) return std::nullopt;
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    return pids;
}

// How much of the last second kernels of these processes ran, per cent; below 0: not told.
double busyOf(Device device, const std::vector<unsigned>& pids) {
    using namespace std::chrono;
    if (library().shares == nullptr) return -1;
    const auto since = duration_cast<microseconds>(system_clock::now().time_since_epoch() - seconds(1)).count();
    const auto shares =
        listOf<Share>([&](unsigned* count, Share* out) { return library().shares(device, out, count, static_cast<unsigned long long>(since)); });
    if (!shares) return -1;
    double sum = 0;
    for (const unsigned pid : pids) {
        const Share* newest = nullptr;
        for (const Share& share : *shares)
            if (share.pid == pid && (newest == nullptr || share.at > newest->at)) newest = &share;
        if (newest == nullptr) continue;  // it ran nothing
        if (newest->kernels > 100) return -1;
        sum += newest->kernels;
    }
    return std::min(sum, 100.0);
}

// What NVML does not tell, by the CUDA runtime.
void describeByRuntime(std::int32_t number, CudaGpuDescription& gpu) {
    const auto ask = [&](auto& into, cudaDeviceAttr attribute) {
        int value = 0;
        if (cudaDeviceGetAttribute(&value, attribute, number) == cudaSuccess) into = value;
    };
    ask(gpu.multiprocessors, cudaDevAttrMultiProcessorCount);
    ask(gpu.threadsPerMultiprocessor, cudaDevAttrMaxThreadsPerMultiProcessor);
    ask(gpu.threadsPerBlock, cudaDevAttrMaxThreadsPerBlock);
    ask(gpu.warp, cudaDevAttrWarpSize);
    ask(gpu.registersPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor);
    ask(gpu.registersPerBlock, cudaDevAttrMaxRegistersPerBlock);
    ask(gpu.sharedPerMultiprocessorBytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    ask(gpu.sharedPerBlockBytes, cudaDevAttrMaxSharedMemoryPerBlock);
    ask(gpu.sharedPerBlockAtMostBytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    ask(gpu.l2Bytes, cudaDevAttrL2CacheSize);
    ask(gpu.clockKHz, cudaDevAttrClockRate);
    ask(gpu.memoryClockKHz, cudaDevAttrMemoryClockRate);
    ask(gpu.memoryBusBits, cudaDevAttrGlobalMemoryBusWidth);
    gpu.bandwidthBytesPerSecond = 2.0 * 1000.0 * static_cast<double>(gpu.memoryClockKHz) * static_cast<double>(gpu.memoryBusBits) / 8.0;
    cudaGetLastError();
}

}  // namespace

const char* gpuCount(std::int32_t* count) {
    *count = 0;
    if (library().why) return library().why;
    if (cudaGetDeviceCount(count) == cudaSuccess) return nullptr;
    cudaGetLastError();
    *count = 0;
    return "The NVIDIA driver does not say how many GPUs there are.";
}

const char* describeGpu(std::int32_t number, CudaGpuDescription* description) {
    *description = {};
    Device device = nullptr;
    if (const char* why = findDevice(number, &device)) return why;
    const Library& nvml = library();
    Memory memory{};
    int major = 0, minor = 0;
    if (nvml.name(device, description->name, sizeof description->name) != kSuccess ||
        nvml.driverVersion(description->driver, sizeof description->driver) != kSuccess || nvml.memory(device, &memory) != kSuccess ||
        nvml.capability(device, &major, &minor) != kSuccess)
        return "The NVIDIA driver does not describe this GPU; nvidia-smi says more.";
    description->memoryBytes = static_cast<std::int64_t>(memory.total);
    description->computeMajor = major;
    description->computeMinor = minor;
    describeByRuntime(number, *description);
    return nullptr;
}

const char* sampleGpu(std::int32_t number, CudaGpuSample* sample) {
    *sample = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    Device device = nullptr;
    if (const char* why = findDevice(number, &device)) return why;
    const Library& nvml = library();
    Memory memory{};
    Utilisation utilisation{};
    unsigned milliwatts = 0, celsius = 0, megahertz = 0;
    if (nvml.memory(device, &memory) == kSuccess) {
        sample->memoryUsedBytes = static_cast<std::int64_t>(memory.used);
        sample->memoryTotalBytes = static_cast<std::int64_t>(memory.total);
    }
    if (nvml.utilisation(device, &utilisation) == kSuccess) {
        sample->utilisationPct = utilisation.gpu;
        sample->memoryBusyPct = utilisation.memory;
    }
    if (nvml.power(device, &milliwatts) == kSuccess) sample->powerWatts = milliwatts / 1000.0;
    if (nvml.temperature(device, kTemperatureGpu, &celsius) == kSuccess) sample->temperatureCelsius = celsius;
    if (nvml.clock(device, kClockSm, &megahertz) == kSuccess) sample->smClockMHz = megahertz;
    unsigned long long wide = 0;
    unsigned kilobytes = 0;  // a second, over the last 20 ms, for which each call waits
    if (nvml.energy && nvml.energy(device, &wide) == kSuccess) sample->energyJoules = static_cast<double>(wide) / 1000.0;
    if (nvml.throttle && nvml.throttle(device, &wide) == kSuccess) sample->throttleReasons = static_cast<std::int64_t>(wide);
    if (nvml.pcie && nvml.pcie(device, kPcieSent, &kilobytes) == kSuccess) sample->pcieSentBytes = kilobytes * 1000LL;
    if (nvml.pcie && nvml.pcie(device, kPcieReceived, &kilobytes) == kSuccess) sample->pcieReceivedBytes = kilobytes * 1000LL;
    return nullptr;
}

const char* othersOnGpu(std::int32_t number, CudaGpuOthers* others) {
    *others = {-1, -1};
    Device device = nullptr;
    if (const char* why = findDevice(number, &device)) return why;
    auto pids = processesOn(device);
    // A list without this process is one of other numbers than are known here, or one that hides some; no process has the number 0.
    const auto own = static_cast<unsigned>(getpid());
    if (!pids || !std::binary_search(pids->begin(), pids->end(), own) || pids->front() == 0) return nullptr;
    pids->erase(std::lower_bound(pids->begin(), pids->end(), own));
    others->processes = static_cast<std::int64_t>(pids->size());
    others->busyPct = pids->empty() ? 0 : busyOf(device, *pids);
    return nullptr;
}

}  // namespace stepscope
