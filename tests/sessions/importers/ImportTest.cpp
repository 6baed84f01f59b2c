// Traces of other programs as sessions: what is in them is kept to the nanosecond, nested and joined, and what cannot be is counted or refused in a
// sentence, with nothing half stored. The traces of real GPUs are tried where they are there.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <map>

#include "core/analysis/captures/KernelSummary.h"
#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/Slices.h"
#include "sessions/importers/Import.h"
#include "sessions/importers/NsightFile.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

constexpr const char* kRealTraces = STEPSCOPE_REAL_TRACES "/";

struct NamedSlice {
    SliceThread thread;
    std::string name;
    SliceArguments arguments;
    Slice slice;
};

struct Import : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    std::string trace(const std::string& events, const std::string& more = "") {
        const std::string name = folder.file(fmt::format("trace-{}.json", ++m_traces));
        writeFile(name, fmt::format("{{\"schemaVersion\": 1, {}\"traceEvents\": [{}]}}", more, events));
        return name;
    }
    Result<ImportSummary> run(const std::vector<std::string>& files) {
        return importFiles({.database = path, .files = files, .name = {}, .progress = {}});
    }
    ImportSummary good(const std::vector<std::string>& files) {
        auto summary = run(files);
        EXPECT_TRUE(summary) << summary.error().sentence << " " << summary.error().cause;
        return summary ? *summary : ImportSummary{};
    }
    std::string refusal(const std::vector<std::string>& files) {
        const auto summary = run(files);
        EXPECT_FALSE(summary);
        EXPECT_EQ(sessions(), 0u) << "nothing half stored";
        return summary ? "" : summary.error().sentence;
    }
    std::size_t sessions() {
        auto reader = SessionReader::open(path);
        if (!reader) return 0;
        const auto list = (*reader)->list();
        return list ? list->size() : 999;
    }
    std::vector<NamedSlice> slices(std::int64_t session) {
        auto reader = SessionReader::open(path);
        std::vector<NamedSlice> all;
        const Status read = forEachSliceBlock(**reader, session, [&](const SliceBlock& block) -> Status {
            for (const auto& slice : block.slices)
                all.push_back({block.thread, block.strings.at(slice.name), block.arguments.at(slice.arguments), slice});
            return {};
        });
        EXPECT_TRUE(read) << read.error().sentence;
        std::ranges::sort(all, {}, [](const NamedSlice& one) { return std::pair(one.slice.start, -one.slice.duration); });
        return all;
    }
    static const NamedSlice& named(const std::vector<NamedSlice>& all, const std::string& name) {
        const auto found = std::ranges::find(all, name, &NamedSlice::name);
        EXPECT_NE(found, all.end()) << name;
        return found == all.end() ? all.front() : *found;
    }
    int m_traces = 0;
};

std::string slice(const std::string& cat, const std::string& name, const std::string& ts, const std::string& dur, const std::string& args = "",
                  const std::string& place = R"("pid": 7, "tid": 8)") {
    return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", {}, "ts": {}, "dur": {}, "args": {{{}}}}})", cat, name, place, ts, dur, args);
}

std::string gzipped(const std::string& plain) {
    std::string out(plain.size() / 2 + 1000, '\0');
    z_stream zlib{};
    deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    zlib.avail_in = static_cast<uInt>(plain.size());
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = static_cast<uInt>(out.size());
    deflate(&zlib, Z_FINISH);
    out.resize(zlib.total_out);
    deflateEnd(&zlib);
    return out;
}

TEST_F(Import, KeepsTimesToTheNanosecondAndNestsWhatLiesWithin) {
    const auto done = good({trace(slice("cpu_op", "outer", "4203669604595.407", "340.024", R"("External id": 12, "Sequence number": 5)") + "," +
                                      slice("cpu_op", "inner", "4203669604600.001", "100.5", R"("External id": 13)") + "," +
                                      slice("cpu_op", "autograd::engine::evaluate_function: MulBackward0", "4203669605000", "10"),
                                  R"("baseTimeNanoseconds": 1735632360000000000, "displayTimeUnit": "ms", )")});
    EXPECT_EQ(done.operations, 3);
    EXPECT_EQ(done.skipped, 0);
    const auto all = slices(done.session);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].slice.start, 0) << "the session begins with the first event";
    EXPECT_EQ(all[0].slice.duration, 340'024);
    EXPECT_EQ(all[0].slice.called, 100'500);
    EXPECT_EQ(all[0].slice.sequence, 5);
    EXPECT_EQ(all[0].slice.external, 12);
    EXPECT_EQ(all[1].slice.start, 4'594);
    EXPECT_EQ(all[1].slice.depth, 1);
    EXPECT_EQ(all[2].slice.kind, SliceKind::Operation) << "the step of autograd's engine is no backward function";
    auto reader = SessionReader::open(path);
    EXPECT_EQ((*reader)->info(done.session)->startedUnixMs, (1735632360000000000 + 4203669604595407) / 1'000'000);
    EXPECT_EQ((*reader)->info(done.session)->kind, SessionKind::Trace);
    EXPECT_EQ((*reader)->summary(done.session)->state, RunState::Finished);
}

TEST_F(Import, PutsWhatOverlapsPartlyIntoASpareDepth) {
    const auto done = good({trace(slice("kernel", "a", "10", "10", R"("stream": 7, "device": 0)", R"("pid": 0, "tid": 7)") + "," +
                                  slice("kernel", "b", "15", "10", R"("stream": 7, "device": 0)", R"("pid": 0, "tid": 7)") + "," +
                                  slice("kernel", "c", "22", "10", R"("stream": 7, "device": 0)", R"("pid": 0, "tid": 7)"))});
    EXPECT_EQ(done.kernels, 3);
    const auto all = slices(done.session);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(named(all, "a").slice.depth, 0);
    EXPECT_EQ(named(all, "b").slice.depth, 1);
    EXPECT_EQ(named(all, "c").slice.depth, 0);
    for (const auto& one : all) {
        EXPECT_EQ(one.slice.called, 0) << one.name;
        EXPECT_EQ(one.thread.device, 0);
        EXPECT_EQ(one.thread.thread, 7);
    }
}

TEST_F(Import, GivesEverySliceWithinAStepItsNumber) {
    const auto done =
        good({trace(slice("user_annotation", "ProfilerStep#11", "100", "50") + "," + slice("user_annotation", "ProfilerStep#12", "150", "50") + "," +
                    slice("cpu_op", "one", "110", "5") + "," + slice("cpu_op", "two", "160", "5") + "," + slice("cpu_op", "none", "300", "5") + "," +
                    slice("kernel", "k", "155", "5", R"("stream": 7, "device": 0)", R"("pid": 0, "tid": 7)") + "," +
                    slice("kernel", "late", "170", "5", R"("stream": 7, "device": 0, "correlation": 9)", R"("pid": 0, "tid": 7)") + "," +
                    slice("cuda_runtime", "cudaLaunchKernel", "120", "5", R"("correlation": 9)"))});
    EXPECT_EQ(done.steps, 2);
    const auto all = slices(done.session);
    EXPECT_EQ(named(all, "one").slice.step, 11);
    EXPECT_EQ(named(all, "two").slice.step, 12);
    EXPECT_EQ(named(all, "k").slice.step, 12);
    EXPECT_EQ(named(all, "none").slice.step, kNoStep);
    EXPECT_EQ(named(all, "late").slice.step, 11) << "where it was launched";
    EXPECT_EQ(named(all, "ProfilerStep#12").slice.kind, SliceKind::Step);
    const auto summary = (*SessionReader::open(path))->summary(done.session);
    ASSERT_TRUE(summary) << summary.error().sentence;
    EXPECT_EQ(summary->steps, 2) << "so many, however they are numbered";
    EXPECT_EQ(summary->numbered, (std::pair<std::int64_t, std::int64_t>(11, 12)));
}

// As PyTorch's profiler counts them with wait=0 and warmup=0.
TEST_F(Import, AStepNumberedZeroIsAStepLikeOthers) {
    const auto done =
        good({trace(slice("user_annotation", "ProfilerStep#0", "100", "50") + "," + slice("user_annotation", "ProfilerStep#1", "150", "50") + "," +
                    slice("cpu_op", "one", "110", "5") + "," + slice("cpu_op", "two", "160", "5") + "," + slice("cpu_op", "none", "300", "5"))});
    EXPECT_EQ(done.steps, 2);
    const auto all = slices(done.session);
    EXPECT_EQ(named(all, "ProfilerStep#0").slice.step, 0);
    EXPECT_EQ(named(all, "one").slice.step, 0);
    EXPECT_EQ(named(all, "two").slice.step, 1);
    EXPECT_EQ(named(all, "none").slice.step, kNoStep);
}

TEST_F(Import, PutsArgumentsIntoColumnsAndKeepsTheRest) {
    const auto done = good({trace(
        slice(
            "kernel", "gemm", "10", "2.5",
            R"("External id": 31, "queued": 0, "device": 1, "context": 1, "stream": 7, "correlation": 99, "registers per thread": 64, "shared memory": 4096, "blocks per SM": 1.5, "grid": [8, 4, 1], "block": [128, 1, 1])",
            R"("pid": 1, "tid": 7)") +
        "," +
        slice(
            "cpu_op", "aten::mm", "5", "2",
            R"("External id": 31, "Ev Idx": 4, "Input Dims": [[4, 12], [], [[3], [4, 5]]], "Input type": ["float", "Scalar", "TensorList"], "Concrete Inputs": ["", "1", ""])") +
        "," +
        slice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "20", "1",
              R"x("device": 1, "stream": 7, "bytes": 4096, "memory bandwidth (GB/s)": 4.096)x", R"("pid": 1, "tid": 7)") +
        "," + slice("strange", "what", "30", "1", R"("why": {"a": [1, 2]})"))});
    EXPECT_EQ(done.others, 1);
    const auto all = slices(done.session);
    const auto& gemm = named(all, "gemm");
    EXPECT_EQ(gemm.arguments.grid, (std::array<std::int64_t, 3>{8, 4, 1}));
    EXPECT_EQ(gemm.arguments.block, (std::array<std::int64_t, 3>{128, 1, 1}));
    EXPECT_EQ(gemm.arguments.registers, 64);
    EXPECT_EQ(gemm.arguments.sharedBytes, 4096);
    EXPECT_EQ(gemm.arguments.extra, R"({"queued":0,"context":1,"blocks per SM":1.5})");
    EXPECT_EQ(gemm.slice.correlation, 99);
    EXPECT_EQ(named(all, "aten::mm").arguments.text, "Float[4,12] Scalar {-[3];-[4,5]}");
    EXPECT_EQ(named(all, "aten::mm").arguments.extra, R"({"Concrete Inputs":["","1",""]})");
    EXPECT_EQ(named(all, "Memcpy HtoD (Pinned -> Device)").arguments.bytes, 4096);
    EXPECT_EQ(named(all, "what").arguments.extra, R"({"why":{"a":[1,2]},"cat":"strange"})");
    KernelSummary summary;
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(forEachSliceBlock(**reader, done.session, [&](const SliceBlock& block) -> Status {
        summary.add(block);
        return {};
    }));
    const auto rows = summary.rows(SummarySort::Total);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].name, "gemm");
    EXPECT_EQ(rows[0].operation, "aten::mm");
    EXPECT_EQ(rows[0].grid[0], 8);
}

TEST_F(Import, JoinsFlowsAndLearnsWhichThreadsAreAutogradsOwn) {
    const auto end = [](const char* ph, const char* cat, int id, int tid, const char* ts) {
        return fmt::format(R"({{"ph": "{}", "cat": "{}", "name": "{}", "id": {}, "pid": 7, "tid": {}, "ts": {}}})", ph, cat, cat, id, tid, ts);
    };
    const auto done = good({trace(slice("cpu_op", "aten::mul", "10", "5", R"("Sequence number": 3)") + "," +
                                  slice("cpu_op", "MulBackward0", "40", "5", R"("Sequence number": 3, "Fwd thread id": 1)", R"("pid": 7, "tid": 9)") +
                                  "," + end("s", "fwdbwd", 1, 8, "10") + "," + end("f", "fwdbwd", 1, 9, "40") + "," + end("s", "ac2g", 1, 8, "10") +
                                  "," + end("f", "ac2g", 2, 9, "40"))});
    EXPECT_EQ(done.flows, 1) << "of the other two one end is missing";
    const auto all = slices(done.session);
    const auto &forward = named(all, "aten::mul"), &backward = named(all, "MulBackward0");
    EXPECT_EQ(backward.slice.forwardThread, 1);
    EXPECT_EQ(backward.slice.forwardStart, forward.slice.start);
    EXPECT_EQ(forward.thread.number, 1);
    EXPECT_EQ(backward.thread.number, 0);
}

TEST_F(Import, SamplesAllocationsAndRangesOfTwoEventsAreKept) {
    const auto done = good({trace(
        R"({"ph": "C", "name": "GPU 0 Utilization", "pid": 0, "ts": 5, "args": {"value": 12.5}},
           {"ph": "C", "name": "queue", "pid": 0, "ts": 6, "args": {"depth": 3, "bad": "x"}},
           {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 7, "tid": 8, "ts": 7, "args": {"Addr": 4096, "Bytes": -512, "Device Id": 0, "Device Type": 1, "Total Allocated": 100, "Total Reserved": 200}},
           {"ph": "B", "cat": "user_annotation", "name": "range", "pid": 7, "tid": 8, "ts": 10},
           {"ph": "E", "pid": 7, "tid": 8, "ts": 12}, {"ph": "E", "pid": 7, "tid": 8, "ts": 13},
           {"ph": "X", "cat": "cpu_op", "name": "negative", "pid": 7, "tid": 8, "ts": 1, "dur": -2},
           {"ph": "X", "cat": "cpu_op", "name": "nan", "pid": 7, "tid": 8, "ts": NaN, "dur": 1},
           {"ph": "b", "cat": "async", "name": "x", "id": 1, "pid": 7, "tid": 8, "ts": 1})")});
    EXPECT_EQ(done.samples, 2);
    EXPECT_EQ(done.allocations, 1);
    EXPECT_EQ(done.annotations, 1);
    EXPECT_EQ(done.skipped, 5);
    EXPECT_EQ(done.reasons.at("a negative duration"), 1);
    EXPECT_EQ(done.reasons.at("a time that is no number"), 1);
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(forEachAllocationBlock(**reader, done.session, [&](const AllocationBlock& block) -> Status {
        EXPECT_EQ(block.allocations.at(0).bytes, -512);
        EXPECT_EQ(block.allocations.at(0).device, 0);
        EXPECT_EQ(block.allocations.at(0).totalReserved, 200);
        return {};
    }));
    ASSERT_TRUE(forEachSampleBlock(**reader, done.session, [&](const SampleBlock& block) -> Status {
        EXPECT_EQ(block.samples.size(), 2u);
        EXPECT_EQ(block.series.at(block.samples[0].series).name, "GPU 0 Utilization");
        EXPECT_EQ(block.samples[0].value, 12.5);
        return {};
    }));
}

TEST_F(Import, FoldersForItsDatabaseAreMadeForTheirOwnerAlone) {
    namespace fs = std::filesystem;
    path = folder.file("data/deeper/s.db");
    const auto before = ::umask(0);
    (void)run({trace("")});  // whatever becomes of an empty one
    ::umask(before);
    for (const char* made : {"data", "data/deeper"})
        EXPECT_EQ(fs::status(folder.file(made)).permissions() & fs::perms::all, fs::perms::owner_all) << made;
}

TEST_F(Import, SeveralWorkersBecomeOneSession) {
    const auto first = trace(slice("cpu_op", "a", "10", "1"), R"("distributedInfo": {"rank": 3}, "baseTimeNanoseconds": 1000000000000000000, )");
    const auto second = trace(slice("cpu_op", "b", "10", "1"), R"("distributedInfo": {"rank": 5}, "baseTimeNanoseconds": 1000000000000002000, )");
    const auto third = trace(slice("cpu_op", "c", "10", "1"), R"("distributedInfo": {"rank": 5}, )");
    const auto done = good({first, second});
    const auto all = slices(done.session);
    EXPECT_EQ(named(all, "a").thread.rank, 3);
    EXPECT_EQ(named(all, "b").thread.rank, 5);
    EXPECT_EQ(named(all, "b").slice.start, 2000);
    EXPECT_NE(named(all, "a").thread.lane, named(all, "b").thread.lane);
    const auto again = good({second, third});
    ASSERT_EQ(again.notes.size(), 1u);
    EXPECT_THAT(again.notes[0], testing::HasSubstr("shown as rank 0"));
}

TEST_F(Import, ManyEventsInAnyOrderComeOutWhole) {
    // More than is held in memory at a time, backwards in time.
    std::string events;
    constexpr int kEvents = 450'000;
    for (int i = kEvents; i > 0; --i) {
        if (i < kEvents) events += ',';
        events +=
            fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"op{}","pid":7,"tid":{},"ts":{},"dur":1,"args":{{"unique":{}}}}})", i % 10, i % 3, i, i);
    }
    const auto done = good({trace(events)});
    EXPECT_EQ(done.operations, kEvents);
    const auto all = slices(done.session);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(kEvents));
    for (int i = 0; i < kEvents; i += 997) {
        EXPECT_EQ(all[static_cast<std::size_t>(i)].slice.start, i * 1000);
        EXPECT_EQ(all[static_cast<std::size_t>(i)].name, fmt::format("op{}", (i + 1) % 10));
        EXPECT_EQ(all[static_cast<std::size_t>(i)].arguments.extra, fmt::format(R"({{"unique":{}}})", i + 1));
    }
}

TEST_F(Import, RefusesWhatIsNoTraceInASentenceWithThePlace) {
    const auto file = [&](const std::string& content, const char* name = "x.json") {
        writeFile(folder.file(name), content);
        return folder.file(name);
    };
    const std::string whole = R"({"traceEvents": [)" + slice("cpu_op", "a", "1", "1") + "]}";
    for (const std::size_t cut : {1UL, 15UL, 18UL, 40UL})
        EXPECT_THAT(refusal({file(whole.substr(0, cut))}), testing::ContainsRegex("at byte [0-9]+")) << cut;
    EXPECT_THAT(refusal({file("{\"traceEvents\": [{\"ph\" 1}]}")}), testing::HasSubstr("at byte 23"));
    EXPECT_THAT(refusal({file("{\"a\": 1}")}), testing::HasSubstr("no \"traceEvents\""));
    EXPECT_THAT(refusal({file("")}), testing::HasSubstr("empty"));
    EXPECT_THAT(refusal({file("{\"traceEvents\": []}")}), testing::HasSubstr("no event"));
    EXPECT_THAT(refusal({file("hello")}), testing::HasSubstr("no trace or log"));
    EXPECT_THAT(refusal({folder.file("none.json")}), testing::HasSubstr("There is no file"));
    EXPECT_THAT(refusal({file("x", "r.nsys-rep")}), testing::HasSubstr("nsys export --type sqlite"));
    std::string deep = R"({"traceEvents": [{"ph": "X", "name": )";
    for (int i = 0; i < 60'000; ++i) deep += "[";
    EXPECT_THAT(refusal({file(deep)}), testing::ContainsRegex("nested more than 512 deep at byte [0-9]+"));
    const std::string packed = gzipped(whole);
    EXPECT_THAT(refusal({file(packed.substr(0, 20), "x.json.gz")}), testing::HasSubstr("ends in the middle"));
    std::string damaged = packed;
    damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
    EXPECT_FALSE(refusal({file(damaged, "x.json.gz")}).empty());
    EXPECT_THAT(refusal({file("SQLite format 3\0 and nothing", "x.sqlite")}), testing::HasSubstr("Nsight"));
}

TEST_F(Import, OfATraceThatEndsEarlyWhatIsWholeComesInAndASentenceSaysSo) {
    const auto file = [&](const std::string& content) {
        writeFile(folder.file("early.json"), content);
        return folder.file("early.json");
    };
    const std::string one = slice("cpu_op", "a", "1", "1"), two = slice("cpu_op", "b", "5", "1"), both = one + ",\n" + two;
    for (const std::string begin : {"[", "{\"traceEvents\": ["}) {
        const std::size_t wholeUntil = begin.size() + one.size();
        for (const std::string end : {"", "\n", ",", ",\n"}) {
            const auto done = good({file(begin + both + end)});
            EXPECT_EQ(done.operations, 2) << begin << end;
            ASSERT_EQ(done.notes.size(), 1U) << begin << end;
            EXPECT_THAT(done.notes[0], testing::HasSubstr("early.json\" ends early, at byte")) << begin << end;
            EXPECT_THAT(done.notes[0], testing::EndsWith("what is whole was imported."));
        }
        for (std::size_t left = 1; left < two.size(); left += 7) {
            const auto done = good({file(begin + one + "," + two.substr(0, left))});
            EXPECT_EQ(done.operations, 1) << "the event that is cut is left out: " << left;
            ASSERT_EQ(done.notes.size(), 1U);
            EXPECT_THAT(done.notes[0], testing::HasSubstr(fmt::format("ends early, at byte {}:", wholeUntil + 1)));
        }
    }
    for (const std::string end : {"]", "],", "], \"displayTimeUnit\"", "], \"displayTimeUnit\": \"m"})
        EXPECT_THAT(good({file("{\"traceEvents\": [" + both + end)}).notes, testing::ElementsAre(testing::HasSubstr("ends early"))) << end;
}

TEST_F(Import, OfAPackedTraceThatEndsEarlyWhatUnpacksComesInAndASentenceSaysWhere) {
    std::string content = "{\"traceEvents\": [";
    for (int i = 0; i < 20'000; ++i)
        content += (i == 0 ? "" : ",") + slice("cpu_op", fmt::format("op{}", i * 7919 % 20'011), std::to_string(i * 2), "1");
    const std::string packed = gzipped(content + "]}");
    const auto of = [&](std::size_t kept) {
        writeFile(folder.file("early.json.gz"), packed.substr(0, kept));
        return good({folder.file("early.json.gz")});
    };
    const auto half = of(packed.size() / 2);
    EXPECT_GT(half.operations, 5'000);
    EXPECT_LT(half.operations, 15'000);
    ASSERT_EQ(half.notes.size(), 1U);
    EXPECT_THAT(half.notes[0], testing::ContainsRegex("ends early, at byte [0-9]+ of what it unpacks to"));
    EXPECT_THAT(half.notes[0], testing::HasSubstr(fmt::format("the packed file ends at its byte {}:", packed.size() / 2)));
    const auto without = of(packed.size() - 4);  // of its check sum and length alone
    EXPECT_EQ(without.operations, 20'000);
    EXPECT_THAT(without.notes, testing::ElementsAre(testing::HasSubstr(fmt::format("the packed file ends at its byte {}:", packed.size() - 4))));
}

TEST_F(Import, ACommaBehindTheLastEventIsTakenAndDamageBetweenEventsRefused) {
    const auto file = [&](const std::string& content) {
        writeFile(folder.file("comma.json"), content);
        return folder.file("comma.json");
    };
    const std::string one = slice("cpu_op", "a", "1", "1"), two = slice("cpu_op", "b", "5", "1");
    for (const std::string& damaged : {one + ",," + two, one + two, one + ",{" + two, one.substr(0, one.size() - 1) + "," + two, one + ",", one})
        for (const std::string end : {"] x", "]]", "}"})
            EXPECT_THAT(refusal({file("[" + damaged + end)}), testing::ContainsRegex("at byte [0-9]+")) << damaged << end;
    EXPECT_THAT(refusal({file("[," + one + "]")}), testing::HasSubstr("at byte 1;"));
    std::string unquoted = one + "," + two + "," + two;
    unquoted.erase(unquoted.find('"', one.size() / 2), 1);
    EXPECT_THAT(refusal({file("[" + unquoted)}), testing::HasSubstr("an event is no JSON"));
    for (const std::string& complete : {"[" + one + "," + two + ",\n]", "{\"traceEvents\": [" + one + "," + two + " , ], \"a\": 1}"}) {
        const auto done = good({file(complete)});
        EXPECT_EQ(done.operations, 2) << complete;
        EXPECT_THAT(done.notes, testing::IsEmpty()) << "nothing is missing";
    }
}

TEST_F(Import, WhatLiesBesideItsDatabaseIsKnownThroughALinkToo) {
    const std::string link = folder.file("link.db");
    writeFile(path, "");
    std::filesystem::create_symlink("s.db", link);
    for (const char* end : {"", "-wal", "-shm", "-journal", ".lock"}) {
        writeFile(path + end, "x");
        const auto summary = importFiles({.database = link, .files = {path + end}, .name = {}, .progress = {}});
        ASSERT_FALSE(summary);
        EXPECT_THAT(summary.error().sentence, testing::HasSubstr("is the file that sessions are stored in here")) << end;
    }
}

TEST_F(Import, WhatNsightsFileHasInItsLogIsReadThroughALinkToo) {
    const std::string real = folder.file("real.sqlite"), link = folder.file("link.sqlite");
    SQLite::Database writer(real, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    writer.exec("PRAGMA journal_mode = WAL");
    writer.exec("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
    writer.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    writer.exec("INSERT INTO StringIds VALUES (1, 'a')");  // is in the log alone until the writer is gone
    std::filesystem::create_symlink("real.sqlite", link);
    for (const std::string& name : {real, link}) {
        SQLite::Database read = importing::openNsightFile(name);
        EXPECT_EQ(read.execAndGet("SELECT count(*) FROM StringIds").getInt(), 1) << name;
    }
}

TEST_F(Import, BombsAndGiganticNamesTakeNoMoreThanTheirBounds) {
    std::string bomb = "{\"traceEvents\": [";
    bomb.append(300'000'000, ' ');
    writeFile(folder.file("bomb.json.gz"), gzipped(bomb));
    EXPECT_THAT(refusal({folder.file("bomb.json.gz")}), testing::HasSubstr("250 times its size"));
    const auto done =
        good({trace(slice("cpu_op", std::string(10'000'000, 'n'), "1", "1") + "," + slice("cpu_op", "tab\\t\\u0001\\ud83d\\ude00", "5", "1"))});
    const auto all = slices(done.session);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name.size(), 65536u);
    EXPECT_EQ(done.reasons.at("names that were cut: longer than 65536 bytes"), 1);
    EXPECT_EQ(done.skipped, 0) << "the slice is there";
    EXPECT_EQ(all[1].name, "tab\t\x01\xF0\x9F\x98\x80");
}

TEST_F(Import, AStopLeavesNothingBehind) {
    const auto file = trace(slice("cpu_op", "a", "1", "1"));
    const auto stopped = importFiles({.database = path, .files = {file}, .name = {}, .progress = [](double, const std::string&) { return false; }});
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(sessions(), 0u);
}

// By correlation, counted with Python's json: of the GPU's kernels a fifth ran when the last step had ended, and 285 in the first one.
TEST_F(Import, KernelsOfARealTraceBelongToTheStepsThatLaunchedThem) {
    const std::string file = std::string(kRealTraces) + "v100-kineto.pt.trace.json.gz";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs the traces of real GPUs in " << kRealTraces;
    const auto done = good({file});
    std::map<std::int64_t, std::array<int, 3>> work;  // kernels, copies, memsets
    for (const auto& one : slices(done.session)) {
        if (one.slice.kind == SliceKind::Kernel) ++work[one.slice.step][0];
        if (one.slice.kind == SliceKind::Memcpy) ++work[one.slice.step][1];
        if (one.slice.kind == SliceKind::Memset) ++work[one.slice.step][2];
    }
    std::map<std::int64_t, std::array<int, 3>> expected;
    for (std::int64_t step = 101; step <= 105; ++step) expected[step] = {870, 320, 29};
    EXPECT_EQ(work, expected);
}

// Counted with Python's json and sqlite3: the README of the traces.
struct RealTrace {
    const char* file;
    std::int64_t operations, kernels, copies, runtimeCalls, kernelNs, runtimeNs = -1;  // -1: not counted there
};

TEST_F(Import, CountsRealTracesAsPythonDoes) {
    if (!std::filesystem::exists(kRealTraces)) GTEST_SKIP() << "needs the traces of real GPUs in " << kRealTraces;
    for (const RealTrace& real :
         {RealTrace{"v100-kineto.pt.trace.json.gz", 23910, 4350, 1600, 15329, 468'153'602},
          RealTrace{"a100-alexnet-sync.json.gz", 359, 79, 16, 361, 10'692'000}, RealTrace{"mi250-minitoy.json.gz", 70, 14, 2, 21, 110'881},
          RealTrace{"cpu-only.pt.trace.json.gz", 4, 0, 0, 0, 0}, RealTrace{"a100-saxpy-nsys.sqlite", 0, 5, 15, 95, 88'573'480, 1'087'784'268}}) {
        const auto done = good({std::string(kRealTraces) + real.file});
        EXPECT_EQ(done.operations, real.operations) << real.file;
        EXPECT_EQ(done.kernels, real.kernels) << real.file;
        EXPECT_EQ(done.copies, real.copies) << real.file;
        EXPECT_EQ(done.runtimeCalls, real.runtimeCalls) << real.file;
        EXPECT_EQ(done.skipped, 0) << real.file;
        std::int64_t kernelNs = 0, runtimeNs = 0, ofDriver = 0;
        for (const auto& one : slices(done.session)) {
            if (one.slice.kind == SliceKind::Kernel) kernelNs += one.slice.duration;
            if (one.slice.kind == SliceKind::Runtime || one.slice.kind == SliceKind::Driver) runtimeNs += one.slice.duration;
            ofDriver += one.slice.kind == SliceKind::Driver ? 1 : 0;
        }
        EXPECT_EQ(kernelNs, real.kernelNs) << real.file;
        if (real.runtimeNs < 0) continue;
        EXPECT_EQ(runtimeNs, real.runtimeNs) << real.file;
        EXPECT_EQ(ofDriver, 1) << real.file << ": what its class says is the driver's";
    }
}

}  // namespace
}  // namespace stepscope::test
