// Preloaded into a program (LD_PRELOAD): a library that writes to descriptor 2. With TALKING_EARLY while it is loaded, with TALKING_STDOUT to stdout;
// with TALKING_AFTER=FILE from a thread of its own once FILE has anything in it, which it says by a file FILE.said.
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void* talk(void*) {
    const std::string file = std::getenv("TALKING_AFTER");
    struct stat facts {};
    while (::stat(file.c_str(), &facts) != 0 || facts.st_size == 0) ::usleep(1000);
    std::fputs("\x1b[35mtalking: the moon\tis full\x1b[0m\n", stderr);
    ::close(::open((file + ".said").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return nullptr;
}

[[gnu::constructor]] void begin() {
    if (std::getenv("TALKING_EARLY") != nullptr) std::fputs("talking: it is early\n", stderr);
    if (std::getenv("TALKING_STDOUT") != nullptr) {
        std::fputs("talking: on stdout\n", stdout);
        std::fflush(stdout);
    }
    if (std::getenv("TALKING_AFTER") == nullptr) return;
    pthread_t thread{};
    if (::pthread_create(&thread, nullptr, &talk, nullptr) == 0) ::pthread_detach(thread);
}

}  // namespace
