#include "core/data/MappedFile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/data/CutShortFiles.h"

namespace stepscope {
namespace {

Error cannotOpen(const std::string& path, int why) {
    if (why == ENOENT || why == ENOTDIR)
        return makeError(ErrorCode::NotFound, fmt::format("There is no file {}; check the path.", path), std::strerror(why));
    return makeError(ErrorCode::Io, fmt::format("{} cannot be read: {}.", path, std::strerror(why)), std::strerror(why));
}

struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, Hold hold) {
    // O_NONBLOCK: a FIFO without a writer must be refused, not waited for.
    Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.number < 0) return cannotOpen(path, errno);
    struct stat status {};
    if (::fstat(file.number, &status) != 0) return cannotOpen(path, errno);
    if (!S_ISREG(status.st_mode))
        return makeError(ErrorCode::BadInput, fmt::format("{} is not a regular file; give a file that lies on a disk.", path));

    MappedFile mapped;
    mapped.m_path = path;
    mapped.m_size = static_cast<std::size_t>(status.st_size);
    if (mapped.m_size > 0) {
        void* address = ::mmap(nullptr, mapped.m_size, PROT_READ, MAP_PRIVATE, file.number, 0);
        if (address == MAP_FAILED) return cannotOpen(path, errno);
        mapped.m_address = address;
        mapped.m_watch = cut_short_files::watch(address, mapped.m_size);
    }
    // File systems without locks say so; the file is then only not protected from being tidied away.
    if (hold == Hold::InUse && ::flock(file.number, LOCK_SH | LOCK_NB) == 0) mapped.m_lock = std::exchange(file.number, -1);
    return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept {
    *this = std::move(other);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(m_path, other.m_path);
    std::swap(m_address, other.m_address);
    std::swap(m_size, other.m_size);
    std::swap(m_watch, other.m_watch);
    std::swap(m_lock, other.m_lock);
    return *this;
}

MappedFile::~MappedFile() {
    cut_short_files::forget(m_watch);
    if (m_address != nullptr) ::munmap(m_address, m_size);
    if (m_lock >= 0) ::close(m_lock);
}

void MappedFile::letGo(std::string_view read) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(m_address), from = reinterpret_cast<std::uintptr_t>(read.data());
    if (m_address == nullptr || from < begin || from + read.size() > begin + m_size) return;
    // Whole pages only: the rest of the last one is still to be read.
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t first = from & ~(page - 1), end = (from + read.size()) & ~(page - 1);
    if (first < end) ::madvise(static_cast<char*>(m_address) + (first - begin), end - first, MADV_DONTNEED);
}

bool MappedFile::cutShort() const {
    return cut_short_files::wasCutShort(m_watch);
}

}  // namespace stepscope
