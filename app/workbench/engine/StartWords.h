// What an engine that runs apart and the program that asked for it say beside events and commands (sessions/wire): what to train, where its session
// is kept, how it ended. What is read is a stranger's. Pure functions; any thread.
#pragma once
#include "app/workbench/Workbench.h"
#include "app/workbench/engine/SessionKeeper.h"
#include "sessions/wire/Hello.h"

namespace stepscope {

class LayoutWords;

// All of a request but what is this process's own: its database, and how its engine is started.
FrameBytes startToBytes(const RunRequest& request);
Result<RunRequest> startFromBytes(const FrameBytes& payload);

struct SessionAsked {
    SessionInfo info;
    TimeNs now;  // of the run's clock
};
FrameBytes askedToBytes(const SessionAsked& asked);
Result<SessionAsked> askedFromBytes(const FrameBytes& payload);
FrameBytes placeToBytes(const SessionPlace& place);
Result<SessionPlace> placeFromBytes(const FrameBytes& payload);
// Of a session that is kept on another machine: its checkpoints lie below the engine's own database, in folders that are named as there, by the
// database and the session. placeElsewhere() leaves only these names, placeHere() puts them there, and leaves a whole path as it is.
SessionPlace placeElsewhere(SessionPlace place);
Result<SessionPlace> placeHere(SessionPlace place, const std::string& ownDatabase);
FrameBytes errorToBytes(const Error& error);
Error errorFromBytes(const FrameBytes& payload);  // that was said, or what is wrong with it

struct StoredSoFar {
    std::int64_t chunkBytes = 0;
    bool blocked = false;
    bool operator==(const StoredSoFar&) const = default;
};
FrameBytes storedToBytes(const StoredSoFar& stored);
Result<StoredSoFar> storedFromBytes(const FrameBytes& payload);

// Of a summary what events do not tell: how it ended and why, memory, checkpoints that were lost.
FrameBytes summaryToBytes(const RunSummary& summary);
Result<RunSummary> summaryFromBytes(const FrameBytes& payload);

// The names, kinds and order of all fields that cross, these here and those of sessions/wire. Two builds whose hashes of it differ would misread each
// other, so the first frame of an engine carries it.
LayoutWords engineLayout();
Hello engineHello(Machine machine);  // of this program
Result<Hello> engineHelloFrom(const Frame& frame);

}  // namespace stepscope
