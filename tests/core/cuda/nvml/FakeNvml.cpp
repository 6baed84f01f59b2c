// libnvidia-ml.so.1 as the driver has it, with two GPUs that a test sets up: FakeNvml.h. With WITHOUT_NEW it is one of an old driver, with
// WITHOUT_POWER one that lacks a function that has always been there.
#include "tests/core/cuda/nvml/FakeNvml.h"

#include <cstdio>
#include <cstring>

namespace {

stepscope::FakeNvml state;

constexpr int kNotFound = 6, kNotSupported = 3;

int refused(const char* function) {
    return state.refuses != nullptr && std::strcmp(state.refuses, function) == 0 ? kNotSupported : 0;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE stepscope::FakeNvml* fakeNvml() {
    return &state;
}

FAKE int nvmlInit_v2() {
    ++state.inits;
    return state.initAnswer;
}
FAKE int nvmlSystemGetDriverVersion(char* out, unsigned size) {
    std::snprintf(out, size, "%s", state.driver);
    return refused("driver");
}
FAKE int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
    for (auto& gpu : state.gpus)
        if (std::strcmp(gpu.bus, bus) == 0) {
            *device = &gpu;
            return 0;
        }
    return kNotFound;
}
FAKE int nvmlDeviceGetName(stepscope::FakeGpu* gpu, char* out, unsigned size) {
    std::snprintf(out, size, "%s", gpu->name);
    return refused("name");
}
FAKE int nvmlDeviceGetCudaComputeCapability(stepscope::FakeGpu*, int* major, int* minor) {
    *major = 9;
    *minor = 0;
    return refused("capability");
}
FAKE int nvmlDeviceGetMemoryInfo(stepscope::FakeGpu* gpu, unsigned long long* of) {
    of[0] = gpu->totalBytes;
    of[1] = gpu->totalBytes - gpu->usedBytes;
    of[2] = gpu->usedBytes;
    return refused("memory");
}
FAKE int nvmlDeviceGetUtilizationRates(stepscope::FakeGpu* gpu, unsigned* of) {
    of[0] = gpu->busyPct;
    of[1] = gpu->memoryBusyPct;
    return refused("utilisation");
}
#ifndef WITHOUT_POWER
FAKE int nvmlDeviceGetPowerUsage(stepscope::FakeGpu* gpu, unsigned* milliwatts) {
    *milliwatts = gpu->milliwatts;
    return refused("power");
}
#endif
FAKE int nvmlDeviceGetTemperature(stepscope::FakeGpu* gpu, int sensor, unsigned* celsius) {
    *celsius = gpu->celsius;
    return sensor == 0 ? refused("temperature") : kNotSupported;
}
FAKE int nvmlDeviceGetClockInfo(stepscope::FakeGpu* gpu, int clock, unsigned* megahertz) {
    *megahertz = gpu->smMegahertz;
    return clock == 1 ? refused("clock") : kNotSupported;
}
#ifdef WITHOUT_NEW
FAKE int nvmlDeviceGetCurrentClocksThrottleReasons(stepscope::FakeGpu*, unsigned long long* reasons) {
    *reasons = 0x20;
    return 0;
}
#else
FAKE int nvmlDeviceGetTotalEnergyConsumption(stepscope::FakeGpu* gpu, unsigned long long* millijoules) {
    *millijoules = gpu->millijoules;
    return refused("energy");
}
FAKE int nvmlDeviceGetCurrentClocksEventReasons(stepscope::FakeGpu* gpu, unsigned long long* reasons) {
    *reasons = gpu->reasons;
    return refused("reasons");
}
FAKE int nvmlDeviceGetPcieThroughput(stepscope::FakeGpu* gpu, int direction, unsigned* kilobytes) {
    *kilobytes = direction == 0 ? gpu->sentKilobytes : gpu->receivedKilobytes;
    return refused("pcie");
}
#endif
