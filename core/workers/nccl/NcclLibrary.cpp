#include "core/workers/nccl/NcclLibrary.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <type_traits>

namespace stepscope {
namespace {

constexpr const char* kSoname = "libnccl.so.2";
constexpr int kOldest = 21400;  // from there on calls need not wait, and errors are told in words

std::unique_ptr<NcclLibrary> openedNccl(const char* path) {
    auto nccl = std::make_unique<NcclLibrary>();
    void* handle = ::dlopen(path != nullptr ? path : kSoname, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        nccl->whyNot = "NVIDIA's NCCL, by which several GPUs add up gradients, is not installed; packaging/run installs it beside LibTorch.";
        return nccl;
    }
    std::string missing;
    const auto bind = [&](auto& function, const char* symbol) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, symbol));
        if (function == nullptr && missing.empty()) missing = symbol;
    };
    bind(nccl->getVersion, "ncclGetVersion");
    if (nccl->getVersion != nullptr && nccl->getVersion(&nccl->version) == NcclResult::Success && nccl->version < kOldest) {
        nccl->whyNot =
            fmt::format("The NCCL that was found is of version {}, and several GPUs need {} or newer; packaging/run installs that of LibTorch.",
                        ncclVersionWords(nccl->version), ncclVersionWords(kOldest));
        return nccl;
    }
    bind(nccl->getUniqueId, "ncclGetUniqueId");
    bind(nccl->commInitRankConfig, "ncclCommInitRankConfig");
    bind(nccl->commAbort, "ncclCommAbort");
    bind(nccl->commGetAsyncError, "ncclCommGetAsyncError");
    bind(nccl->getErrorString, "ncclGetErrorString");
    bind(nccl->getLastError, "ncclGetLastError");
    bind(nccl->allReduce, "ncclAllReduce");
    bind(nccl->broadcast, "ncclBroadcast");
    bind(nccl->groupStart, "ncclGroupStart");
    bind(nccl->groupEnd, "ncclGroupEnd");
    if (!missing.empty())
        nccl->whyNot = fmt::format("The NCCL that was found lacks {}; packaging/run installs the one that belongs to LibTorch.", missing);
    return nccl;
}

}  // namespace

const NcclLibrary& ncclLibrary(const char* path) {
    static auto* mutex = new std::mutex;
    static auto* all = new std::map<std::string, std::unique_ptr<NcclLibrary>>;
    const std::lock_guard lock(*mutex);
    auto& one = (*all)[path != nullptr ? path : ""];
    if (!one) one = openedNccl(path);
    return *one;
}

std::string ncclVersionWords(int version) {
    // Until 2.8 a digit less stood for the minor number.
    const int unit = version < 10000 ? 1000 : 10000;
    return fmt::format("{}.{}.{}", version / unit, version % unit / 100, version % 100);
}

}  // namespace stepscope
