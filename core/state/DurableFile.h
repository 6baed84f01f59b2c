// DurableFile: writes a new file, for its owner alone, that is on the disk when close() succeeds. Nothing is written over and no link followed: what
// has the name already is an error. Errors are kept until close(), which names the file.
// renameFolder() then puts a finished folder in place in one step, so that a checkpoint is either whole or not there.
#pragma once
#include <cstddef>
#include <string>

#include "core/base/Result.h"

namespace stepscope {

class DurableFile {
public:
    explicit DurableFile(std::string path);
    ~DurableFile();
    DurableFile(const DurableFile&) = delete;
    DurableFile& operator=(const DurableFile&) = delete;

    void write(const void* data, std::size_t bytes);
    Status close();  // fsyncs

private:
    std::string m_path;
    int m_descriptor = -1;
    int m_problem = 0;  // first errno
};

// fsyncs `from`, renames it to `to` (which must not exist), fsyncs the parent.
Status renameFolder(const std::string& from, const std::string& to);
// The same where `to` is a folder, which is `from` afterwards. On a file system that cannot exchange two names, `to` is missing for a moment.
Status exchangeFolders(const std::string& from, const std::string& to);

}  // namespace stepscope
