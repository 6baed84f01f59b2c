// Machine: what this computer is, as stored with every session and shown to the person. Filled by profile/MachineProbe.
#pragma once
#include <string>
#include <vector>

#include "core/base/Units.h"

namespace stepscope {

struct Gpu {
    std::string name;
    Bytes memory;
    int computeMajor = 0;
    int computeMinor = 0;

    bool operator==(const Gpu&) const = default;
};

struct Machine {
    std::string cpu;                        // "AMD EPYC 9R14"
    int cores = 1;                          // usable by this process (affinity and cgroup respected)
    Bytes memory;                           // the smaller of physical memory and cgroup limit
    std::vector<std::string> instructions;  // of: avx2 avx512 avx512_bf16 amx_bf16 avx512_fp16 amx_fp16
    std::string system;                     // "Debian GNU/Linux 12, Linux 6.1"
    std::string stepscope;                  // version of this program
    std::string libtorch;                   // "2.11.0"
    std::vector<Gpu> gpus;
    std::string driver;                  // NVIDIA driver version, empty without one
    std::string whyNoCuda;               // a sentence when gpus is empty: "No NVIDIA driver is installed."
    std::string host{};                  // its name, where it is another machine than the one that stores the session (--engine-on); else empty
    std::string whyNoProcessorEnergy{};  // a sentence where the processors do not tell what they use; empty where they do, and where nobody asked

    bool operator==(const Machine&) const = default;
    bool has(const std::string& instruction) const {
        for (const auto& have : instructions)
            if (have == instruction) return true;
        return false;
    }
};

// Times measured on one hold for the other; systems and versions may have changed since.
inline bool sameHardware(const Machine& a, const Machine& b) {
    return a.cpu == b.cpu && a.cores == b.cores && a.gpus == b.gpus;
}

}  // namespace stepscope
