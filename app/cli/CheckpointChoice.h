// Which checkpoint is meant: a folder, or the number of a session whose newest one is taken. Used by train --resume and generate.
#pragma once
#include "core/base/Result.h"

#include <string>

namespace stepscope::cli {

Result<std::string> chooseCheckpoint(const std::string& folderOrId, const std::string& database);

}  // namespace stepscope::cli
