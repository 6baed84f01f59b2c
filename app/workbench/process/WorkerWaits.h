// Makes OpenMP's worker threads give their core away soon when they wait; WorkerWaits.cpp says why and how.
#pragma once

namespace stepscope {

// Does nothing itself: a program that calls it has the object linked in whose work is done before main.
void linkWorkerWaits();

}  // namespace stepscope
