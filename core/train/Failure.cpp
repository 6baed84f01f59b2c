#include "core/train/Failure.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <new>

#include "core/program/DataParallel.h"

namespace stepscope {

Error describeException(const std::exception& thrown) {
    if (const auto* apart = dynamic_cast<const WorkersApart*>(&thrown)) return apart->error();
    std::string cause = thrown.what();
    cause = cause.substr(0, cause.find('\n'));
    if (dynamic_cast<const c10::OutOfMemoryError*>(&thrown) != nullptr || dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr)
        return makeError(ErrorCode::OutOfMemory,
                         fmt::format("The run needs more memory than there is: {}; lower batch-size, context or the model's size.",
                                     cause.empty() ? "allocation failed" : cause),
                         cause);
    return makeError(ErrorCode::Training, fmt::format("Training failed: {}.", cause), thrown.what());
}

}  // namespace stepscope
