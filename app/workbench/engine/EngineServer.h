// The engine as a process of its own (`stepscope-cli engine`): trains one run for the program that started it. Commands come in on one descriptor,
// events go out on another one, as frames (sessions/wire). It ends with its run, and with who asked for it: a run that nobody listens to any more is
// stopped. Main thread; the run has its own.
#pragma once
#include "app/workbench/Workbench.h"

namespace stepscope {

// Returns when the run is over or the other side has gone. Errors: what came was no frame of a program like this one.
Status serveEngine(Workbench& workbench, int in, int out);

}  // namespace stepscope
