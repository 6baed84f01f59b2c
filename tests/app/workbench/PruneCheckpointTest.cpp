// Pruning that is stopped leaves nothing behind, wherever it is. CTest.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>

#include "TinyTraining.h"
#include "app/workbench/text/PruneCheckpoint.h"
#include "core/state/Checkpoint.h"

namespace stepscope {
namespace {

TEST(PruneCheckpoint, StoppedBeforeOrBehindTheCheckpointItLeavesNothingInTheWayOfASecondTry) {
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("stepscope-prune-{}", ::getpid());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const Registry registry(testing::plainCpu());
    RunConfig config = testing::tinyConfig(registry);
    config.data = "generated";
    config.tokenizer = "byte";
    PruneRequest request;
    request.evaluate.checkpoint = (folder / "checkpoint").string();
    request.evaluate.tokens = 61;
    request.evaluate.batch = 1;
    request.evaluate.threads = 1;
    request.out = (folder / "pruned").string();
    ASSERT_TRUE(saveCheckpoint(request.evaluate.checkpoint, TrainState::initialise(registry.modelShape(config, 256), 3), config, "", 1.5).ok());
    const auto entries = [&] { return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()); };
    for (const double at : {0.01, 0.51}) {
        std::atomic<bool> cancelled{false};
        const auto stopped = pruneCheckpoint(
            request, [&](double share) { cancelled = cancelled || share > at; }, cancelled);
        ASSERT_FALSE(stopped) << at;
        EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
        EXPECT_EQ(entries(), 1) << "at a share of " << at;
    }
    const std::atomic<bool> never{false};
    const auto pruned = pruneCheckpoint(
        request, [](double) {}, never);
    EXPECT_TRUE(pruned) << pruned.error().sentence;
    EXPECT_EQ(entries(), 2);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stepscope
