// The panes of a timeline over imported traces: totals of the recordings of real GPUs, where those are there, and what a stored session tells of its
// devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/analysis/panes/RangePanes.h"
#include "sessions/DeviceShapes.h"
#include "sessions/SessionTrace.h"
#include "sessions/importers/Import.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

struct PanesTrace : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");
    GpuShapes gpus;
    std::map<std::int64_t, GpuShape> shapes;  // the first of each ordinal

    RangePanes imported(const std::string& file) { return imported(std::vector<std::string>{file}); }
    RangePanes imported(const std::vector<std::string>& files) {
        const auto summary = importFiles({.database = path, .files = files, .name = {}, .progress = {}});
        EXPECT_TRUE(summary) << summary.error().sentence;
        if (!summary) return {};
        auto reader = SessionReader::open(path);
        gpus = deviceShapes(**reader, summary->session).value();
        shapes = gpus.first;
        auto trace = SessionTrace::open(path, summary->session);
        EXPECT_TRUE((*trace)->complete([] { return true; }));
        PanesReader panes(**trace, gpus, [] { return true; });
        EXPECT_TRUE(panes.open());
        return panes.read(0, 0).value();
    }
    static bool real(const std::string& name) { return std::filesystem::exists(std::string(STEPSCOPE_REAL_TRACES "/") + name); }
    static std::string file(const std::string& name) { return std::string(STEPSCOPE_REAL_TRACES "/") + name; }
};

constexpr const char* kPanesNotThere = "not run: the recordings of real GPUs are not in " STEPSCOPE_REAL_TRACES;

TEST_F(PanesTrace, TheV100SaysWhatPyTorchsProfilerAndHtaSay) {
    if (!real("v100-kineto.pt.trace.json.gz")) GTEST_SKIP() << kPanesNotThere;
    const RangePanes panes = imported(file("v100-kineto.pt.trace.json.gz"));
    EXPECT_EQ(shapes.at(0).multiprocessors, 80);
    std::int64_t kernels = 0, kernelTime = 0, copies = 0, memsets = 0;
    for (const PaneKernel& one : panes.kernels) {
        if (one.row.kind == SliceKind::Kernel) kernels += one.row.calls, kernelTime += one.row.total.ns;
        if (one.row.kind == SliceKind::Memcpy) copies += one.row.calls;
        if (one.row.kind == SliceKind::Memset) memsets += one.row.calls;
        if (one.row.kind == SliceKind::Kernel) {
            EXPECT_EQ(one.launched, one.row.calls) << one.row.name;
        }
    }
    EXPECT_EQ(kernels, 4350);
    EXPECT_EQ(kernelTime, 468'153'602);
    EXPECT_EQ(copies, 1600);
    EXPECT_EQ(memsets, 145);
    // A sum over the file, gap by gap, with HolisticTraceAnalysis' definitions.
    ASSERT_EQ(panes.streams.size(), 1u);
    const StreamTime& stream = panes.streams[0].time;
    EXPECT_EQ(stream.stream, 7);
    EXPECT_EQ(stream.busy.ns, 472'454'441);
    EXPECT_EQ(stream.hostWait.ns, 1'331'907);
    EXPECT_EQ(stream.kernelWait.ns, 6'242'879);
    EXPECT_EQ(stream.otherIdle.ns, 0);
    const auto multi =
        std::ranges::find_if(panes.kernels, [](const PaneKernel& one) { return one.row.name.find("BinaryOpListAlphaFunctor") != std::string::npos; });
    ASSERT_NE(multi, panes.kernels.end());
    EXPECT_FALSE(multi->row.operation.empty());
    // Steps are divided whole.
    ASSERT_EQ(panes.steps.size(), 1u);
    std::int64_t all = 0;
    for (const auto& one : panes.steps[0].classes) all += one.time.ns;
    EXPECT_EQ(all, panes.steps[0].window.ns);
    EXPECT_FALSE(panes.flame.empty());
}

TEST_F(PanesTrace, TheA100HasTwoStreamsAndTheMi250KeepsStreamZero) {
    if (!real("a100-alexnet-sync.json.gz") || !real("mi250-minitoy.json.gz")) GTEST_SKIP() << kPanesNotThere;
    const RangePanes a100 = imported(file("a100-alexnet-sync.json.gz"));
    EXPECT_EQ(a100.streams.size(), 2u);
    EXPECT_EQ(shapes.at(0).multiprocessors, 108);
    const RangePanes mi250 = imported(file("mi250-minitoy.json.gz"));
    ASSERT_EQ(mi250.streams.size(), 1u);
    EXPECT_EQ(mi250.streams[0].time.stream, 0);
    EXPECT_EQ(mi250.streams[0].time.device, 2);
    std::int64_t time = 0;
    for (const PaneKernel& one : mi250.kernels)
        if (one.row.kind == SliceKind::Kernel) time += one.row.total.ns;
    EXPECT_EQ(time, 110'881);
    EXPECT_EQ(shapes.at(2).warp, 64);
}

TEST_F(PanesTrace, NsightSystemsSaysWhatItsGpuIs) {
    if (!real("a100-saxpy-nsys.sqlite")) GTEST_SKIP() << kPanesNotThere;
    const RangePanes panes = imported(file("a100-saxpy-nsys.sqlite"));
    EXPECT_EQ(shapes.at(0).multiprocessors, 108);
    EXPECT_EQ(shapes.at(0).threadsPerMultiprocessor, 2048);
    std::int64_t kernels = 0;
    for (const PaneKernel& one : panes.kernels)
        if (one.row.kind == SliceKind::Kernel) kernels += one.row.total.ns;
    EXPECT_EQ(kernels, 88'573'480);
    ASSERT_FALSE(panes.kernels.empty());
    for (const PaneKernel& one : panes.kernels)
        if (one.row.kind == SliceKind::Kernel) {
            EXPECT_NEAR(one.blocksPerMultiprocessor, 2.0 / 108, 1e-6) << "two blocks on 108 multiprocessors";
        }
}

TEST_F(PanesTrace, WithoutAGpuThereIsNone) {
    if (!real("cpu-only.pt.trace.json.gz")) GTEST_SKIP() << kPanesNotThere;
    const RangePanes panes = imported(file("cpu-only.pt.trace.json.gz"));
    EXPECT_FALSE(panes.devices);
    EXPECT_TRUE(panes.kernels.empty());
    EXPECT_EQ(panes.totals.operations, 4);
}

TEST_F(PanesTrace, EachWorkersGpuIsWhatItsOwnFileSays) {
    const auto written = [&](const std::string& name, const std::string& whose, int multiprocessors) {
        const std::string gpu = R"({"id": 0, "numSms": )" + std::to_string(multiprocessors) +
                                R"(, "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 98304})";
        writeFile(folder.file(name), "{" + whose + R"(, "deviceProperties": [)" + gpu +
                                         R"(], "traceEvents": [{"ph": "X", "cat": "kernel", "name": ")" + name +
                                         R"(", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0, "stream": 7, )"
                                         R"("grid": [10, 1, 1], "block": [64, 1, 1], "registers per thread": 16, "shared memory": 0}}]})");
        return folder.file(name);
    };
    const std::string small = written("small", R"("distributedInfo": {"rank": 3})", 10),
                      large = written("large", R"("distributedInfo": {"rank": 5})", 20);
    std::map<std::string, double> blocks;
    for (const PaneKernel& one : imported(std::vector<std::string>{small, large}).kernels) blocks[one.row.name] = one.blocksPerMultiprocessor;
    EXPECT_DOUBLE_EQ(blocks.at("small"), 1);
    EXPECT_DOUBLE_EQ(blocks.at("large"), 0.5) << "though both are called 0";
    // Of files of several workers each, all of which say that they are 0 and 1.
    const char* both = R"("stepscopeRanks": {"ranks": [0, 1], "apart": 1000})";
    imported(std::vector<std::string>{written("first", both, 10), written("second", both, 20)});
    std::vector<std::int64_t> ofRanks;
    for (std::int64_t rank = 0; rank < 5; ++rank) ofRanks.push_back(gpus.find(rank, 0)->multiprocessors);
    EXPECT_EQ(ofRanks, (std::vector<std::int64_t>{10, 10, 20, 20, 10})) << "of a rank that nobody tells of, what was told first";
    EXPECT_EQ(gpus.find(0, 1), nullptr);
}

TEST_F(PanesTrace, WhatATraceSaysOfItsDevicesIsCheckedAsAStrangers) {
    const std::string lying = folder.file("lying.json");
    writeFile(
        lying,
        R"({"deviceProperties": [{"id": -4, "numSms": 3}, {"id": 1, "numSms": "many"}, {"id": 2, "numSms": 99999999999999}, 7, {"id": 3, "numSms": 4, "warpSize": -1}],
                  "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})");
    imported(lying);
    EXPECT_FALSE(shapes.contains(1));
    EXPECT_FALSE(shapes.contains(2));
    ASSERT_TRUE(shapes.contains(3));
    EXPECT_EQ(shapes.at(3).warp, 32);
}

}  // namespace
}  // namespace stepscope::test
