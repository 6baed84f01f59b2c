#include "core/kernels/forms/FormFile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace stepscope {
namespace {

struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

bool makeFolders(const std::string& path) {
    for (std::size_t at = 1; at != std::string::npos;) {
        at = path.find('/', at + 1);
        ::mkdir(path.substr(0, at).c_str(), 0700);  // one that is there already is as good
    }
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

std::optional<std::string> readSmallFile(const std::string& path, std::size_t most) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat info {};
    if (file.number < 0 || ::fstat(file.number, &info) != 0 || !S_ISREG(info.st_mode) || static_cast<std::size_t>(info.st_size) > most) return {};
    std::string text(most + 1, '\0');
    std::size_t filled = 0;
    while (filled < text.size()) {
        const ssize_t got = ::read(file.number, text.data() + filled, text.size() - filled);
        if (got < 0) return {};
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    if (filled > most) return {};  // it grew
    text.resize(filled);
    return text;
}

bool replaceSmallFile(const std::string& folder, const std::string& path, const std::string& text) {
    if (!makeFolders(folder)) return false;
    const std::string beside = path + "." + std::to_string(::getpid());
    {
        const Descriptor file{::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
        if (file.number < 0) return false;
        if (::write(file.number, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
            ::unlink(beside.c_str());
            return false;
        }
    }
    if (std::rename(beside.c_str(), path.c_str()) == 0) return true;
    ::unlink(beside.c_str());
    return false;
}

}  // namespace stepscope
