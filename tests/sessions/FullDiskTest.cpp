// No room: the recorder holds the run, keeps what it has, and goes on when there is room again. Once on a real full disk (a small
// tmpfs, where this machine lets us mount one), once with the process's file size limited, which every user may do.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/FileSizeLimit.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

constexpr std::int64_t kSteps = 30'000;  // several megabytes

// Publishes kSteps on a thread; `makeRoom` is called once the recorder says that it cannot go on.
void recordThroughAFullDisk(const std::string& path, const std::string& word, const std::function<void()>& makeRoom) {
    std::atomic<int> on = 0, off = 0;
    std::string why;
    auto recorder = Recorder::open({.path = path,
                                    .queueCapacity = 1000,
                                    .onBlocked =
                                        [&](bool blocked, const std::string& sentence) {
                                            if (blocked) why = sentence;
                                            ++(blocked ? on : off);
                                        }},
                                   sampleInfo());
    ASSERT_TRUE(recorder) << recorder.error().sentence;
    std::atomic<std::int64_t> published = 0;
    std::thread trainer([&] {
        (*recorder)->publish(StateChanged{{1}, 0, RunState::Running, ""});
        for (std::int64_t step = 1; step <= kSteps; ++step) {
            (*recorder)->publish(sampleStep(step));
            published = step;
        }
        (*recorder)->publish(StateChanged{{kSteps * 1'000'000 + 1}, kSteps, RunState::Finished, ""});
    });
    EXPECT_TRUE(eventually([&] { return (*recorder)->blocked(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // some tries in vain
    const std::int64_t held = published;
    EXPECT_LT(held, kSteps) << "the producer waits";
    EXPECT_EQ(on, 1);
    EXPECT_EQ(off, 0);
    EXPECT_NE(why.find(word), std::string::npos) << why;
    EXPECT_NE(why.find("s.db"), std::string::npos) << why;
    EXPECT_EQ((*SessionReader::open(path))->list()->at(0).state, RunState::Running) << "reading works meanwhile";

    makeRoom();
    trainer.join();
    const Status done = (*recorder)->finish();
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(on, off);
    const auto steps = stepsOf(storedEvents(path, 1));
    ASSERT_EQ(steps.size(), static_cast<std::size_t>(kSteps));
    for (std::int64_t step = 1; step <= kSteps; ++step) ASSERT_EQ(steps[static_cast<std::size_t>(step - 1)], step);
    EXPECT_EQ((*SessionReader::open(path))->list()->at(0).state, RunState::Finished);
    EXPECT_EQ(pragma(path, "integrity_check"), "ok");
}

}  // namespace

TEST(FullDisk, HoldsTheRunAndLosesNothing) {
    const TempFolder folder;
    if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=32m,mode=0755") != 0) GTEST_SKIP() << "this user may not mount a small disk";
    struct Unmount {
        std::string path;
        ~Unmount() { ::umount2(path.c_str(), MNT_DETACH); }
    } unmount{folder.path()};
    // 29 MB of ballast leave some 3 MB.
    writeFile(folder.file("ballast"), std::string(29 << 20, 'x'));
    recordThroughAFullDisk(folder.file("s.db"), "is full", [&] { std::filesystem::remove(folder.file("ballast")); });
}

TEST(FullDisk, SaysSoWhenNotEvenTheFileCanBeMade) {
    const TempFolder folder;
    if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=64k,mode=0755") != 0) GTEST_SKIP() << "this user may not mount a small disk";
    const auto recorder = Recorder::open({.path = folder.file("s.db")}, sampleInfo());
    EXPECT_FALSE(recorder);
    if (!recorder) {
        EXPECT_NE(recorder.error().sentence.find("s.db"), std::string::npos) << recorder.error().sentence;
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "an empty file would look like one without sessions";
    ::umount2(folder.path().c_str(), MNT_DETACH);
}

TEST(FullDisk, AFileThatCouldNotBeBegunIsTakenAwayAndOneThatWasThereIsNot) {
    const TempFolder folder;
    const std::string path = folder.file("s.db"), link = folder.file("link.db");
    for (const rlim_t room : {0, 600, 5000, 40'000}) {  // not its journal, not its first page, not its second, not all of its tables
        {
            const FileSizeLimit limit(room);
            EXPECT_FALSE(Recorder::open({.path = path}, sampleInfo()).ok()) << room;
        }
        EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << room;
    }
    std::filesystem::create_symlink(path, link);
    {
        const FileSizeLimit limit(5000);
        EXPECT_FALSE(Recorder::open({.path = link}, sampleInfo()).ok());
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    writeFile(path, "");
    {
        const FileSizeLimit limit(5000);
        EXPECT_FALSE(Recorder::open({.path = path}, sampleInfo()).ok());
    }
    EXPECT_TRUE(std::filesystem::exists(path)) << "somebody else made it";
    EXPECT_TRUE(Recorder::open({.path = path}, sampleInfo()).ok());
}

TEST(FullDisk, WhoWaitsForRoomIsLetGoWhereAPersonWantsItOver) {
    const TempFolder folder;
    const std::string path = folder.file("s.db");
    std::atomic<bool> over = false;
    std::atomic<int> ended = 0;
    auto recorder = Recorder::open({.path = path,
                                    .queueCapacity = 100,
                                    .onEnded = [&](const Error&) { ++ended; },
                                    .mayGiveUp = [&] { return over.load(); },
                                    .patience = std::chrono::milliseconds(300)},
                                   sampleInfo());
    ASSERT_TRUE(recorder) << recorder.error().sentence;
    const FileSizeLimit limit(1'000'000);
    std::atomic<bool> through = false;
    std::thread trainer([&] {
        for (std::int64_t step = 1; step <= kSteps; ++step) (*recorder)->publish(sampleStep(step));
        through = true;
    });
    EXPECT_TRUE(eventually([&] { return (*recorder)->blocked(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(700));  // longer than its patience
    EXPECT_FALSE(through) << "nobody wants it over yet";
    over = true;
    EXPECT_TRUE(eventually([&] { return through.load(); })) << "who waits cannot come to finish() otherwise";
    trainer.join();
    const Status done = (*recorder)->finish();
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().sentence.find("are not stored, and it counts as interrupted"), std::string::npos) << done.error().sentence;
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(pragma(path, "integrity_check"), "ok");
}

TEST(FullDisk, IsLikeAFileThatMayNotGrow) {
    const TempFolder folder;
    FileSizeLimit limit(1'000'000);
    recordThroughAFullDisk(folder.file("s.db"), "could not be read or written", [&] { limit.lift(); });
}
