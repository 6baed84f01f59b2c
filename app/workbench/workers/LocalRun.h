// LocalRun: a run of several workers on this machine that the window asked for. This process is the first of them, so that its events come as those
// of any run; the others are processes of the command line's program, started with the same settings and ended with the run, however it ends.
#pragma once
#include <memory>

#include "app/workbench/Workbench.h"

namespace stepscope {

// request: complete, with localWorkers of 2 or more. Errors: BadInput, where so many cannot be; NotFound, where the program is not there; Io.
Result<std::unique_ptr<Run>> startLocalRun(Workbench& workbench, RunRequest request, EventSink& sink);

// What the others are started with, so that they train as the first one does.
std::vector<std::string> workerCommand(const RunRequest& request);

}  // namespace stepscope
