#include "core/profile/CaptureSource.h"

#include "core/profile/OperationTable.h"

namespace stepscope {

std::vector<std::unique_ptr<CaptureSource>> captureSources(const Capture&) {
    std::vector<std::unique_ptr<CaptureSource>> all;
    all.push_back(std::make_unique<OperationTable>());
    return all;
}

}  // namespace stepscope
