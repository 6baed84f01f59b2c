// What Stepscope makes for its user alone: folders of mode 0700, files of mode 0600. A file of a known name is made with O_EXCL, so that
// nobody's link is ever followed to somewhere else. Called when a database is opened for writing, on any thread.
#pragma once
#include <string>

namespace stepscope {

// The folders of `folder` that are missing. 0 or an errno. The data folder that is chosen when nobody names another is closed to others
// even where it is there already.
int makePrivateFolders(const std::string& folder);

// An empty file, unless there is something of that name. 0 or an errno. Symbolic links in the path are followed, also to a file that is
// not there yet. No descriptor of this process ever belongs to the name: closing one would drop SQLite's locks.
int makePrivateFile(const std::string& path);

}  // namespace stepscope
