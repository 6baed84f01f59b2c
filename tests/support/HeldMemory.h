// Memory of this process's own, for tests that bound what may be taken beyond it.
#pragma once
#include <sys/resource.h>

#include <fstream>
#include <string>

namespace stepscope::testing {

// Bytes; 0 where /proc does not tell.
inline rlim_t heldMemory() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word)
        if (word == "VmData:") {
            rlim_t kilobytes = 0;
            status >> kilobytes;
            return kilobytes * 1024;
        }
    return 0;
}

}  // namespace stepscope::testing
