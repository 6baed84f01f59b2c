#include "core/profile/CaptureSource.h"

#include "core/memory/HostAllocator.h"
#include "core/profile/HardwareSource.h"
#include "core/profile/KernelSource.h"
#include "core/profile/MemorySource.h"
#include "core/profile/OperationSource.h"
#include "core/profile/OperationTable.h"

namespace stepscope {

// Where every step is observed, two things of a capture are left out, as they are sums over all of its steps and not of those few that are kept: the
// table of operations, and what the processor counted of each operation, whose readings would be paid for at every step beside (HardwareSource).
std::vector<std::unique_ptr<CaptureSource>> captureSources(const Capture&, const CaptureOutlet& outlet) {
    std::vector<std::unique_ptr<CaptureSource>> all;
    CaptureOutlet late = outlet;
    if (outlet.late != nullptr) late.sink = outlet.late;
    if (outlet.late == nullptr && outlet.rows) all.push_back(std::make_unique<OperationTable>());
    if (outlet.sink != nullptr) all.push_back(std::make_unique<OperationSource>(outlet));
    if (outlet.sink != nullptr) all.push_back(std::make_unique<HardwareSource>(late));
    if (outlet.sink != nullptr && host_memory::installed()) all.push_back(std::make_unique<MemorySource>(outlet));
    const CudaPlugin& plugin = cudaPlugin();
    if (outlet.sink != nullptr && outlet.gpu && plugin.interface != nullptr) all.push_back(std::make_unique<KernelSource>(late, plugin));
    return all;
}

}  // namespace stepscope
