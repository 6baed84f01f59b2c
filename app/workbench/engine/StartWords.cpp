#include "app/workbench/engine/StartWords.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include "app/workbench/workers/LocalWorkers.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/InfoFields.h"
#include "sessions/wire/WireIo.h"

namespace stepscope {

// What is small and needs no list of its own.
void fields(auto& io, Like<RunRequest> auto& r) {
    io("config", r.config);
    io("name", r.name);
    io("notes", r.notes);
    io("tags", r.tags);
    io("record", r.record);
    io("init", r.init);
    io("init_partial", r.initPartial);
    io("capture_cap", r.captureCap);
    io("resume", r.resume);
    io("may_be_done", r.mayBeDone);
}

void fields(auto& io, Like<SessionPlace> auto& p) {
    io("session", p.session);
    io("checkpoint_folder", p.checkpointFolder);
}

void fields(auto& io, Like<StoredSoFar> auto& s) {
    io("chunk_bytes", s.chunkBytes);
    io("blocked", s.blocked);
}

void fields(auto& io, Like<RunSummary> auto& s) {
    io("state", s.state);
    io("code", s.code);
    io("why", s.why);
    io("peak_memory_bytes", s.peakMemoryBytes);
    io("peak_allocated_bytes", s.peakAllocatedBytes);
    io("predicted_memory_bytes", s.predictedMemoryBytes);
    io("lost_checkpoints", s.lostCheckpoints);
}

FrameBytes startToBytes(const RunRequest& request) {
    WireWriter io;
    fields(io, request);
    io("local_workers", static_cast<std::int64_t>(request.localWorkers));
    io("captures", request.capture.has_value());
    if (request.capture) writeCommand(io, *request.capture);
    io.bytes().whole(request.scheduled.size());
    for (const ScheduledCommand& one : request.scheduled) {
        io("step", one.step);
        writeCommand(io, one.command);
    }
    return io.take();
}

Result<RunRequest> startFromBytes(const FrameBytes& payload) {
    WireReader io(payload);
    RunRequest request;
    fields(io, request);
    std::int64_t workers = 1;
    io("local_workers", workers);
    if (io.bytes().good() && (workers < 1 || workers > LocalWorkers::kMost)) io.bytes().fail("more or fewer workers than there can be");
    request.localWorkers = static_cast<int>(workers);
    bool captures = false;
    io("captures", captures);
    if (captures) {
        const Command command = readCommand(io);
        if (const auto* capture = std::get_if<Capture>(&command))
            request.capture = *capture;
        else
            io.bytes().fail("a capture that is none");
    }
    const std::uint64_t scheduled = io.bytes().upTo(kMostWireList, "more commands than there can be");
    for (std::uint64_t i = 0; i < scheduled && io.bytes().good(); ++i) {
        ScheduledCommand one;
        io("step", one.step);
        one.command = readCommand(io);
        request.scheduled.push_back(std::move(one));
    }
    if (const Status good = io.finished("What is to be trained"); !good) return good.error();
    return request;
}

FrameBytes askedToBytes(const SessionAsked& asked) {
    WireWriter io;
    fields(io, asked.info);
    io("now_ns", asked.now);
    return io.take();
}

Result<SessionAsked> askedFromBytes(const FrameBytes& payload) {
    WireReader io(payload);
    SessionAsked asked;
    fields(io, asked.info);
    io("now_ns", asked.now);
    if (io.bytes().good() && asked.now.ns < 0) io.bytes().fail("a time before its session began");
    if (const Status good = io.finished("What a session is"); !good) return good.error();
    return asked;
}

FrameBytes placeToBytes(const SessionPlace& place) {
    return payloadOf(place);
}
Result<SessionPlace> placeFromBytes(const FrameBytes& payload) {
    return payloadAs<SessionPlace>(payload, "Where a session is kept");
}

SessionPlace placeElsewhere(SessionPlace place) {
    const std::filesystem::path whole(place.checkpointFolder);
    place.checkpointFolder = (whole.parent_path().filename() / whole.filename()).string();
    return place;
}

// It becomes part of a path where much is written, so nothing but such names is taken: db-0123456789abcdef/7.
Result<SessionPlace> placeHere(SessionPlace place, const std::string& ownDatabase) {
    if (place.checkpointFolder.empty() || place.checkpointFolder.front() == '/') return place;
    constexpr std::string_view kDatabase = "db-";
    const std::string& names = place.checkpointFolder;
    const auto middle = names.find('/');
    const bool both = names.starts_with(kDatabase) && middle != std::string::npos && middle > kDatabase.size() && middle + 1 < names.size() &&
                      names.size() <= 100 && names.find_first_not_of("0123456789abcdef", kDatabase.size()) == middle &&
                      names.find_first_not_of("0123456789", middle + 1) == std::string::npos;
    if (!both) return makeError(ErrorCode::Damaged, "Where a session is kept from the other side is damaged: its folder of checkpoints cannot be.");
    place.checkpointFolder = ownDatabase + ".checkpoints/" + names;
    return place;
}

FrameBytes errorToBytes(const Error& error) {
    return payloadOf(error);
}
Error errorFromBytes(const FrameBytes& payload) {
    WireReader io(payload);
    Error error;
    fields(io, error);
    if (const Status good = io.finished("A refusal"); !good) return good.error();
    return error;
}

FrameBytes storedToBytes(const StoredSoFar& stored) {
    return payloadOf(stored);
}
Result<StoredSoFar> storedFromBytes(const FrameBytes& payload) {
    return payloadAs<StoredSoFar>(payload, "What is stored");
}

FrameBytes summaryToBytes(const RunSummary& summary) {
    return payloadOf(summary);
}
Result<RunSummary> summaryFromBytes(const FrameBytes& payload) {
    return payloadAs<RunSummary>(payload, "The end of a run");
}

}  // namespace stepscope
