// The events of a Kineto trace, row by row: valid JSON whatever a slice says, the words that readers of PyTorch's traces look for, both ends of an
// arrow or none, workers of one number apart, and what overlaps on a stream aside.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "sessions/exporters/KinetoRows.h"

namespace stepscope::kineto {
namespace {

using RowJson = nlohmann::json;
using testing::ElementsAre;

SliceBlock blockOf(SliceThread thread, std::vector<Slice> slices) {
    return {.thread = std::move(thread), .strings = {"", "name", "phase", "role"}, .slices = std::move(slices)};
}
SliceThread onHost(std::int64_t rank = 0) {
    return {.process = 10, .thread = 11, .number = 1, .name = "trainer", .lane = 1 + 100 * rank, .rank = rank};
}
SliceThread onDevice(std::int64_t rank = 0) {
    return {.process = 0, .thread = 7, .name = "stream 7", .lane = 2 + 100 * rank, .device = 0, .rank = rank};
}

// Everything that blocks become, as one list.
struct KinetoRowsOf : testing::Test {
    std::vector<SliceBlock> blocks;
    std::vector<SampleBlock> samples;
    std::vector<AllocationBlock> allocations;

    RowJson written(bool metadata = false) const {
        KinetoLinks links;
        std::vector<SliceThread> threads;
        for (const auto& block : blocks) {
            links.add(block);
            threads.push_back(block.thread);
        }
        links.done();
        std::ostringstream out;
        KinetoRows rows(out, threads, links);
        if (metadata)
            for (const auto& thread : threads) rows.metadata(thread);
        for (const auto& block : blocks) EXPECT_TRUE(rows.add(block));
        for (const auto& block : samples) EXPECT_TRUE(rows.add(block));
        for (const auto& block : allocations) EXPECT_TRUE(rows.add(block));
        EXPECT_TRUE(rows.flush());
        RowJson all = RowJson::parse("[" + out.str() + "]", nullptr, false);
        EXPECT_TRUE(all.is_array()) << out.str();
        return all;
    }
    RowJson only() const {
        RowJson all = written();
        EXPECT_EQ(all.size(), 1U) << all;
        return all.empty() ? RowJson() : all[0];
    }
    static std::vector<RowJson> ofPhase(const RowJson& all, const std::string& phase) {
        std::vector<RowJson> some;
        for (const auto& row : all)
            if (row["ph"] == phase) some.push_back(row);
        return some;
    }
};

TEST(KinetoText, AnyBytesAreAJsonTextWithoutControlCharacters) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes;
        for (auto left = random() % 20; left > 0; --left) bytes += static_cast<char>(random() % 256);
        const std::string text = kineto::quoted(bytes);
        ASSERT_TRUE(RowJson::accept(text)) << text;
        EXPECT_TRUE(std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
    }
    EXPECT_EQ(kineto::quoted("gelu \"tanh\"\n€"), "\"gelu \\\"tanh\\\"\\n€\"");
}

TEST_F(KinetoRowsOf, TimesAreMicrosecondsToTheNanosecondAlsoBeforeTheBeginning) {
    const auto times = [&](std::int64_t start, std::int64_t duration) {
        blocks = {blockOf(onHost(), {{.start = start, .duration = duration, .name = 1}})};
        KinetoLinks links;
        std::ostringstream out;
        KinetoRows rows(out, {}, links);
        EXPECT_TRUE(rows.add(blocks[0]));
        const std::string text = out.str();
        const auto ts = text.find("\"ts\": "), args = text.find(", \"args\"");
        return text.substr(ts, args - ts);
    };
    EXPECT_EQ(times(1'234'567, 89), "\"ts\": 1234.567, \"dur\": 0.089");
    EXPECT_EQ(times(-1, 0), "\"ts\": -0.001, \"dur\": 0.000");
    EXPECT_EQ(times(-1'000'001, 1'000), "\"ts\": -1000.001, \"dur\": 1.000");
    EXPECT_EQ(times(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()),
              "\"ts\": -9223372036854775.808, \"dur\": 9223372036854775.807");
}

TEST_F(KinetoRowsOf, EveryKindHasTheCategoryThatReadersKnow) {
    const std::vector<std::string> words{
        "cpu_op",       "cpu_op",      "cpu_op", "user_annotation", "user_annotation", "user_annotation", "user_annotation",     "python_function",
        "cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy",      "gpu_memset",      "cuda_sync",       "gpu_user_annotation", "overhead",
        "other"};
    ASSERT_EQ(words.size(), static_cast<std::size_t>(kSliceKinds));
    for (int kind = 0; kind < kSliceKinds; ++kind) {
        blocks = {blockOf(onHost(), {{.start = 5, .duration = 3, .name = 1, .kind = static_cast<SliceKind>(kind), .step = 4}})};
        const RowJson row = only();
        EXPECT_EQ(row["cat"], words[static_cast<std::size_t>(kind)]);
        EXPECT_EQ(row["ph"], "X");
        EXPECT_EQ(row["name"], static_cast<SliceKind>(kind) == SliceKind::Step ? "ProfilerStep#4" : "name");
    }
}

TEST_F(KinetoRowsOf, ShapesAndTypesAreInTheProfilersWords) {
    const auto args = [&](const std::string& text) {
        blocks = {blockOf(onHost(), {{.start = 5, .duration = 3, .name = 1, .arguments = 1}})};
        blocks[0].arguments = {{}, {.text = text, .flops = 7, .bytes = 9}};
        return only()["args"];
    };
    const RowJson all =
        args("Float[64] BFloat16[48,16] Half[] Long[2] Int[1] Short[1] Char[1] Byte[1] Bool[1] Double[3] int float true - {Float[3];Float[4]}");
    EXPECT_EQ(all["Input type"], RowJson::parse(R"(["float", "c10::BFloat16", "c10::Half", "long int", "int", "short int", "signed char",
        "unsigned char", "bool", "double", "Scalar", "Scalar", "Scalar", "", "TensorList"])"));
    EXPECT_EQ(all["Input Dims"], RowJson::parse("[[64], [48, 16], [], [2], [1], [1], [1], [1], [1], [3], [], [], [], [], [[3], [4]]]"));
    EXPECT_EQ(all["flops"], 7);
    EXPECT_EQ(all["bytes"], 9);
    // What nobody of us wrote is an argument all the same: as many types as shapes.
    for (const char* odd : {"", "]", "Float[", "{;", "a\"b[1] \xff", "Float[1,,2] {Float[1]", "{}"}) {
        const RowJson some = args(odd);
        EXPECT_EQ(some.value("Input Dims", RowJson::array()).size(), some.value("Input type", RowJson::array()).size()) << odd;
    }
}

TEST_F(KinetoRowsOf, AKernelSaysHowItWasLaunched) {
    blocks = {
        blockOf(onDevice(), {{.start = 5, .duration = 4, .name = 1, .arguments = 1, .kind = SliceKind::Kernel, .correlation = 3, .external = 8}})};
    blocks[0].arguments = {{}, {.grid = {8, 4, 1}, .block = {128, 1, 1}, .registers = 96, .sharedBytes = 4096}};
    EXPECT_EQ(only()["args"], RowJson::parse(R"({"External id": 8, "device": 0, "stream": 7, "correlation": 3, "registers per thread": 96,
        "shared memory": 4096, "grid": [8, 4, 1], "block": [128, 1, 1]})"));
}

TEST_F(KinetoRowsOf, ACopySaysHowFastItWasUnlessItTookNoTimeOrSaysSoItself) {
    const auto args = [&](std::int64_t duration, const std::string& extra) {
        blocks = {blockOf(onDevice(), {{.start = 5, .duration = duration, .name = 1, .arguments = 1, .kind = SliceKind::Memcpy}})};
        blocks[0].arguments = {{}, {.bytes = 1000, .extra = extra}};
        return only()["args"];
    };
    EXPECT_EQ(args(500, "")["memory bandwidth (GB/s)"], 2.0);
    EXPECT_FALSE(args(0, "").contains("memory bandwidth (GB/s)"));
    EXPECT_EQ(args(500, R"x({"memory bandwidth (GB/s)": 2.5})x")["memory bandwidth (GB/s)"], 2.5);
}

TEST_F(KinetoRowsOf, WhatATraceSaidBesidesIsKeptAndCannotBreakTheRow) {
    const auto row = [&](const std::string& extra) {
        blocks = {blockOf(onHost(), {{.start = 5, .duration = 3, .name = 1, .arguments = 1, .kind = SliceKind::Other}})};
        blocks[0].arguments = {{}, {.extra = extra}};
        return only();
    };
    EXPECT_EQ(row(R"({"a \" b": {"c": [1, 2.5, null]}, "d": "\u0000"})")["args"],
              RowJson::parse(R"({"a \" b": {"c": [1, 2.5, null]}, "d": "\u0000"})"));
    EXPECT_EQ(row(R"({"cat": "a\"b"})")["cat"], "a\"b");
    EXPECT_EQ(row(R"({"cat": 7})")["args"]["cat"], 7) << "a category is a text";
    const RowJson instant = row(R"({"ph": "i", "x": 1})");
    EXPECT_EQ(instant["ph"], "i");
    EXPECT_FALSE(instant.contains("dur"));
    EXPECT_EQ(instant["args"], RowJson::parse(R"({"x": 1})"));
    for (const char* broken : {"{", "[1]", "7", "{\"a\": }", "}{", "nul"}) EXPECT_TRUE(row(broken)["args"].empty()) << broken;
}

TEST_F(KinetoRowsOf, AnArrowHasBothEndsOrNone) {
    blocks = {blockOf(onHost(), {{.start = 1, .duration = 2, .name = 1, .kind = SliceKind::Runtime, .correlation = 5},
                                 {.start = 4, .duration = 2, .name = 1, .kind = SliceKind::Driver, .correlation = 6},
                                 {.start = 7, .duration = 2, .name = 1, .kind = SliceKind::Runtime, .correlation = 7},
                                 {.start = 10, .duration = 2, .name = 1, .kind = SliceKind::Python, .correlation = 9}}),
              blockOf(onDevice(), {{.start = 20, .duration = 2, .name = 1, .kind = SliceKind::Kernel, .correlation = 5},
                                   {.start = 30, .duration = 2, .name = 1, .kind = SliceKind::Synchronisation, .correlation = 6},
                                   {.start = 40, .duration = 2, .name = 1, .kind = SliceKind::Kernel, .correlation = 8},
                                   {.start = 50, .duration = 2, .name = 1, .kind = SliceKind::Kernel, .correlation = 9}})};
    const RowJson all = written();
    std::vector<int> begins, ends;
    for (const auto& row : ofPhase(all, "s")) begins.push_back(row["id"].get<int>());
    for (const auto& row : ofPhase(all, "f")) ends.push_back(row["id"].get<int>());
    EXPECT_THAT(begins, ElementsAre(5, 6));
    EXPECT_THAT(ends, ElementsAre(5, 6)) << "a wait that a device records is launched too";
}

TEST_F(KinetoRowsOf, ABackwardFunctionIsJoinedWithTheThreadOfItsForwardOperation) {
    SliceThread autograd = onHost();
    autograd.thread = 12;
    autograd.number = 2;
    blocks = {
        blockOf(onHost(), {{.start = 100, .duration = 50, .name = 1, .sequence = 4}}),
        blockOf(autograd,
                {{.start = 300, .duration = 9, .name = 1, .kind = SliceKind::Backward, .sequence = 4, .forwardThread = 1, .forwardStart = 100},
                 {.start = 400, .duration = 9, .name = 1, .kind = SliceKind::Backward, .sequence = 4, .forwardThread = 9, .forwardStart = 100}})};
    const RowJson all = written();
    const auto begins = ofPhase(all, "s"), ends = ofPhase(all, "f");
    ASSERT_EQ(begins.size(), 1U) << "of a thread that nobody knows there is no arrow";
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(begins[0]["tid"], 11);
    EXPECT_EQ(begins[0]["ts"], 0.1);
    EXPECT_EQ(ends[0]["tid"], 12);
    EXPECT_EQ(ends[0]["bp"], "e");
    EXPECT_EQ(ends[0]["id"], begins[0]["id"]);
}

TEST_F(KinetoRowsOf, AForwardOperationThatBeginsAtZeroHasItsArrowToo) {
    SliceThread autograd = onHost();
    autograd.thread = 12;
    autograd.number = 2;
    const auto backward = [](std::int64_t start, std::int64_t sequence, SliceKind kind = SliceKind::Backward) {
        return Slice{.start = start, .duration = 5, .name = 1, .kind = kind, .sequence = sequence, .forwardThread = 1};
    };
    // Of the last nobody saw the forward operation; and the step of autograd's engine that a function lies in has no arrow.
    blocks = {blockOf(onHost(), {{.start = 0, .duration = 50, .name = 1, .sequence = 4}, {.start = 60, .duration = 20, .name = 1, .sequence = 6}}),
              blockOf(autograd, {backward(300, 4, SliceKind::Operation), backward(301, 4), backward(400, 5)})};
    const RowJson all = written();
    const auto begins = ofPhase(all, "s"), ends = ofPhase(all, "f");
    ASSERT_EQ(begins.size(), 1U);
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(begins[0]["ts"], 0.0);
    EXPECT_EQ(begins[0]["tid"], 11);
    EXPECT_EQ(ends[0]["ts"], 0.301);
}

TEST_F(KinetoRowsOf, WorkersOfOneNumberStayApart) {
    for (const std::int64_t rank : {0, 1, 3}) {
        blocks.push_back(blockOf(onHost(rank), {{.start = 1, .duration = 2, .name = 1, .kind = SliceKind::Runtime, .correlation = 5}}));
        blocks.push_back(blockOf(onDevice(rank), {{.start = 9, .duration = 2, .name = 1, .kind = SliceKind::Kernel, .correlation = 5}}));
        SampleBlock counter{.lane = 5 + rank, .process = 10, .rank = rank, .name = "python"};
        counter.series = {{}, {"watts", "W"}};
        counter.samples = {{7, 1, 1.5}};
        samples.push_back(counter);
        AllocationBlock memory{.lane = 50 + rank, .process = 10, .thread = 11, .rank = rank};
        memory.allocations = {{.at = 8, .bytes = 16, .device = 0}};
        allocations.push_back(memory);
    }
    const RowJson all = written();
    std::map<std::string, std::set<std::int64_t>> hosts;  // pids by name
    std::set<std::string> flows;
    for (const auto& row : all) {
        if (row["ph"] == "X" && row["cat"] == "kernel") continue;
        if (row["ph"] == "f") continue;
        if (row["ph"] == "s") flows.insert(row["id"].dump());
        hosts[row["name"].get<std::string>()].insert(row["pid"].get<std::int64_t>());
    }
    const std::set<std::int64_t> three{10, 100'000'010, 300'000'010};
    EXPECT_EQ(hosts["name"], three);
    EXPECT_EQ(hosts["watts"], three) << "a worker's counters are beside its threads";
    EXPECT_EQ(hosts["[memory]"], three);
    EXPECT_EQ(flows.size(), 3U);
}

TEST_F(KinetoRowsOf, NumbersThatJoinAreOfOneWorkerOnly) {
    constexpr std::int64_t kFar = (std::int64_t{1} << 53) + 1;
    for (const std::int64_t rank : {0, 1, 3}) {
        blocks.push_back(
            blockOf(onHost(rank), {{.start = 0, .duration = 9, .name = 1, .external = 1},
                                   {.start = 1, .duration = 2, .name = 1, .depth = 1, .kind = SliceKind::Runtime, .correlation = 5, .external = 1},
                                   {.start = 4, .duration = 2, .name = 1, .depth = 1, .kind = SliceKind::Driver, .correlation = 6, .external = 4},
                                   {.start = 10, .duration = 9, .name = 1},
                                   {.start = 20, .duration = 9, .name = 1, .external = 2},
                                   {.start = 30, .duration = 9, .name = 1, .kind = SliceKind::Runtime},
                                   {.start = 40, .duration = 9, .name = 1, .kind = SliceKind::Runtime, .correlation = kFar, .external = -7}}));
        blocks.push_back(blockOf(onDevice(rank), {{.start = 9, .duration = 2, .name = 1, .kind = SliceKind::Kernel, .correlation = 5, .external = 1},
                                                  {.start = 19, .duration = 2, .name = 1, .kind = SliceKind::Memcpy, .correlation = 6, .external = 4},
                                                  {.start = 29, .duration = 2, .name = 1, .kind = SliceKind::Synchronisation, .correlation = 7}}));
    }
    std::set<std::int64_t> ofOperations;
    std::array<std::vector<std::string>, 3> said;  // by worker
    const auto rows = ofPhase(written(), "X");
    ASSERT_EQ(rows.size(), 30U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const RowJson& args = rows[i]["args"];
        if (rows[i]["cat"] == "cpu_op") {
            EXPECT_TRUE(ofOperations.insert(args["External id"].get<std::int64_t>()).second) << args;
        }
        std::string ids;
        for (const char* key : {"External id", "correlation"}) ids += args.contains(key) ? args[key].dump() + " " : "- ";
        said[i / 10].push_back(ids);
    }
    EXPECT_THAT(said[0], ElementsAre("1 - ", "1 5 ", "4 6 ", "14 - ", "2 - ", "- - ", "-7 9007199254740993 ", "1 5 ", "4 6 ", "- 7 "))
        << "the first worker's are as they were";
    EXPECT_THAT(said[1], ElementsAre("5 - ", "5 12 ", "8 13 ", "17 - ", "6 - ", "- - ", "-7 9007199254740993 ", "5 12 ", "8 13 ", "- 14 "))
        << "what is none stays none, and what no profiler says as it is";
    EXPECT_THAT(said[2], ElementsAre("9 - ", "9 19 ", "12 20 ", "20 - ", "10 - ", "- - ", "-7 9007199254740993 ", "9 19 ", "12 20 ", "- 21 "));
}

TEST_F(KinetoRowsOf, AWaitForAnEventNamesTheCallThatRecordedItByThatCallsNumber) {
    const auto waiting = [](std::int64_t rank, const char* recordedBy) {
        SliceBlock block =
            blockOf(onDevice(rank), {{.start = 29, .duration = 2, .name = 1, .arguments = 1, .kind = SliceKind::Synchronisation, .correlation = 6}});
        block.arguments = {{}, {.extra = std::string(R"({"wait_on_stream":20,"wait_on_cuda_event_record_corr_id":)") + recordedBy + "}"}};
        return block;
    };
    for (const std::int64_t rank : {0, 1}) {
        blocks.push_back(blockOf(onHost(rank), {{.start = 1, .duration = 2, .name = 1, .kind = SliceKind::Runtime, .correlation = 5}}));
        for (const char* recordedBy : {"5", "-1", "18446744073709551615"}) blocks.push_back(waiting(rank, recordedBy));
    }
    std::vector<std::string> calls, waits;
    for (const auto& row : ofPhase(written(), "X")) {
        if (row["cat"] == "cuda_runtime") calls.push_back(row["args"]["correlation"].dump());
        if (row["cat"] != "cuda_sync") continue;
        EXPECT_EQ(row["args"]["wait_on_stream"], 20);
        EXPECT_EQ(row["args"]["cuda_sync_kind"], "name") << "some readers look there for what is waited for";
        waits.push_back(row["args"]["wait_on_cuda_event_record_corr_id"].dump());
    }
    EXPECT_THAT(calls, ElementsAre("5", "11"));
    EXPECT_THAT(waits, ElementsAre("5", "-1", "18446744073709551615", "11", "-1", "18446744073709551615"));
}

TEST_F(KinetoRowsOf, NumbersOfManyWorkersThatAreAsLargeAsTheyCanBeStillFit) {
    constexpr std::int64_t kLargest = std::int64_t{1} << 53;
    for (std::int64_t rank = 0; rank < 600; ++rank)
        blocks.push_back(blockOf(onHost(rank), {{.start = 0, .duration = 9, .name = 1, .correlation = kLargest, .external = kLargest},
                                                {.start = 10, .duration = 9, .name = 1}}));
    std::set<std::int64_t> numbers;
    for (const auto& row : written()) {
        EXPECT_GT(row["args"]["External id"].get<std::int64_t>(), 0);
        numbers.insert(row["args"]["External id"].get<std::int64_t>());
    }
    EXPECT_GE(numbers.size(), 600U + 511U);
}

TEST_F(KinetoRowsOf, TheFirstWorkerKeepsItsNumbersWhicheverItIs) {
    blocks = {blockOf(onHost(3), {{.start = 1, .duration = 2, .name = 1}}), blockOf(onHost(2), {{.start = 1, .duration = 2, .name = 1}})};
    const RowJson all = written();
    EXPECT_EQ(all[0]["pid"], 100'000'010);
    EXPECT_EQ(all[1]["pid"], 10);
}

TEST_F(KinetoRowsOf, WhatHadATextForANumberHasItAgain) {
    SliceThread texts{.process = -1, .thread = -2, .name = "main thread", .lane = 1, .processName = "loader"};
    blocks = {blockOf(texts, {{.start = 1, .duration = 2, .name = 1}})};
    SampleBlock counter{.lane = 5, .process = -1, .name = "loader"};
    counter.series = {{}, {"queue", ""}};
    counter.samples = {{7, 1, 3}};
    samples = {counter};
    RowJson all = written(true);
    ASSERT_EQ(all.size(), 2U) << "and needs no metadata: " << all;
    EXPECT_EQ(all[0]["pid"], "loader");
    EXPECT_EQ(all[0]["tid"], "main thread");
    EXPECT_EQ(all[1]["pid"], "loader") << "its counters are in the same process";
    samples.clear();
    texts.process = texts.thread = -2'000'000'000;
    blocks = {blockOf(texts, {{.start = 1, .duration = 2, .name = 1}})};
    EXPECT_EQ(only()["pid"], -2'000'000'000) << "a number of the system's that overflowed is one";
}

TEST_F(KinetoRowsOf, WhatReachesBeyondAnotherOfItsStreamIsOnASpareLane) {
    blocks = {blockOf(onDevice(), {{.start = 0, .duration = 100, .name = 1, .kind = SliceKind::Kernel},
                                   {.start = 10, .duration = 50, .name = 1, .kind = SliceKind::Kernel},
                                   {.start = 50, .duration = 80, .name = 1, .kind = SliceKind::Kernel},
                                   {.start = 130, .duration = 0, .name = 1, .kind = SliceKind::Kernel},
                                   {.start = 130, .duration = 20, .name = 1, .kind = SliceKind::Kernel}})};
    std::vector<std::int64_t> lanes;
    for (const auto& row : written()) {
        lanes.push_back(row["tid"].get<std::int64_t>());
        EXPECT_EQ(row["args"]["stream"], 7) << "wherever it is drawn";
    }
    EXPECT_THAT(lanes, ElementsAre(7, 7, 2'000'007, 7, 7));
}

TEST_F(KinetoRowsOf, WhatOverlapsOnASpareLaneTooIsOnTheNextUpToSixteen) {
    std::vector<Slice> stairs;
    for (std::int64_t i = 0; i < 19; ++i) stairs.push_back({.start = i, .duration = 100, .name = 1, .kind = SliceKind::Kernel});
    stairs.push_back({.start = 18, .duration = 50, .name = 1, .kind = SliceKind::Kernel});
    blocks = {blockOf(onDevice(), stairs)};
    std::vector<std::int64_t> lanes, expected;
    for (const auto& row : written()) lanes.push_back(row["tid"].get<std::int64_t>());
    for (std::int64_t i = 0; i < 19; ++i) expected.push_back(7 + 2'000'000 * std::min<std::int64_t>(i, 16));
    expected.push_back(7);
    EXPECT_EQ(lanes, expected) << "what fits into none is on the last, and what nests is on the stream's own";
}

TEST_F(KinetoRowsOf, LanesOfOneStreamAreOneThreadOfTheTraceAndWhatOverlapsAmongThemIsOnASpareLane) {
    SliceThread second = onDevice();
    second.name = "stream 7 (2)";
    second.lane = 3;
    blocks = {blockOf(onDevice(), {{.start = 0, .duration = 100, .name = 1, .kind = SliceKind::Kernel}}),
              blockOf(second, {{.start = 50, .duration = 80, .name = 1, .kind = SliceKind::Kernel},
                               {.start = 200, .duration = 80, .name = 1, .kind = SliceKind::Kernel}})};
    std::vector<std::int64_t> lanes;
    for (const auto& row : written()) lanes.push_back(row["tid"].get<std::int64_t>());
    EXPECT_THAT(lanes, ElementsAre(7, 2'000'007, 7));

    std::ostringstream out;
    const KinetoLinks links;
    KinetoRows rows(out, {onDevice(), second}, links);
    rows.metadata(onDevice());
    rows.metadata(second);
    ASSERT_TRUE(rows.flush());
    EXPECT_EQ(out.str().find("stream 7 (2)"), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("stream 7"), std::string::npos);
}

TEST_F(KinetoRowsOf, AnOperationWithoutANumberTakesNoneThatAnotherHas) {
    blocks = {blockOf(onHost(), {{.start = 0, .duration = 5, .name = 1},
                                 {.start = 10, .duration = 5, .name = 1, .external = 1},
                                 {.start = 20, .duration = 5, .name = 1, .external = 3},
                                 {.start = 30, .duration = 5, .name = 1}})};
    std::set<std::int64_t> numbers;
    for (const auto& row : written()) numbers.insert(row["args"]["External id"].get<std::int64_t>());
    EXPECT_EQ(numbers.size(), 4u);
}

TEST_F(KinetoRowsOf, OnNoLaneOfAStreamReachesAnythingBeyondAnother) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 50; ++round) {
        std::vector<Slice> slices;
        slices.reserve(60);
        for (int i = 0; i < 60; ++i)
            slices.push_back({.start = static_cast<std::int64_t>(random() % 500),
                              .duration = static_cast<std::int64_t>(random() % 80),
                              .name = 1,
                              .kind = SliceKind::Kernel});
        std::ranges::sort(slices, {}, [](const Slice& slice) { return std::pair(slice.start, -slice.duration); });
        blocks = {blockOf(onDevice(), slices)};
        std::map<std::int64_t, std::vector<std::pair<double, double>>> kept;  // by lane
        for (const auto& row : written())
            kept[row["tid"].get<std::int64_t>()].emplace_back(row["ts"].get<double>(), row["ts"].get<double>() + row["dur"].get<double>());
        ASSERT_TRUE(kept.contains(7));
        EXPECT_GT(kept.size(), 2U) << "one beside it is not enough";
        ASSERT_LT(kept.size(), 17U) << "the last takes what fits into none";
        for (const auto& [lane, all] : kept)
            for (std::size_t i = 0; i < all.size(); ++i)
                for (std::size_t j = i + 1; j < all.size(); ++j) {
                    const bool apart = all[j].first >= all[i].second - 1e-9, within = all[j].second <= all[i].second + 1e-9;
                    EXPECT_TRUE(apart || within) << lane << ": " << all[i].first << " to " << all[i].second << ", " << all[j].first << " to "
                                                 << all[j].second;
                }
    }
}

TEST_F(KinetoRowsOf, MetadataNameEachProcessOnceAndEveryThread) {
    SliceThread unnamed = onHost();
    unnamed.thread = 12;
    unnamed.name.clear();
    SliceThread waits = onDevice();
    waits.name = "stream 7 (sync)";
    blocks = {blockOf(onHost(), {}), blockOf(unnamed, {}), blockOf(onDevice(), {}), blockOf(waits, {})};
    std::vector<std::string> said;
    for (const auto& row : written(true))
        if (row["name"] == "thread_name" || row["name"] == "process_name" || row["name"] == "process_labels")
            said.push_back(
                fmt::format("{} {} {}", row["pid"].dump(), row["tid"].dump(), row["args"].value("name", row["args"].value("labels", std::string()))));
    EXPECT_THAT(said, ElementsAre("10 0 stepscope", "10 0 CPU", "10 11 thread 11 (trainer)", "10 12 thread 12", "0 0 stepscope", "0 0 GPU 0",
                                  "0 7 stream 7", "0 1000007 stream 7 (sync)"));
}

TEST_F(KinetoRowsOf, AStreamThatTakesNothingMoreIsASentence) {
    std::ostringstream full;
    full.setstate(std::ios::badbit);
    KinetoLinks links;
    KinetoRows rows(full, {}, links);
    const Status done = rows.add(blockOf(onHost(), {{.start = 1, .duration = 2, .name = 1}}));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::Io);
    EXPECT_THAT(done.error().sentence, testing::HasSubstr("could not be written"));
}

}  // namespace
}  // namespace stepscope::kineto
