// LeftJournal: what an engine that has gone said and nobody has heard yet, told in its place, and how it ended. Main thread of `engine --attach`.
#pragma once
#include "app/workbench/engine/detached/EngineFolder.h"

namespace stepscope {

// folder: whose lock is held. It is removed when the other side has all of it stored. Errors: what came was no frame of a program like this one.
Status serveLeftJournal(const EngineFolder& folder, int in, int out);
// Says who this is, and why it cannot be.
Status refuseLine(const Error& why, int out);

}  // namespace stepscope
