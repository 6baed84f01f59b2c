// What a session is: its kind, its state, and what is known of it before its first step. Part of RunEvents.h, and what lists of sessions need.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/events/Machine.h"
#include "core/events/RunConfig.h"

namespace stepscope {

enum class RunState { Preparing, Running, Paused, Finished, Stopped, Failed, Interrupted };
const char* toString(RunState state);  // "preparing", "running", ...
inline bool ended(RunState state) {
    return state >= RunState::Finished;
}

// What a session is a record of. Stored as a word.
enum class SessionKind { Run, Experiment, Trace, Ladder, Tune };
const char* toString(SessionKind kind);  // "run", "experiment", "imported", "ladder", "tune"

// How long all workers of a run took to add up so many bytes of float32 numbers, nothing else to do.
struct LinkTime {
    std::int64_t bytes = 0;
    double seconds = 0;
    bool operator==(const LinkTime&) const = default;
};

struct SessionInfo {
    SessionKind kind = SessionKind::Run;
    std::string name;
    std::string notes;
    std::vector<std::string> tags;
    std::int64_t startedUnixMs = 0;
    // A run's is there and complete: every switch has a value. What was not run here, an imported trace, may have neither.
    std::optional<RunConfig> config{std::in_place};
    std::optional<Machine> machine{std::in_place};
    std::int64_t vocabulary = 0;  // of the model, padding excluded
    std::int64_t parameters = 0;
    std::int64_t trainTokens = 0;
    std::int64_t validationTokens = 0;
    std::int64_t firstStep = 0;       // > 0 when resumed from a checkpoint
    std::string resumedFrom;          // checkpoint path or empty
    std::int64_t goesOnWith = 0;      // the session whose ladder this one finishes; 0: none
    std::int64_t workers = 1;         // that trained together; 0: an earlier version did not store it
    std::vector<LinkTime> link;       // of several, measured before the first step; else empty
    std::int64_t predictedBytes = 0;  // of tensors at a time, with the settings that it began with; 0: not foretold
    bool timesUnknown = false;        // of an import whose log tells no times: those of its events are places in order, and nothing else
};

// Where it went on from, for people: "session 3" or the checkpoint's path; empty: it began anew.
std::string resumedFromWords(const SessionInfo& info);

}  // namespace stepscope
