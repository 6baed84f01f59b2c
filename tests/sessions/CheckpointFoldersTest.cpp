// Whose checkpoints are whose: by the database's own name, whatever its path is called and whichever session numbers come twice.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;
namespace fs = std::filesystem;

namespace {

struct CheckpointFolders : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    static std::string makeCheckpoint(const std::string& place) {
        fs::create_directories(place);
        writeFile(place + "/state.json", "{}");
        return place;
    }
    std::int64_t record(const std::vector<std::string>& saved = {}) {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        EXPECT_TRUE(recorder) << recorder.error().sentence;
        std::int64_t step = 0;
        for (const auto& place : saved) (*recorder)->publish(CheckpointSaved{++step, {step * 1000}, {1}, place});
        EXPECT_TRUE((*recorder)->finish());
        return (*recorder)->session();
    }
    std::string place(std::int64_t session) const { return checkpointFolder(path, session).value(); }
};

}  // namespace

TEST_F(CheckpointFolders, AreTheSameBehindALinkAndThroughARelativePath) {
    const auto session = record();
    fs::create_directory(folder.file("elsewhere"));
    fs::create_symlink(path, folder.file("elsewhere/link.db"));
    EXPECT_EQ(checkpointFolder(folder.file("elsewhere/link.db"), session).value(), place(session));
    EXPECT_EQ(checkpointFolder(folder.file("elsewhere/../s.db"), session).value(), place(session));
    EXPECT_TRUE(place(session).starts_with(fs::canonical(path).string() + ".checkpoints/db-"));
}

TEST_F(CheckpointFolders, OfADatabaseThatTookTheOldOnesPlaceAreItsOwn) {
    const auto first = record();
    const auto old = makeCheckpoint(place(first) + "/step-0000010");
    fs::rename(path, folder.file("damaged.db"));
    const auto second = record();
    EXPECT_EQ(first, second) << "numbers begin anew";
    EXPECT_NE(place(second), fs::path(old).parent_path().string());
    EXPECT_TRUE(checkpointsOnDisk(path, second)->empty());
    const auto fresh = makeCheckpoint(place(second) + "/step-0000010");
    ASSERT_TRUE(deleteSession(path, second));
    ASSERT_TRUE(purgeDeletedSessions(path));
    EXPECT_FALSE(fs::exists(fresh));
    EXPECT_TRUE(fs::exists(old)) << "the old database's";
}

TEST_F(CheckpointFolders, OfSessionsThatABackupDoesNotKnowAreNotThoseOfItsNextSession) {
    record();
    fs::copy_file(path, folder.file("backup.db"));
    const auto lost = record();
    const auto old = makeCheckpoint(place(lost) + "/step-0000010");
    for (const char* beside : {"-wal", "-shm"}) fs::remove(path + beside);
    fs::copy_file(folder.file("backup.db"), path, fs::copy_options::overwrite_existing);
    const auto next = record();
    EXPECT_GT(next, lost);
    EXPECT_TRUE(checkpointsOnDisk(path, next)->empty());
    EXPECT_NE(place(next), fs::path(old).parent_path().string());
    ASSERT_TRUE(deleteSession(path, next));
    ASSERT_TRUE(purgeDeletedSessions(path));
    EXPECT_TRUE(fs::exists(old));
    EXPECT_EQ(record(), next + 1) << "no number is left out where nothing is in the way";
}

TEST_F(CheckpointFolders, OfASessionWhoseDatabaseHadNoneLeaveItsNumberOut) {
    { auto made = Recorder::open({.path = path}, sampleInfo()); }
    const std::string first = place(1);
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec("DELETE FROM sessions; DELETE FROM sqlite_sequence WHERE name = 'sessions'");
    makeCheckpoint(first + "/step-0000010");
    EXPECT_EQ(record(), 2);
}

TEST_F(CheckpointFolders, OfBeforeAreFoundAndOnlyWhatTheSessionStoredGoesWithIt) {
    const auto former = path + ".checkpoints/1";
    const auto mine = makeCheckpoint(former + "/step-0000001"), another = makeCheckpoint(former + "/step-0000777");
    const auto session = record({mine});
    ASSERT_EQ(session, 1);
    EXPECT_EQ(checkpointsOnDisk(path, session).value(), std::vector<std::string>{mine});
    ASSERT_TRUE(deleteSession(path, session));
    ASSERT_TRUE(purgeDeletedSessions(path));
    EXPECT_FALSE(fs::exists(mine));
    EXPECT_TRUE(fs::exists(another)) << "of another database that was here";
}

TEST_F(CheckpointFolders, NeverLeadAPurgeToWhereAStoredPathPoints) {
    const auto precious = makeCheckpoint(folder.file("precious"));
    const auto session = record({precious, path + ".checkpoints/1/../../precious", path + ".checkpoints/1/step-1/../../../precious"});
    ASSERT_TRUE(deleteSession(path, session));
    ASSERT_TRUE(purgeDeletedSessions(path));
    EXPECT_TRUE(fs::exists(precious + "/state.json"));
}

TEST_F(CheckpointFolders, OfADatabaseWhoseNameIsAPathAreRefused) {
    const auto session = record();
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec("UPDATE identity SET id = '../../../../../../precious'");
    EXPECT_EQ(checkpointFolder(path, session).error().code, ErrorCode::Damaged);
    EXPECT_FALSE(Recorder::open({.path = path}, sampleInfo()).ok());
}

TEST_F(CheckpointFolders, ShowWhatAKillKeptFromBeingStoredInTheOrderOfSteps) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    const auto session = (*recorder)->session();
    const std::string base = (*recorder)->checkpointFolder();
    const auto early = makeCheckpoint(base + "/step-0000010"), late = makeCheckpoint(base + "/step-0000200");
    const auto named = makeCheckpoint(folder.file("my own"));
    fs::create_directories(base + "/step-0000300");  // not whole
    fs::create_directories(base + "/step-0000400.unfinished-12");
    (*recorder)->publish(CheckpointSaved{10, {1}, {1}, early});
    (*recorder)->publish(CheckpointSaved{100, {2}, {1}, named});
    (*recorder)->publish(CheckpointSaved{150, {3}, {1}, base + "/step-0000150"});  // gone meanwhile
    ASSERT_TRUE((*recorder)->finish());
    EXPECT_EQ(checkpointsOnDisk(path, session).value(), (std::vector<std::string>{early, named, late}));
    EXPECT_EQ(checkpointsOnDisk(path, 77).error().code, ErrorCode::NotFound);
}

TEST_F(CheckpointFolders, AreListedWithTheirRoomAndTheLossThatWasValidatedAtTheirStep) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    const auto session = (*recorder)->session();
    const std::string base = (*recorder)->checkpointFolder();
    for (const int step : {10, 20}) {
        const auto place = makeCheckpoint(base + "/step-00000" + std::to_string(step));
        writeFile(place + "/model.safetensors", std::string(1000, 'x'));
        (*recorder)->publish(CheckpointSaved{step, {step}, {1}, place});
    }
    (*recorder)->publish(ValidationDone{20, {5}, {1}, 3.5});
    (*recorder)->publish(ValidationDone{20, {6}, {1}, 2.5});
    ASSERT_TRUE((*recorder)->finish());
    recorder->reset();
    const auto listed = listCheckpoints(path, session);
    ASSERT_TRUE(listed) << listed.error().sentence;
    ASSERT_EQ(listed->size(), 2u);
    EXPECT_EQ((*listed)[0].step, 10);
    EXPECT_EQ((*listed)[0].bytes, 1002);
    EXPECT_TRUE(std::isnan((*listed)[0].validationLoss)) << "nobody validated it";
    EXPECT_EQ((*listed)[1].validationLoss, 2.5) << "the newest";
    EXPECT_EQ(listCheckpoints(path, 77).error().code, ErrorCode::NotFound);
}

TEST_F(CheckpointFolders, OneIsRemovedByItselfAndItsRoomIsTold) {
    const auto session = record();
    const auto goes = makeCheckpoint(place(session) + "/step-0000010"), stays = makeCheckpoint(place(session) + "/step-0000020");
    const auto freed = deleteCheckpoint(path, session, goes);
    ASSERT_TRUE(freed) << freed.error().sentence;
    EXPECT_EQ(*freed, 2);
    EXPECT_EQ(checkpointsOnDisk(path, session).value(), std::vector<std::string>{stays});
    std::size_t left = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(place(session))) ++left;
    EXPECT_EQ(left, 1u) << "nothing unfinished";
    EXPECT_EQ(deleteCheckpoint(path, session, goes).error().code, ErrorCode::NotFound);
    EXPECT_EQ(deleteCheckpoint(path, 77, stays).error().code, ErrorCode::NotFound);
}

TEST_F(CheckpointFolders, OnlyWhatIsTheSessionsOwnIsRemoved) {
    const auto precious = makeCheckpoint(folder.file("precious"));
    const auto session = record({precious, path + ".checkpoints/1/step-1/../../../precious"});
    const auto other = record();
    const auto others = makeCheckpoint(place(other) + "/step-0000010");
    EXPECT_EQ(deleteCheckpoint(path, session, precious).error().code, ErrorCode::BadInput) << "somebody named that place";
    EXPECT_EQ(deleteCheckpoint(path, session, others).error().code, ErrorCode::NotFound);
    EXPECT_TRUE(fs::exists(precious + "/state.json"));
    EXPECT_TRUE(fs::exists(others + "/state.json"));
}

TEST_F(CheckpointFolders, OfARunningSessionAreNotRemoved) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    const auto session = (*recorder)->session();
    const auto held = makeCheckpoint((*recorder)->checkpointFolder() + "/step-0000010");
    const auto refused = deleteCheckpoint(path, session, held);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().sentence, "Session 1 is still running; stop it before deleting a checkpoint of it.");
    EXPECT_TRUE(fs::exists(held));
    ASSERT_TRUE((*recorder)->finish());
    recorder->reset();
    EXPECT_TRUE(deleteCheckpoint(path, session, held));
}

TEST_F(CheckpointFolders, TheNewestThatWasStoredIsNamedThoughItIsNotHere) {
    const auto session = record({"/rack/step-0000001", "/rack/step-0000002"}), none = record();
    EXPECT_EQ(newestStoredCheckpoint(path, session).value(), "/rack/step-0000002");
    EXPECT_EQ(newestStoredCheckpoint(path, none).value(), "");
    EXPECT_TRUE(checkpointsOnDisk(path, session)->empty());
}

TEST_F(CheckpointFolders, ThatCannotBeRemovedAreRememberedAndGoWithTheNextPurge) {
    ::chmod(folder.path().c_str(), 0777);
    const int outcome = asOrdinaryUser([&] {
        const auto stays = record(), goes = record();
        const auto held = makeCheckpoint(place(stays) + "/step-0000001");
        const auto gone = makeCheckpoint(place(goes) + "/step-0000001");
        if (!deleteSession(path, stays) || !deleteSession(path, goes)) return 1;
        ::chmod(place(stays).c_str(), 0500);
        const Status purged = purgeDeletedSessions(path);
        if (purged.ok() || purged.error().code != ErrorCode::Io) return 2;
        if (!fs::exists(held) || fs::exists(gone)) return 3;
        if (restoreSession(path, stays)) return 4;  // half of it may be gone
        ::chmod(place(stays).c_str(), 0700);
        if (!purgeDeletedSessions(path)) return 5;
        return fs::exists(held) ? 6 : 0;
    });
    EXPECT_EQ(outcome, 0);
}
