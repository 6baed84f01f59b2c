// Folders that Stepscope makes for its user alone: of mode 0700 whatever the umask is. From any thread.
#pragma once
#include <string>

namespace stepscope {

// Makes the folders of `folder` that are missing; those that are there stay as they are, and symbolic links in the path are followed. 0 or an errno
// (ENOTDIR where something that is no folder has the name).
int makeMissingFolders(const std::string& folder);

}  // namespace stepscope
