// From records to slices: lanes, names, launches joined with kernels, whatever the order and however they come in batches; what cannot be is counted.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "core/profile/activity/ActivityDecoder.h"
#include "core/profile/activity/ActivityNames.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CudaActivity kernelAt(std::uint64_t start, std::uint64_t end, std::int64_t correlation = 0, std::int64_t stream = 7) {
    CudaActivity made;
    made.device = 0;
    made.context = 1;
    made.stream = stream;
    made.start = start;
    made.end = end;
    made.correlation = correlation;
    made.name = "_Z4gemmIfEvPKT_PS0_";
    made.grid[0] = 16, made.grid[1] = 2, made.grid[2] = 1;
    made.block[0] = 128, made.block[1] = made.block[2] = 1;
    made.registers = 40;
    made.sharedBytes = 1024;
    return made;
}
CudaActivity callAt(std::uint64_t start, std::uint64_t end, std::int64_t correlation, CudaActivityKind kind = CudaActivityKind::Runtime) {
    CudaActivity made;
    made.kind = kind;
    made.start = start;
    made.end = end;
    made.correlation = correlation;
    made.process = 1;
    made.thread = 42;
    made.name = kind == CudaActivityKind::Runtime ? "cudaLaunchKernel_v7000" : "cuLaunchKernel";
    return made;
}
CudaActivity externalOf(std::int64_t correlation, std::int64_t external) {
    CudaActivity made;
    made.kind = CudaActivityKind::External;
    made.correlation = correlation;
    made.external = external;
    return made;
}

const std::map<std::int64_t, LaunchingOperation> kOperations = {
    {5, {"aten::mm", {.layer = 3, .role = Role::AttentionQkv, .activity = Activity::Forward}, 17}},
    {6, {"aten::add_", {.layer = -1, .role = Role::Optimizer, .activity = Activity::Optimizer}, 17}},
    {9, {"CUDA graph", {.activity = Activity::Forward}, 21}},
};
ActivityDecoder::Setup setupOf() {
    return {.process = 1,
            .operation =
                [](std::int64_t id) {
                    const auto found = kOperations.find(id);
                    return found != kOperations.end() ? std::optional(found->second) : std::nullopt;
                },
            .threadName = [](std::int64_t) { return "trainer"; }};
}

// What a slice says in words, with its lane.
struct Shown {
    std::string lane, name, phase, role, extra;
    Slice slice;
    SliceArguments arguments;
    SliceThread thread;
};
std::vector<Shown> shown(const std::vector<SliceBlock>& blocks) {
    std::vector<Shown> all;
    for (const auto& block : blocks)
        for (const auto& slice : block.slices) {
            const auto& arguments = block.arguments[slice.arguments];
            all.push_back({block.thread.name, block.strings[slice.name], block.strings[slice.phase], block.strings[slice.role], arguments.extra,
                           slice, arguments, block.thread});
        }
    return all;
}
std::vector<Shown> decoded(const std::vector<CudaActivity>& records) {
    ActivityDecoder decoder(setupOf());
    for (const auto& record : records) decoder.add(record);
    return shown(decoder.take(true));
}

TEST(ActivityDecoder, CountsCorrelationIdsAboveThoseOfAProcessBefore) {
    auto setup = setupOf();
    setup.correlationsFrom = std::int64_t{3} << 32;
    ActivityDecoder decoder(std::move(setup));
    for (const auto& record : {callAt(100, 200, 11), externalOf(11, 5), kernelAt(150, 400, 11), kernelAt(500, 600)}) decoder.add(record);
    const auto all = shown(decoder.take(true));
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].slice.correlation, (std::int64_t{3} << 32) + 11);
    EXPECT_EQ(all[0].slice.external, 5);
    EXPECT_EQ(all[1].slice.correlation, 0) << "it has none";
    EXPECT_EQ(all[2].slice.correlation, all[0].slice.correlation);
}

TEST(ActivityDecoder, GivesAKernelTheOperationThatHadItLaunched) {
    const auto all = decoded({callAt(100, 200, 11), externalOf(11, 5), kernelAt(150, 400, 11)});
    ASSERT_EQ(all.size(), 2u);
    const Shown& kernel = all[0];
    EXPECT_EQ(kernel.lane, "stream 7");
    EXPECT_EQ(kernel.name, "void gemm<float>(float const*, float*)");
    EXPECT_EQ(kernel.phase, "forward");
    EXPECT_EQ(kernel.role, "attention/qkv");
    EXPECT_EQ(kernel.slice.layer, 3);
    EXPECT_EQ(kernel.slice.step, 17);
    EXPECT_EQ(kernel.slice.kind, SliceKind::Kernel);
    EXPECT_EQ(kernel.slice.correlation, 11);
    EXPECT_EQ(kernel.slice.external, 5);
    EXPECT_EQ(kernel.slice.duration, 250);
    EXPECT_THAT(kernel.arguments.grid, ElementsAre(16, 2, 1));
    EXPECT_THAT(kernel.arguments.block, ElementsAre(128, 1, 1));
    EXPECT_EQ(kernel.arguments.registers, 40);
    EXPECT_EQ(kernel.arguments.sharedBytes, 1024);
    EXPECT_EQ(kernel.extra, "{\"operation\":\"aten::mm\",\"context\":1}");
    EXPECT_EQ(kernel.thread.device, 0);
    EXPECT_EQ(kernel.thread.thread, 7);
    const Shown& call = all[1];
    EXPECT_EQ(call.lane, "trainer: CUDA calls");
    EXPECT_EQ(call.name, "cudaLaunchKernel");
    EXPECT_EQ(call.slice.correlation, 11);
    EXPECT_EQ(call.slice.external, 5);
    EXPECT_EQ(call.slice.layer, 3);
    EXPECT_EQ(call.thread.thread, 42);
    EXPECT_EQ(call.thread.device, -1);
    EXPECT_NE(call.thread.laneNumber(), 42) << "operations of that thread have their own lane";
}

TEST(ActivityDecoder, OfARuntimeCallAndTheDriversWithinItOneIsTheLaunch) {
    const auto driver = [](std::uint64_t start, std::uint64_t end, std::int64_t correlation) {
        return callAt(start, end, correlation, CudaActivityKind::Driver);
    };
    const auto all = decoded({callAt(100, 200, 11), driver(120, 180, 11), callAt(300, 400, 12), driver(320, 380, 13), driver(500, 600, 14),
                              externalOf(11, 5), kernelAt(150, 400, 11)});
    std::map<std::int64_t, std::int64_t> correlations;  // of calls, by their begin
    std::map<std::int64_t, std::int32_t> layers;
    for (const Shown& one : all) {
        if (one.thread.device >= 0) continue;
        correlations[one.slice.start] = one.slice.correlation;
        layers[one.slice.start] = one.slice.layer;
    }
    EXPECT_EQ(correlations, (std::map<std::int64_t, std::int64_t>{{100, 11}, {120, 0}, {300, 12}, {320, 13}, {500, 14}}));
    EXPECT_EQ(layers[120], 3) << "it belongs to the same operation all the same";
}

TEST(ActivityDecoder, FindsTheLaunchThatComesOneBatchBehindItsKernel) {
    ActivityDecoder decoder(setupOf());
    decoder.add(kernelAt(150, 400, 11));
    EXPECT_TRUE(decoder.take(false).empty());
    decoder.add(externalOf(11, 6));
    const auto all = shown(decoder.take(false));
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].role, "optimizer");
    EXPECT_TRUE(decoder.take(true).empty());
    EXPECT_EQ(decoder.counts().unattributed, 0);
}

TEST(ActivityDecoder, GivesNodesOfAGraphTheOperationsOfItsCaptureAndTheStepOfItsReplay) {
    CudaActivity node = kernelAt(150, 400, 12);
    node.graph = 2;
    node.graphNode = 31;
    node.external = 5;
    const auto all = decoded({callAt(100, 120, 12), externalOf(12, 9), node});
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].role, "attention/qkv");
    EXPECT_EQ(all[0].slice.layer, 3);
    EXPECT_EQ(all[0].slice.step, 21) << "of the launch, not of the capture";
    EXPECT_EQ(all[0].slice.external, 9);
    EXPECT_THAT(all[0].extra, HasSubstr("\"graph node id\":31"));
    EXPECT_THAT(all[0].extra, HasSubstr("\"operation\":\"aten::mm\""));
}

TEST(ActivityDecoder, CountsWhatNeverBeganOrEndedBeforeItDid) {
    ActivityDecoder decoder(setupOf());
    decoder.add(kernelAt(0, 400));
    decoder.add(kernelAt(500, 400));
    decoder.add(kernelAt(100, 100));
    decoder.add(callAt(9, 8, 1));
    const auto blocks = decoder.take(true);
    std::int64_t invalid = 0, slices = 0;
    for (const auto& block : blocks) invalid += block.invalid, slices += static_cast<std::int64_t>(block.slices.size());
    EXPECT_EQ(invalid, 3);
    EXPECT_EQ(slices, 1) << "one that took no time is whole";
    EXPECT_EQ(decoder.counts().invalid, 3);
    for (const auto& block : blocks) EXPECT_TRUE(decodeSlices(encodeSlices(block)));
}

TEST(ActivityDecoder, TellsWhatWasDroppedOnceAlsoWhereNothingElseCame) {
    ActivityDecoder decoder(setupOf());
    decoder.addLost(12);
    EXPECT_TRUE(decoder.take(false).empty());
    const auto blocks = decoder.take(true);
    ASSERT_EQ(blocks.size(), 1u);
    EXPECT_EQ(blocks[0].lost, 12);
    EXPECT_TRUE(decoder.take(true).empty());
}

TEST(ActivityDecoder, NestsCallsOfTheDriverInThoseOfTheRuntime) {
    const auto all = decoded({callAt(110, 190, 2, CudaActivityKind::Driver), callAt(100, 200, 1), callAt(200, 260, 3), callAt(250, 300, 4)});
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].name, "cudaLaunchKernel");
    EXPECT_EQ(all[0].slice.self(), 20);
    EXPECT_EQ(all[1].name, "cuLaunchKernel");
    EXPECT_EQ(all[1].slice.depth, 1);
    EXPECT_EQ(all[2].slice.depth, 0);
    EXPECT_EQ(all[3].slice.depth, 1) << "one that outlasts what it began in";
    EXPECT_EQ(all[2].slice.self(), 50);
}

TEST(ActivityDecoder, NamesCopiesWaitsAndOverheadAsPyTorchsProfilerDoes) {
    CudaActivity copy = kernelAt(10, 20);
    copy.kind = CudaActivityKind::Memcpy;
    copy.bytes = 4096;
    copy.copyKind = 1, copy.from = 2, copy.to = 3;
    CudaActivity fill = kernelAt(30, 40);
    fill.kind = CudaActivityKind::Memset;
    fill.to = 3;
    CudaActivity wait = kernelAt(15, 45);
    wait.kind = CudaActivityKind::Synchronisation;
    wait.device = -1;
    wait.what = 3;
    CudaActivity overhead;
    overhead.kind = CudaActivityKind::Overhead;
    overhead.what = 1 << 16;
    overhead.start = 5, overhead.end = 6;
    const auto all = decoded({copy, fill, wait, overhead});
    std::map<std::string, Shown> named;
    for (const auto& one : all) named.emplace(one.name, one);
    ASSERT_TRUE(named.contains("Memcpy HtoD (Pinned -> Device)"));
    EXPECT_EQ(named.at("Memcpy HtoD (Pinned -> Device)").arguments.bytes, 4096);
    ASSERT_TRUE(named.contains("Memset (Device)"));
    ASSERT_TRUE(named.contains("Stream Sync"));
    EXPECT_EQ(named.at("Stream Sync").lane, "stream 7 (sync)") << "its times are the host's: beside the stream, not in it";
    EXPECT_EQ(named.at("Stream Sync").thread.device, 0);
    ASSERT_TRUE(named.contains("Buffer Flush"));
    EXPECT_EQ(named.at("Buffer Flush").slice.kind, SliceKind::Overhead);
}

TEST(ActivityDecoder, AWaitForAnEventNamesTheCallThatRecordedItLast) {
    auto setup = setupOf();
    setup.correlationsFrom = 1000;
    ActivityDecoder decoder(std::move(setup));
    const auto recorded = [](std::int64_t record, std::int64_t stream, std::int64_t correlation) {
        CudaActivity made;
        made.kind = CudaActivityKind::EventRecord;
        made.device = 2, made.context = 1, made.stream = stream, made.correlation = correlation;
        made.event = 4, made.eventRecord = record;
        return made;
    };
    const auto waiting = [](std::uint64_t start, std::int64_t record, std::int32_t what = 2) {
        CudaActivity made = kernelAt(start, start + 5, 60, 7);
        made.kind = CudaActivityKind::Synchronisation;
        made.device = -1;
        made.what = what;
        made.event = 4, made.eventRecord = record;
        return made;
    };
    std::vector<SliceBlock> blocks;
    const auto take = [&](bool last) {
        for (auto& block : decoder.take(last)) blocks.push_back(std::move(block));
    };
    // The same event twice, on two streams; what waits may come before what it waits for, one call apart.
    for (const auto& record : {recorded(70, 20, 51), waiting(100, 70), waiting(200, 71, 1), waiting(300, 99), waiting(400, -1)}) decoder.add(record);
    take(false);
    decoder.add(recorded(71, 21, 52));
    decoder.add(recorded(-1, 22, 53));  // of no wait's
    take(true);
    std::map<std::int64_t, std::string> extra;
    for (const auto& one : shown(blocks)) {
        extra[one.slice.start] = one.name + " " + one.extra;
        EXPECT_EQ(one.thread.device, 2) << "a wait has only its context; the event's device is that context's";
    }
    EXPECT_THAT(extra, ElementsAre(testing::Pair(100, R"(Stream Wait Event {"context":1,"wait_on_stream":20,)"
                                                      R"("wait_on_cuda_event_record_corr_id":1051,"wait_on_cuda_event_id":4})"),
                                   testing::Pair(200, R"(Event Sync {"context":1,"wait_on_stream":21,)"
                                                      R"("wait_on_cuda_event_record_corr_id":1052,"wait_on_cuda_event_id":4})"),
                                   testing::Pair(300, "Stream Wait Event "), testing::Pair(400, "Stream Wait Event ")))
        << "what was recorded before the capture is not known";
}

TEST(ActivityDecoder, KeepsTheNumberOfTheFunctionThatWasCalled) {
    CudaActivity launch = callAt(10, 20, 1), again = callAt(30, 40, 2), driver = callAt(50, 60, 3, CudaActivityKind::Driver);
    launch.what = again.what = 211;
    driver.what = 307;
    const auto all = decoded({launch, again, driver, callAt(70, 80, 4), kernelAt(100, 200, 1)});
    std::map<std::int64_t, std::string> extra;
    for (const auto& one : all)
        if (one.slice.kind == SliceKind::Runtime || one.slice.kind == SliceKind::Driver) extra[one.slice.correlation] = one.extra;
    EXPECT_EQ(extra, (std::map<std::int64_t, std::string>{{1, R"({"cbid":211})"}, {2, R"({"cbid":211})"}, {3, R"({"cbid":307})"}, {4, ""}}))
        << "of the last one it is not known";
    for (const auto& one : all)
        if (one.slice.kind == SliceKind::Kernel) {
            EXPECT_EQ(one.extra.find("cbid"), std::string::npos) << one.extra;
        }
}

TEST(ActivityDecoder, PutsAKernelThatBeginsBeforeTheLastEndsIntoALaneBesideIt) {
    const auto all = decoded({kernelAt(100, 200), kernelAt(190, 300), kernelAt(200, 250), kernelAt(300, 310)});
    std::map<std::string, int> lanes;
    for (const auto& one : all) lanes[one.lane] += 1;
    EXPECT_EQ(lanes, (std::map<std::string, int>{{"stream 7", 3}, {"stream 7 (2)", 1}}));
    for (const auto& one : all) EXPECT_EQ(one.thread.thread, 7) << "it is of that stream all the same";
}

TEST(ActivityNames, AreWholeWhateverComes) {
    CudaActivity nameless;
    EXPECT_EQ(activityName(nameless), "a kernel without a name");
    nameless.kind = CudaActivityKind::Runtime;
    EXPECT_EQ(activityName(nameless), "a call of the CUDA runtime");
    nameless.name = "cuMemAlloc_v2";
    EXPECT_EQ(activityName(nameless), "cuMemAlloc_v2");
    nameless.name = "cudaMemcpyAsync_v3020";
    EXPECT_EQ(activityName(nameless), "cudaMemcpyAsync");
    nameless.kind = CudaActivityKind::Memcpy;
    nameless.copyKind = 99, nameless.from = -4, nameless.to = 1000;
    EXPECT_EQ(activityName(nameless), "Memcpy Unknown (Unknown -> Unknown)");
    nameless.kind = CudaActivityKind::Overhead;
    nameless.what = 12345;
    EXPECT_EQ(activityName(nameless), "Unrecognized");
    EXPECT_EQ(demangled("no_mangled_name"), "no_mangled_name");
    EXPECT_EQ(demangled("i"), "i");
    EXPECT_EQ(demangled("_Zwrong"), "_Zwrong");
}

// Whatever comes in whatever order and cut wherever: nothing is lost, lanes of streams never overlap, and the same kernels have the same operations.
TEST(ActivityDecoder, GivesTheSameSlicesHoweverRecordsComeInBatches) {
    std::mt19937 random(11);
    std::vector<CudaActivity> records;
    std::uint64_t at[3] = {1000, 1000, 1000};
    for (std::int64_t i = 1; i <= 10'000; ++i) {
        const auto stream = static_cast<std::int64_t>(random() % 3);
        std::uint64_t& now = at[stream];
        now += random() % 50;
        const std::uint64_t end = now + random() % 100;
        records.push_back(callAt(now - 100, now - 60, i));
        records.push_back(externalOf(i, 5 + static_cast<std::int64_t>(random() % 3)));  // 7 is nobody
        records.push_back(kernelAt(now, end, i, 7 + stream));
        now = random() % 20 == 0 ? end - (end - now) / 2 : end;  // some begin before the last ends
    }
    const auto facts = [](const std::vector<Shown>& all) {
        std::vector<std::string> words;
        for (const auto& one : all)
            words.push_back(std::to_string(one.thread.thread) + one.name + one.role + std::to_string(one.slice.start) + " " +
                            std::to_string(one.slice.duration) + " " + std::to_string(one.slice.correlation));
        std::ranges::sort(words);
        return words;
    };
    const auto whole = facts(decoded(records));
    EXPECT_EQ(whole.size(), 20'000u);
    for (int round = 0; round < 5; ++round) {
        ActivityDecoder decoder(setupOf());
        std::vector<SliceBlock> blocks;
        const auto take = [&](bool last) {
            for (auto& block : decoder.take(last)) {
                EXPECT_LE(block.slices.size(), 4096u);
                blocks.push_back(std::move(block));
            }
        };
        // Records of neighbouring calls are exchanged, as buffers of several threads are.
        std::vector<CudaActivity> mixed = records;
        for (std::size_t i = 0; i + 9 < mixed.size(); i += 9)
            std::shuffle(mixed.begin() + static_cast<std::ptrdiff_t>(i), mixed.begin() + static_cast<std::ptrdiff_t>(i + 9), random);
        for (const auto& record : mixed) {
            decoder.add(record);
            if (random() % 700 == 0) take(false);
        }
        take(true);
        EXPECT_EQ(facts(shown(blocks)), whole);
        std::map<std::int64_t, std::int64_t> ends;
        for (const auto& one : shown(blocks)) {
            if (one.thread.device < 0) continue;
            EXPECT_GE(one.slice.start, ends[one.thread.laneNumber()]) << one.lane;
            ends[one.thread.laneNumber()] = one.slice.start + one.slice.duration;
        }
        for (const auto& block : blocks) {
            const auto back = decodeSlices(encodeSlices(block));
            ASSERT_TRUE(back) << back.error().sentence;
            EXPECT_EQ(back->invalid, 0);
        }
    }
}

}  // namespace
}  // namespace stepscope
