// What the caching allocator keeps for reuse goes back to the system when a run ends, however it ends. CTest.
#include <gtest/gtest.h>

#include <algorithm>

#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/memory/HostAllocator.h"

namespace stepscope {
namespace {

using testing::TinyTrainer;

// Large enough for blocks that the allocator caches.
RunConfig cachingConfig() {
    RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), 4);
    config.width = 64;
    config.switches["batch-size"] = std::int64_t{16};
    config.switches["context"] = std::int64_t{64};
    config.switches["host-memory"] = std::string("caching");
    return config;
}

class TrimmedAtTheEnd : public ::testing::Test {
protected:
    TrimmedAtTheEnd() {
        host_memory::install();
        host_memory::refreshBudget();
        host_memory::trim();
    }
    ~TrimmedAtTheEnd() override {
        host_memory::refreshBudget();
        host_memory::trim();
    }

    // Notes what was kept while the run went on.
    RunState run(TinyTrainer& trainer) {
        const auto also = trainer.sink.onEvent;
        trainer.sink.onEvent = [this, also](const Event& event) {
            if (std::holds_alternative<StepDone>(event)) keptWhileRunning = std::max(keptWhileRunning, host_memory::usage().cached.count);
            if (also) also(event);
        };
        return trainer.run().state;
    }
    std::int64_t keptWhileRunning = 0;
};

TEST_F(TrimmedAtTheEnd, AFinishedRunKeepsNothing) {
    TinyTrainer trainer(cachingConfig());
    EXPECT_EQ(run(trainer), RunState::Finished);
    EXPECT_GT(keptWhileRunning, 1'000'000);
    EXPECT_EQ(host_memory::usage().cached.count, 0);
}

TEST_F(TrimmedAtTheEnd, AStoppedRunKeepsNothing) {
    TinyTrainer trainer(cachingConfig());
    trainer.sink.onEvent = [&](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event); done != nullptr && done->step == 2) trainer.commands.push(Stop{});
    };
    EXPECT_EQ(run(trainer), RunState::Stopped);
    EXPECT_GT(keptWhileRunning, 1'000'000);
    EXPECT_EQ(host_memory::usage().cached.count, 0);
}

TEST_F(TrimmedAtTheEnd, ARunThatFailedForMemoryKeepsNothing) {
    TinyTrainer trainer(cachingConfig());
    trainer.sink.onEvent = [&](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event); done == nullptr || done->step != 2) return;
        host_memory::setBudget({host_memory::usage().live.count + 2'000'000});
        trainer.commands.push(Flip{"batch-size", std::int64_t{512}});
    };
    EXPECT_EQ(run(trainer), RunState::Failed);
    EXPECT_GT(keptWhileRunning, 1'000'000);
    EXPECT_EQ(host_memory::usage().cached.count, 0);
}

}  // namespace
}  // namespace stepscope
