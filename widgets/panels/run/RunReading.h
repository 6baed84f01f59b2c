// What the top bar shows: the newest figures of the stream that is being looked at. Filled by app/gui, drawn by RunBar.
#pragma once
#include <QString>

#include "core/events/SessionInfo.h"

namespace stepscope {

struct RunReading {
    enum class Engine { Starting, Ready, Failed };  // Starting: the machine is still being looked at
    Engine engine = Engine::Starting;
    QString host{};         // another machine, where runs are trained; empty: on this one
    bool hasRun = false;    // something was started or is replayed
    bool live = false;      // a run of this window has not ended yet
    bool replay = false;    // what is looked at is a stored session
    bool starting = false;  // Run was pressed, the run is not there yet
    bool stopping = false;
    bool measuring = false;  // what is live is an experiment: its page says how far it is
    QString measuredOn{};    // the name of that page
    bool refused = false;    // the newest run ended before its first step could be made: there is nothing to show of it
    QString taken{};         // why no run can begin now, though none goes on; empty: one can
    bool heldUp = false;     // paused because nothing can be stored; goes on by itself unless it is paused as well
    RunState state = RunState::Preparing;
    QString note;                                             // what is being prepared, why it paused or failed
    double fraction = kUnknown;                               // of the preparation
    std::int64_t step = 0, steps = 0;                         // the newest; that there are to be, 0: nobody said
    std::int64_t tokens = 0;                                  // trained on in this session
    double secondsLeft = kUnknown;                            // not in a replay
    double msPerStep = kUnknown, tokensPerSecond = kUnknown;  // medians
    int overSteps = 0;                                        // of so many steps
    double loss = kUnknown, smoothedLoss = kUnknown;          // of the last step; as the bold line of its chart
    double cpuPct = kUnknown, gpuPct = kUnknown;

    // What can be asked of the run now, by button, menu or key.
    bool canStop() const { return live && !stopping; }
    bool canPause() const {
        return live && !measuring && !starting && !stopping && !replay && (state == RunState::Running || (state == RunState::Paused && heldUp));
    }
};

}  // namespace stepscope
