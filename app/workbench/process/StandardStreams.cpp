#include "app/workbench/process/StandardStreams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace stepscope {

void openStandardStreams() {
    for (int stream = 0; stream < 3; ++stream) {
        if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
        // The lowest free number is this one. In the direction that it is not used in, so that a result is never said to be written.
        if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) _exit(1);
    }
}

}  // namespace stepscope
