// Reads .jsonl: one JSON object a line, whose field "text" is a document. Used by TextReader.
#pragma once
#include <atomic>
#include <string>
#include <string_view>

#include "core/base/Result.h"

namespace stepscope {

// The documents of `lines`, an empty line between two of them. Errors name `name` and the line number.
Result<std::string> textOfJsonLines(std::string_view lines, const std::string& name, const std::atomic<bool>& cancelled);

}  // namespace stepscope
