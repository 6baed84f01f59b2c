#include "core/base/PrivateFolders.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace stepscope {

int makeMissingFolders(const std::string& folder) {
    namespace fs = std::filesystem;
    if (folder.empty()) return 0;
    std::error_code problem;
    fs::path missing;
    for (const auto& part : fs::path(folder)) {
        missing /= part;
        if (fs::is_directory(missing, problem)) continue;
        if (::mkdir(missing.c_str(), 0700) != 0 && errno != EEXIST) return errno;
    }
    return fs::is_directory(folder, problem) ? 0 : ENOTDIR;
}

}  // namespace stepscope
