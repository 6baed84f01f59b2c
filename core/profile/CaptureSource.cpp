#include "core/profile/CaptureSource.h"

#include "core/memory/HostAllocator.h"
#include "core/profile/HardwareSource.h"
#include "core/profile/KernelSource.h"
#include "core/profile/MemorySource.h"
#include "core/profile/OperationSource.h"
#include "core/profile/OperationTable.h"

namespace stepscope {

std::vector<std::unique_ptr<CaptureSource>> captureSources(const Capture&, const CaptureOutlet& outlet) {
    std::vector<std::unique_ptr<CaptureSource>> all;
    if (outlet.onlyOperations && outlet.sink != nullptr) {
        all.push_back(std::make_unique<OperationSource>(outlet));
        return all;
    }
    all.push_back(std::make_unique<OperationTable>());
    if (outlet.sink != nullptr) all.push_back(std::make_unique<OperationSource>(outlet));
    if (outlet.sink != nullptr) all.push_back(std::make_unique<HardwareSource>(outlet));
    if (outlet.sink != nullptr && host_memory::installed()) all.push_back(std::make_unique<MemorySource>(outlet));
    const CudaPlugin& plugin = cudaPlugin();
    if (outlet.sink != nullptr && outlet.gpu && plugin.interface != nullptr) all.push_back(std::make_unique<KernelSource>(outlet, plugin));
    return all;
}

}  // namespace stepscope
