// What the fake NVIDIA management library says, set by a test that has opened it: its fakeNvml() gives the one of the process.
#pragma once

namespace stepscope {

struct FakeGpu {
    const char* bus = "";  // as the CUDA runtime writes it
    const char* name = "NVIDIA H200";
    unsigned long long totalBytes = 0, usedBytes = 0, millijoules = 0, reasons = 0;
    unsigned busyPct = 0, memoryBusyPct = 0, milliwatts = 0, celsius = 0, smMegahertz = 0, sentKilobytes = 0, receivedKilobytes = 0;
    // Processes that compute on it, and how much of the time kernels of each run, per cent; 0: it is not listed among those that ran any.
    unsigned processes[200] = {}, busy[200] = {};
    unsigned processCount = 0;  // as many as it says there are; more than 200 find no room anywhere
};
struct FakeNvml {
    int inits = 0, initAnswer = 0;
    const char* driver = "580.65.06";
    const char* refuses = nullptr;  // the function that says that the device cannot
    int refusal = 3;                // what it answers: not supported
    unsigned bytesOfAProcess = 24;  // as _v3 writes them; 32 in some drivers of 535
    unsigned asked = 0;             // how often for processes
    unsigned long long since = 0;   // which time's shares were asked for, us
    FakeGpu gpus[2];
};

}  // namespace stepscope
