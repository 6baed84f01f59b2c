// One event of a Chrome trace at a time, as a stranger may write it: what its members become, that a number which is none stays what was written, and
// what is counted with a reason instead of being kept. Of events of any kind at all: ChromeEventsOfAnyKindTest.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sessions/importers/ChromeEvents.h"
#include "tests/sessions/importers/BuiltTrace.h"

namespace stepscope::test {
namespace {

using importing::ChromeEvent;
using importing::ChromeEvents;
using EventJson = nlohmann::json;

using Arguments = std::vector<std::pair<std::string_view, std::string_view>>;

ChromeEvent complete(std::string_view cat, std::string_view name, std::string_view ts, std::string_view dur, Arguments args = {}) {
    return {.ph = R"("X")", .cat = cat, .name = name, .pid = "7", .tid = "8", .ts = ts, .dur = dur, .id = {}, .scope = {}, .args = std::move(args)};
}
ChromeEvent ofPhase(std::string_view ph, std::string_view name, std::string_view ts, Arguments args = {}) {
    return {.ph = ph, .cat = R"("x")", .name = name, .pid = "7", .tid = "8", .ts = ts, .dur = {}, .id = {}, .scope = {}, .args = std::move(args)};
}

struct ChromeEventsOf : testing::Test, BuiltTrace {
    ChromeEvents events{trace};

    std::vector<BuiltSlice> built() {
        events.end();
        return finish(0);
    }
    // The one slice that this event becomes, in a trace of its own.
    static BuiltSlice alone(const ChromeEvent& event) {
        BuiltTrace of;
        ChromeEvents taking(of.trace);
        taking.take(event);
        taking.end();
        const auto all = of.finish(0);
        EXPECT_EQ(all.size(), 1U);
        return all.empty() ? BuiltSlice() : all[0];
    }
    // The reasons that are told of this event, none: it is kept as it is.
    static std::string reasonsOf(const ChromeEvent& event) {
        BuiltTrace of;
        ChromeEvents taking(of.trace);
        taking.take(event);
        std::string all;
        for (const auto& [words, count] : of.trace.counts().reasons) all += (all.empty() ? "" : "; ") + words;
        return all;
    }
};

TEST_F(ChromeEventsOf, CategoriesOfEveryProfilerBecomeKindsAndOthersKeepTheirWord) {
    const std::vector<std::pair<const char*, SliceKind>> kinds{{"cpu_op", SliceKind::Operation},
                                                               {"Operator", SliceKind::Operation},
                                                               {"cuda_runtime", SliceKind::Runtime},
                                                               {"hip_runtime", SliceKind::Runtime},
                                                               {"xpu_driver", SliceKind::Driver},
                                                               {"kernel", SliceKind::Kernel},
                                                               {"Kernel", SliceKind::Kernel},
                                                               {"gpu_memcpy", SliceKind::Memcpy},
                                                               {"gpu_memset", SliceKind::Memset},
                                                               {"python_function", SliceKind::Python},
                                                               {"user_annotation", SliceKind::Annotation},
                                                               {"gpu_user_annotation", SliceKind::DeviceAnnotation},
                                                               {"overhead", SliceKind::Overhead},
                                                               {"something", SliceKind::Other},
                                                               {"CPU_OP", SliceKind::Other},
                                                               {"", SliceKind::Other}};
    for (const auto& [word, kind] : kinds) {
        const std::string cat = fmt::format("\"{}\"", word);
        const BuiltSlice slice = alone(complete(cat, R"("n")", "1", "2"));
        EXPECT_EQ(slice.slice.kind, kind) << word;
        if (kind == SliceKind::Other) {
            EXPECT_EQ(EventJson::parse(slice.arguments.extra)["cat"], word);
        }
    }
    EXPECT_EQ(EventJson::parse(alone(complete({}, R"("n")", "1", "2")).arguments.extra)["cat"], "");
}

TEST_F(ChromeEventsOf, ABackwardFunctionIsAutogradsNodeAndNotTheStepOfTheEngineAroundIt) {
    const Arguments ofNode{{"Sequence number", "4"}, {"Fwd thread id", "1"}}, forwards{{"Sequence number", "4"}, {"Fwd thread id", "0"}};
    const auto kind = [](const char* name, const Arguments& args) { return alone(complete(R"("cpu_op")", name, "1", "2", args)).slice.kind; };
    EXPECT_EQ(kind(R"("MmBackward0")", ofNode), SliceKind::Backward);
    EXPECT_EQ(kind(R"("autograd::engine::evaluate_function: MmBackward0")", ofNode), SliceKind::Operation);
    EXPECT_EQ(kind(R"("torch::autograd::AccumulateGrad")", {}), SliceKind::Backward) << "it has no forward operation";
    EXPECT_EQ(kind(R"("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")", {}), SliceKind::Operation);
    EXPECT_EQ(kind(R"("aten::mm")", forwards), SliceKind::Operation);
    // Where arguments come with the end.
    BuiltTrace of;
    ChromeEvents taking(of.trace);
    ChromeEvent begin = ofPhase(R"("B")", R"("MmBackward0")", "1"), end = ofPhase(R"("E")", R"("MmBackward0")", "2", ofNode);
    begin.cat = end.cat = R"("cpu_op")";
    taking.take(begin);
    taking.take(end);
    taking.end();
    EXPECT_EQ(of.finish(0).at(0).slice.kind, SliceKind::Backward);
}

TEST_F(ChromeEventsOf, AKindIsTakenFromOurOwnWordsAndNoOthers) {
    const auto of = [](const char* cat, const char* said) { return alone(complete(cat, R"("n")", "1", "2", {{"Kind", said}})); };
    EXPECT_EQ(of(R"("cpu_op")", R"("own")").slice.kind, SliceKind::Own);
    EXPECT_EQ(of(R"("user_annotation")", R"("phase")").slice.kind, SliceKind::Phase);
    EXPECT_EQ(of(R"("user_annotation")", R"("evaluation")").slice.kind, SliceKind::Evaluation);
    for (const auto& [cat, said] : {std::pair(R"("cpu_op")", R"("phase")"),
                                    {R"("user_annotation")", R"("own")"},
                                    {R"("kernel")", R"("own")"},
                                    {R"("cpu_op")", R"("a word of somebody else's")"},
                                    {R"("cpu_op")", "7"}}) {
        const BuiltSlice kept = of(cat, said);
        EXPECT_EQ(kept.slice.kind, alone(complete(cat, R"("n")", "1", "2")).slice.kind) << cat << said;
        EXPECT_EQ(kept.arguments.extra, std::string("{\"Kind\":") + said + "}");
    }
}

TEST_F(ChromeEventsOf, WhereTimesAreRoundedTheArrowEndsAtTheNodeThatBeginsWithItsStepOfTheEngine) {
    const Arguments ofNode{{"Sequence number", "4"}, {"Fwd thread id", "1"}};
    const auto arrow = [](const char* ph, const char* ts, const char* tid) {
        ChromeEvent event = ofPhase(ph, R"("fwdbwd")", ts);
        event.cat = R"("fwdbwd")";
        event.id = "1";
        event.tid = tid;
        return event;
    };
    ChromeEvent forward = complete(R"("cpu_op")", R"("aten::mm")", "1", "2", {{"Sequence number", "4"}, {"Fwd thread id", "0"}});
    forward.tid = "9";
    events.take(forward);
    events.take(complete(R"("cpu_op")", R"("autograd::engine::evaluate_function: MmBackward0")", "10", "5", ofNode));
    events.take(complete(R"("cpu_op")", R"("MmBackward0")", "10", "4", ofNode));
    events.take(arrow(R"("s")", "1", "9"));
    events.take(arrow(R"("f")", "10", "8"));
    std::map<std::string, std::int64_t> from;
    for (const auto& one : built()) from[one.name] = one.slice.forwardStart;
    EXPECT_EQ(from["MmBackward0"], 1000);
    EXPECT_EQ(from["autograd::engine::evaluate_function: MmBackward0"], 0);
}

TEST_F(ChromeEventsOf, WhatIsNoEventIsCountedWithItsReason) {
    EXPECT_EQ(reasonsOf({}), "an event without \"ph\"");
    EXPECT_EQ(reasonsOf(ofPhase(R"("XX")", R"("n")", "1")), "an event whose \"ph\" is no letter");
    EXPECT_EQ(reasonsOf(ofPhase("7", R"("n")", "1")), "events of the kind ph 7");
    EXPECT_EQ(reasonsOf(ofPhase(R"("Z")", R"("n")", "1")), "events of the kind ph Z");
    EXPECT_EQ(reasonsOf(ofPhase(R"("P")", R"("n")", "1")), "events of the kind ph P");
    for (const char* ts : {"", "null", "\"\"", "\"x\"", "[]", "1e400", "99999999999999999999", "true"})
        EXPECT_EQ(reasonsOf(complete(R"("kernel")", R"("n")", ts, "1")), "a time that is no number") << ts;
    EXPECT_EQ(reasonsOf(complete(R"("kernel")", R"("n")", "1", "{}")), "a duration that is no number");
    EXPECT_EQ(reasonsOf(complete(R"("kernel")", R"("n")", "1", "-1")), "a negative duration");
    EXPECT_EQ(reasonsOf(complete(R"("kernel")", R"("n")", "1", {})), "") << "without a duration it took no time";
}

TEST_F(ChromeEventsOf, ANumberThatIsNoneStaysWhatWasWritten) {
    const std::vector<std::pair<const char*, const char*>> keys{{"correlation", "kernel"},
                                                                {"External id", "kernel"},
                                                                {"stream", "kernel"},
                                                                {"device", "kernel"},
                                                                {"registers per thread", "kernel"},
                                                                {"bytes", "gpu_memcpy"},
                                                                {"Sequence number", "cpu_op"},
                                                                {"Fwd thread id", "cpu_op"},
                                                                {"Layer", "cpu_op"},
                                                                {"flops", "cpu_op"}};
    for (const auto& [key, word] : keys)
        for (const char* odd : {"-1", "1.5", "1e3", "null", "true", "[1]", "{}", "\"a\"", "99999999999999999999", "-9223372036854775808"}) {
            const std::string cat = fmt::format("\"{}\"", word);
            const BuiltSlice slice = alone(complete(cat, R"("n")", "1", "2", {{key, odd}}));
            ASSERT_FALSE(slice.arguments.extra.empty()) << key << ": " << odd;
            EXPECT_EQ(EventJson::parse(slice.arguments.extra)[key], EventJson::parse(odd)) << key << ": " << odd;
            EXPECT_EQ(slice.slice.correlation, 0);
            EXPECT_EQ(slice.slice.layer, -1);
            EXPECT_EQ(slice.arguments.flops, 0);
        }
}

TEST_F(ChromeEventsOf, GridsAreThreeWholeNumbersOrNone) {
    const auto grid = [](std::string_view written) {
        return alone(complete(R"("kernel")", R"("n")", "1", "2", {{"grid", written}, {"block", "[1,1,1]"}})).arguments.grid;
    };
    EXPECT_EQ(grid("[8, 4,2]"), (std::array<std::int64_t, 3>{8, 4, 2}));
    EXPECT_EQ(grid("[ 8 ,4 , 2 ]"), (std::array<std::int64_t, 3>{8, 4, 2}));
    for (const char* odd :
         {"[8,4]", "[8,4,2,1]", "[8,4,-2]", "[8,4,2.5]", "[]", "8", "[8,4,\"2\"]", "[8,4,99999999999999999999]", "[8,4,null]", "{}"})
        EXPECT_EQ(grid(odd), (std::array<std::int64_t, 3>{})) << odd;
}

TEST_F(ChromeEventsOf, InputsBecomeShapesWhereAllOfThemCanBeSaidAndStayWrittenElse) {
    const auto said = [](std::string_view dims, std::string_view types) {
        return alone(complete(R"("cpu_op")", R"("n")", "1", "2", {{"Input Dims", dims}, {"Input type", types}})).arguments;
    };
    EXPECT_EQ(said("[[4, 12], [], []]", R"(["float", "Scalar", ""])").text, "Float[4,12] Scalar -");
    EXPECT_EQ(said("[[[3], [4, 5]]]", R"(["TensorList"])").text, "{-[3];-[4,5]}");
    EXPECT_EQ(said("[[]]", R"(["c10::BFloat16"])").text, "BFloat16[]");
    for (const auto& [dims, types] : std::vector<std::pair<const char*, const char*>>{{"[[4]]", R"(["float", "int"])"},
                                                                                      {"[[-4]]", R"(["float"])"},
                                                                                      {"[[4.5]]", R"(["float"])"},
                                                                                      {"[4]", R"(["float"])"},
                                                                                      {"[]", "[]"},
                                                                                      {"{}", "{}"},
                                                                                      {"[[4]]", "[7]"},
                                                                                      {"[[]]", R"(["a b"])"},
                                                                                      {"[[[[3]]]]", R"(["TensorList"])"},
                                                                                      {"[[4]]", R"(["Scalar"])"}}) {
        const SliceArguments arguments = said(dims, types);
        EXPECT_EQ(arguments.text, "") << dims << types;
        const EventJson extra = EventJson::parse(arguments.extra);
        EXPECT_EQ(extra["Input Dims"], EventJson::parse(dims));
        EXPECT_EQ(extra["Input type"], EventJson::parse(types));
    }
}

TEST_F(ChromeEventsOf, SoManyKindsOfInputsThatTheyAreForgottenAreStillSaidRight) {
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 600; ++i) {
            std::string dims = "[", types = "[";
            for (int one = 0; one < 2000; ++one) {
                dims += fmt::format("{}[{}]", one > 0 ? ", " : "", i);
                types += fmt::format("{}\"float\"", one > 0 ? ", " : "");
            }
            events.take(complete(R"("cpu_op")", R"("n")", fmt::format("{}", round * 600 + i), "0.5",
                                 {{"Input Dims", dims + "]"}, {"Input type", types + "]"}}));
        }
    const auto all = built();
    ASSERT_EQ(all.size(), 1200U);
    for (const auto& one : all)
        EXPECT_TRUE(one.arguments.text.starts_with(fmt::format("Float[{}] Float", one.slice.start / 1000 % 600))) << one.arguments.text.substr(0, 40);
}

TEST_F(ChromeEventsOf, RangesOfTwoEventsNestAndWhatIsNotEndedIsCounted) {
    events.take(ofPhase(R"("E")", R"("n")", "0"));
    events.take(ofPhase(R"("B")", R"("outer")", "1", {{"why", "\"x\""}}));
    events.take(ofPhase(R"("B")", R"("inner")", "2"));
    events.take(ofPhase(R"("E")", "\"whatever\"", "3"));
    events.take(ofPhase(R"("E")", {}, "9"));
    events.take(ofPhase(R"("B")", R"("never ended")", "10"));
    events.take(ofPhase(R"("B")", R"("backwards")", "20"));
    events.take(ofPhase(R"("E")", {}, "15"));
    const auto all = built();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name, "outer");
    EXPECT_EQ(all[0].slice.duration, 8000);
    EXPECT_EQ(all[0].slice.called, 1000);
    EXPECT_EQ(EventJson::parse(all[0].arguments.extra), EventJson::parse(R"({"why": "x", "cat": "x"})"));
    EXPECT_EQ(all[1].name, "inner");
    EXPECT_EQ(reason("an end of a range that has not begun"), 1);
    EXPECT_EQ(reason("ranges that have no end"), 1);
    EXPECT_EQ(reason("a negative duration"), 1);
}

TEST_F(ChromeEventsOf, ARangeOfTwoEventsHasTheColumnsOfOneThatIsWhole) {
    const std::vector<std::pair<const char*, Arguments>> all{
        {R"("kernel")",
         {{"correlation", "6"},
          {"External id", "9"},
          {"device", "1"},
          {"stream", "13"},
          {"grid", "[8, 4, 1]"},
          {"block", "[128,1,1]"},
          {"registers per thread", "64"},
          {"shared memory", "4096"},
          {"queued", "0"}}},
        {R"("gpu_memcpy")", {{"bytes", "64"}, {"correlation", "7"}, {"device", "1"}, {"stream", "13"}}},
        {R"("cuda_sync")", {{"correlation", "8"}, {"device", "0"}, {"stream", "7"}}},
        {R"("cpu_op")",
         {{"Input Dims", "[[4]]"},
          {"Input type", R"(["float"])"},
          {"Layer", "2"},
          {"Phase", R"("forward")"},
          {"Sequence number", "4"},
          {"Step", "5"}}},
        {R"("hip_runtime")", {{"correlation", "9"}}},
        {R"("something")", {{"why", "1"}}}};
    for (const auto& [cat, args] : all) {
        const BuiltSlice whole = alone(complete(cat, R"("n")", "1", "2", args));
        for (const bool atItsEnd : {false, true}) {
            BuiltTrace of;
            ChromeEvents taking(of.trace);
            ChromeEvent begin = ofPhase(R"("B")", R"("n")", "1"), end = ofPhase(R"("E")", {}, "3");
            begin.cat = cat;
            end.cat = {};
            (atItsEnd ? end : begin).args = args;
            taking.take(begin);
            taking.take(end);
            taking.end();
            const auto ranges = of.finish(0);
            ASSERT_EQ(ranges.size(), 1U) << cat;
            const BuiltSlice& range = ranges[0];
            EXPECT_EQ(std::tuple(range.name, range.phase, range.role, range.arguments),
                      std::tuple(whole.name, whole.phase, whole.role, whole.arguments))
                << cat;
            Slice slice = range.slice;
            slice.name = whole.slice.name;  // places in blocks
            slice.phase = whole.slice.phase;
            slice.role = whole.slice.role;
            slice.arguments = whole.slice.arguments;
            EXPECT_EQ(slice, whole.slice) << cat << ", told at its end: " << atItsEnd;
            EXPECT_EQ(std::tuple(range.thread.device, range.thread.thread, range.thread.name),
                      std::tuple(whole.thread.device, whole.thread.thread, whole.thread.name))
                << cat;
            EXPECT_TRUE(of.trace.counts().reasons.empty()) << cat;
        }
    }
}

TEST_F(ChromeEventsOf, ArgumentsAtTheEndOfARangeThatHasItsOwnAreToldToBeLeftOut) {
    ChromeEvent begin = ofPhase(R"("B")", R"("ProfilerStep#3")", "1", {{"why", "1"}});
    begin.cat = R"("user_annotation")";
    events.take(begin);
    events.take(ofPhase(R"("E")", {}, "9", {{"result", "2"}}));
    begin.name = R"("ProfilerStep#4")";
    begin.ts = "10";
    begin.args = {};
    events.take(begin);
    events.take(ofPhase(R"("E")", {}, "19", {{"Step", "9"}, {"result", "2"}}));
    const auto all = built();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].arguments.extra, R"({"why":1})");
    EXPECT_EQ(all[1].arguments.extra, R"({"result":2})");
    EXPECT_EQ(reason("arguments at the end of a range that were left out: its begin has its own"), 1);
    EXPECT_EQ(trace.counts().skipped, 0) << "the ranges are there";
    EXPECT_EQ(trace.counts().steps, 2);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(all[i].slice.kind, SliceKind::Step);
        EXPECT_EQ(all[i].slice.step, static_cast<std::int64_t>(3 + i)) << "by its name";
    }
}

TEST_F(ChromeEventsOf, StepsAreRangesNamedSoWithANumber) {
    for (const auto& [name, number] : std::vector<std::pair<const char*, std::int64_t>>{{R"("ProfilerStep#12")", 12},
                                                                                        {R"("ProfilerStep#0")", 0},
                                                                                        {R"("ProfilerStep#")", -1},
                                                                                        {R"("ProfilerStep#-3")", -1},
                                                                                        {R"("ProfilerStep#1x")", -1},
                                                                                        {R"("profilerstep#4")", -1},
                                                                                        {R"("ProfilerStep#99999999999999999999")", -1}}) {
        const BuiltSlice slice = alone(complete(R"("user_annotation")", name, "1", "2"));
        EXPECT_EQ(slice.slice.kind, number >= 0 ? SliceKind::Step : SliceKind::Annotation) << name;
        EXPECT_EQ(slice.slice.step, number >= 0 ? number : kNoStep) << name;
    }
}

TEST_F(ChromeEventsOf, CountersAreSamplesOfEachOfTheirValues) {
    events.take(ofPhase(R"("C")", R"("queue")", "1", {{"value", "3"}}));
    events.take(ofPhase(R"("C")", R"("memory")", "2", {{"used", "1.5e3"}, {"free", "-2"}}));
    for (const char* odd : {"\"3\"", "null", "1e999", "[1]", "nan", "inf", "NaN", ""})
        events.take(ofPhase(R"("C")", R"("odd")", "3", {{"value", odd}}));
    events.take(ofPhase(R"("C")", R"("empty")", "4"));
    (void)built();
    ASSERT_EQ(samples.size(), 1U);
    std::map<std::string, double> last;
    for (const auto& sample : samples[0].samples) last[samples[0].series[sample.series].name] = sample.value;
    EXPECT_EQ(last, (std::map<std::string, double>{{"queue", 3}, {"memory used", 1500}, {"memory free", -2}}));
    EXPECT_EQ(reason("a counter's value that is no finite number"), 8);
    EXPECT_EQ(reason("a counter without a value"), 1);
}

TEST_F(ChromeEventsOf, AnInstantOfMemoryIsAnAllocationAndAnyOtherASliceWithoutTime) {
    events.take(ofPhase(R"("i")", R"("[memory]")", "1",
                        {{"Bytes", "64"}, {"Addr", "4096"}, {"Device Id", "1"}, {"Device Type", "1"}, {"Total Allocated", "64"}}));
    events.take(ofPhase(R"("i")", R"("[memory]")", "2", {{"Bytes", "-64"}, {"Device Id", "5"}, {"Device Type", "0"}, {"Total Reserved", "x"}}));
    events.take(ofPhase(R"("i")", R"("[memory]")", "3", {{"Addr", "1"}}));
    events.take(ofPhase(R"("I")", R"("mark")", "4", {{"note", "7"}}));
    const auto all = built();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].slice.duration, 0);
    EXPECT_EQ(EventJson::parse(all[0].arguments.extra), EventJson::parse(R"({"note": 7, "cat": "x", "ph": "i"})"));
    ASSERT_EQ(allocations.size(), 1U);
    ASSERT_EQ(allocations[0].allocations.size(), 2U);
    EXPECT_EQ(allocations[0].allocations[0].device, 1);
    EXPECT_EQ(allocations[0].allocations[0].totalAllocated, 64);
    EXPECT_EQ(allocations[0].allocations[1].device, -1) << "of the host, whatever its number";
    EXPECT_EQ(allocations[0].allocations[1].totalReserved, -1);
    EXPECT_EQ(reason("an allocation without its bytes"), 1);
}

TEST_F(ChromeEventsOf, NamesOfProcessesAndThreadsLoseTheSpaceBehindThem) {
    ChromeEvent named = ofPhase(R"("M")", R"("process_name")", {}, {{"name", R"("python  ")"}});
    events.take(named);
    named.name = R"("thread_name")";
    named.args = {{"name", R"("thread 8 (\"main\") ")"}};
    events.take(named);
    named.args = {{"name", "7"}, {"other", R"("x")"}};
    events.take(named);
    events.take(complete(R"("cpu_op")", R"("n")", "1", "2"));
    const auto all = built();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].thread.processName, "python");
    EXPECT_EQ(all[0].thread.name, "thread 8 (\"main\")");
}

TEST(ChromeEventsClock, IsAsCoarseAsAllTimesOfTheFileTogether) {
    const auto rounded = [](std::initializer_list<std::string_view> times) {
        BuiltTrace of;
        ChromeEvents taking(of.trace);
        for (const auto ts : times) taking.take(complete(R"("cpu_op")", R"("n")", ts, "0.001"));
        taking.end();
        return of.trace.file().roundedNs;
    };
    EXPECT_EQ(rounded({"1700000000000000.25", "1700000000000000.5"}), 250);
    EXPECT_EQ(rounded({"1", "2", "1000"}), 1000);
    EXPECT_EQ(rounded({"1", "2.001"}), 0) << "exact";
    EXPECT_EQ(rounded({"-0.5", "0"}), 500);
    EXPECT_EQ(rounded({}), 1000);
}

}  // namespace
}  // namespace stepscope::test
