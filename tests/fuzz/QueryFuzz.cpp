// Any bytes as SQL over a small session: rows, or one sentence; never longer than its limit by much, nothing written, and no memory without bound.
// The first byte chooses a way for the file to lie.
#include <SQLiteCpp/Database.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>

#include "core/base/Check.h"
#include "core/trace/SliceCodec.h"
#include "sessions/query/SessionQuery.h"
#include "sessions/record/Recorder.h"
#include "tests/fuzz/ScratchFolder.h"

namespace {

using namespace stepscope;

std::string recorded(const char* lie) {
    static int number = 0;
    static const test::ScratchFolder folder("query-fuzz");
    const std::string path = (folder.path() / (std::to_string(++number) + ".db")).string();
    SliceBlock host{.thread = {.process = 1, .thread = 2, .name = "trainer"}}, stream{.thread = {.thread = 7, .lane = 9, .device = 0}};
    host.strings = {"", "aten::mm", "forward", "mlp"};
    stream.strings = {"", "gemm"};
    for (std::int64_t i = 0; i < 50; ++i) {
        host.slices.push_back(
            {.start = i * 10, .duration = 8, .name = 1, .phase = 2, .role = 3, .layer = 1, .step = i / 10, .sequence = i, .correlation = i});
        stream.slices.push_back({.start = i * 10 + 3, .duration = 8, .name = 1, .kind = SliceKind::Kernel, .correlation = i});
    }
    SessionInfo info;
    info.name = "fuzz";
    info.config = RunConfig{};
    info.machine = Machine{};
    auto recorder = Recorder::open({.path = path}, info);
    SS_CHECK(recorder.ok());
    for (const auto& block : {host, stream}) (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(block)));
    SS_CHECK((*recorder)->finish().ok());
    if (*lie != '\0') SQLite::Database(path, SQLite::OPEN_READWRITE).exec(lie);
    return path;
}

const std::array<std::string, 4>& files() {
    static const std::array<std::string, 4> all{recorded(""), recorded("UPDATE chunks SET records = records + 1"),
                                                recorded("UPDATE chunk_lanes SET records = 9000000000000000000, longest_ns = -5"),
                                                recorded("CREATE VIEW op AS SELECT 1 AS name; CREATE TABLE kernel (name)")};
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const auto& path = files()[bytes[0] % files().size()];
    const std::string sql(reinterpret_cast<const char*>(bytes + 1), size - 1);
    auto query = SessionQuery::open(path, 1);
    SS_CHECK(query.ok());
    const auto began = std::chrono::steady_clock::now();
    const auto result = (*query)->run(sql, {.seconds = 0.2, .rows = 1000, .resultBytes = 1 << 20, .memory = 32 << 20});
    SS_CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
    if (!result) {
        SS_CHECK(!result.error().sentence.empty() && result.error().sentence.size() < 1000);
        SS_CHECK(result.error().code != ErrorCode::Internal);
    } else {
        for (const auto& row : result->rows) SS_CHECK(row.size() == result->columns.size());
    }
    return 0;
}
