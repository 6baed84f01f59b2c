#include "core/train/Failure.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <new>
#include <system_error>

#include "core/program/DataParallel.h"

namespace stepscope {

Error describeException(const std::exception& thrown, Doing doing) {
    if (const auto* apart = dynamic_cast<const WorkersApart*>(&thrown)) return apart->error();
    std::string cause = thrown.what();
    cause = cause.substr(0, cause.find('\n'));
    if (dynamic_cast<const c10::OutOfMemoryError*>(&thrown) != nullptr || dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) {
        const std::string what = cause.empty() ? "allocation failed" : cause;
        return makeError(
            ErrorCode::OutOfMemory,
            doing == Doing::Training
                ? fmt::format("The run needs more memory than there is: {}; lower batch-size, context or the model's size.", what)
                : fmt::format("This needs more memory than there is: {}; take less at a time (batch, context, texts), or a smaller model.", what),
            cause);
    }
    // What std::thread throws.
    if (const auto* refused = dynamic_cast<const std::system_error*>(&thrown);
        refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again)
        return makeError(ErrorCode::Unsupported,
                         "The system starts no more threads for this; set threads lower, or raise the limits of processes (ulimit -u) and of "
                         "memory (ulimit -v).",
                         cause);
    return makeError(ErrorCode::Training, fmt::format("{}: {}.", doing == Doing::Training ? "Training failed" : "LibTorch could not do this", cause),
                     thrown.what());
}

}  // namespace stepscope
