// Any bytes as a file to import, packed where it begins like a gzip file: pieces up to the end, or one sentence that names the file; what is small
// never becomes more than its bound.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "core/base/Check.h"
#include "sessions/importers/ByteSource.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    static const int file = ::memfd_create("fuzz", 0);
    static const std::string path = "/proc/self/fd/" + std::to_string(file);
    SS_CHECK(::ftruncate(file, 0) == 0 && ::pwrite(file, bytes, size, 0) == static_cast<ssize_t>(size));
    auto source = importing::ByteSource::open(path);
    if (!source) {
        SS_CHECK(source.error().sentence.ends_with('.'));
        return 0;
    }
    std::size_t read = 0;
    for (std::string piece = (*source)->next(); !piece.empty(); piece = (*source)->next()) read += piece.size();
    if (const Status& ended = (*source)->status(); !ended)
        SS_CHECK(ended.error().sentence.ends_with('.'));
    else if (!(*source)->packed())
        SS_CHECK(read == size);
    return 0;
}
