// Where sessions are kept when nobody says otherwise (the XDG base directory specification's data folder).
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "sessions/SessionStore.h"

namespace stepscope {

std::string defaultDatabasePath() {
    namespace fs = std::filesystem;
    fs::path data;
    if (const char* set = std::getenv("XDG_DATA_HOME")) data = set;
    if (!data.is_absolute()) {  // the specification: a relative path is to be ignored
        const char* home = std::getenv("HOME");
        if (home == nullptr || *home == '\0')
            if (const passwd* entry = ::getpwuid(::getuid())) home = entry->pw_dir;
        data = fs::path(home != nullptr ? home : ".") / ".local" / "share";
    }
    return (data / "stepscope" / "sessions.db").string();
}

}  // namespace stepscope
