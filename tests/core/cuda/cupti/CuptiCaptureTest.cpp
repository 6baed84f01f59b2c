// The plug-in's capture with a fake CUPTI: every emulated kernel comes through it, and whatever CUPTI refuses, drops or invents ends in a sentence or
// a count. CTest.
#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "FakeCupti.h"
#include "OnHost.h"
#include "core/profile/activity/ActivityDecoder.h"
#include "core/profile/activity/ActivityNames.h"

namespace stepscope {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class CuptiCapture : public testing::Test {
protected:
    void SetUp() override { play({}); }
    void TearDown() override {
        play({});
        if (m_live) end();
        EXPECT_EQ(fakeCuptiState().enabled, 0) << "nothing is recorded outside of a capture";
        EXPECT_EQ(fakeCuptiState().pushed, 0);
    }
    void play(const FakeCuptiScript& script) { fakeCuptiPlay(&script); }
    const char* begin(const CudaCaptureOptions& options = {}) {
        const char* why = cuda.captureBegin(options);
        m_live = m_live || why == nullptr;
        return why;
    }
    std::vector<CudaActivity> collect(bool last = false) {
        struct Taken {
            std::vector<CudaActivity> records;
            std::set<std::string>* names;
        } taken{{}, &m_names};
        problem = cuda.captureCollect(last, &taken, [](void* user, const CudaActivity* records, std::size_t count) {
            auto& into = *static_cast<Taken*>(user);
            for (std::size_t i = 0; i < count; ++i) {
                into.records.push_back(records[i]);
                if (records[i].name != nullptr) into.records.back().name = into.names->insert(records[i].name).first->c_str();
            }
        });
        return std::move(taken.records);
    }
    CudaCaptureCounts end() {
        CudaCaptureCounts counts;
        cuda.captureEnd(&counts);
        m_live = false;
        return counts;
    }
    // A kernel of the plug-in's, run by the emulation.
    void launch() {
        std::vector<float> in(64, 1.0f), bias(8, 0.5f), out(64);
        ASSERT_EQ(cuda.biasGeluForward({CudaScalar::Float32, 8, 8, nullptr}, in.data(), bias.data(), out.data()), nullptr);
    }
    CUpti_ActivityKernel10 kernel(std::uint64_t start, std::uint64_t end) {
        CUpti_ActivityKernel10 made{};
        made.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        made.start = start;
        made.end = end;
        made.streamId = 7;
        made.contextId = 1;
        made.name = "_Z6kernelv";
        return made;
    }

    const CudaInterface& cuda = *stepscope_cuda_on_host();
    const char* problem = nullptr;

private:
    std::set<std::string> m_names;
    bool m_live = false;
};

std::map<CudaActivityKind, int> kinds(const std::vector<CudaActivity>& records) {
    std::map<CudaActivityKind, int> found;
    for (const auto& record : records) found[record.kind] += 1;
    return found;
}

TEST_F(CuptiCapture, HasEveryEmulatedKernelWithItsLaunchAndOperation) {
    ASSERT_EQ(begin(), nullptr);
    cuda.capturePush(77);
    launch();
    launch();
    EXPECT_EQ(cuda.capturePop(), 77);
    launch();
    const auto records = collect(true);
    EXPECT_EQ(problem, nullptr);
    EXPECT_EQ(kinds(records),
              (std::map<CudaActivityKind, int>{{CudaActivityKind::Kernel, 3}, {CudaActivityKind::Runtime, 3}, {CudaActivityKind::External, 2}}));
    std::set<std::int64_t> launched, called, attributed;
    for (const auto& one : records) {
        if (one.kind == CudaActivityKind::Kernel) {
            launched.insert(one.correlation);
            EXPECT_GT(one.end, one.start);
            EXPECT_EQ(one.stream, 7);
            EXPECT_GT(one.grid[0] * one.block[0], 0);
            EXPECT_THAT(activityName(one), HasSubstr("stepscope::")) << "by the name that the compiler gave it";
            EXPECT_THAT(one.name, StartsWith("_Z"));
        } else if (one.kind == CudaActivityKind::Runtime) {
            called.insert(one.correlation);
            EXPECT_STREQ(one.name, "cudaLaunchKernel_v7000");
        } else {
            attributed.insert(one.correlation);
            EXPECT_EQ(one.external, 77);
        }
    }
    EXPECT_EQ(launched, called);
    EXPECT_EQ(launched.size(), 3u);
    EXPECT_EQ(attributed.size(), 2u);
    const auto counts = end();
    EXPECT_EQ(counts.records, 8);
    EXPECT_EQ(counts.dropped + counts.unknown + counts.unreadable + counts.refused, 0);
    EXPECT_EQ(fakeCuptiState().subscribers, 0);
}

TEST_F(CuptiCapture, LeavesOutCallsThatOnlyAskAndKeepsThoseThatGiveWorkOrWait) {
    ASSERT_EQ(begin(), nullptr);
    std::uint32_t cbid = 900;
    for (const char* name : {"cudaGetDevice_v3020", "cudaGetLastError_v3020", "cudaStreamIsCapturing_v10000", "cudaGetDeviceProperties_v12000",
                             "cudaStreamSynchronize_v3020", "cudaMemsetAsync_v3020"}) {
        fakeCuptiName(CUPTI_CB_DOMAIN_RUNTIME_API, ++cbid, name);
        fakeCuptiCallEnds(CUPTI_CB_DOMAIN_RUNTIME_API, cbid, cbid, 5);
    }
    fakeCuptiName(CUPTI_CB_DOMAIN_DRIVER_API, 1, "cuDevicePrimaryCtxGetState");
    fakeCuptiCallEnds(CUPTI_CB_DOMAIN_DRIVER_API, 1, 999, 5);
    std::vector<std::pair<std::string, std::int32_t>> kept;  // with the numbers that CUPTI has for them
    for (const auto& one : collect(true))
        if (one.kind == CudaActivityKind::Runtime || one.kind == CudaActivityKind::Driver) kept.emplace_back(one.name, one.what);
    EXPECT_THAT(kept,
                ::testing::UnorderedElementsAre(::testing::Pair("cudaGetDeviceProperties_v12000", 904),
                                                ::testing::Pair("cudaStreamSynchronize_v3020", 905), ::testing::Pair("cudaMemsetAsync_v3020", 906)));
    const auto counts = end();
    EXPECT_EQ(counts.unknown, 0) << "what is left out on purpose is not unknown";
}

TEST_F(CuptiCapture, KnowsWhichRecordOfAnEventAWaitIsFor) {
    ASSERT_EQ(begin(), nullptr);
    ASSERT_TRUE(fakeCuptiRecords(CUPTI_ACTIVITY_KIND_CUDA_EVENT));
    for (const std::uint64_t time : {1, 2}) {  // one event, recorded twice
        CUpti_ActivityCudaEvent2 event{};
        event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
        event.correlationId = static_cast<std::uint32_t>(500 + time);
        event.contextId = 1;
        event.streamId = static_cast<std::uint32_t>(20 + time);
        event.eventId = 9;
        event.cudaEventSyncId = 0x100000000 + time;
        fakeCuptiRecord(&event, sizeof event);
    }
    const auto wait = [](CUpti_ActivitySynchronizationType type, std::uint64_t start, std::uint64_t syncId) {
        CUpti_ActivitySynchronization2 record{};
        record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
        record.type = type;
        record.start = start, record.end = start + 10;
        record.contextId = 1;
        record.streamId = 7;
        record.cudaEventId = 9;
        record.cudaEventSyncId = syncId;
        fakeCuptiRecord(&record, sizeof record);
    };
    wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 1000, 0x100000002);
    wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, 2000, 0x100000001);
    wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 3000, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
    wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 4000, ~std::uint64_t{0});
    wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 5000, 0x100000001);  // has no event, whatever lies there
    ActivityDecoder decoder({});
    std::map<std::uint64_t, std::int64_t> waitsFor;
    for (const auto& record : collect(true)) {
        if (record.kind == CudaActivityKind::Synchronisation) waitsFor[record.start] = record.eventRecord;
        decoder.add(record);
    }
    EXPECT_EQ(waitsFor, (std::map<std::uint64_t, std::int64_t>{{1000, 0x100000002}, {2000, 0x100000001}, {3000, -1}, {4000, -1}, {5000, -1}}));
    std::string said;
    for (const auto& block : decoder.take(true))
        for (const auto& arguments : block.arguments) said += arguments.extra;
    EXPECT_THAT(said, HasSubstr(R"("wait_on_stream":22,"wait_on_cuda_event_record_corr_id":502,"wait_on_cuda_event_id":9)"));
    EXPECT_THAT(said, HasSubstr(R"("wait_on_stream":21,"wait_on_cuda_event_record_corr_id":501,"wait_on_cuda_event_id":9)"));
    EXPECT_EQ(end().unknown, 0);
}

TEST_F(CuptiCapture, RecordsNothingBeforeItBeginsAndAfterItsEnd) {
    launch();
    ASSERT_EQ(begin(), nullptr);
    end();
    launch();
    EXPECT_EQ(fakeCuptiState().records, 0);
    EXPECT_STREQ(cuda.captureCollect(false, nullptr, nullptr), "Kernels are not recorded: no capture has begun.");
    EXPECT_EQ(cuda.captureNow(), 0u);
}

struct Refusal {
    const char* name;
    CUptiResult result;
    const char* says;
};
void PrintTo(const Refusal& refusal, std::ostream* out) {
    *out << refusal.name;
}
class CuptiRefusal : public CuptiCapture, public testing::WithParamInterface<Refusal> {};

TEST_P(CuptiRefusal, OfASubscriptionOrOfKernelsIsOneSentence) {
    FakeCuptiScript script;
    script.subscribe = GetParam().result;
    play(script);
    const auto sentence = AllOf(StartsWith("Kernels are not recorded: "), HasSubstr(GetParam().says), EndsWith("."));
    EXPECT_THAT(begin(), sentence);
    script = {};
    script.enableKernels = GetParam().result;
    play(script);
    EXPECT_THAT(begin(), sentence);
    EXPECT_EQ(fakeCuptiState().subscribers, 0) << "another profiler may come";
    play({});
    EXPECT_EQ(begin(), nullptr) << "a refusal is not for ever";
    launch();
    EXPECT_EQ(kinds(collect(true))[CudaActivityKind::Kernel], 1);
}

INSTANTIATE_TEST_SUITE_P(Of, CuptiRefusal,
                         testing::Values(Refusal{"AnotherProfiler", CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "another profiler"},
                                         Refusal{"Permission", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "ERR_NVGPUCTRPERM"},
                                         Refusal{"NoDriver", CUPTI_ERROR_NOT_INITIALIZED, "no NVIDIA driver"},
                                         Refusal{"Wsl", CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "WSL"},
                                         Refusal{"Mig", CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "MIG"},
                                         Refusal{"Virtual", CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "virtual GPU"},
                                         Refusal{"VirtualPermission", CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, "virtual GPU"},
                                         Refusal{"Confidential", CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "confidential"},
                                         Refusal{"Unknown", CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_OF_THE_FAKE (999)"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(CuptiCapture, GoesOnWithoutKindsThatItCanDoWithout) {
    FakeCuptiScript script;
    script.enableOthers = CUPTI_ERROR_INVALID_KIND;
    play(script);
    ASSERT_EQ(begin(), nullptr);
    launch();
    EXPECT_EQ(kinds(collect(true)), (std::map<CudaActivityKind, int>{{CudaActivityKind::Kernel, 1}}));
    EXPECT_EQ(end().refused, 7);
}

TEST_F(CuptiCapture, NamesWhatALibraryLacksAndAVersionThatItCannotRead) {
    const auto beginWith = [this](const char* file) {
        stepscope_cuda_on_host_opens(file);
        const char* why = begin();
        stepscope_cuda_on_host_opens(nullptr);
        return why;
    };
    EXPECT_THAT(beginWith(FAKE_CUPTI_WITHOUT_FLUSH), HasSubstr("lacks cuptiActivityFlushAll"));
    EXPECT_THAT(beginWith(FAKE_CUPTI_OF_CUDA_12), HasSubstr("of version 24"));
    EXPECT_THAT(beginWith("./no-such-cupti.so"), HasSubstr("is not installed; packaging/run"));
    EXPECT_EQ(begin(), nullptr);
}

TEST_F(CuptiCapture, OneAtATime) {
    ASSERT_EQ(begin(), nullptr);
    EXPECT_STREQ(cuda.captureBegin({}), "Kernels are not recorded: another capture of this process is still at it.");
}

TEST_F(CuptiCapture, CountsWhatCuptiHadNoRoomFor) {
    CudaCaptureOptions little;
    little.mostBytes = 1;  // two buffers at least
    ASSERT_EQ(begin(little), nullptr);
    constexpr int kMany = 20'000;
    const auto record = kernel(1000, 2000);
    for (int i = 0; i < kMany; ++i) fakeCuptiRecord(&record, sizeof record);
    const auto first = collect();
    EXPECT_GT(first.size(), 1000u);
    fakeCuptiRecord(&record, sizeof record);
    EXPECT_EQ(collect(true).size(), 1u) << "and goes on when there is room again";
    const auto counts = end();
    EXPECT_GT(counts.dropped, 0);
    EXPECT_EQ(counts.records + counts.dropped, kMany + 1);
    EXPECT_LE(fakeCuptiState().buffersBack, 3);
}

TEST_F(CuptiCapture, PassesOverKindsThatItDoesNotKnow) {
    ASSERT_EQ(begin(), nullptr);
    struct {
        CUpti_ActivityKind kind = static_cast<CUpti_ActivityKind>(4711);
        char rest[60] = {};
    } unknown;
    fakeCuptiRecord(&unknown, sizeof unknown);
    const auto record = kernel(1000, 2000);
    fakeCuptiRecord(&record, sizeof record);
    fakeCuptiRecord(&unknown, sizeof unknown);
    EXPECT_EQ(collect(true).size(), 1u);
    EXPECT_EQ(end().unknown, 2);
}

TEST_F(CuptiCapture, HandsTimesOnAsTheyAreAndTheDecoderCountsThoseThatCannotBe) {
    ASSERT_EQ(begin(), nullptr);
    for (const auto& [start, finish] : {std::pair{0u, 500u}, {900u, 800u}, {1000u, 2000u}}) {
        const auto record = kernel(start, finish);
        fakeCuptiRecord(&record, sizeof record);
    }
    ActivityDecoder decoder({});
    for (const auto& record : collect(true)) decoder.add(record);
    decoder.take(true);
    EXPECT_EQ(decoder.counts().invalid, 2);
    EXPECT_EQ(decoder.counts().kernels, 1);
}

TEST_F(CuptiCapture, KnowsWhichOperationANodeOfAGraphWasCapturedIn) {
    ASSERT_EQ(cuda.captureGraphBegins({}), nullptr);
    EXPECT_TRUE(fakeCuptiRecords(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) << "kinds are on before a graph is captured";
    cuda.capturePush(501);
    fakeCuptiNode(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 1, 0);
    cuda.capturePush(502);
    fakeCuptiNode(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 2, 0);
    fakeCuptiNode(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 3, 0);
    cuda.capturePop();
    cuda.capturePop();
    fakeCuptiNode(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 4, 0);                                                          // of no operation
    for (const std::uint64_t node : {1, 2, 3, 4}) fakeCuptiNode(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, 10 + node, node);  // as it is made ready
    cuda.captureGraphEnds();
    EXPECT_FALSE(fakeCuptiRecords(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    fakeCuptiNode(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, 13, 0);

    for (int replay = 0; replay < 2; ++replay) {
        ASSERT_EQ(begin(), nullptr);
        for (const std::uint64_t node : {11, 12, 13, 14}) {
            auto record = kernel(1000 * node, 1000 * node + 10);
            record.graphId = 3;
            record.graphNodeId = node;
            fakeCuptiRecord(&record, sizeof record);
        }
        std::map<std::int64_t, std::int64_t> found;
        for (const auto& record : collect(true)) found[record.graphNode] = record.external;
        EXPECT_EQ(found, (std::map<std::int64_t, std::int64_t>{{11, 501}, {12, 502}, {13, 0}, {14, 0}}));
        end();
    }
    EXPECT_EQ(fakeCuptiState().subscribers, 1) << "nodes are cloned and destroyed whether or not anybody captures";
    for (const std::uint64_t node : {1, 2, 3, 11, 12}) fakeCuptiNode(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, node, 0);
    ASSERT_EQ(begin(), nullptr);
    end();
    EXPECT_EQ(fakeCuptiState().subscribers, 0) << "another profiler may come when no graph is left";
}

TEST_F(CuptiCapture, LivesWithAFlushThatHandsNothingOverAndOneThatFails) {
    FakeCuptiScript script;
    script.keepsRecords = true;
    play(script);
    ASSERT_EQ(begin(), nullptr);
    launch();
    EXPECT_TRUE(collect().empty());
    EXPECT_TRUE(collect(true).empty());
    EXPECT_EQ(end().records, 0);
    script = {};
    script.flush = CUPTI_ERROR_UNKNOWN;
    play(script);
    ASSERT_EQ(begin(), nullptr);
    launch();
    EXPECT_TRUE(collect(true).empty());
    EXPECT_THAT(problem, HasSubstr("hand its records over"));
}

TEST_F(CuptiCapture, BeginsAndEndsAHundredTimesAndNeverGoesDeaf) {
    std::int64_t asked = 0;
    for (int round = 0; round < 100; ++round) {
        ASSERT_EQ(begin(), nullptr) << round;
        cuda.capturePush(round + 1);
        launch();
        cuda.capturePop();
        const auto records = collect(round % 2 == 0);
        EXPECT_EQ(kinds(records)[CudaActivityKind::Kernel], 1) << round;
        launch();  // nobody asks for this one any more
        end();
        if (round % 7 == 0) {
            ASSERT_EQ(cuda.captureGraphBegins({}), nullptr);
            cuda.captureGraphEnds();
        }
        asked = fakeCuptiState().buffersAsked;
    }
    EXPECT_LE(asked, 400);
}

TEST_F(CuptiCapture, TakesRecordsOfThreadsThatLaunchWhileItCollects) {
    ASSERT_EQ(begin(), nullptr);
    constexpr int kThreads = 4, kEach = 200;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                cuda.capturePush(1000 * (t + 1) + i);
                launch();
                cuda.capturePop();
            }
        });
    std::vector<CudaActivity> records;
    for (int i = 0; i < 20; ++i) {
        for (const auto& one : collect()) records.push_back(one);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (auto& thread : threads) thread.join();
    for (const auto& one : collect(true)) records.push_back(one);
    std::set<std::int64_t> externals;
    for (const auto& one : records)
        if (one.kind == CudaActivityKind::External) externals.insert(one.external);
    EXPECT_EQ(kinds(records)[CudaActivityKind::Kernel], kThreads * kEach);
    EXPECT_EQ(externals.size(), static_cast<std::size_t>(kThreads * kEach));
}

}  // namespace
}  // namespace stepscope
