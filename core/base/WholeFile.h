// A small file's content, read at once. A disk may give up in the middle of a file that was opened well, which a stream tells as an exception or not
// at all: here it is a sentence. Whoever may be given a pipe or a device asks first. Any thread.
#pragma once
#include <cstddef>
#include <string>

#include "core/base/Result.h"

namespace stepscope {

// Errors: NotFound, Io; BadInput of more than `most` bytes.
Result<std::string> readWhole(const std::string& path, std::size_t most);

}  // namespace stepscope
