// Restart: what workers go on with that torchrun started anew because one of those before them had died: the session that those had begun, and its
// newest checkpoint. The first worker left the session's number with torchrun's agent, under a name made of what the run was started with; it looks
// it up and tells the others, which guess nothing. Trainer thread.
#pragma once
#include <string>

#include "app/workbench/Workbench.h"
#include "core/workers/WorkerGroup.h"

namespace stepscope {

struct Restart {
    int times = 0;             // how often they were started anew
    std::int64_t session = 0;  // that goes on; 0: none does
    std::string checkpoint;    // its folder; empty: training begins as it was asked for
    std::int64_t step = 0;     // of the checkpoint
    std::int64_t reached = 0;  // the last step that the session has
    std::string why;           // nothing goes on, in a few words
};

// Of a request whose workers were started anew; all of them ask together. An error where the others are lost.
Result<Restart> findRestart(WorkerGroup& group, const RunRequest& request);

// Of the worker that records, once it does: for those who may come in the place of these.
void leaveSession(WorkerGroup& group, const RunRequest& request, std::int64_t session);

// For the log: "Restarted for the 2nd time; going on from step 40, …".
std::string sentenceOf(const Restart& restart);

// As workers say it to each other; what comes from another is a stranger's.
std::string sayRestart(const Restart& restart);
Result<Restart> restartFrom(const std::string& said);

}  // namespace stepscope
