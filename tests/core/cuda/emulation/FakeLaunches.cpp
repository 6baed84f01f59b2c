// Every launch of the emulation as what CUPTI would record of it: the call of the runtime, and the kernel under the name that the compiler gave it,
// read from the symbols of this library. Part of stepscope_cuda_on_host where the fake CUPTI is.
#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "../cupti/FakeCupti.h"
#include "Emulation.h"

namespace stepscope::emulation {
namespace {

// The functions of a library by where they begin in it; kernels are local symbols, which the dynamic linker does not know.
std::map<std::uint64_t, std::string> functionsOf(const char* file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    std::map<std::uint64_t, std::string> all;
    if (bytes.size() < sizeof(Elf64_Ehdr)) return all;
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const auto section = [&](std::size_t i) {
        Elf64_Shdr one;
        std::memcpy(&one, bytes.data() + header.e_shoff + i * sizeof one, sizeof one);
        return one;
    };
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr symbols = section(i);
        if (symbols.sh_type != SHT_SYMTAB) continue;
        const Elf64_Shdr strings = section(symbols.sh_link);
        for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            std::memcpy(&symbol, bytes.data() + symbols.sh_offset + at, sizeof symbol);
            if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value != 0)
                all.emplace(symbol.st_value, bytes.data() + strings.sh_offset + symbol.st_name);
        }
    }
    return all;
}

const char* nameOf(const void* function) {
    Dl_info library{};
    if (dladdr(function, &library) == 0) return "unknown";
    static const auto functions = functionsOf(library.dli_fname);
    const auto found = functions.find(static_cast<std::uint64_t>(static_cast<const char*>(function) - static_cast<const char*>(library.dli_fbase)));
    return found != functions.end() ? found->second.c_str() : "unknown";
}

std::int64_t steadyNow() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

class Recorded final : public LaunchObserver {
    void launched(const Launch& launch, const std::function<void()>& run) override {
        if (!fakeCuptiRecords(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) return run();
        fakeCuptiName(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel_v7000");
        const std::uint64_t called = fakeCuptiTime(steadyNow());
        const std::uint32_t correlation = fakeCuptiCallBegins();
        CUpti_ActivityKernel10 kernel{};
        kernel.start = fakeCuptiTime(steadyNow());
        run();
        kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        kernel.end = fakeCuptiTime(steadyNow());
        kernel.contextId = 1;
        kernel.streamId = launch.stream == nullptr ? 7 : 8;
        kernel.gridX = static_cast<std::int32_t>(launch.grid.x);
        kernel.gridY = static_cast<std::int32_t>(launch.grid.y);
        kernel.gridZ = static_cast<std::int32_t>(launch.grid.z);
        kernel.blockX = static_cast<std::int32_t>(launch.block.x);
        kernel.blockY = static_cast<std::int32_t>(launch.block.y);
        kernel.blockZ = static_cast<std::int32_t>(launch.block.z);
        kernel.registersPerThread = 32;
        kernel.correlationId = correlation;
        kernel.name = nameOf(launch.kernel);
        fakeCuptiRecord(&kernel, sizeof kernel);
        fakeCuptiCallEnds(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, correlation, called);
    }
};

const bool kObserved = [] {
    static Recorded recorded;
    observeLaunches(&recorded);
    return true;
}();

}  // namespace
}  // namespace stepscope::emulation
