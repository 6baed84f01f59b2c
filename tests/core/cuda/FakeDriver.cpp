// A stand-in for libcuda.so.1 that answers what loadCudaPlugin() asks, so that the steps after the driver can be tested on
// machines without one. Built three times with other answers (CMakeLists.txt here).
#ifndef VERSION
#define VERSION 13000
#endif
#ifndef DEVICES
#define DEVICES 1
#endif

extern "C" int cuInit(unsigned) {
    return 0;
}

extern "C" int cuDriverGetVersion(int* version) {
    *version = VERSION;
    return 0;
}

extern "C" int cuDeviceGetCount(int* count) {
    *count = DEVICES;
    return 0;
}
