#include "core/base/WholeFile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/Utf8.h"

namespace stepscope {

Result<std::string> readWhole(const std::string& path, std::size_t most) {
    const auto cannot = [&path](int problem) {
        return makeError(problem == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                         fmt::format("{} cannot be read: {}.", printable(path), ::strerror(problem)));
    };
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return cannot(errno);
    std::string all;
    int problem = 0;
    while (all.size() <= most) {
        constexpr std::size_t kAtOnce = 1 << 16;
        const std::size_t before = all.size();
        all.resize(before + std::min(kAtOnce, most + 1 - before));  // a byte more than there may be tells that there are more
        const ssize_t got = ::read(file, all.data() + before, all.size() - before);
        if (got < 0) problem = errno;
        all.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got < 0 && problem == EINTR) {
            problem = 0;
            continue;
        }
        if (got <= 0) break;
    }
    ::close(file);
    if (problem != 0) return cannot(problem);
    if (all.size() > most) return makeError(ErrorCode::BadInput, fmt::format("{} is larger than {} bytes.", printable(path), most));
    return all;
}

}  // namespace stepscope
