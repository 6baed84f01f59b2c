// Makes OpenMP's worker threads give their core away soon when they wait for each other. Runs before main and before any library's
// constructor, in both programs.
//
// libgomp's threads spin for milliseconds at every barrier before they sleep. As soon as anything else wants one of the cores (a
// compiler, a browser, our own window), a step of some hundred small parallel regions loses a scheduler's time slice in each of them:
// tiny-cpu on two cores beside one busy process took 1100-2100 ms a step, and 137-145 ms with GOMP_SPINCOUNT=1000. On the idle
// machine the two do not differ (66 and 67 ms). libgomp reads that variable in its constructor and has no call for it, so the
// program starts itself once more with it set: the dynamic linker runs DT_PREINIT_ARRAY of the executable before everything else.
// A person who has set GOMP_SPINCOUNT or OMP_WAIT_POLICY keeps what was set.
#include "app/workbench/process/WorkerWaits.h"

#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "app/workbench/process/StandardError.h"
#include "app/workbench/process/StandardOutput.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostVariables = 4096;

bool names(const char* entry, const char* variable) {
    const std::size_t length = std::strlen(variable);
    return std::strncmp(entry, variable, length) == 0 && entry[length] == '=';
}

void startAgainWithShortWaits(int, char** arguments, char** environment) {
    static char setting[] = "GOMP_SPINCOUNT=1000";
    static char* extended[kMostVariables + 2];
    std::size_t count = 0;
    for (; environment[count] != nullptr; ++count) {
        if (count == kMostVariables || names(environment[count], "GOMP_SPINCOUNT") || names(environment[count], "OMP_WAIT_POLICY")) return;
        extended[count] = environment[count];
    }
    extended[count] = setting;
    standard_output::giveBack();
    standard_error::giveBack();
    execve("/proc/self/exe", arguments, extended);
    standard_error::takeAgain();
    standard_output::takeAgain();  // where that fails the program goes on as it is, only slower beside others
}

__attribute__((section(".preinit_array"), used)) void (*const g_beforeEverything)(int, char**, char**) = &startAgainWithShortWaits;

}  // namespace

void linkWorkerWaits() {}

}  // namespace stepscope
