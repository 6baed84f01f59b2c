// Any bytes as what a session has stored of its devices, of the trace that it was imported from and of a slice: exports of it are valid JSON and
// whole packets, whatever it is.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/Check.h"
#include "core/trace/SliceCodec.h"
#include "sessions/exporters/KinetoTrace.h"
#include "sessions/exporters/PerfettoTrace.h"
#include "sessions/record/Recorder.h"
#include "tests/fuzz/ScratchFolder.h"

namespace {

using namespace stepscope;

ChunkPtr factsOf(const char* kind, const std::string& text) {
    Chunk chunk{.kind = kind, .begin = {0}, .end = {1}, .count = 1, .bytes = {}};
    for (const char c : text) chunk.bytes.push_back(static_cast<std::byte>(c));
    return std::make_shared<const Chunk>(std::move(chunk));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    constexpr int kSessionsAFile = 100;
    static const test::ScratchFolder folder("facts-fuzz");
    static const std::string path = (folder.path() / "facts.db").string();
    static int number = 0;
    if (number++ % kSessionsAFile == 0)
        for (const char* end : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path + end);
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    SliceBlock stream{.thread = {.thread = 7, .name = "stream 7", .lane = 9, .device = 0}, .strings = {"", "gemm"}};
    stream.arguments.push_back({.grid = {4, 1, 1}, .block = {32, 1, 1}, .registers = 32, .extra = text});
    stream.slices = {{.start = 10, .duration = 5, .name = 1, .arguments = 1, .kind = SliceKind::Kernel}};
    SessionInfo info{.kind = SessionKind::Trace, .name = "fuzz"};
    info.config.reset();
    info.machine.reset();
    auto recorder = Recorder::open({.path = path, .durable = false}, info);
    SS_CHECK(recorder.ok());
    const std::int64_t session = (*recorder)->session();
    (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(stream)));
    for (const char* kind : {"trace-facts/1", "device/1"}) (*recorder)->publishChunk(factsOf(kind, text));
    SS_CHECK((*recorder)->finish().ok());
    std::ostringstream kineto, perfetto;
    SS_CHECK(exportKinetoTrace(path, session, kineto, "fuzz").ok());
    SS_CHECK(nlohmann::json::accept(kineto.str()));
    SS_CHECK(exportPerfettoTrace(path, session, perfetto).ok());
    SS_CHECK(!perfetto.str().empty());
    return 0;
}
