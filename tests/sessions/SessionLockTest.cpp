// The lock that says a session is being recorded.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "sessions/file/SessionLock.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

TEST(SessionLock, IsSeenByTheProcessThatHoldsItAndByOthers) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    EXPECT_FALSE(SessionLock::held(path, 7));
    EXPECT_FALSE(std::filesystem::exists(path + ".lock")) << "looking does not write";
    std::optional lock = *SessionLock::take(path, 7);
    EXPECT_TRUE(SessionLock::held(path, 7));
    EXPECT_FALSE(SessionLock::held(path, 8));
    EXPECT_TRUE(SessionLock::take(path, 8));
    EXPECT_FALSE(SessionLock::take(path, 7)) << "one recorder a session";
    EXPECT_TRUE(SessionLock::held(path, 7)) << "probing and failing must not drop it";
    // Where somebody shares a database with others, the lock is shared with it.
    std::filesystem::permissions(path + ".lock", std::filesystem::perms(0644));
    EXPECT_EQ(asOrdinaryUser([&] { return SessionLock::held(path, 7) ? 1 : 0; }), 1);
    lock.reset();
    EXPECT_FALSE(SessionLock::held(path, 7));
}

TEST(SessionLock, GoesWithTheProcessHoweverItEnds) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    const pid_t child = ::fork();
    if (child == 0) {
        const auto lock = SessionLock::take(path, 3);
        ::pause();
        ::_exit(0);
    }
    EXPECT_TRUE(eventually([&] { return SessionLock::held(path, 3); }));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_FALSE(SessionLock::held(path, 3));
}

TEST(SessionLock, IsTheSameThroughASymbolicLink) {
    const TempFolder folder;
    writeFile(folder.file("s.db"), "");
    std::filesystem::create_symlink("s.db", folder.file("link.db"));
    const auto lock = SessionLock::take(folder.file("link.db"), 1);
    EXPECT_TRUE(SessionLock::held(folder.file("s.db"), 1));
}
