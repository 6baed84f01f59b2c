// Which file the plug-in that is compiled for the host opens as CUPTI: the fake one, or what a test names. Takes the place of
// core/cuda/cupti/CuptiFile.cpp where the fake CUPTI is.
#include <atomic>

#include "OnHost.h"
#include "core/cuda/cupti/CuptiFile.h"

namespace {

std::atomic<const char*> g_cuptiFile{FAKE_CUPTI};

}  // namespace

const char* stepscope::cupti::fileInstead() {
    return g_cuptiFile.load();
}

extern "C" __attribute__((visibility("default"))) void stepscope_cuda_on_host_opens(const char* file) {
    g_cuptiFile.store(file != nullptr ? file : FAKE_CUPTI);
}
