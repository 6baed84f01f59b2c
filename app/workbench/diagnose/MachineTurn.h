// Who may use this machine's processors for timed work: runs and experiments at any time, a look at a configuration (TimedSteps) only while there is
// none of them. What a Program sets for the whole process would otherwise meet, and the times would mean nothing. Any thread.
#pragma once

namespace stepscope {

// Held by a run or an experiment as long as it works. Waits until a look that goes on has ended, which it does at its next step.
class RunTurn {
public:
    RunTurn();
    ~RunTurn();
    RunTurn(const RunTurn&) = delete;
    RunTurn& operator=(const RunTurn&) = delete;
};

// Held by a look; the parts of one, on its thread, hold it with it.
class LookTurn {
public:
    LookTurn();
    ~LookTurn();
    LookTurn(const LookTurn&) = delete;
    LookTurn& operator=(const LookTurn&) = delete;

    bool taken() const { return m_taken; }  // false: a run, an experiment or another look goes on
    static bool wanted();                   // by a run: whoever holds it comes to an end
private:
    bool m_taken = false;
};

}  // namespace stepscope
