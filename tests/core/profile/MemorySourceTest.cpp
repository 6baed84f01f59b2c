// What a capture keeps of memory: who took it, what it is for, when it was given back; what lasts by name and the rest in one piece; a GPU's as
// LibTorch tells of it.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <c10/core/Allocator.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/OperationSpan.h"
#include "core/events/Event.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/MemorySource.h"
#include "core/trace/AllocationCodec.h"

namespace stepscope {
namespace {

struct Seen {
    std::string kind, owner;
    Allocation what;
};

class AllocationSink final : public EventSink {
public:
    void publish(Event) override {}
    void publishChunk(ChunkPtr chunk) override {
        ASSERT_EQ(chunk->kind, kAllocations);
        const auto block = decodeAllocations(*chunk);
        ASSERT_TRUE(block) << block.error().sentence;
        EXPECT_EQ(block->invalid, 0);
        std::int64_t known = 0;
        for (const auto& one : block->lostOf) {
            lost[one.device] += one.lost;
            known += one.lost;
        }
        EXPECT_EQ(known, block->lost) << "of each it is known whose memory it was";
        for (const auto& one : block->allocations) seen.push_back({block->strings[one.kind], block->strings[one.owner], one});
    }
    // Of a size that nothing else has.
    std::vector<Seen> of(std::int64_t bytes) const {
        std::vector<Seen> found;
        for (const auto& one : seen)
            if (one.what.bytes == bytes) found.push_back(one);
        return found;
    }
    std::vector<Seen> seen;
    std::map<std::int64_t, std::int64_t> lost;  // by device
};

struct MemorySourceTest : ::testing::Test {
    MemorySourceTest() {
        host_memory::install();
        host_memory::refreshBudget();
    }
    static at::Tensor take(std::int64_t bytes) { return at::empty({bytes}, at::TensorOptions().dtype(at::kByte)); }
    void begin(CaptureOutlet outlet = {}) {
        outlet.sink = &sink;
        outlet.clock = &clock;
        source = std::make_unique<MemorySource>(outlet);
    }
    static void phase(Activity activity, const std::function<void()>& work) {
        const PlaceScope place(activity);
        const StepRange range({.kind = RangeFacts::Kind::Phase, .activity = activity});
        work();
    }
    void end(TimeNs lastStep = {}) {
        CaptureDone done{.at = lastStep};
        EXPECT_EQ(source->finish(done), "");
        source.reset();
        EXPECT_TRUE(sink.lost.empty());
        EXPECT_TRUE(memoryObservers.empty() && stepObservers.empty());
    }
    AllocationSink sink;
    SessionClock clock;
    std::unique_ptr<MemorySource> source;
};

TEST_F(MemorySourceTest, AStepOfManyThatAreObservedStandsForItself) {
    begin({.late = &sink});
    EXPECT_TRUE(sink.seen.empty());
    const at::Tensor earlier = take(1'234'561), beside = take(1'234'565);
    const auto beginsAt = clock.now();
    source->stepBegins();
    const at::Tensor within = take(1'234'562);
    (void)take(1'234'563);
    const TimeNs ends = clock.now();
    source->stepEnds(ends);
    for (const std::int64_t bytes : {1'234'561, 1'234'565}) EXPECT_TRUE(sink.of(bytes).empty()) << "of before the step: in one piece with all else";
    EXPECT_EQ(sink.of(1'234'562).size(), 1u);
    EXPECT_EQ(sink.of(-1'234'562).size(), 1u) << "it is still held when the step ends";
    EXPECT_EQ(sink.of(-1'234'563).size(), 1u);
    std::map<std::uint64_t, std::int64_t> open;
    for (const Seen& one : sink.seen) {
        open[one.what.address] += one.what.bytes;
        EXPECT_GE(one.what.at, beginsAt.ns - 1'000'000);
        EXPECT_LE(one.what.at, ends.ns);
    }
    for (const auto& [address, bytes] : open) EXPECT_EQ(bytes, 0);
    const at::Tensor between = take(1'234'564);
    sink.seen.clear();
    source->stepBegins();
    source->stepEnds(clock.now());
    for (const std::int64_t bytes : {1'234'562, 1'234'564}) EXPECT_TRUE(sink.of(bytes).empty()) << bytes;
    EXPECT_EQ(sink.seen.size(), 2u) << "what there was, taken and given back";
    end(clock.now());
    EXPECT_EQ(sink.seen.size(), 2u);
}

TEST_F(MemorySourceTest, EachPieceHasWhoTookItAndWhatItIsFor) {
    begin();
    std::int64_t live = 0;
    phase(Activity::Forward, [&] {
        const PlaceScope layer(3, Role::MlpUp);
        const OperationSpan span("bias + GELU");
        const auto held = take(300'001);
        live = host_memory::usage().live.count;
    });
    phase(Activity::Forward, [] {
        const PlaceScope layer(3, Role::AttentionQkv);
        (void)at::ones({300'002}, at::TensorOptions().dtype(at::kByte));
    });
    phase(Activity::Batch, [] { (void)take(300'003); });
    source->stepDone();
    end();
    ASSERT_EQ(sink.of(300'001).size(), 1u);
    const Seen own = sink.of(300'001)[0];
    EXPECT_EQ(own.kind, "MLP");
    EXPECT_EQ(own.owner, "bias + GELU");
    EXPECT_EQ(own.what.totalAllocated, live);
    EXPECT_EQ(own.what.device, -1);
    ASSERT_EQ(sink.of(-300'001).size(), 1u);
    EXPECT_EQ(sink.of(-300'001)[0].what.address, own.what.address);
    EXPECT_EQ(sink.of(-300'001)[0].what.totalAllocated, live - 300'001);
    EXPECT_GE(sink.of(-300'001)[0].what.at, own.what.at);
    ASSERT_EQ(sink.of(300'002).size(), 1u);
    EXPECT_EQ(sink.of(300'002)[0].kind, "q, k, v");
    EXPECT_NE(sink.of(300'002)[0].owner, "aten::empty") << "what only makes room was asked to by what it is part of";
    EXPECT_TRUE(sink.of(300'002)[0].owner.starts_with("aten::")) << sink.of(300'002)[0].owner;
    ASSERT_EQ(sink.of(300'003).size(), 1u);
    EXPECT_EQ(sink.of(300'003)[0].kind, "batches");
}

TEST_F(MemorySourceTest, WhatTheBackwardPassLeavesForTheUpdateAreGradients) {
    begin();
    at::Tensor kept;
    phase(Activity::Backward, [&] {
        const PlaceScope layer(0, Role::MlpDown);
        kept = take(400'001);
        (void)take(400'002);
    });
    phase(Activity::Optimizer, [] { (void)take(400'003); });
    source->stepDone();
    kept = at::Tensor();
    end();
    EXPECT_EQ(sink.of(400'001).at(0).kind, "gradients");
    EXPECT_EQ(sink.of(400'002).at(0).kind, "MLP") << "it was in the way only";
    EXPECT_EQ(sink.of(400'003).at(0).kind, "scratch");
}

TEST_F(MemorySourceTest, WhatLastsHasItsNameAndTheRestIsOnePieceThatShrinks) {
    const auto weights = take(500'001);
    auto before = take(500'002);
    const auto other = take(500'004);
    begin({.lasting = [&] { return std::vector<LastingMemory>{{MemoryKind::Weights, weights.data_ptr(), 500'001}}; }});
    const std::int64_t live = host_memory::usage().live.count;
    before = at::Tensor();
    (void)take(500'003);
    source->stepDone();
    end();
    ASSERT_EQ(sink.of(500'001).size(), 1u);
    EXPECT_EQ(sink.of(500'001)[0].kind, "weights");
    EXPECT_EQ(sink.of(500'001)[0].what.totalAllocated, 500'001);
    ASSERT_EQ(sink.of(live - 500'001).size(), 1u);
    EXPECT_EQ(sink.of(live - 500'001)[0].what.totalAllocated, live) << "with all of them";
    EXPECT_EQ(sink.of(live - 500'001)[0].kind, kTakenBefore);
    const auto left = sink.of(live - 500'001 - 500'002);
    ASSERT_EQ(left.size(), 1u) << "less by what was given back";
    EXPECT_EQ(left[0].kind, kTakenBefore);
    EXPECT_EQ(left[0].what.totalAllocated, live - 500'002);
}

TEST_F(MemorySourceTest, NothingOfACaptureIsHeldBehindIt) {
    const auto weights = take(600'001);
    begin({.lasting = [&] { return std::vector<LastingMemory>{{MemoryKind::Weights, weights.data_ptr(), 600'001}}; }});
    const auto held = take(600'002);
    source->stepDone();
    const std::int64_t live = host_memory::usage().live.count;
    end();
    std::map<std::uint64_t, std::int64_t> ofAddress;
    for (const auto& one : sink.seen) ofAddress[one.what.address] += one.what.bytes;
    for (const auto& [address, bytes] : ofAddress) EXPECT_EQ(bytes, 0) << address;
    EXPECT_EQ(sink.seen.back().what.totalAllocated, live) << "though it is in use";
}

TEST_F(MemorySourceTest, NothingOfACaptureHasATimeBehindItsLastStep) {
    const auto weights = take(650'001);
    begin({.lasting = [&] { return std::vector<LastingMemory>{{MemoryKind::Weights, weights.data_ptr(), 650'001}}; }});
    const auto held = take(650'002);
    const TimeNs lastStep = clock.now();
    (void)take(650'003);  // when the step is over, before the capture is
    source->stepDone();
    end(lastStep);
    ASSERT_EQ(sink.of(-650'001).size(), 1u);
    EXPECT_EQ(sink.of(-650'001)[0].what.at, lastStep.ns);
    for (const auto& one : sink.seen) EXPECT_LE(one.what.at, lastStep.ns) << one.what.bytes;
}

TEST_F(MemorySourceTest, AGpusMemoryIsHeardAsLibTorchTellsOfIt) {
    begin({.gpu = true});
    const auto tell = [](std::uintptr_t address, std::int64_t bytes, std::size_t total) {
        c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(address), bytes, total, 4'000'000, c10::Device(c10::DeviceType::CUDA, 1));
    };
    phase(Activity::Forward, [&] {
        const PlaceScope layer(0, Role::HeadLoss);
        const OperationSpan span("linear + cross-entropy");
        tell(0x7000, 700'001, 900'000);
        tell(0x7000, -700'001, 199'999);
    });
    source->stepDone();
    end();
    ASSERT_EQ(sink.of(700'001).size(), 1u);
    const Seen one = sink.of(700'001)[0];
    EXPECT_EQ(one.kind, "logits and loss");
    EXPECT_EQ(one.owner, "linear + cross-entropy");
    EXPECT_EQ(one.what.device, 1);
    EXPECT_EQ(one.what.totalAllocated, 900'000);
    EXPECT_EQ(one.what.totalReserved, 4'000'000);
    ASSERT_EQ(sink.of(-700'001).size(), 1u);
    sink.seen.clear();
    tell(0x8000, 700'002, 900'000);
    EXPECT_TRUE(sink.seen.empty());
}

TEST_F(MemorySourceTest, WhatHasNoRoomIsCountedOfTheMemoryThatItIsOf) {
    begin({.gpu = true});
    constexpr std::int64_t kRoom = 1 << 20;
    const auto tell = [](std::int64_t bytes) {
        c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(0x7000), bytes, 512, 512, c10::Device(c10::DeviceType::CUDA, 1));
    };
    for (std::int64_t i = 0; i < kRoom + 6; i += 2) {
        tell(512);
        tell(-512);
    }
    { const auto held = take(800'001); }
    source->stepDone();
    { const auto held = take(800'003); }
    source->stepDone();
    CaptureDone done;
    EXPECT_NE(source->finish(done), "");
    source.reset();
    EXPECT_EQ(sink.lost[1], 6);
    EXPECT_EQ(sink.lost[-1], 2) << "taken and given back";
    EXPECT_TRUE(sink.of(800'001).empty());
    EXPECT_EQ(sink.of(800'003).size(), 1u) << "of the next step there is room again";
}

}  // namespace
}  // namespace stepscope
