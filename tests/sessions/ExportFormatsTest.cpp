// Exports that other programs read: Perfetto's packets nest and keep every slice, TensorBoard's events come in again as the same run, the wide CSV
// has what the long one has, a memory snapshot is pickle byte by byte, and a file's name says its format. What the real readers say of them is asked
// in tests/interop.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "sessions/Slices.h"
#include "sessions/exporters/Csv.h"
#include "sessions/exporters/ExportSession.h"
#include "sessions/exporters/MemorySnapshot.h"
#include "sessions/exporters/PerfettoTrace.h"
#include "sessions/exporters/PickleText.h"
#include "sessions/exporters/ProtoMessage.h"
#include "sessions/exporters/TensorBoardEvents.h"
#include "sessions/file/MaskedCrc.h"
#include "sessions/importers/Import.h"
#include "sessions/importers/PerfettoFile.h"
#include "tests/sessions/exporters/PerfettoRead.h"
#include "tests/sessions/exporters/PickleRead.h"
#include "tests/sessions/importers/BuiltTrace.h"
#include "tests/sessions/query/QueryFixture.h"

using namespace stepscope;
using namespace stepscope::test;
using testing::ElementsAre;
using testing::HasSubstr;

struct ExportFormats : QueryFixture {
    void recordRun(std::int64_t steps) {
        auto recorder = Recorder::open({.path = path}, sampleInfo("a run, \"quoted\""));
        ASSERT_TRUE(recorder);
        for (std::int64_t step = 1; step <= steps; ++step) {
            (*recorder)->publish(sampleStep(step));
            if (step % 2 == 0) (*recorder)->publish(DeviceSample{{step * 1'000'000 + 10}, 50.0, 1, 2});
            if (step % 4 == 0) {
                (*recorder)->publish(ValidationDone{step, {step * 1'000'000 + 20}, {5}, 3.25});
                (*recorder)->publish(DeviceSample{{step * 1'000'000 + 30}, 75.0, 1, 2});
            }
        }
        ASSERT_TRUE((*recorder)->finish());
    }
    void recordChunks(const std::vector<Chunk>& chunks) {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        ASSERT_TRUE(recorder);
        for (const auto& chunk : chunks) (*recorder)->publishChunk(std::make_shared<const Chunk>(chunk));
        ASSERT_TRUE((*recorder)->finish());
    }
    std::string exported(ExportFormat format) {
        const auto written = exportSession(path, 1, folder.file("out"), format);
        EXPECT_TRUE(written) << written.error().sentence;
        return contentOf(folder.file("out"));
    }
};

TEST_F(ExportFormats, APerfettoTraceHasSlicesFlowsAndCounters) {
    recordChunks(everything());
    PerfettoRead read(exported(ExportFormat::Perfetto));
    std::set<std::string> tracks;
    for (const auto& [uuid, name] : read.tracks) tracks.insert(name);
    EXPECT_TRUE(tracks.contains("GPU 0"));
    EXPECT_TRUE(tracks.contains("stream 7"));
    EXPECT_TRUE(tracks.contains("power"));
    EXPECT_TRUE(tracks.contains("memory allocated of GPU 0"));
    const auto slices = read.slices();
    EXPECT_EQ(slices.size(), 7u);
    EXPECT_TRUE(slices.contains({"ProfilerStep#5", 1000, 900}));
    EXPECT_TRUE(slices.contains({"gemm", 1250, 400}));
    std::vector<double> values;
    std::vector<std::string> flowing;
    for (const auto& event : read.events) {
        if (event.type == 4) values.push_back(event.value);
        for (std::size_t i = 0; i < event.flows.size(); ++i) flowing.push_back(event.name);
    }
    EXPECT_THAT(values, ElementsAre(512, 55.5, 60, 0));
    EXPECT_THAT(flowing, ElementsAre("cudaLaunchKernel", "gemm")) << "from the launch to what it launched";
}

TEST_F(ExportFormats, APerfettoTraceKeepsEverySliceHoweverTheyOverlap) {
    std::mt19937 random(11);
    std::vector<Chunk> chunks;
    std::multiset<std::tuple<std::string, std::uint64_t, std::uint64_t>> wanted;
    std::int64_t first = 0;
    for (int i = 0; i < 40; ++i) {  // blocks that reach into each other, recorded in no order; some slices begin and end together, some take no time
        SliceBlock block{.thread = {.process = 0, .thread = 7, .lane = 99, .device = 0}};
        block.strings = {"", "a", "b", "c"};
        for (int n = 0; n < 50; ++n) {
            Slice slice{.start = static_cast<std::int64_t>(random() % 4000) - 100,
                        .duration = static_cast<std::int64_t>(random() % 4 == 0 ? 0 : random() % 300),
                        .name = 1 + static_cast<std::uint32_t>(random() % 3),
                        .kind = SliceKind::Kernel};
            first = std::min(first, slice.start);
            block.slices.push_back(slice);
        }
        chunks.push_back(encodeSlices(block));
        for (const auto& slice : block.slices)
            wanted.insert({block.strings[slice.name], static_cast<std::uint64_t>(slice.start), static_cast<std::uint64_t>(slice.duration)});
    }
    recordChunks(chunks);
    PerfettoRead read(exported(ExportFormat::Perfetto));
    std::multiset<std::tuple<std::string, std::uint64_t, std::uint64_t>> shifted;
    for (const auto& [name, start, duration] : wanted) shifted.insert({name, start - static_cast<std::uint64_t>(first), duration});
    EXPECT_EQ(read.slices(), shifted);
}

TEST_F(ExportFormats, ForwardOperationsFlowToTheirBackwardFunctions) {
    SliceBlock block{.thread = {.process = 5, .thread = 6, .number = 1}};
    block.strings = {"", "aten::mul", "MulBackward0", "accumulate"};
    block.slices = {{.start = 10, .duration = 5, .name = 1, .sequence = 3},
                    {.start = 30, .duration = 5, .name = 2, .kind = SliceKind::Backward, .sequence = 3, .forwardThread = 1, .forwardStart = 10},
                    {.start = 40, .duration = 5, .name = 3, .kind = SliceKind::Backward, .sequence = 3, .forwardThread = 1, .forwardStart = 10}};
    recordChunks({encodeSlices(block)});
    PerfettoRead read(exported(ExportFormat::Perfetto));
    std::vector<std::uint64_t> begun, ended;
    for (const auto& event : read.events) {
        begun.insert(begun.end(), event.flows.begin(), event.flows.end());
        ended.insert(ended.end(), event.last.begin(), event.last.end());
    }
    EXPECT_EQ(begun.size(), 2u);
    EXPECT_THAT(ended, testing::UnorderedElementsAreArray(begun));
}

namespace {

using Totals = std::map<std::tuple<std::string, std::string, SliceKind, std::int32_t, std::string, std::string>, std::array<std::int64_t, 5>>;

// Of each name on each thread and in each place: how many, their time, their own time, what they compute and what they move.
Totals totalsOf(const std::string& database, std::int64_t session) {
    auto reader = SessionReader::open(database);
    EXPECT_TRUE(reader);
    Totals totals;
    const Status read = forEachSliceBlock(**reader, session, [&](const SliceBlock& block) -> Status {
        for (const Slice& slice : block.slices) {
            const std::string thread = !block.thread.name.empty() ? block.thread.name
                                       : block.thread.device >= 0 ? fmt::format("stream {}", block.thread.thread)
                                                                  : fmt::format("thread {}", block.thread.thread);
            const std::string name = slice.kind == SliceKind::Step ? fmt::format("ProfilerStep#{}", slice.step) : block.strings[slice.name];
            auto& of = totals[{thread, name, slice.kind, slice.layer, block.strings[slice.role], block.strings[slice.phase]}];
            of[0] += 1;
            of[1] += slice.duration;
            of[2] += isOperation(slice.kind) ? slice.self() : 0;
            of[3] += block.arguments[slice.arguments].flops;
            of[4] += block.arguments[slice.arguments].bytes;
        }
        return {};
    });
    EXPECT_TRUE(read);
    return totals;
}

}  // namespace

TEST_F(ExportFormats, APerfettoTraceComesInAgainWithTheSameTotalsByNameAndThread) {
    std::mt19937 random(3);
    SliceBlock overlapping{.thread = {.process = 1, .thread = 9, .name = "stream 9", .lane = 77, .device = 1}};
    overlapping.strings = {"", "a", "b"};
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> wanted, found;
    for (int i = 0; i < 300; ++i) {
        Slice slice{.start = 3000 + static_cast<std::int64_t>(random() % 4000),
                    .duration = static_cast<std::int64_t>(random() % 300),
                    .name = 1 + static_cast<std::uint32_t>(random() % 2),
                    .kind = SliceKind::Kernel};
        wanted[overlapping.strings[slice.name]].first += 1;
        wanted[overlapping.strings[slice.name]].second += slice.duration;
        overlapping.slices.push_back(slice);
    }
    recordChunks(everything());
    exported(ExportFormat::Perfetto);
    const auto back = importFiles({.database = path, .files = {folder.file("out")}, .name = {}, .progress = {}});
    ASSERT_TRUE(back) << back.error().sentence;
    EXPECT_EQ(back->skipped, 0) << ::testing::PrintToString(back->reasons);
    EXPECT_EQ(back->steps, 1);
    EXPECT_EQ(back->samples, 2);
    EXPECT_EQ(back->allocations, 2) << "each itself, not a curve";
    EXPECT_GE(back->flows, 1);
    EXPECT_EQ(totalsOf(path, back->session), totalsOf(path, 1));

    path = folder.file("overlapping.db");
    recordChunks({encodeSlices(overlapping)});
    exported(ExportFormat::Perfetto);
    const auto again = importFiles({.database = path, .files = {folder.file("out")}, .name = {}, .progress = {}});
    ASSERT_TRUE(again) << again.error().sentence;
    EXPECT_EQ(again->kernels, 300);
    for (const auto& [place, sums] : totalsOf(path, again->session)) {
        found[std::get<1>(place)].first += sums[0];
        found[std::get<1>(place)].second += sums[1];
        EXPECT_TRUE(std::get<0>(place).starts_with("stream 9")) << std::get<0>(place);
    }
    EXPECT_EQ(found, wanted);
}

TEST_F(ExportFormats, WhatATraceInMicrosecondsRoundedNestsAfterAPerfettoTraceToo) {
    const auto operation = [](const char* name, int start, int duration) {
        return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": 2, "ts": {}, "dur": {}, "args": {{}}}})", name, start,
                           duration);
    };
    writeFile(folder.file("rounded.json"),
              fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}, {}, {}, {}, {}]}})", operation("outer", 10, 20), operation("first", 12, 6),
                          operation("second", 17, 14), operation("inner", 20, 12), operation("after", 40, 5)));
    const auto imported = importFiles({.database = path, .files = {folder.file("rounded.json")}, .name = {}, .progress = {}});
    ASSERT_TRUE(imported) << imported.error().sentence;
    ASSERT_TRUE(exportSession(path, imported->session, folder.file("out"), ExportFormat::Perfetto));
    BuiltTrace built;
    ASSERT_TRUE(importing::readPerfettoBytes(contentOf(folder.file("out")), 7, built.trace));
    std::map<std::string, std::tuple<std::int32_t, std::int64_t, std::int64_t>> found;
    for (const auto& one : built.finish()) {
        found[one.name] = {one.slice.depth, one.slice.start, one.slice.duration};
        EXPECT_EQ(one.thread.thread, 2) << one.name;
    }
    EXPECT_EQ(found, (std::map<std::string, std::tuple<std::int32_t, std::int64_t, std::int64_t>>{{"outer", {0, 0, 20'000}},
                                                                                                  {"first", {1, 2'000, 5'000}},
                                                                                                  {"second", {1, 7'000, 13'000}},
                                                                                                  {"inner", {2, 10'000, 10'000}},
                                                                                                  {"after", {0, 30'000, 5'000}}}));
}

TEST_F(ExportFormats, AForwardOperationOfAPerfettoTraceFindsItsBackwardFunctionAgain) {
    SliceBlock block{.thread = {.process = 5, .thread = 6, .number = 1}};
    block.strings = {"", "aten::mul", "MulBackward0"};
    block.slices = {{.start = 10, .duration = 5, .name = 1, .sequence = 3},
                    {.start = 30, .duration = 5, .name = 2, .kind = SliceKind::Backward, .sequence = 3, .forwardThread = 1, .forwardStart = 10}};
    recordChunks({encodeSlices(block)});
    BuiltTrace built;
    ASSERT_TRUE(importing::readPerfettoBytes(exported(ExportFormat::Perfetto), 7, built.trace));
    const auto slices = built.finish();
    ASSERT_EQ(slices.size(), 2u);
    EXPECT_EQ(slices[1].slice.kind, SliceKind::Backward);
    EXPECT_EQ(slices[1].slice.forwardStart, slices[0].slice.start);
    EXPECT_EQ(slices[1].slice.sequence, 3);
    EXPECT_EQ(slices[0].thread.process, 5);
    EXPECT_EQ(slices[0].thread.thread, 6);
}

TEST_F(ExportFormats, WorkersOfAPerfettoTraceThatNobodyCanBeAreTheFirst) {
    const auto placeOf = [](const std::string& name, std::int64_t pid) {
        ProtoMessage trace;
        const auto packet = [&](ProtoMessage fields) { trace.message(1, fields.whole(10, 1)); };
        packet(ProtoMessage().message(60, ProtoMessage().whole(1, 1).message(3, ProtoMessage().integer(1, pid).bytes(6, name))));
        packet(
            ProtoMessage().message(60, ProtoMessage().whole(1, 2).whole(5, 1).message(4, ProtoMessage().integer(1, pid).whole(2, 6).bytes(5, "t"))));
        packet(ProtoMessage().whole(8, 100).message(11, ProtoMessage().whole(9, 1).whole(11, 2).bytes(23, "a")));
        packet(ProtoMessage().whole(8, 150).message(11, ProtoMessage().whole(9, 2).whole(11, 2)));
        BuiltTrace built;
        EXPECT_TRUE(importing::readPerfettoBytes(trace.text(), 7, built.trace));
        const auto all = built.finish();
        return all.size() != 1 ? std::string("nothing")
                               : fmt::format("{} of {}: {}", all[0].thread.process, all[0].thread.rank, all[0].thread.processName);
    };
    EXPECT_EQ(placeOf("p", 5), "5 of 0: p");
    EXPECT_EQ(placeOf("p (rank 2)", 200'000'005), "5 of 2: p");
    EXPECT_EQ(placeOf("p (rank 2)", 7), "7 of 2: p") << "as another program may call it";
    EXPECT_EQ(placeOf("p (rank 2)", std::numeric_limits<std::int64_t>::min()), "-9223372036854775808 of 2: p");
    EXPECT_EQ(placeOf("p (rank 16777215)", std::numeric_limits<std::int64_t>::max()), "9221694315354775807 of 16777215: p");
    for (const char* nobody : {"p (rank -1)", "p (rank 16777216)", "p (rank 99999999999999999999)", "p (rank )", "p (rank x)", "p (rank 2) more"})
        EXPECT_EQ(placeOf(nobody, 200'000'005), fmt::format("200000005 of 0: {}", nobody));
}

TEST_F(ExportFormats, ADamagedPerfettoTraceIsASentenceWithTheByteAndWhatIsStrangeIsCounted) {
    recordChunks(everything());
    const std::string whole = exported(ExportFormat::Perfetto);
    EXPECT_TRUE(importing::looksLikePerfetto(whole));
    EXPECT_FALSE(importing::looksLikePerfetto("\n{\"traceEvents\": []}"));
    EXPECT_FALSE(importing::looksLikePerfetto(""));
    const auto refusal = [](const std::string& bytes) {
        BuiltTrace built;
        const Status read = importing::readPerfettoBytes(bytes, 5, built.trace);
        return read ? std::string() : read.error().sentence;
    };
    EXPECT_THAT(refusal(whole.substr(0, whole.size() - 1)), HasSubstr("it ends in the middle of the packet that begins at byte "));
    EXPECT_EQ(refusal(std::string("\x0a\x02\x50\x01\x0a\x02\x40\x80", 8)),
              "\"bytes\" cannot be read as a trace of Perfetto's: a packet is damaged at byte 4; export or copy it again.");
    EXPECT_THAT(refusal(std::string("\x0a\xff\xff\xff\xff\x0f", 6)), HasSubstr("a packet of more than 64 MiB begins at byte 0"));
    EXPECT_THAT(refusal(std::string("\x0b\x00", 2)), HasSubstr("there is no packet at byte 0"));
    BuiltTrace built;
    ProtoMessage strange, event, lost, trace;
    strange.whole(8, 5).message(43, ProtoMessage().whole(1, 1));
    event.whole(9, 2).whole(11, 12345);
    lost.whole(8, 5).message(11, event);
    trace.message(1, strange).message(1, lost).message(2, ProtoMessage().whole(1, 1));
    ASSERT_TRUE(importing::readPerfettoBytes(trace.text(), 3, built.trace));
    EXPECT_EQ(built.reason("packets of other kinds than events of tracks"), 1);
    EXPECT_EQ(built.reason("events of tracks that are not described"), 1);
    EXPECT_EQ(built.reason("parts of the file that are no packets"), 1);
    EXPECT_EQ(built.trace.counts().skipped, 3);
}

TEST_F(ExportFormats, TensorBoardsEventsComeInAgainAsTheSameRun) {
    recordRun(8);
    EXPECT_EQ(maskedCrc("123456789"), ((0xe3069283U >> 15 | 0xe3069283U << 17) + 0xa282ead8U)) << "the check value of CRC-32C";
    const auto written = exportSession(path, 1, folder.file("events.out.tfevents.x"), ExportFormat::TensorBoard);
    ASSERT_TRUE(written) << written.error().sentence;
    const auto back = importFiles({.database = path, .files = {folder.file("events.out.tfevents.x")}, .name = {}, .progress = {}});
    ASSERT_TRUE(back) << back.error().sentence;
    EXPECT_EQ(back->skipped, 0);
    std::vector<double> losses, again, validations;
    for (const auto& event : storedEvents(path, 1))
        if (const auto* step = std::get_if<StepDone>(&event)) losses.push_back(static_cast<float>(step->loss));
    for (const auto& event : storedEvents(path, back->session)) {
        if (const auto* step = std::get_if<StepDone>(&event)) again.push_back(step->loss);
        if (const auto* validation = std::get_if<ValidationDone>(&event)) validations.push_back(validation->loss);
    }
    EXPECT_EQ(again, losses);
    EXPECT_THAT(validations, ElementsAre(3.25, 3.25));
}

TEST_F(ExportFormats, TheWideCsvHasALineAStepAndEveryValueOfTheLongOne) {
    recordRun(8);
    std::istringstream lines(exported(ExportFormat::CsvWide));
    std::string line;
    std::getline(lines, line);
    EXPECT_THAT(line, HasSubstr("Step,\"a run, \"\"quoted\"\" - time\",\"a run, \"\"quoted\"\" - measured_at\",\"a run, \"\"quoted\"\" - loss\""));
    EXPECT_THAT(line, HasSubstr("\"a run, \"\"quoted\"\" - loss__MIN\",\"a run, \"\"quoted\"\" - loss__MAX\""));
    const auto columns = std::ranges::count(line, ',');
    std::map<std::string, int> rowsOf;
    std::int64_t values = 0;
    while (std::getline(lines, line)) {
        ++rowsOf[line.substr(0, line.find(','))];
        std::istringstream cells(line);
        std::string cell;
        for (int i = 0; std::getline(cells, cell, ','); ++i) values += i > 2 && !cell.empty();
        EXPECT_GE(columns - 3, std::ranges::count(line, ',')) << "the quoted names have three commas more";
    }
    EXPECT_EQ(rowsOf["1"], 1);
    EXPECT_EQ(rowsOf["4"], 2) << "the machine was measured twice before the next step";
    const std::string everyValue = exported(ExportFormat::CsvLong);
    EXPECT_EQ(values, 3 * (std::ranges::count(everyValue, '\n') - 1)) << "with the least and the most of each, which it is itself";
}

TEST(PickleText, WritesProtocolTwoByteByByte) {
    PickleText pickle;
    pickle.beginDict();
    pickle.text("a");
    pickle.beginList();
    pickle.whole(-2);
    pickle.whole(1LL << 40);
    pickle.unsignedWhole(0xffff'ffff'ffff'ffffULL);
    pickle.text("a");
    pickle.text("\xff");
    pickle.endList();
    pickle.endDict();
    pickle.end();
    using namespace std::string_literals;
    EXPECT_EQ(pickle.take(),
              "\x80\x02}(X\x01\0\0\0ar\0\0\0\0](J\xfe\xff\xff\xff"
              "\x8a\x08\0\0\0\0\0\x01\0\0"
              "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0"
              "j\0\0\0\0X\x01\0\0\0?r\x01\0\0\0eu."s);
}

TEST_F(ExportFormats, AMemorySnapshotNeedsAllocationsAndSaysSo) {
    recordRun(1);
    const auto refused = exportSession(path, 1, folder.file("x.pickle"), ExportFormat::MemorySnapshot);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().sentence, HasSubstr("No allocation of session 1 was recorded"));
}

TEST_F(ExportFormats, AMemorySnapshotHasAllocationsAndWhatIsLeftAtTheEnd) {
    AllocationBlock memory{.lane = 1, .thread = 11};
    memory.strings = {"", "activations", "aten::addmm"};
    memory.allocations = {{.at = 1'000'000, .address = 64, .bytes = 512, .device = 0, .kind = 1, .owner = 2},
                          {.at = 1'500'000, .address = 4096, .bytes = 100, .device = 0},
                          {.at = 2'000'000, .address = 64, .bytes = -512, .device = 0},
                          {.at = 2'500'000, .address = 7, .bytes = 1, .device = -1}};
    recordChunks({encodeAllocations(memory)});
    const std::string text = exported(ExportFormat::MemorySnapshot);
    EXPECT_TRUE(text.starts_with("\x80\x02}("));
    EXPECT_TRUE(text.ends_with("u."));
    for (const char* word :
         {"segments", "device_traces", "alloc", "free_requested", "free_completed", "active_allocated", "activations", "aten::addmm"})
        EXPECT_THAT(text, HasSubstr(word));
}

TEST_F(ExportFormats, AMemorySnapshotKeepsWorkersWithDevicesOfOneNumberApart) {
    std::vector<Chunk> chunks;
    const auto lane = [&](std::int64_t rank, std::vector<Allocation> allocations) {
        AllocationBlock block{.lane = 1 + static_cast<std::int64_t>(chunks.size()), .thread = 11, .rank = rank};
        block.allocations = std::move(allocations);
        chunks.push_back(encodeAllocations(block));
    };
    lane(1, {{.at = 2'000'000, .address = 64, .bytes = 700, .device = 0}, {.at = 3'000'000, .address = 64, .bytes = -700, .device = 0}});
    lane(0, {{.at = 1'000'000, .address = 64, .bytes = 512, .device = 0},
             {.at = 1'500'000, .address = 8, .bytes = 16, .device = -1},
             {.at = 1'600'000, .address = 96, .bytes = 32, .device = 1}});
    lane(1, {{.at = 4'000'000, .address = 128, .bytes = 300, .device = 0}});
    recordChunks(chunks);
    const auto snapshot = pickleRead(exported(ExportFormat::MemorySnapshot));
    std::vector<std::string> left, events;
    for (const auto& segment : snapshot["segments"])
        left.push_back(fmt::format("{}: {} at {}", segment["device"].dump(), segment["total_size"].dump(), segment["address"].dump()));
    EXPECT_THAT(left, ElementsAre("0: 512 at 64", "1: 32 at 96", "2: 16 at 8", "3: 300 at 128")) << "what one frees, the other still has";
    for (const auto& device : snapshot["device_traces"]) {
        std::string all;
        for (const auto& event : device) all += fmt::format("{} {}; ", event["action"].get<std::string>(), event["size"].dump());
        events.push_back(all);
    }
    EXPECT_THAT(events, ElementsAre("alloc 512; ", "alloc 32; ", "alloc 16; ", "alloc 700; free_requested 700; free_completed 700; alloc 300; "))
        << "by worker, device by device and then the host";
}

TEST_F(ExportFormats, AnExportThatReadsAllBeforeItWritesIsStoppedWhileItReads) {
    record(everything(), {sampleStep(1), sampleStep(2)});
    for (const ExportFormat format : {ExportFormat::Kineto, ExportFormat::Perfetto, ExportFormat::MemorySnapshot, ExportFormat::CsvWide}) {
        const std::string& word = infoOf(format).word;
        std::string target = infoOf(format).name;
        target = folder.file(target.replace(target.find('%'), 1, "1"));
        int asked = 0;
        std::int64_t most = 0;
        const auto stopsWhileItReads = [&](std::int64_t bytes) {
            most = std::max(most, bytes);
            return ++asked < 2;  // it begins, and is stopped
        };
        const auto stopped = exportSession(path, 1, target, format, Existing::Replace, stopsWhileItReads);
        ASSERT_FALSE(stopped) << word;
        EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled) << word << ": " << stopped.error().sentence;
        EXPECT_EQ(most, 0) << word << " was written first";
        EXPECT_FALSE(std::filesystem::exists(target)) << word;
        const auto whole = exportSession(path, 1, target, format, Existing::Replace, [](std::int64_t) { return true; });
        EXPECT_TRUE(whole) << word << ": " << whole.error().sentence;
    }
}

TEST(ExportFormat, IsSaidByTheNameOrByAWord) {
    const auto of = [](const std::string& word, const std::string& name) { return exportFormatOf(word, name, ExportFormat::Kineto); };
    EXPECT_EQ(*of("", "x.pt.trace.json.gz"), ExportFormat::Kineto);
    EXPECT_EQ(*of("", "x.json"), ExportFormat::Kineto);
    EXPECT_EQ(*of("", "x.perfetto-trace"), ExportFormat::Perfetto);
    EXPECT_EQ(*of("", "/a.csv/x.pftrace"), ExportFormat::Perfetto);
    EXPECT_EQ(*of("", "x.csv"), ExportFormat::CsvLong);
    EXPECT_EQ(*of("", "x.wide.csv"), ExportFormat::CsvWide);
    EXPECT_EQ(*of("", "logs/events.out.tfevents.123.host"), ExportFormat::TensorBoard);
    EXPECT_EQ(*of("", "x.memory.pickle"), ExportFormat::MemorySnapshot);
    EXPECT_EQ(*of("", ""), ExportFormat::Kineto);
    EXPECT_EQ(*of("", "-"), ExportFormat::Kineto);
    EXPECT_EQ(*of("perfetto", "x.csv"), ExportFormat::Perfetto) << "the word is stronger";
    for (const auto& one : exportFormats()) EXPECT_EQ(*of(one.word, ""), one.format);
    EXPECT_THAT(of("", "x.txt").error().sentence, testing::AllOf(HasSubstr("x.txt"), HasSubstr("--format"), HasSubstr(".perfetto-trace")));
    EXPECT_THAT(of("wav", "").error().sentence, testing::AllOf(HasSubstr("\"wav\""), HasSubstr("tensorboard")));
}
