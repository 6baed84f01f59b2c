// Whether what a run's checkpoints will take fits the disk, before it begins: on the disk of a folder that is not there yet.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "TinyTraining.h"
#include "app/workbench/PlannedCheckpoints.h"
#include "core/base/Format.h"
#include "core/state/Checkpoint.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RunConfig everyStep(std::int64_t keep) {
    RunConfig config = testing::tinyConfig(testing::registry(), 1'000'000'000'000);
    config.checkpointEvery = 1;
    config.keep = keep;
    return config;
}

std::string notThereYet() {
    return (std::filesystem::temp_directory_path() / "stepscope-planned" / "s.db.checkpoints").string();
}

TEST(PlannedCheckpoints, ThatCannotFitTheDiskAreRefusedWithWhatTheyNeedAndWhatIsFree) {
    const Status refused = checkPlannedCheckpoints(everyStep(0), testing::freshState(), notThereYet());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Io);
    EXPECT_EQ(refused.error().subject.kind, Subject::Kind::Key);
    EXPECT_EQ(refused.error().subject.name, "keep");
    EXPECT_THAT(refused.error().sentence, AllOf(HasSubstr(format::count(1'000'000'000'000) + " of "), HasSubstr(" are free"), HasSubstr("set keep="),
                                                HasSubstr("another folder"), HasSubstr(notThereYet())));
}

TEST(PlannedCheckpoints, ThatFitAreNotRefused) {
    const TrainState state = testing::freshState();
    EXPECT_TRUE(checkPlannedCheckpoints(everyStep(1), state, notThereYet()));
    RunConfig none = everyStep(0);
    none.checkpointEvery = 0;
    none.checkpointAtEnd = "off";
    EXPECT_TRUE(checkPlannedCheckpoints(none, state, notThereYet()));
    EXPECT_TRUE(plannedCheckpoints(everyStep(1), state, notThereYet()).fits);
}

TEST(PlannedCheckpoints, NameAsManyAsFit) {
    const TrainState state = testing::freshState();
    const std::string sentence = checkPlannedCheckpoints(everyStep(0), state, notThereYet()).error().sentence;
    const std::int64_t named = std::stoll(sentence.substr(sentence.find("keep=") + 5));
    const std::int64_t free = static_cast<std::int64_t>(std::filesystem::space(std::filesystem::temp_directory_path()).available);
    EXPECT_GE(named, 1);
    // Others write to this disk meanwhile.
    EXPECT_LE(named, free / checkpointBytes(state.layout.size()) + 100'000);
    EXPECT_TRUE(checkPlannedCheckpoints(everyStep(std::max<std::int64_t>(1, named / 2)), state, notThereYet()));
}

// An older one goes when the newer one is there, so that both lie there for a moment.
TEST(PlannedCheckpoints, ThatFitAloneButNotBesideTheNextOneAreRefused) {
    const auto free = static_cast<std::int64_t>(std::filesystem::space(std::filesystem::temp_directory_path()).available);
    const std::int64_t parameters = free / 10 * 6 / checkpointBytes(1);  // of which one takes three fifths of what is free
    const Status refused = checkPlannedCheckpoints(everyStep(1), parameters, 0, notThereYet());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().sentence,
                AllOf(HasSubstr("(2 of "), HasSubstr(", one of them while it is written)"), HasSubstr("not even those that keep=1 leaves fit")));
    RunConfig one = everyStep(1);
    one.checkpointEvery = 0;
    one.checkpointAtEnd = "on";
    EXPECT_TRUE(checkPlannedCheckpoints(one, parameters, 0, notThereYet())) << "nothing is written beside it";
}

TEST(PlannedCheckpoints, OfADatabaseLieBesideTheFileThatItsLinkLeadsTo) {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stepscope-planned-link";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "far");
    std::filesystem::create_symlink(folder / "far", folder / "near");
    EXPECT_EQ(checkpointsBeside((folder / "near" / "s.db").string()), (std::filesystem::canonical(folder / "far") / "s.db.checkpoints").string());
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stepscope
