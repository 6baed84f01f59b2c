#include "core/data/FreeMemory.h"

#include <fmt/format.h>

#include "core/base/Format.h"

namespace stepscope {

Error noRoom(const std::string& what, Bytes free, const std::string& remedy) {
    return makeError(ErrorCode::OutOfMemory, fmt::format("{}; {} of memory are free for it: {}.", what, format::bytes(free), remedy));
}

}  // namespace stepscope
