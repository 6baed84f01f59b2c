// The report of a capture: what stands in it, of a run on a CPU and on a GPU, that names of any origin stay text, and that nothing is said that was
// not captured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/CaptureReport.h"
#include "core/report/Html.h"
#include "core/report/Markdown.h"
#include "core/report/Svg.h"
#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"

namespace stepscope::report {
namespace {

using testing::HasSubstr, testing::Not;

constexpr std::int64_t kMicro = 1000;  // ns
const std::string kStrange = "<script>alert('1')</script> | `y` \x1b[31m\xff end";

// Two steps of a millisecond with a pause between them: 600 µs of matrix products in layer 1, 200 µs of something that belongs nowhere.
SliceBlock hostSlices(const std::string& other) {
    SliceBlock block;
    block.thread = {.process = 1, .thread = 10, .name = "trainer"};
    block.strings = {"", "aten::mm", other, "forward", "mlp/up"};
    for (std::int64_t step = 0; step < 2; ++step) {
        const std::int64_t at = step * 2000 * kMicro;
        block.slices.push_back({.start = at, .duration = 1000 * kMicro, .called = 800 * kMicro, .kind = SliceKind::Step, .step = step + 4});
        block.slices.push_back({.start = at + 100 * kMicro,
                                .duration = 600 * kMicro,
                                .name = 1,
                                .phase = 3,
                                .role = 4,
                                .depth = 1,
                                .layer = 1,
                                .step = step + 4,
                                .external = step + 1});
        block.slices.push_back({.start = at + 750 * kMicro, .duration = 200 * kMicro, .name = 2, .phase = 3, .depth = 1, .step = step + 4});
    }
    return block;
}

// What the products of both steps launched: a call of 10 µs, and 150 µs after it a kernel of 60 µs.
void addLaunches(SliceBlock& host, SliceBlock& device) {
    host.strings.push_back("cudaLaunchKernel");
    device.thread = {.thread = 7, .name = "stream 7", .lane = 1000, .device = 0};
    device.strings = {"", "gemm", "forward", "mlp/up"};
    for (std::int64_t step = 0; step < 2; ++step) {
        const std::int64_t at = (step * 2000 + 110) * kMicro;
        host.slices.push_back(
            {.start = at, .duration = 10 * kMicro, .name = 5, .depth = 2, .kind = SliceKind::Runtime, .correlation = step + 1, .external = step + 1});
        device.slices.push_back({.start = at + 150 * kMicro,
                                 .duration = 60 * kMicro,
                                 .name = 1,
                                 .phase = 2,
                                 .role = 3,
                                 .layer = 1,
                                 .kind = SliceKind::Kernel,
                                 .correlation = step + 1,
                                 .external = step + 1});
    }
}

RangePanes readAll(const std::vector<SliceBlock>& blocks, std::int64_t most = PanesReader::kMostSlices) {
    MemoryTrace trace;
    for (const SliceBlock& block : blocks) trace.add(encodeSlices(SliceBlock(block)));
    trace.finish();
    PanesReader reader(
        trace, {}, [] { return true; }, most);
    EXPECT_TRUE(reader.open());
    auto panes = reader.read(0, 0);
    EXPECT_TRUE(panes) << panes.error().sentence;
    return panes ? std::move(*panes) : RangePanes{};
}

CaptureFacts knownFacts() {
    CaptureFacts facts;
    facts.name = "a short run";
    facts.started = "2026-11-22 16:30";
    facts.preset = "tiny-cpu";
    facts.machine.cpu = "A processor";
    facts.machineKnown = true;
    facts.session = 7;
    facts.captures = {{.number = 1, .firstStep = 4, .steps = 2, .slices = 6, .cost = 0.04}};
    facts.settings.emplace_back("layers", "2");
    facts.repeat = "stepscope-cli train --profile wait=2,warmup=1,active=2";
    return facts;
}

TEST(CaptureReport, SaysWhatTheTimeOfStepsWentInto) {
    const Document document = captureReport(readAll({hostSlices("aten::gelu")}), knownFacts());
    const std::string text = toMarkdown(document), page = toHtml(document);
    EXPECT_THAT(text, HasSubstr("Session 7, a short run, preset tiny-cpu, 2026-11-22 16:30"));
    EXPECT_THAT(text, HasSubstr("**2 captured steps took 1.00\u202Fms each, on average; the largest part: matrix products (60.0 %).**"));
    EXPECT_THAT(text, HasSubstr("| matrix products | 600\u202Fµs | 60.0 % |"));
    EXPECT_THAT(text, HasSubstr("| pointwise | 200\u202Fµs | 20.0 % |"));
    EXPECT_THAT(text, HasSubstr("| host and waiting | 200\u202Fµs | 20.0 % |"));
    EXPECT_THAT(text, HasSubstr("| together | 1.00\u202Fms | 100.0 % |"));
    EXPECT_THAT(text, HasSubstr("| aten::mm | mlp/up | 1 | 2 | 1.20\u202Fms | 75.0 % | 1.20\u202Fms | 600\u202Fµs |"));
    EXPECT_THAT(text, HasSubstr("| aten::gelu | – | – | 2 | 400\u202Fµs | 25.0 % | 400\u202Fµs | 200\u202Fµs |"));
    EXPECT_THAT(text, HasSubstr("| layer | mlp/up |"));
    EXPECT_THAT(text, HasSubstr("| layer 1 | 1.20\u202Fms |"));
    EXPECT_THAT(text, HasSubstr("400\u202Fµs more has no place in the model"));
    EXPECT_THAT(text, HasSubstr("| 1 | 2 from step 4 on | 6 | 4.0 % |"));
    EXPECT_THAT(text, HasSubstr("| lost or invalid | none |"));
    EXPECT_THAT(text, HasSubstr("| layers | 2 |"));
    EXPECT_THAT(text, HasSubstr("A processor"));
    EXPECT_THAT(text, HasSubstr("wait=2,warmup=1,active=2"));
    EXPECT_THAT(text, Not(HasSubstr("Kernels"))) << "it was not on a GPU";
    EXPECT_THAT(text, Not(HasSubstr("GPUs waited")));
    EXPECT_THAT(page, HasSubstr("<rect class=\"bar\""));
    EXPECT_THAT(page, HasSubstr("600\u202Fµs, 60.0 %"));
}

TEST(CaptureReport, OfAGpuHasItsKernelsAndWhatItsStreamsWaitedFor) {
    SliceBlock host = hostSlices("aten::gelu"), device;
    addLaunches(host, device);
    const std::string text = toMarkdown(captureReport(readAll({host, device}), knownFacts()));
    EXPECT_THAT(text, HasSubstr("| gemm | aten::mm | mlp/up | 1 | 2 | 120\u202Fµs | 100.0 % | 60.0\u202Fµs |"));
    EXPECT_THAT(text, HasSubstr("## Kernels by layer and role"));
    // Between the two kernels the stream had nothing: the second was launched long after the first had ended.
    EXPECT_THAT(text, HasSubstr("| stream 7 of GPU 0 | 2 | 120\u202Fµs | 1.94\u202Fms | 0\u202Fms | 0\u202Fms | 150\u202Fµs |"));
    EXPECT_THAT(text, HasSubstr("| GPU 0 | 120\u202Fµs | 5.8 % | 120\u202Fµs | 0\u202Fms | unknown | unknown |"));
    EXPECT_THAT(text, HasSubstr("| kernels and copies | 2 |"));
}

TEST(CaptureReport, LeavesTextsOfAnyOriginText) {
    CaptureFacts facts = knownFacts();
    facts.name = facts.repeat = kStrange;
    facts.notes = {kStrange};
    facts.settings.emplace_back(kStrange, kStrange);
    SliceBlock host = hostSlices(kStrange), device;
    addLaunches(host, device);
    host.strings[4] = kStrange;
    device.strings = {"", kStrange, kStrange, kStrange};
    const Document document = captureReport(readAll({host, device}), facts);
    const std::string page = toHtml(document), text = toMarkdown(document);
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; | `y` [31m\xEF\xBF\xBD end"));
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page, Not(HasSubstr("http")));
    EXPECT_THAT(text, HasSubstr("| &lt;script\\>alert('1')&lt;/script\\> \\| \\`y\\` \\[31m\xEF\xBF\xBD end |"));
}

TEST(CaptureReport, ShowsBothEndsOfALongName) {
    std::string name = "begins ";
    for (int i = 0; i < 400; ++i) name += "é";
    const std::string text = toMarkdown(captureReport(readAll({hostSlices(name + " end")}), knownFacts()));
    EXPECT_THAT(text, HasSubstr("| begins é"));
    EXPECT_THAT(text, HasSubstr("é…é"));
    EXPECT_THAT(text, HasSubstr("é end |"));
    EXPECT_THAT(text, Not(HasSubstr(name)));
    EXPECT_THAT(text, Not(HasSubstr("\xEF\xBF\xBD"))) << "a letter was cut in two";
}

TEST(CaptureReport, CountsWhatWasLostAndWhatIsNotListed) {
    SliceBlock host = hostSlices("aten::gelu");
    host.lost = 3;
    host.invalid = 1;
    for (std::int64_t i = 0; i < 50; ++i) {
        host.strings.push_back("operation " + std::to_string(i));
        host.slices.push_back({.start = (10'000 + i) * kMicro, .duration = kMicro / 2, .name = static_cast<std::uint32_t>(host.strings.size() - 1)});
    }
    const std::string text = toMarkdown(captureReport(readAll({host}), knownFacts()));
    EXPECT_THAT(text, HasSubstr("3 lost, 1 invalid: the sums are without them"));
    EXPECT_THAT(text, HasSubstr("The first 40 of 52 operations"));
}

TEST(CaptureReport, WithoutStepsSaysSo) {
    SliceBlock host = hostSlices("aten::gelu");
    std::erase_if(host.slices, [](const Slice& slice) { return slice.kind == SliceKind::Step; });
    CaptureFacts facts;
    facts.session = 3;
    const std::string text = toMarkdown(captureReport(readAll({host}), facts));
    EXPECT_THAT(text, HasSubstr("**4 records were captured, and no whole step is among them.**"));
    EXPECT_THAT(text, HasSubstr("| kind of work | in all | share |"));
    EXPECT_THAT(text, HasSubstr("The machine was not stored."));
    EXPECT_THAT(text, Not(HasSubstr("Settings")));
    EXPECT_THAT(text, Not(HasSubstr("Ask it again")));
}

TEST(CaptureReport, OfTooManyRecordsHasTheSumsThatAreStored) {
    SliceBlock host = hostSlices("aten::gelu"), device;
    addLaunches(host, device);
    const std::string text = toMarkdown(captureReport(readAll({host, device}, 3), knownFacts()));
    EXPECT_THAT(text, HasSubstr("too many records to read them one by one"));
    EXPECT_THAT(text, HasSubstr("aten::mm"));
    EXPECT_THAT(text, HasSubstr("gemm"));
    EXPECT_THAT(text, HasSubstr("| unknown | unknown |"));
    EXPECT_THAT(text, Not(HasSubstr("matrix products")));
}

TEST(Shares, AreBarsAndWhatHasNoneIsNamed) {
    const std::string svg =
        toSvg(SharePicture{.label = "a & b", .bars = {{"half", 0.5, "5 ms"}, {"quarter", 0.25, "2 ms"}, {"none", kUnknown, "unknown"}}});
    EXPECT_THAT(svg, HasSubstr("aria-label=\"a &amp; b\""));
    EXPECT_THAT(svg, HasSubstr("width=\"420.0\""));
    EXPECT_THAT(svg, HasSubstr("width=\"210.0\""));
    EXPECT_THAT(svg, HasSubstr(">none</text>"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_EQ(toSvg(SharePicture{}), "");
    EXPECT_EQ(toSvg(SharePicture{.label = "nothing", .bars = {{"none", 0, ""}}}), "");
}

TEST(CaptureReport, OfSeveralRanksTellsNoMeanStepOfThemTogether) {
    RangePanes panes;
    panes.severalRanks = true;
    panes.totals.steps = 6;
    panes.totals.stepTime.ns = 90'000'000;
    const std::string text = toMarkdown(captureReport(panes, knownFacts()));
    EXPECT_THAT(text, HasSubstr("6 steps of all ranks together were captured"));
    EXPECT_THAT(text, Not(HasSubstr("on average"))) << "of two sides of 10 and 20 ms a step 15 is nobody's";
}

TEST(CaptureReport, TimeBetweenCapturesOfAGpuIsNoStepsTime) {
    RangePanes panes;
    panes.devices = true;
    panes.totals.steps = 2;
    panes.totals.stepTime.ns = 20'000'000;
    DividedSteps divided{.device = true, .steps = 2};
    divided.window.ns = 30'000'000;
    divided.classes = {{"kernels", {18'000'000}}, {"other", {12'000'000}}};
    panes.steps = {divided};
    EXPECT_THAT(toMarkdown(captureReport(panes, knownFacts())), HasSubstr("the largest part: kernels (60.0 %)"));
    panes.steps[0].window.ns = 100'000'000'000;
    panes.steps[0].classes[1].time.ns = 99'982'000'000;
    const std::string text = toMarkdown(captureReport(panes, knownFacts()));
    EXPECT_THAT(text, Not(HasSubstr("the largest part")));
    EXPECT_THAT(text, Not(HasSubstr("a step |"))) << "nor are its classes";
    EXPECT_THAT(text, HasSubstr("in all"));
}

TEST(CaptureReport, OfATeamSharesAreOfThreadsTimesStep) {
    SliceBlock worker;
    worker.thread = {.process = 1, .thread = 11, .name = "worker 1"};
    worker.strings = {"", "MLP", "forward", "mlp/up"};
    for (std::int64_t step = 0; step < 2; ++step)
        worker.slices.push_back({.start = (step * 2000 + 100) * kMicro,
                                 .duration = 600 * kMicro,
                                 .name = 1,
                                 .phase = 2,
                                 .role = 3,
                                 .layer = 1,
                                 .kind = SliceKind::Own,
                                 .step = step + 4});
    const std::string text = toMarkdown(captureReport(readAll({hostSlices("aten::gelu"), worker}), knownFacts()));
    EXPECT_THAT(text, HasSubstr("the largest part: matrix products (60.0 %)"));
    EXPECT_THAT(text, HasSubstr("| pointwise | 100\u202fµs | 10.0 % |"));
    EXPECT_THAT(text, HasSubstr("| waiting | 200\u202fµs | 20.0 % |"));
    EXPECT_THAT(text, HasSubstr("| together | 1.00\u202fms | 100.0 % |"));
    EXPECT_THAT(text, HasSubstr("Of the time of the 2 threads of a team"));
}

TEST(CaptureReport, OfSumsThatAreStoredSaysWhatNestedCallsCountOnlyWhereTheyDo) {
    RangePanes panes;
    panes.folded = true;
    EXPECT_THAT(toMarkdown(captureReport(panes, knownFacts())), Not(HasSubstr("calls within calls")));
    panes.nestedEach = true;
    EXPECT_THAT(toMarkdown(captureReport(panes, knownFacts())), HasSubstr("calls within calls of the same name count each"));
}

}  // namespace
}  // namespace stepscope::report
