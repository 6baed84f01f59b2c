#include "core/state/DurableFile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace stepscope {
namespace {

Error cannotWrite(const std::string& path, int problem) {
    const bool full = problem == ENOSPC || problem == EDQUOT;
    return makeError(ErrorCode::Io, fmt::format("{} cannot be written: {}{}.", path, std::strerror(problem), full ? "; make room there" : ""));
}

int syncFolder(const std::string& path) {
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno;
    const int problem = ::fsync(folder) == 0 ? 0 : errno;
    ::close(folder);
    return problem;
}

// A bare name lies in the working directory.
int syncFolderOf(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return syncFolder(folder.empty() ? "." : folder);
}

}  // namespace

DurableFile::DurableFile(std::string path) : m_path(std::move(path)) {
    m_descriptor = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (m_descriptor < 0) m_problem = errno;
}

DurableFile::~DurableFile() {
    if (m_descriptor >= 0) ::close(m_descriptor);
}

void DurableFile::write(const void* data, std::size_t bytes) {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0 && m_problem == 0) {
        const ssize_t written = ::write(m_descriptor, at, bytes);
        if (written < 0) {
            if (errno != EINTR) m_problem = errno;
            continue;
        }
        at += written;
        bytes -= static_cast<std::size_t>(written);
    }
}

Status DurableFile::close() {
    if (m_problem == 0 && ::fsync(m_descriptor) != 0) m_problem = errno;
    if (m_descriptor >= 0 && ::close(std::exchange(m_descriptor, -1)) != 0 && m_problem == 0) m_problem = errno;
    if (m_problem != 0) return cannotWrite(m_path, m_problem);
    return {};
}

Status renameFolder(const std::string& from, const std::string& to) {
    if (const int problem = syncFolder(from); problem != 0) return cannotWrite(from, problem);
    if (std::rename(from.c_str(), to.c_str()) != 0) return cannotWrite(to, errno);
    if (const int problem = syncFolderOf(to); problem != 0) return cannotWrite(to, problem);
    return {};
}

Status exchangeFolders(const std::string& from, const std::string& to) {
    if (const int problem = syncFolder(from); problem != 0) return cannotWrite(from, problem);
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
        if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return cannotWrite(to, errno);
        const std::string aside = from + ".old";
        if (std::rename(to.c_str(), aside.c_str()) != 0) return cannotWrite(to, errno);
        if (std::rename(from.c_str(), to.c_str()) != 0) {
            const int problem = errno;
            (void)std::rename(aside.c_str(), to.c_str());
            return cannotWrite(to, problem);
        }
        if (std::rename(aside.c_str(), from.c_str()) != 0) return cannotWrite(aside, errno);
    }
    if (const int problem = syncFolderOf(to); problem != 0) return cannotWrite(to, problem);
    return {};
}

}  // namespace stepscope
