// See CheckpointChoice.h.
#include "app/cli/CheckpointChoice.h"

#include "app/cli/Commands.h"
#include "app/workbench/Checkpoints.h"
#include "sessions/SessionStore.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace stepscope::cli {

Result<std::string> chooseCheckpoint(const std::string& folderOrId, const std::string& database) {
    const bool digits = std::ranges::all_of(folderOrId, [](unsigned char c) { return std::isdigit(c) != 0; });
    std::error_code ignored;
    if (!digits || std::filesystem::exists(folderOrId, ignored)) return folderOrId;
    const auto id = parseSessionId(folderOrId);
    if (!id) return id.error();
    return newestCheckpoint(database.empty() ? defaultDatabasePath() : database, *id);
}

}  // namespace stepscope::cli
