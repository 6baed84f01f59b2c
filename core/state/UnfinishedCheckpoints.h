// Folders that a checkpoint, or weights for other programs, are written into before they are renamed: "<checkpoint>.unfinished-<process>-<six
// characters>". They are new, of a name that nobody can foretell, and for their owner alone; the process holds a lock on a file in them as long as it
// writes. Where a kill or a power loss took the owner, the folder is removed when the next run begins.
#pragma once
#include <string>

#include "core/base/Result.h"

namespace stepscope {

class UnfinishedFolder {
public:
    // Makes the folder for a checkpoint at `path`, empty but for its lock, and the folders above it that are missing; all of mode 0700. Io: names
    // the checkpoint.
    static Result<UnfinishedFolder> make(const std::string& path);
    ~UnfinishedFolder();  // removes it unless it was moved to its place
    UnfinishedFolder(UnfinishedFolder&& other) noexcept;
    UnfinishedFolder& operator=(UnfinishedFolder&&) = delete;

    const std::string& path() const { return m_path; }
    Status moveTo(const std::string& place);  // fsynced; place must not exist
    // In place of a folder that is there, which is removed: at each moment one of the two has the name.
    Status replace(const std::string& place);

private:
    UnfinishedFolder(std::string path, int lock) : m_path(std::move(path)), m_lock(lock) {}

    std::string m_path;
    int m_lock = -1;
};

// Removes those below `root` (a folder of checkpoints, or one of sessions' folders) whose owner is gone; returns how many. A process of the same
// number as the owner's does not keep them. What cannot be removed stays.
int removeUnfinished(const std::string& root);

}  // namespace stepscope
