// See WorkerWaits.cpp.
#pragma once

namespace stepscope {

// Does nothing itself: a program that calls it has the object linked in whose work is done before main.
void linkWorkerWaits();

}  // namespace stepscope
