#include "sessions/file/PrivateFile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "core/base/PrivateFolders.h"
#include "sessions/SessionStore.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

int makeExclusive(const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    ::close(file);
    return 0;
}

// What is there from before this rule may be open to others.
void closeToOthers(const fs::path& folder) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & 077) != 0)
        (void)::chmod(folder.c_str(), status.st_mode & 0700);
}

}  // namespace

int makePrivateFolders(const std::string& folder) {
    if (const int problem = makeMissingFolders(folder); problem != 0 || folder.empty()) return problem;
    if (folder == fs::path(defaultDatabasePath()).parent_path()) closeToOthers(folder);
    return 0;
}

int makePrivateFile(const std::string& path) {
    static std::atomic<int> number{0};
    std::error_code problem;
    const fs::path real = fs::weakly_canonical(path, problem);
    const std::string target = problem || real.empty() ? path : real.string();
    struct stat status {};
    if (::stat(target.c_str(), &status) == 0) return 0;
    // Made beside under a name of its own and closed before it gets the name that SQLite opens.
    const std::string made = fmt::format("{}.new-{}-{}", target, ::getpid(), ++number);
    if (const int failed = makeExclusive(made); failed != 0) return failed;
    const int failed = ::link(made.c_str(), target.c_str()) == 0 ? 0 : errno;
    ::unlink(made.c_str());
    if (failed == 0 || failed == EEXIST) return 0;
    // A file system without hard links.
    const int again = makeExclusive(target);
    return again == EEXIST ? 0 : again;
}

}  // namespace stepscope
