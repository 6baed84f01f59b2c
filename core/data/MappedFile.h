// A file's bytes, mapped read-only: the pages are the kernel's, so opening a large one costs nothing and several runs share it.
// Used by the readers of text, ready tokens and the token cache.
#pragma once
#include "core/base/Result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope {

class MappedFile {
public:
    // NotFound, Io (permission, not a regular file): the sentence names the path.
    static Result<MappedFile> open(const std::string& path);

    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    std::string_view bytes() const { return {static_cast<const char*>(m_address), m_size}; }

private:
    void* m_address = nullptr;
    std::size_t m_size = 0;
};

}  // namespace stepscope
