// SessionStore: the one SQLite file that holds every session. This header shows no SQLite type: only sessions/ sees it.
// Here is what reads it (SessionReader: any number, each used by one thread at a time) and what a person changes in it; what writes it while a
// run goes on is Recorder.h. Schema in schema.sql with numbered migrations.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/Result.h"
#include "core/events/ConfigJson.h"  // configToJson, configFromJson: how a configuration is stored
#include "core/events/SessionInfo.h"
#include "core/trace/Chunk.h"

namespace stepscope {

struct DeviceSample;
struct Event;

// $XDG_DATA_HOME/stepscope/sessions.db or ~/.local/share/stepscope/sessions.db; makes the folder when asked to write.
std::string defaultDatabasePath();
// Why a database that is not there yet could not be made, as a sentence; empty where it could: its folders are made once, and taken away again.
std::string whyDatabaseCannotBeMade(const std::string& database);
// Where a run keeps a session's checkpoints: beside the database, in a folder that belongs to this database alone (CheckpointFolders.h).
Result<std::string> checkpointFolder(const std::string& path, std::int64_t session);
// Of a session, oldest first: those it stored that are still there, and those that a kill kept from being stored.
Result<std::vector<std::string>> checkpointsOnDisk(const std::string& path, std::int64_t session);
// Where the newest that it stored was written, though that may be gone, or on the machine of an engine elsewhere; empty: it stored none.
Result<std::string> newestStoredCheckpoint(const std::string& path, std::int64_t session);
// Those on the disk with what a person wants to know of each before choosing one.
struct ListedCheckpoint {
    std::string path;
    std::int64_t step = 0;
    std::int64_t bytes = 0;            // on the disk
    double validationLoss = kUnknown;  // that the session stored of that step
};
Result<std::vector<ListedCheckpoint>> listCheckpoints(const std::string& path, std::int64_t session);
// Removes one for good; its room in bytes. A running session's are not removed, nor is one that lies at a place somebody named.
Result<std::int64_t> deleteCheckpoint(const std::string& path, std::int64_t session, const std::string& checkpoint);

struct SessionSummary {
    std::int64_t id = 0;
    SessionKind kind = SessionKind::Run;
    std::string name;
    std::string notes;
    std::vector<std::string> tags;
    RunState state = RunState::Running;  // Interrupted = stored as running but nobody holds its lock
    std::string why;                     // for failed
    std::int64_t startedUnixMs = 0;
    std::int64_t endedUnixMs = 0;  // 0 = not ended
    std::int64_t steps = 0;        // of a run its last step; of an import how many are stored, or of very many the last one's number
    std::optional<std::pair<std::int64_t, std::int64_t>> numbered;  // of an import whose steps were counted: the numbers of the first and the last
    double lossLast = kUnknown;
    double validationLossLast = kUnknown;
    double msPerStepMedian = kUnknown;                        // over stored steps, first 3 left out
    double tokensPerSecond = kUnknown;                        // from that median
    std::vector<std::pair<std::string, std::string>> config;  // listConfig() of the session; empty where it has none
    std::string host;                                         // where another machine trained it: its name
    bool severalWorkers = false;                              // and what each of them took is stored (forEachWorkerTimes)
    std::int64_t workers = 0;                                 // that trained it together; 0: not said
    bool flipped = false;                                     // a switch got another value while it ran, for good or in turns
};

// Bulk data of a session (core/trace/Chunk.h): what there is, lane by lane.
struct ChunkLane {
    std::string kind;
    std::int64_t lane = 0;
    std::int64_t chunks = 0, records = 0;
    std::int64_t bytes = 0, packedBytes = 0;
    TimeNs begin, end;
};
// A lane, and of it the blocks that overlap [from, to).
struct ChunkRange {
    std::string kind;
    std::int64_t lane = 0;
    TimeNs from, to;
};
// Just behind the block with this begin and number.
struct ChunkPlace {
    std::int64_t begin = std::numeric_limits<std::int64_t>::min();
    std::int64_t sequence = std::numeric_limits<std::int64_t>::min();
};
struct ChunkPage {
    std::vector<ChunkPtr> chunks;  // in order of their begin
    ChunkPlace next;               // where to go on
    bool more = false;
};

class SessionReader {
public:
    // Opens read-only. Sentences for: not there, not SQLite, of a newer schema, damaged, locked, not permitted.
    static Result<std::unique_ptr<SessionReader>> open(const std::string& path);
    virtual ~SessionReader() = default;

    virtual Result<std::vector<SessionSummary>> list() = 0;  // newest first
    // Sessions that the last list() left out because their rows cannot be read, each with its sentence.
    virtual const std::vector<Error>& unreadable() const = 0;
    virtual Result<SessionSummary> summary(std::int64_t session) = 0;
    virtual Result<SessionInfo> info(std::int64_t session) = 0;
    // All events of a session in order of time, `from` (an index into that order) onwards, at most `most`; empty = the end.
    // The first is SessionStarted. Steps are the bulk: 100 000 of them are read in well under a second.
    virtual Result<std::vector<Event>> events(std::int64_t session, std::int64_t from, std::int64_t most) = 0;
    virtual Result<std::int64_t> eventCount(std::int64_t session) = 0;
    // Of them those that experiments, ladders and searches told: however many steps the run took that they are of, those are not read.
    virtual Result<std::vector<Event>> measurements(std::int64_t session) = 0;
    // What was measured of the machine while it ran, in order of time, at most `most`. Of the run's steps, which may be millions, none is read.
    virtual Result<std::vector<DeviceSample>> samples(std::int64_t session, std::int64_t most) = 0;

    virtual Result<std::vector<ChunkLane>> chunkLanes(std::int64_t session) = 0;
    // From `after` on, at most `mostBytes` of them unpacked, but always one where there is one. Found by an index: what lies outside of the range
    // is not read.
    virtual Result<ChunkPage> chunks(std::int64_t session, const ChunkRange& range, const ChunkPlace& after = {},
                                     std::int64_t mostBytes = std::int64_t{64} << 20) = 0;
};

// Changes made by a person to what is stored; each opens a short writing connection of its own with a busy timeout.
// A running session is not deleted.
// Whether a session can have this name: one line, not empty.
Status checkSessionName(const std::string& name);
Status renameSession(const std::string& path, std::int64_t session, const std::string& name);
Status annotateSession(const std::string& path, std::int64_t session, const std::string& notes, const std::vector<std::string>& tags);
Status deleteSession(const std::string& path, std::int64_t session);   // marks as deleted: list() leaves it out
Status restoreSession(const std::string& path, std::int64_t session);  // undo of delete
Status purgeDeletedSessions(const std::string& path);                  // really removes what was deleted, its checkpoints too

}  // namespace stepscope
