// See LostDisplay.h.
#include "app/gui/LostDisplay.h"

#include "app/gui/RunController.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace stepscope {
namespace {

RunController* g_runs = nullptr;

void leave() {
    if (g_runs == nullptr) return;
    std::fputs(g_runs->keepAndStop() ? "The display is gone. The run was stopped and kept with a checkpoint; it can be resumed.\n" : "The display is gone.\n", stderr);
    std::fflush(stderr);
    // Nothing that main() has made is taken down: it is still in use above us on the stack.
    _exit(1);
}

}  // namespace

LostDisplay::LostDisplay(RunController& runs) {
    g_runs = &runs;
    std::atexit(leave);
}

LostDisplay::~LostDisplay() { g_runs = nullptr; }

}  // namespace stepscope
