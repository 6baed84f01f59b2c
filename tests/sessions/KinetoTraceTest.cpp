// Captured slices as the trace that PyTorch's profiler writes: its fields, exact times, flows inside their slices, and valid JSON whatever names
// hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "core/trace/SliceCodec.h"
#include "sessions/SessionStore.h"
#include "sessions/exporters/KinetoTrace.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;
using Json = nlohmann::json;

namespace {

SliceBlock trainerBlock() {
    SliceBlock block{.thread = {.process = 100, .thread = 101, .number = 1, .name = "trainer"}};
    block.strings = {"", "step 5", "forward", "backward", "aten::addmm", "AddmmBackward0", "mlp/up", "norm + QKV"};
    block.arguments = {{}, {"Float[64] BFloat16[48,16] {Float[3];Float[4]} int true -", 98304, 4096}};
    block.slices = {
        {.start = 1'000'001, .duration = 9'000'000, .called = 8'000'000, .name = 1, .kind = SliceKind::Step, .step = 5},
        {.start = 1'000'001, .duration = 3'000'000, .called = 1'000, .name = 2, .phase = 2, .depth = 1, .kind = SliceKind::Phase, .step = 5},
        {.start = 1'500'002, .duration = 1'000, .name = 4, .phase = 2, .role = 6, .arguments = 1, .depth = 2, .layer = 3, .step = 5, .sequence = 17},
        {.start = 4'000'001, .duration = 5'000'000, .called = 2'500, .name = 3, .phase = 3, .depth = 1, .kind = SliceKind::Phase, .step = 5},
        {.start = 5'000'003,
         .duration = 2'500,
         .name = 5,
         .phase = 3,
         .role = 6,
         .depth = 2,
         .layer = 3,
         .kind = SliceKind::Backward,
         .step = 5,
         .sequence = 17,
         .forwardThread = 1,
         .forwardStart = 1'500'002},
    };
    return block;
}

struct KinetoTrace : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    void record(const std::vector<SliceBlock>& blocks, const SessionInfo& info = sampleInfo()) {
        auto recorder = Recorder::open({.path = path}, info);
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        for (const auto& block : blocks) (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(block)));
        ASSERT_TRUE((*recorder)->finish());
    }
    std::string text() {
        std::ostringstream out;
        const Status done = exportKinetoTrace(path, 1, out, "a trace");
        EXPECT_TRUE(done) << done.error().sentence;
        return out.str();
    }
    static Json named(const Json& trace, const std::string& name) {
        for (const auto& row : trace["traceEvents"])
            if (row["name"] == name && row["ph"] == "X") return row;
        return nullptr;
    }
};

std::string unzipped(const std::string& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    std::string all(1 << 20, '\0');
    all.resize(static_cast<std::size_t>(std::max(0, gzread(file, all.data(), 1 << 20))));
    gzclose(file);
    return all;
}

}  // namespace

TEST_F(KinetoTrace, SaysHowManyWorkersTrainedTogetherAndWhatJoinedThem) {
    SessionInfo info = sampleInfo();
    info.workers = 3;
    record({trainerBlock()}, info);
    EXPECT_EQ(Json::parse(text())["distributedInfo"], Json({{"backend", "gloo"}, {"rank", 0}, {"world_size", 3}}));
}

TEST_F(KinetoTrace, HasWhatReadersLookFor) {
    record({trainerBlock()});
    const std::string written = text();
    EXPECT_TRUE(std::regex_search(written, std::regex("\"rank\":\\s+(\\d+)"))) << "a space behind the colon";
    const Json trace = Json::parse(written);
    EXPECT_EQ(trace["schemaVersion"], 1);
    EXPECT_EQ(trace["deviceProperties"], Json::array());
    EXPECT_EQ(trace["distributedInfo"], Json({{"backend", "gloo"}, {"rank", 0}, {"world_size", sampleInfo().workers}}));
    EXPECT_TRUE(trace["baseTimeNanoseconds"].is_number_integer());
    for (const auto& row : trace["traceEvents"]) {
        for (const char* key : {"ph", "name", "pid", "tid", "ts"}) EXPECT_TRUE(row.contains(key)) << row;
        for (const char* key : {"cat", "dur", "args"}) EXPECT_TRUE(row["ph"] != "X" || row.contains(key)) << row;
    }
    const Json step = named(trace, "ProfilerStep#5");
    EXPECT_EQ(step["cat"], "user_annotation");
    EXPECT_EQ(named(trace, "forward")["cat"], "user_annotation");
    const Json product = named(trace, "aten::addmm");
    EXPECT_EQ(product["cat"], "cpu_op");
    EXPECT_EQ(product["pid"], 100);
    EXPECT_EQ(product["tid"], 101);
    const Json& args = product["args"];
    EXPECT_EQ(args["External id"], 1);
    EXPECT_EQ(args["Ev Idx"], 0);
    EXPECT_EQ(args["Sequence number"], 17);
    EXPECT_EQ(args["Fwd thread id"], 0);
    EXPECT_EQ(args["Input Dims"].dump(), "[[64],[48,16],[[3],[4]],[],[],[]]");
    EXPECT_EQ(args["Input type"].dump(), R"(["float","c10::BFloat16","TensorList","Scalar","Scalar",""])");
    EXPECT_EQ(args["flops"], 98304);
    EXPECT_EQ(args["kernel_flop"], 98304) << "as PyTorch's own report of FLOP/s and bytes reads it";
    EXPECT_DOUBLE_EQ(args["kernel_num_gb"].get<double>(), 4096e-9);
    EXPECT_EQ(trace["with_stack"], 0);
    EXPECT_EQ(args["Layer"], 3);
    EXPECT_EQ(args["Role"], "mlp/up");
    EXPECT_EQ(named(trace, "AddmmBackward0")["args"]["Fwd thread id"], 1);
}

TEST_F(KinetoTrace, WritesTimesToTheNanosecond) {
    record({trainerBlock()});
    const std::string written = text();
    EXPECT_THAT(written, testing::HasSubstr(R"("ts": 1500.002, "dur": 1.000)"));
    EXPECT_THAT(written, testing::HasSubstr(R"("ts": 5000.003, "dur": 2.500)"));
}

TEST_F(KinetoTrace, LeadsFromAForwardOperationToItsBackwardFunction) {
    record({trainerBlock()});
    const Json trace = Json::parse(text());
    Json start, finish;
    for (const auto& row : trace["traceEvents"]) {
        if (row["ph"] == "s") start = row;
        if (row["ph"] == "f") finish = row;
    }
    EXPECT_EQ(start["cat"], "fwdbwd");
    EXPECT_EQ(start["id"], finish["id"]);
    EXPECT_EQ(start["ts"], 1500.002) << "inside of the forward operation";
    EXPECT_EQ(finish["ts"], 5000.003);
    EXPECT_EQ(finish["bp"], "e");
}

TEST_F(KinetoTrace, NamesThreadsAndTheProcessOnce) {
    SliceBlock worker{.thread = {.process = 100, .thread = 102, .number = 2, .name = "worker 1"}};
    worker.strings = {"", "norm + QKV"};
    worker.slices = {{.start = 7, .duration = 1, .name = 1, .kind = SliceKind::Own}};
    record({trainerBlock(), worker});
    const Json trace = Json::parse(text());
    std::map<std::string, int> rows;
    for (const auto& row : trace["traceEvents"])
        if (row["ph"] == "M") rows[row["name"]] += 1;
    EXPECT_EQ(rows, (std::map<std::string, int>{
                        {"process_name", 1}, {"process_labels", 1}, {"process_sort_index", 1}, {"thread_name", 2}, {"thread_sort_index", 2}}));
}

TEST_F(KinetoTrace, IsValidJsonWhateverNamesHold) {
    SliceBlock block = trainerBlock();
    std::string nasty = "\"\\\x7f</script>\xff\xfe";
    for (char c = 1; c < 32; ++c) nasty += c;
    block.strings[4] = nasty;
    block.strings[6] = nasty;
    block.thread.name = nasty;
    block.arguments[1].text = nasty + " Float[\x01] {" + nasty + "[4]}";
    record({block});
    const std::string written = text();
    ASSERT_TRUE(Json::accept(written));
    for (const char c : written) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << "escaped";
}

TEST_F(KinetoTrace, GivesEveryOperationAnExternalIdOfItsOwn) {
    std::vector<SliceBlock> blocks;
    for (int i = 0; i < 40; ++i) {
        SliceBlock block{.thread = {.process = 1, .thread = 2}};
        block.strings = {"", "aten::add"};
        for (int j = 0; j < 100; ++j) block.slices.push_back({.start = i * 1000 + j, .duration = 1, .name = 1});
        blocks.push_back(block);
    }
    record(blocks);
    const Json trace = Json::parse(text());
    std::set<int> ids;
    for (const auto& row : trace["traceEvents"])
        if (row["ph"] == "X") ids.insert(row["args"]["External id"].get<int>());
    EXPECT_EQ(ids.size(), 4000u);
}

// Of one of capability 8.6: 16 blocks on a multiprocessor, and 1 KiB of shared memory that is nobody's for each.
TEST_F(KinetoTrace, HowMuchAKernelFillsIsBoundedAsTheGpusCapabilityHasIt) {
    SliceBlock stream{.thread = {.process = 0, .thread = 7, .name = "stream 7", .lane = 1007, .device = 0}};
    stream.strings = {"", "small", "large"};
    stream.arguments = {{},
                        {.grid = {320, 1, 1}, .block = {32, 1, 1}, .registers = 16},
                        {.grid = {320, 1, 1}, .block = {256, 1, 1}, .registers = 32, .sharedBytes = 51200}};
    stream.slices = {{.start = 10, .duration = 5, .name = 1, .arguments = 1, .kind = SliceKind::Kernel, .correlation = 3},
                     {.start = 20, .duration = 5, .name = 2, .arguments = 2, .kind = SliceKind::Kernel, .correlation = 4}};
    const std::string said = R"({"id":0,"numSms":10,"computeMajor":8,"computeMinor":6,"maxThreadsPerMultiprocessor":1536,"warpSize":32,)"
                             R"("regsPerMultiprocessor":65536,"sharedMemPerMultiprocessor":102400})";
    Chunk device{.kind = "device/1", .begin = {0}, .end = {1}, .count = 1, .bytes = {}};
    for (const char c : said) device.bytes.push_back(static_cast<std::byte>(c));
    {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(stream)));
        (*recorder)->publishChunk(std::make_shared<const Chunk>(device));
        ASSERT_TRUE((*recorder)->finish());
    }
    const Json trace = Json::parse(text());
    EXPECT_EQ(named(trace, "small")["args"]["est. achieved occupancy %"], 33) << "16 of 32 blocks of 32 threads, of 1536";
    EXPECT_EQ(named(trace, "large")["args"]["est. achieved occupancy %"], 17) << "one block of 256 threads, not two";
}

TEST_F(KinetoTrace, OfACaptureOnAGpuSaysWhatItIsAndHowMuchOfItEachKernelFills) {
    SliceBlock stream{.thread = {.process = 0, .thread = 7, .name = "stream 7", .lane = 1007, .device = 0}};
    stream.strings = {"", "gemm", "imported"};
    stream.arguments = {{},
                        {.grid = {20, 1, 1}, .block = {256, 1, 1}, .registers = 32, .extra = R"({"operation":"aten::mm","context":1})"},
                        {.grid = {20, 1, 1}, .block = {256, 1, 1}, .extra = R"({"blocks per SM":7,"queued":5})"}};
    stream.slices = {{.start = 10, .duration = 5, .name = 1, .arguments = 1, .kind = SliceKind::Kernel, .correlation = 3},
                     {.start = 20, .duration = 5, .name = 2, .arguments = 2, .kind = SliceKind::Kernel, .correlation = 4}};
    const std::string said = R"({"id":0,"name":"A GPU","numSms":10,"maxThreadsPerMultiprocessor":2048,"regsPerMultiprocessor":65536,"warpSize":32})";
    Chunk device{.kind = "device/1", .begin = {0}, .end = {1}, .count = 1, .bytes = {}};
    for (const char c : said) device.bytes.push_back(static_cast<std::byte>(c));
    {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(stream)));
        for (int capture = 0; capture < 2; ++capture) (*recorder)->publishChunk(std::make_shared<const Chunk>(device));
        ASSERT_TRUE((*recorder)->finish());
    }
    const Json trace = Json::parse(text());
    EXPECT_EQ(trace["deviceProperties"], Json::array({Json::parse(said)})) << "each once, however many captures tell it";
    const Json own = named(trace, "gemm")["args"];
    EXPECT_EQ(own["context"], 1);
    EXPECT_EQ(own["queued"], 0);
    EXPECT_EQ(own["blocks per SM"], 2.0);
    EXPECT_EQ(own["warps per SM"], 16.0);
    EXPECT_EQ(own["est. achieved occupancy %"], 25);
    EXPECT_EQ(own["registers per thread"], 32);
    const Json imported = named(trace, "imported")["args"];
    EXPECT_EQ(imported["blocks per SM"], 7) << "what its trace said stays";
    EXPECT_EQ(imported["queued"], 5);
    EXPECT_EQ(imported["warps per SM"], 16.0);
}

TEST_F(KinetoTrace, GoesIntoAFileThatReadersKnowByItsName) {
    record({trainerBlock()});
    const std::string file = folder.file("x.pt.trace.json.gz");
    ASSERT_TRUE(exportKinetoTraceFile(path, 1, file));
    EXPECT_TRUE(Json::accept(unzipped(file)));
    ASSERT_TRUE(exportKinetoTraceFile(path, 1, folder.file("plain.json")));
    EXPECT_TRUE(Json::accept(contentOf(folder.file("plain.json"))));
    const auto odd = exportKinetoTraceFile(path, 1, folder.file("x.txt"));
    ASSERT_FALSE(odd);
    EXPECT_THAT(odd.error().sentence, testing::HasSubstr(".pt.trace.json.gz"));
    EXPECT_FALSE(exportKinetoTraceFile(path, 1, folder.file("no/such/folder.json")));
}

TEST_F(KinetoTrace, IsTheSameBytesInHoweverManyBlocksASessionHasIt) {
    // A thread, and a stream that has two lanes whose works overlap.
    std::vector<SliceBlock> lanes{{.thread = {.process = 100, .thread = 101, .number = 1, .name = "trainer"}, .strings = {"", "launch"}}};
    for (const std::int64_t lane : {900, 901})
        lanes.push_back({.thread = {.process = 0, .thread = 7, .name = "stream 7", .lane = lane, .device = 0}, .strings = {"", "gemm"}});
    for (std::int64_t i = 1; i <= 600; ++i) {
        lanes[0].slices.push_back({.start = 1000 * i, .duration = 10, .name = 1, .kind = SliceKind::Runtime, .correlation = i});
        if (i % 9 != 0)
            lanes[i % 2 == 0 ? 1 : 2].slices.push_back(
                {.start = 1000 * i + 500, .duration = 900 + 50 * (i % 5), .name = 1, .kind = SliceKind::Kernel, .correlation = i});
    }
    const auto cutInto = [&](std::size_t size) {
        std::vector<SliceBlock> blocks;
        for (const SliceBlock& lane : lanes)
            for (std::size_t from = 0; from < lane.slices.size(); from += size) {
                blocks.push_back(lane);
                const auto first = lane.slices.begin() + static_cast<std::ptrdiff_t>(from);
                blocks.back().slices.assign(first, first + static_cast<std::ptrdiff_t>(std::min(size, lane.slices.size() - from)));
            }
        return blocks;
    };
    record(cutInto(1'000'000));
    const std::string whole = text();
    EXPECT_THAT(whole, testing::HasSubstr("\"tid\": 2000007")) << "what overlaps";
    EXPECT_THAT(whole, testing::HasSubstr("\"ph\": \"f\""));
    for (const std::size_t size : {1, 7, 64}) {
        path = folder.file(std::to_string(size) + ".db");
        record(cutInto(size));
        EXPECT_EQ(text(), whole) << "in blocks of " << size;
    }
}

TEST_F(KinetoTrace, SaysHowToCaptureWhereNothingWas) {
    record({});
    const auto none = exportKinetoTraceFile(path, 1, folder.file("x.json"));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::NotFound);
    EXPECT_THAT(none.error().sentence, testing::HasSubstr("train --profile"));
    EXPECT_FALSE(std::ifstream(folder.file("x.json")).good()) << "no file is left";
}

TEST_F(KinetoTrace, RefusesABlockThatSomebodyChanged) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    Chunk chunk = encodeSlices(trainerBlock());
    chunk.bytes.resize(chunk.bytes.size() / 2);
    (*recorder)->publishChunk(std::make_shared<const Chunk>(chunk));
    ASSERT_TRUE((*recorder)->finish());
    const auto broken = exportKinetoTraceFile(path, 1, folder.file("x.json"));
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code, ErrorCode::Damaged);
    EXPECT_THAT(broken.error().sentence, testing::HasSubstr("at byte"));
    EXPECT_FALSE(std::ifstream(folder.file("x.json")).good());
}
