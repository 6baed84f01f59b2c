#include "app/workbench/Gpus.h"

#include <c10/core/CachingDeviceAllocator.h>

namespace stepscope {
namespace {

double known(double reading) {
    return reading < 0 ? kUnknown : reading;
}

Bytes heldByTorch(std::int32_t device, const CudaPlugin& plugin) {
    if (!plugin.torchCuda) return {};
    c10::DeviceAllocator* const allocator = c10::getDeviceAllocator(c10::kCUDA);
    if (!allocator->initialized()) return {};  // no tensor was made on a GPU yet
    constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return {allocator->getDeviceStats(static_cast<c10::DeviceIndex>(device)).reserved_bytes[kAll].current};
}

}  // namespace

void describeGpus(Machine& machine, const CudaPlugin& plugin) {
    machine.whyNoCuda = plugin.whyNot;
    if (!plugin.usable()) return;
    std::int32_t count = 0;
    if (const char* problem = plugin.interface->gpuCount(&count)) {
        machine.whyNoCuda = problem;
        return;
    }
    for (std::int32_t device = 0; device < count; ++device) {
        CudaGpuDescription gpu{};
        if (const char* problem = plugin.interface->describeGpu(device, &gpu)) {
            // CUDA's ordinal is the place in the list: those behind one that cannot be described would be taken for others.
            machine.whyNoCuda = problem;
            break;
        }
        machine.driver = gpu.driver;
        machine.gpus.push_back({gpu.name, {gpu.memoryBytes}, gpu.computeMajor, gpu.computeMinor});
    }
}

std::function<void(DeviceSample&)> gpuSampler(std::int32_t device, const CudaPlugin& plugin) {
    if (!plugin.usable()) return {};
    return [device, interface = plugin.interface](DeviceSample& sample) {
        CudaGpuOthers others{-1, -1};
        if (interface->othersOnGpu != nullptr && interface->othersOnGpu(device, &others) == nullptr) {
            sample.gpuOtherProcesses = known(static_cast<double>(others.processes));
            sample.gpuOthersBusyPct = known(others.busyPct);
        }
        CudaGpuSample reading{};
        if (interface->sampleGpu(device, &reading) != nullptr) return;  // a reading that fails leaves the numbers unknown
        sample.gpuPct = known(reading.utilisationPct);
        sample.gpuMemoryBytes = known(static_cast<double>(reading.memoryUsedBytes));
        sample.gpuPowerW = known(reading.powerWatts);
        sample.gpuTemperatureC = known(reading.temperatureCelsius);
        sample.gpuClockMhz = known(static_cast<double>(reading.smClockMHz));
    };
}

std::optional<GpuMemory> gpuMemory(const Gpu& gpu, std::int32_t device, const CudaPlugin& plugin) {
    CudaGpuSample reading{};
    if (plugin.interface == nullptr || plugin.interface->sampleGpu(device, &reading) != nullptr) return std::nullopt;
    if (reading.memoryUsedBytes < 0 || reading.memoryTotalBytes != gpu.memory.count) return std::nullopt;
    return GpuMemory{{reading.memoryTotalBytes - reading.memoryUsedBytes}, heldByTorch(device, plugin)};
}

}  // namespace stepscope
