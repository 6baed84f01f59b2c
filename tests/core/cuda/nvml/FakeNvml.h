// What the fake NVIDIA management library says, set by a test that has opened it: its fakeNvml() gives the one of the process.
#pragma once

namespace stepscope {

struct FakeGpu {
    const char* bus = "";  // as the CUDA runtime writes it
    const char* name = "NVIDIA H200";
    unsigned long long totalBytes = 0, usedBytes = 0, millijoules = 0, reasons = 0;
    unsigned busyPct = 0, memoryBusyPct = 0, milliwatts = 0, celsius = 0, smMegahertz = 0, sentKilobytes = 0, receivedKilobytes = 0;
};
struct FakeNvml {
    int inits = 0, initAnswer = 0;
    const char* driver = "580.65.06";
    const char* refuses = nullptr;  // the function that says that the device cannot
    FakeGpu gpus[2];
};

}  // namespace stepscope
