#include "app/workbench/engine/StartWords.h"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "app/workbench/workers/LocalWorkers.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/InfoFields.h"
#include "sessions/wire/LayoutWords.h"
#include "sessions/wire/WireIo.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLongestClock = 1'000'000'000'000'000'000;   // ns, some thirty years
constexpr std::int64_t kMostInSession = 1'000'000'000'000'000'000;  // as sessions/SessionRow.cpp reads them back

}  // namespace

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
    if (io.bytes().good() && request.captureCap < 0) io.bytes().fail("less room for captures than none");
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
        if (io.bytes().good() && one.step < 1) io.bytes().fail("a command before the first step");
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
    // The run's clock goes on from it.
    if (io.bytes().good() && (asked.now.ns < 0 || asked.now.ns > kLongestClock))
        io.bytes().fail("a time before its session began, or years behind it");
    // A session that counts so could be stored, and not be read again.
    const SessionInfo& info = asked.info;
    for (const std::int64_t count : {info.vocabulary, info.parameters, info.trainTokens, info.validationTokens, info.firstStep, info.workers})
        if (io.bytes().good() && (count < 0 || count > kMostInSession)) io.bytes().fail("a count that cannot be");
    if (const Status good = io.finished("What a session is"); !good) return good.error();
    return asked;
}

FrameBytes placeToBytes(const SessionPlace& place) {
    return payloadOf(place);
}
Result<SessionPlace> placeFromBytes(const FrameBytes& payload) {
    WireReader io(payload);
    SessionPlace place;
    fields(io, place);
    if (io.bytes().good() && place.session < 1) io.bytes().fail("a session without a number");
    if (const Status good = io.finished("Where a session is kept"); !good) return good.error();
    return place;
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
    WireReader io(payload);
    StoredSoFar stored;
    fields(io, stored);
    // It is what a capture's limit is held against.
    if (io.bytes().good() && stored.chunkBytes < 0) io.bytes().fail("fewer bytes than none");
    if (const Status good = io.finished("What is stored"); !good) return good.error();
    return stored;
}

FrameBytes summaryToBytes(const RunSummary& summary) {
    return payloadOf(summary);
}
Result<RunSummary> summaryFromBytes(const FrameBytes& payload) {
    WireReader io(payload);
    RunSummary summary;
    fields(io, summary);
    if (io.bytes().good() && !ended(summary.state)) io.bytes().fail("a run that goes on");
    for (const std::int64_t count : {summary.peakMemoryBytes, summary.peakAllocatedBytes, summary.predictedMemoryBytes, summary.lostCheckpoints})
        if (io.bytes().good() && count < 0) io.bytes().fail("a count below zero");
    if (const Status good = io.finished("The end of a run"); !good) return good.error();
    return summary;
}

LayoutWords engineLayout() {
    LayoutWords layout;
    addWireLayout(layout);
    const auto add = [&](const auto&... one) { (fields(layout, one), ...); };
    add(RunRequest{}, SessionPlace{}, StoredSoFar{}, RunSummary{});
    // What startToBytes() and askedToBytes() put behind their lists.
    for (const char* more : {"local_workers", "captures", "scheduled", "step", "now_ns"}) layout.word(more);
    return layout;
}

Hello engineHello(Machine machine) {
    return ownHello(std::move(machine), engineLayout().hash());
}

Result<Hello> engineHelloFrom(const Frame& frame) {
    return helloFrom(frame, engineLayout().hash());
}

}  // namespace stepscope
