// SQL over a session: each view holds what was stored, sums are those of OperationSummary however slices are cut into blocks, ranges of time read
// their own blocks only, and joins by a number are answered without reading everything anew.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>

#include "core/analysis/captures/OperationSummary.h"
#include "sessions/Slices.h"
#include "sessions/importers/Import.h"
#include "tests/sessions/query/QueryFixture.h"

using namespace stepscope;
using namespace stepscope::test;
using testing::HasSubstr;

struct SessionQueries : QueryFixture {
    static std::int64_t bytesRead() {
        std::ifstream io("/proc/self/io");
        std::string word;
        std::int64_t value = 0;
        io >> word >> value;
        return value;
    }
};

TEST_F(SessionQueries, HaveWhatWasStoredInEachView) {
    record(everything());
    EXPECT_EQ(text("SELECT start_ns, dur_ns, name, thread, depth, step, phase, layer, role, correlation, sequence, self_ns, shapes, flops, bytes, "
                   "recomputed, capture, rank FROM op ORDER BY start_ns"),
              "1100|300|aten::addmm|11|1|5|forward|0|mlp/up|NULL|17|280|Float[4,12]|96|200|0|1|0\n"
              "1500|200|aten::addmm|11|1|5|forward|1|NULL|NULL|NULL|200|NULL|NULL|NULL|0|1|0\n");
    EXPECT_EQ(
        text("SELECT start_ns, dur_ns, name, device, stream, correlation, step, grid, block, registers, shared_bytes, capture, rank FROM kernel"),
        "1250|400|gemm|0|7|77|5|8,4,1|128,1,1|96|4096|1|0\n");
    EXPECT_EQ(text("SELECT start_ns, dur_ns, kind, bytes, device, stream, correlation FROM memcpy"), "1700|100|HtoD|65536|0|7|78\n");
    EXPECT_EQ(text("SELECT start_ns, dur_ns, name, thread, correlation FROM runtime"), "1150|20|cudaLaunchKernel|11|77\n");
    EXPECT_EQ(text("SELECT number, start_ns, dur_ns FROM step"), "5|1000|900\n");
    EXPECT_EQ(text("SELECT at_ns, name, value, unit, device FROM sample"), "1200|power|55.5r|W|0\n1400|power|60r|W|0\n");
    EXPECT_EQ(text("SELECT at_ns, bytes, kind, owner FROM alloc"), "1110|512|activations|aten::addmm\n1900|-512|activations|aten::addmm\n");
    EXPECT_EQ(text("SELECT start_ns, dur_ns, name, thread FROM annotation"), "1800|50|loading|11\n");
    EXPECT_EQ(text("SELECT kind, count(*) FROM slice GROUP BY kind ORDER BY kind"),
              "annotation|1\nkernel|1\nmemcpy|1\noperation|2\nruntime|1\nstep|1\n");
}

TEST_F(SessionQueries, ReadTheOrdinaryTablesOfTheirSessionAlone) {
    record({}, oneOfEachKind());
    record({}, {sampleStep(1), sampleStep(2)}, "another");
    EXPECT_EQ(text("SELECT count(*) FROM steps"), "2\n");
    EXPECT_EQ(asText(*run("SELECT step FROM steps ORDER BY at_ns", {}, 2)), "1\n2\n");
    EXPECT_EQ(asText(*run("SELECT number, dur_ns = (SELECT duration_ns FROM steps WHERE steps.step = number) FROM step ORDER BY start_ns", {}, 2)),
              "1|1\n2|1\n");
    EXPECT_EQ(text("SELECT count(*) > 3, min(value) IS NOT NULL FROM sample"), "1|1\n") << "what the machine was sampled for";
    EXPECT_THAT(text("SELECT value FROM config WHERE key = 'width'"), HasSubstr("\n"));
    for (const auto& view : queryViews()) {
        const auto all = run("SELECT * FROM " + view.name);
        ASSERT_TRUE(all) << view.name << ": " << all.error().sentence << all.error().cause;
        std::vector<std::string> names;
        for (const auto& column : view.columns) names.push_back(column.name);
        EXPECT_EQ(all->columns, names) << view.name;
    }
}

TEST_F(SessionQueries, KeepTheTypesOfValues) {
    record({});
    const auto result = run("SELECT 9223372036854775807, 0.1, 'text', NULL, x'00ff', ''");
    ASSERT_TRUE(result);
    EXPECT_EQ(std::get<std::int64_t>(result->rows[0][0]), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(std::get<double>(result->rows[0][1]), 0.1);
    EXPECT_EQ(std::get<std::string>(result->rows[0][2]), "text");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(result->rows[0][3]));
    EXPECT_EQ(std::get<std::string>(result->rows[0][4]), "00FF");
    EXPECT_EQ(std::get<std::string>(result->rows[0][5]), "");
}

TEST_F(SessionQueries, GiveTheSameAnswersHoweverSlicesAreCutIntoBlocks) {
    const std::vector<std::string> questions{
        "SELECT count(*), sum(self_ns), sum(dur_ns), min(start_ns), max(end_ns) FROM op",
        "SELECT name, phase, layer, role, kind, count(*), sum(self_ns), sum(flops), sum(bytes), sum(recomputed) FROM op GROUP BY 1, 2, 3, 4, 5 ORDER "
        "BY 1, 2, 3, 4, 5",
        "SELECT count(*), sum(start_ns) FROM op WHERE start_ns BETWEEN 40000 AND 90000.5",
        "SELECT count(*), sum(dur_ns) FROM op WHERE start_ns < 30000 AND start_ns >= 1000.25",
        "SELECT count(*) FROM op WHERE start_ns = (SELECT max(start_ns) FROM op)",
        "SELECT count(*), sum(b.start_ns) FROM op a JOIN op b ON b.sequence = a.sequence AND b.thread = a.thread",
        "SELECT count(*) FROM op a JOIN slice b ON b.correlation = a.correlation WHERE a.layer = 1",
        "SELECT step.number, count(*) FROM step JOIN op ON op.start_ns >= step.start_ns AND op.start_ns < step.end_ns GROUP BY 1 ORDER BY 1",
    };
    for (unsigned seed = 1; seed <= 3; ++seed) {
        std::mt19937 random(seed);
        const SliceBlock one = randomSlices(random, 900, 1), two = randomSlices(random, 300, 2);
        std::vector<std::string> before;
        for (int cut = 0; cut < 2; ++cut) {
            folder.~TempFolder();
            new (&folder) TempFolder();
            path = folder.file("s.db");
            std::vector<Chunk> chunks = cut == 0 ? std::vector{encodeSlices(one)} : cutAtRandom(one, random);
            for (auto& chunk : cutAtRandom(two, random)) chunks.push_back(std::move(chunk));
            record(chunks);
            std::vector<std::string> answers;
            for (const auto& question : questions) answers.push_back(text(question));
            if (cut == 0) before = answers;
            ASSERT_EQ(answers, before) << "seed " << seed << ", cut " << cut;

            OperationSummary summary;
            auto reader = SessionReader::open(path);
            ASSERT_TRUE(forEachSliceBlock(**reader, 1, [&](const SliceBlock& block) -> Status {
                summary.add(block);
                return {};
            }));
            EXPECT_EQ(text("SELECT count(*), sum(self_ns) FROM op"), fmt::format("{}|{}\n", summary.totals().operations, summary.totals().self.ns));
            // Not sum(dur_ns): calls within one of their own name are rows of their own there, and part of it in a summary's total.
            for (const auto& row : summary.rows(SummaryBy::Operation, SummarySort::Self))
                EXPECT_EQ(text(fmt::format("SELECT count(*), sum(self_ns), min(dur_ns), max(dur_ns), coalesce(sum(flops), 0), "
                                           "coalesce(sum(bytes), 0), sum(recomputed) FROM op WHERE name = '{}' AND (kind = 'own') = {}",
                                           row.name, row.own ? 1 : 0)),
                          fmt::format("{}|{}|{}|{}|{}|{}|{}\n", row.calls, row.self.ns, row.shortest.ns, row.longest.ns, row.flops, row.bytes,
                                      row.recomputed));
        }
    }
}

TEST_F(SessionQueries, ReadOnlyTheBlocksOfTheirRange) {
    std::vector<Chunk> chunks;
    std::mt19937 random(9);
    for (int b = 0; b < 200; ++b) {
        SliceBlock block{.thread = {.thread = 1}, .strings = {"", "x"}};
        for (int i = 0; i < 4000; ++i)
            block.slices.push_back({.start = b * 1'000'000 + i * 200 + static_cast<std::int64_t>(random() % 90),
                                    .duration = static_cast<std::int64_t>(random() % 100),
                                    .name = 1,
                                    .sequence = static_cast<std::int64_t>(random())});
        chunks.push_back(encodeSlices(block));
    }
    record(chunks);
    auto query = SessionQuery::open(path, 1);
    ASSERT_TRUE(query);
    const auto before = bytesRead();
    EXPECT_EQ(asText(*(*query)->run("SELECT count(*) FROM op WHERE start_ns >= 100000000 AND start_ns < 101000000")), "4000\n");
    const auto some = bytesRead() - before;
    EXPECT_EQ(asText(*(*query)->run("SELECT count(*) FROM op")), "800000\n");
    const auto all = bytesRead() - before - some;
    EXPECT_LT(some * 10, all);
}

TEST_F(SessionQueries, JoinByANumberWithoutReadingEverythingForEachRow) {
    SliceBlock host{.thread = {.thread = 1}, .strings = {"", "launch"}},
        stream{.thread = {.thread = 7, .lane = 9, .device = 0}, .strings = {"", "k"}};
    for (std::int64_t i = 1; i <= 20'000; ++i) {
        host.slices.push_back({.start = i * 10, .duration = 5, .name = 1, .kind = SliceKind::Runtime, .correlation = i});
        stream.slices.push_back({.start = i * 10 + 3, .duration = 6, .name = 1, .kind = SliceKind::Kernel, .correlation = i});
    }
    record({encodeSlices(host), encodeSlices(stream)});
    EXPECT_EQ(text("SELECT count(*), sum(kernel.start_ns - runtime.start_ns) FROM kernel JOIN runtime ON runtime.correlation = kernel.correlation"),
              "20000|60000\n");
    EXPECT_EQ(text("SELECT count(*) FROM kernel, runtime WHERE runtime.correlation = kernel.correlation + 19990"), "10\n");
    EXPECT_EQ(text("SELECT count(*) FROM kernel LEFT JOIN memcpy ON memcpy.correlation = kernel.correlation WHERE memcpy.name IS NULL"), "20000\n");
    EXPECT_EQ(text("SELECT name FROM kernel WHERE correlation = 7.0"), "k\n");
    EXPECT_EQ(text("SELECT count(*) FROM kernel JOIN (SELECT '5' AS n UNION SELECT 6.0 UNION SELECT NULL) ON correlation = n"), "2\n");
}

TEST_F(SessionQueries, ThatAreSavedRunOnEverySession) {
    record(everything(), oneOfEachKind());
    record({}, {}, "empty");
    for (const auto& saved : savedQueries()) {
        for (const std::int64_t session : {1, 2}) {
            const auto result = run(saved.sql, {}, session);
            ASSERT_TRUE(result) << saved.id << ": " << result.error().sentence;
            ASSERT_FALSE(result->columns.empty());
            EXPECT_THAT(result->columns.front(), testing::Not(testing::AnyOf("rank", "capture"))) << saved.id << ": a chart has it along x";
        }
    }
    EXPECT_EQ(text(savedQuery("launch-delay")->sql), "gemm|1|0.1r|0.1r\n");
    EXPECT_EQ(text(savedQuery("copies")->sql), "HtoD|1|65536|0r|655.36r\n");
    EXPECT_THAT(text(savedQuery("gaps")->sql),
                HasSubstr("thread 11|0.1r|cudaLaunchKernel|aten::addmm|1400|0|1\ndevice 0, stream 7|0.1r|gemm|HtoD|1650|0|1\n"));
    EXPECT_THAT(text(savedQuery("time-per-layer")->sql), HasSubstr("layer 0"));
    EXPECT_THAT(savedQuery("nothing").error().sentence, HasSubstr("top-operations"));
}

TEST_F(SessionQueries, TellTheTimeOfALayerOnTheHostFromThatOfItsKernels) {
    SliceBlock host{.thread = {.process = 10, .thread = 11}, .strings = {"", "forward", "backward", "aten::mm"}};
    host.slices = {{.start = 0, .duration = 2'000'000, .name = 3, .phase = 1, .layer = 0},
                   {.start = 3'000'000, .duration = 1'000'000, .name = 3, .phase = 2, .layer = 0},
                   {.start = 5'000'000, .duration = 4'000'000, .name = 3, .phase = 2, .layer = 1}};
    SliceBlock stream{.thread = {.thread = 7, .lane = 1007, .device = 0}, .strings = {"", "forward", "backward", "gemm"}};
    stream.slices = {{.start = 100, .duration = 5'000'000, .name = 3, .phase = 1, .layer = 0, .kind = SliceKind::Kernel},
                     {.start = 6'000'000, .duration = 7'000'000, .name = 3, .phase = 2, .layer = 0, .kind = SliceKind::Kernel},
                     {.start = 14'000'000, .duration = 1'000'000, .name = 3, .kind = SliceKind::Kernel}};
    record({encodeSlices(host), encodeSlices(stream)});
    const auto result = run(savedQuery("time-per-layer")->sql);
    ASSERT_TRUE(result) << result.error().sentence;
    EXPECT_THAT(result->columns, testing::ElementsAre("place", "host_forward_ms", "host_backward_ms", "host_ms", "kernels_forward_ms",
                                                      "kernels_backward_ms", "kernels_ms"));
    EXPECT_EQ(asText(*result), "layer 0|2r|1r|3r|5r|7r|12r\nnone|0r|0r|0r|0r|0r|1r\nlayer 1|0r|4r|4r|0r|0r|0r\n");
    EXPECT_EQ(text(savedQuery("time-per-role")->sql), "none|3|7r|100r\n") << "without the kernels, as its title and its column say";
    EXPECT_THAT(run(savedQuery("time-per-role")->sql)->columns, testing::Contains("host_ms"));
    EXPECT_THAT(savedQuery("time-per-role")->title, HasSubstr("on the host"));
}

// As the guide has it.
TEST_F(SessionQueries, JoinAnOperationWithWhatItLaunchedByItsExternalNumber) {
    SliceBlock host{.thread = {.process = 10, .thread = 11, .name = "trainer"}};
    host.strings = {"", "aten::mm", "aten::add", "cudaLaunchKernel"};
    host.slices = {{.start = 0, .duration = 900, .name = 2, .external = 1},
                   {.start = 10, .duration = 300, .name = 1, .depth = 1, .external = 2},
                   {.start = 20, .duration = 5, .name = 3, .depth = 2, .kind = SliceKind::Runtime, .correlation = 7, .external = 2},
                   {.start = 40, .duration = 5, .name = 3, .depth = 2, .kind = SliceKind::Runtime, .correlation = 8, .external = 2},
                   {.start = 400, .duration = 5, .name = 3, .depth = 1, .kind = SliceKind::Runtime, .correlation = 9, .external = 1}};
    SliceBlock stream{.thread = {.process = 0, .thread = 7, .lane = 1007, .device = 0}};
    stream.strings = {"", "gemm"};
    stream.slices = {{.start = 100, .duration = 2'000'000, .name = 1, .kind = SliceKind::Kernel, .correlation = 7, .external = 2},
                     {.start = 3'000'000, .duration = 1'000'000, .name = 1, .kind = SliceKind::Kernel, .correlation = 8},
                     {.start = 5'000'000, .duration = 500'000, .name = 1, .kind = SliceKind::Kernel, .correlation = 9, .external = 1}};
    record({encodeSlices(host), encodeSlices(stream)});
    const std::string chosen = "SELECT op.name, count(*) AS kernels, sum(kernel.dur_ns) / 1e6 AS ms FROM kernel ";
    const std::string grouped = " GROUP BY op.name ORDER BY ms DESC LIMIT 10";
    EXPECT_EQ(text(chosen + "JOIN op ON op.external = kernel.external AND op.rank = kernel.rank AND op.capture = kernel.capture" + grouped),
              "aten::mm|1|2r\naten::add|1|0.5r\n")
        << "the second kernel has no number of its own";
    EXPECT_EQ(text(chosen +
                   "JOIN runtime ON runtime.correlation = kernel.correlation AND runtime.rank = kernel.rank AND runtime.capture = kernel.capture "
                   "JOIN op ON op.external = runtime.external AND op.rank = runtime.rank AND op.capture = runtime.capture" +
                   grouped),
              "aten::mm|2|3r\naten::add|1|0.5r\n");
    EXPECT_EQ(text("SELECT count(correlation), count(external) FROM op"), "0|2\n");
}

TEST_F(SessionQueries, CountAnImportedLaunchOnceThoughTheDriverTellsItToo) {
    const auto event = [](const char* cat, const char* name, int at, int tid, int correlation) {
        return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": {}, "ts": {}, "dur": {}, "args": {{"correlation": {}}}}})",
                           cat, name, tid, at, at % 10 == 0 ? 9 : 5, correlation);
    };
    writeFile(folder.file("t.json"), "{\"traceEvents\": [" + event("cuda_runtime", "cudaLaunchKernel", 10, 2, 6) + "," +
                                         event("cuda_driver", "cuLaunchKernel", 12, 2, 6) + "," + event("cuda_driver", "cuLaunchKernel", 30, 2, 7) +
                                         "," + event("kernel", "gemm", 40, 7, 6) + "," + event("kernel", "triton", 50, 7, 7) + "]}");
    const auto done = importFiles({.database = path, .files = {folder.file("t.json")}, .name = {}, .progress = {}});
    ASSERT_TRUE(done) << done.error().sentence;
    const auto delays = run(savedQuery("launch-delay")->sql, {}, done->session);
    ASSERT_TRUE(delays) << delays.error().sentence;
    EXPECT_EQ(asText(*delays), "gemm|1|30r|30r\ntriton|1|20r|20r\n");
}

TEST_F(SessionQueries, SayOfCopiesAndMemsetsTooHowLongAfterTheirLaunchTheyBegin) {
    SliceBlock calls{.thread = {.process = 1, .thread = 2, .lane = 1}, .strings = {"", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync"}};
    calls.slices = {{.start = 1000, .duration = 10, .name = 1, .kind = SliceKind::Runtime, .correlation = 1},
                    {.start = 2000, .duration = 10, .name = 2, .kind = SliceKind::Runtime, .correlation = 2},
                    {.start = 3000, .duration = 10, .name = 3, .kind = SliceKind::Runtime, .correlation = 3}};
    SliceBlock stream{.thread = {.thread = 7, .lane = 1007, .device = 0}, .strings = {"", "gemm", "Memcpy HtoD", "Memset (Device)", "Stream Sync"}};
    stream.slices = {{.start = 6000, .duration = 10, .name = 1, .kind = SliceKind::Kernel, .correlation = 1},
                     {.start = 9000, .duration = 10, .name = 2, .kind = SliceKind::Memcpy, .correlation = 2},
                     {.start = 12'000, .duration = 10, .name = 3, .kind = SliceKind::Memset, .correlation = 3},
                     {.start = 13'000, .duration = 10, .name = 4, .kind = SliceKind::Synchronisation, .correlation = 3}};
    record({encodeSlices(calls), encodeSlices(stream)});
    EXPECT_EQ(text(savedQuery("launch-delay")->sql), "Memset (Device)|1|9r|9r\nMemcpy HtoD|1|7r|7r\ngemm|1|5r|5r\n") << "a wait is no work";
}

TEST_F(SessionQueries, SayOfAKernelHowItWasLaunchedForMostOfItsTime) {
    SliceBlock stream{.thread = {.process = 0, .thread = 7, .lane = 1007, .device = 0}, .strings = {"", "gemm"}};
    stream.arguments = {{}, {.grid = {12544, 1, 1}, .block = {64, 1, 1}}, {.grid = {50176, 1, 1}, .block = {128, 1, 1}}};
    stream.slices = {{.start = 10, .duration = 1000, .name = 1, .arguments = 1, .kind = SliceKind::Kernel},
                     {.start = 2000, .duration = 3000, .name = 1, .arguments = 2, .kind = SliceKind::Kernel}};
    record({encodeSlices(stream)});
    EXPECT_EQ(text(savedQuery("top-kernels")->sql), "gemm|2|0.004r|2r|50176,1,1|128,1,1|75r\n");
}

TEST_F(SessionQueries, StoreNothing) {
    record(everything());
    const std::string before = contentOf(path);
    ASSERT_TRUE(run("SELECT * FROM op, kernel ORDER BY 1"));
    EXPECT_EQ(contentOf(path), before);
    SQLite::Database plain(path, SQLite::OPEN_READONLY);
    EXPECT_EQ(plain.execAndGet("SELECT count(*) FROM sqlite_schema WHERE name IN ('op', 'kernel') OR sql LIKE '%VIRTUAL%'").getInt(), 0);
}

TEST_F(SessionQueries, OfAMissingFileOrSessionAreOneSentence) {
    EXPECT_EQ(SessionQuery::open(path, 1).error().code, ErrorCode::NotFound);
    record({});
    EXPECT_EQ(SessionQuery::open(path, 2).error().code, ErrorCode::NotFound);
}
