// See Gpus.h.
#include "app/workbench/Gpus.h"

namespace stepscope {
namespace {

double known(double reading) { return reading < 0 ? kUnknown : reading; }

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
            machine.whyNoCuda = problem;
            continue;
        }
        machine.driver = gpu.driver;
        machine.gpus.push_back({gpu.name, {gpu.memoryBytes}, gpu.computeMajor, gpu.computeMinor});
    }
}

std::function<void(DeviceSample&)> gpuSampler(const CudaPlugin& plugin) {
    if (!plugin.usable()) return {};
    return [interface = plugin.interface](DeviceSample& sample) {
        CudaGpuSample reading{};
        if (interface->sampleGpu(0, &reading) != nullptr) return;  // a reading that fails leaves the numbers unknown
        sample.gpuPct = known(reading.utilisationPct);
        sample.gpuMemoryBytes = known(static_cast<double>(reading.memoryUsedBytes));
        sample.gpuPowerW = known(reading.powerWatts);
        sample.gpuTemperatureC = known(reading.temperatureCelsius);
        sample.gpuClockMhz = known(static_cast<double>(reading.smClockMHz));
    };
}

}  // namespace stepscope
