// Exports that other programs read: Perfetto's packets nest and keep every slice, TensorBoard's events come in again as the same run, the wide CSV
// has what the long one has, a memory snapshot is pickle byte by byte, and a file's name says its format. What the real readers say of them is asked
// in tests/interop.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "sessions/exporters/Csv.h"
#include "sessions/exporters/ExportSession.h"
#include "sessions/exporters/MemorySnapshot.h"
#include "sessions/exporters/PerfettoTrace.h"
#include "sessions/exporters/PickleText.h"
#include "sessions/exporters/TensorBoardEvents.h"
#include "sessions/file/MaskedCrc.h"
#include "sessions/importers/Import.h"
#include "tests/sessions/exporters/PerfettoRead.h"
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
    EXPECT_EQ(values, std::ranges::count(everyValue, '\n') - 1);
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
