#include "app/workbench/process/StandardOutput.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace stepscope::standard_output {
namespace {

int g_taken = -1;  // before main there is one thread

bool startsTheEngine(int argc, char** argv) {
    if (argc < 2 || std::strcmp(argv[1], "engine") != 0) return false;
    // What is for people is on stdout.
    for (int i = 2; i < argc; ++i)
        for (const char* forPeople : {"--help", "-h", "--list", "--stop", "--forget"})
            if (std::strncmp(argv[i], forPeople, std::strlen(forPeople)) == 0) return false;
    return true;
}

}  // namespace

void take(int argc, char** argv) {
    if (!startsTheEngine(argc, argv)) return;
    g_taken = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (g_taken >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

int descriptor() {
    return g_taken;
}

void giveBack() {
    if (g_taken >= 0) ::dup2(g_taken, STDOUT_FILENO);
}

void takeAgain() {
    if (g_taken >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

}  // namespace stepscope::standard_output
