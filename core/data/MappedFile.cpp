// See MappedFile.h.
#include "core/data/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

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

Result<MappedFile> MappedFile::open(const std::string& path) {
    // O_NONBLOCK: a FIFO without a writer must be refused, not waited for.
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.number < 0) return cannotOpen(path, errno);
    struct stat status {};
    if (::fstat(file.number, &status) != 0) return cannotOpen(path, errno);
    if (!S_ISREG(status.st_mode))
        return makeError(ErrorCode::BadInput, fmt::format("{} is not a regular file; give a file that lies on a disk.", path));

    MappedFile mapped;
    mapped.m_size = static_cast<std::size_t>(status.st_size);
    if (mapped.m_size == 0) return mapped;
    void* address = ::mmap(nullptr, mapped.m_size, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (address == MAP_FAILED) return cannotOpen(path, errno);
    mapped.m_address = address;
    return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : m_address(std::exchange(other.m_address, nullptr)), m_size(std::exchange(other.m_size, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(m_address, other.m_address);
    std::swap(m_size, other.m_size);
    return *this;
}

MappedFile::~MappedFile() {
    if (m_address != nullptr) ::munmap(m_address, m_size);
}

}  // namespace stepscope
