// LostDisplay: what happens when the display goes away (a broken ssh -X, an X server that ended). Qt then calls exit() from inside its event
// loop, while the trainer's thread works on and would lose what it works with. Made by main() once everything else is there; GUI thread.
#pragma once

namespace stepscope {

class RunController;

class LostDisplay {
public:
    // From here on exit() saves a checkpoint of the run in progress, stops it and waits for it, and ends the program with 1.
    explicit LostDisplay(RunController& runs);
    ~LostDisplay();  // main comes to its end by itself
    LostDisplay(const LostDisplay&) = delete;
    LostDisplay& operator=(const LostDisplay&) = delete;
};

}  // namespace stepscope
