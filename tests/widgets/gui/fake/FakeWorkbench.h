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
// Whether the checkpoint at the end of a run cannot be written.
void setFakeLostCheckpoints(bool lost);
bool fakeLosesCheckpoints();
// How experiments started from now on go.
struct FakeExperimentPlan {
    double ratio = 1.12;    // time of A / time of B
    double scatter = 0.02;  // of a pair's logarithm
    int pairs = 16;         // that are made, left-out ones among them
    int usAPair = 4'000;    // microseconds
    bool leavesOut = true;  // some of them
    std::string outcome = "faster", reason, why;
    std::string refusal;             // instead of beginning
    std::string failure;             // while it is prepared
    int fullFrom = -1, fullTo = -1;  // the pairs before which its disk has no room any more, and has some again
    std::string alike;               // what is said of both sides before anything is measured; empty: they differ
};
void setFakeExperiment(const FakeExperimentPlan& plan);
// Whether one of them was asked for verdicts, a whole configuration, a prediction or a run from the thread that calls this.
bool fakeWasAskedHere();
SwitchCatalogue fakeCatalogue(const RunConfig& config);

}  // namespace stepscope
