// A file's bytes, mapped read-only: the pages are the kernel's, so opening a large one costs nothing and several runs share it.
// Used by the readers of text, ready tokens and the token cache; read on any thread.
// A file that another program cuts short while it is mapped would end this one with SIGBUS. Instead the pages that went away read as
// zeros and cutShort() says so: whoever read them asks, and the run ends with a sentence (CutShortFiles.h).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/Result.h"

namespace stepscope {

class MappedFile {
public:
    // InUse: a shared lock (flock) is held as long as the file is mapped, so that others see that it is needed.
    enum class Hold { Nothing, InUse };

    // NotFound, Io (permission, not a regular file): the sentence names the path.
    static Result<MappedFile> open(const std::string& path, Hold hold = Hold::Nothing);

    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    const std::string& path() const { return m_path; }
    std::string_view bytes() const { return {static_cast<const char*>(m_address), m_size}; }
    // Whether bytes were read that the file no longer has. Ask after reading, not before.
    bool cutShort() const;
    // Of `read`, a part of bytes() that is not needed soon: its pages stay with the kernel, and no longer count as memory of this process.
    void letGo(std::string_view read) const;

private:
    std::string m_path;
    void* m_address = nullptr;
    std::size_t m_size = 0;
    int m_watch = -1;  // its place in CutShortFiles; -1 = not watched
    int m_lock = -1;   // an open descriptor that holds the lock
};

}  // namespace stepscope
