// libnvidia-ml.so.1 as the driver has it, with two GPUs that a test sets up: FakeNvml.h. With WITHOUT_NEW it is one of an old driver, with
// WITHOUT_V3 one that lists processes as older drivers do, with WITHOUT_PROCESSES one that lists none, with WITHOUT_POWER one that lacks a
// function that has always been there.
#include "tests/core/cuda/nvml/FakeNvml.h"

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

stepscope::FakeNvml state;

constexpr int kNotFound = 6, kNotSupported = 3, kInsufficientSize = 7;

int refused(const char* function) {
    return state.refuses != nullptr && std::strcmp(state.refuses, function) == 0 ? state.refusal : 0;
}

[[maybe_unused]] int listProcesses(const stepscope::FakeGpu& gpu, unsigned* count, unsigned char* out, unsigned bytes) {
    if (const int no = refused("processes"); no != 0) return no;
    ++state.asked;
    const unsigned room = *count;
    *count = gpu.processCount;
    if (room < gpu.processCount) return kInsufficientSize;
    for (unsigned i = 0; i < gpu.processCount; ++i) {
        std::memset(out + i * bytes, 0, bytes);
        std::memcpy(out + i * bytes, &gpu.processes[i], sizeof gpu.processes[i]);
    }
    return 0;
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
#if defined(WITHOUT_PROCESSES)
#elif defined(WITHOUT_NEW)
FAKE int nvmlDeviceGetComputeRunningProcesses(stepscope::FakeGpu* gpu, unsigned* count, unsigned char* out) {
    return listProcesses(*gpu, count, out, 16);
}
#else
#ifdef WITHOUT_V3
FAKE int nvmlDeviceGetComputeRunningProcesses_v2(stepscope::FakeGpu* gpu, unsigned* count, unsigned char* out) {
    return listProcesses(*gpu, count, out, 24);
}
#else
FAKE int nvmlDeviceGetComputeRunningProcesses_v3(stepscope::FakeGpu* gpu, unsigned* count, unsigned char* out) {
    return listProcesses(*gpu, count, out, state.bytesOfAProcess);
}
#endif
struct Share {
    unsigned pid;
    unsigned long long at;
    unsigned kernels, memory, encoder, decoder;
};
FAKE int nvmlDeviceGetProcessUtilization(stepscope::FakeGpu* gpu, Share* out, unsigned* count, unsigned long long since) {
    if (const int no = refused("shares"); no != 0) return no;
    state.since = since;
    const unsigned room = *count;
    *count = 0;
    for (unsigned i = 0; i < gpu->processCount; ++i) {
        if (gpu->busy[i] == 0) continue;
        const Share now{gpu->processes[i], since + 2, gpu->busy[i], 1, 0, 0}, before{gpu->processes[i], since + 1, 100, 1, 0, 0};
        for (const Share& share : {now, before}) {
            if (*count < room) out[*count] = share;
            ++*count;
        }
    }
    return *count == 0 ? kNotFound : *count <= room ? 0 : kInsufficientSize;
}
#endif
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
