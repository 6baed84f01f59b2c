#include "app/cli/CheckpointChoice.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "app/cli/Commands.h"
#include "app/workbench/Checkpoints.h"
#include "sessions/SessionStore.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

// People complete a path as far as it goes. A file beside which there is neither a checkpoint's state.json nor a config.json of others stays what it
// is, so that the refusal names it.
std::string folderOf(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return path;
    const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    return fs::exists(folder / "state.json", ignored) || fs::exists(folder / "config.json", ignored) ? folder.string() : path;
}

}  // namespace

Result<std::string> chooseCheckpoint(const std::string& pathOrId, const std::string& database) {
    const bool digits = std::ranges::all_of(pathOrId, [](unsigned char c) { return std::isdigit(c) != 0; });
    std::error_code ignored;
    if (!digits || fs::exists(pathOrId, ignored)) return folderOf(pathOrId);
    const auto id = parseSessionId(pathOrId);
    if (!id) return id.error();
    return newestCheckpoint(database.empty() ? defaultDatabasePath() : database, *id);
}

}  // namespace stepscope::cli
