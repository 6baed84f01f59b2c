// The engine of the window's tests: a small catalogue of switches with every kind of value, and FakeRun. Defines
// Workbench::create() and initialiseEngine(), so it is never linked together with the real one.
#pragma once
#include "app/workbench/Workbench.h"

namespace stepscope {

// Milliseconds a step of runs started from now on takes (also from the environment: STEPSCOPE_FAKE_STEP_MS).
void setFakeStepMs(double ms);
// Milliseconds that each prediction of memory takes from now on.
void setFakeEstimateMs(int ms);
// What runs started from now on are refused with while they are prepared; empty = they are not.
void setFakeRefusal(const std::string& sentence);
// Whether sessions have a checkpoint of step 42, which writes " out of checkpoint-SESSION.".
void setFakeCheckpoints(bool have);
// Whether one of them was asked for verdicts, a whole configuration, a prediction or a run from the thread that calls this.
bool fakeWasAskedHere();
SwitchCatalogue fakeCatalogue(const RunConfig& config);

}  // namespace stepscope
