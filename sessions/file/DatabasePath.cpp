// Where sessions are kept when nobody says otherwise (the XDG base directory specification's data folder).
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/base/PrivateFolders.h"
#include "sessions/SessionStore.h"

namespace stepscope {

std::string defaultDatabasePath() {
    namespace fs = std::filesystem;
    fs::path data;
    if (const char* set = std::getenv("XDG_DATA_HOME")) data = set;
    if (!data.is_absolute()) {  // the specification: a relative path is to be ignored
        const char* home = std::getenv("HOME");
        if (home == nullptr || *home == '\0')
            if (const passwd* entry = ::getpwuid(::getuid())) home = entry->pw_dir;
        data = fs::path(home != nullptr ? home : ".") / ".local" / "share";
    }
    return (data / "stepscope" / "sessions.db").string();
}

std::string whyDatabaseCannotBeMade(const std::string& database) {
    std::error_code problem;
    const auto folder = std::filesystem::absolute(database, problem).parent_path();
    std::vector<std::filesystem::path> missing;
    for (auto at = folder; !at.empty() && at != at.parent_path() && !std::filesystem::exists(at, problem); at = at.parent_path())
        missing.push_back(at);
    problem = std::error_code(makeMissingFolders(folder.string()), std::generic_category());
    const bool writable = !problem && std::filesystem::is_directory(folder, problem) && ::access(folder.c_str(), W_OK) == 0;
    for (const auto& made : missing) {
        std::error_code kept;
        std::filesystem::remove(made, kept);
    }
    if (writable) return {};
    return fmt::format(
        "No run can be recorded: the database \"{}\" cannot be made{}. Choose another file (--db), in a folder that can be written to.", database,
        problem ? ": " + problem.message() : std::string());
}

}  // namespace stepscope
