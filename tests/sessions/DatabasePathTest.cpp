// Where the database lies when nobody says otherwise.
#include <gtest/gtest.h>

#include <cstdlib>

#include "sessions/SessionStore.h"

using namespace stepscope;

namespace {

struct DatabasePath : testing::Test {
    void TearDown() override {
        ::unsetenv("XDG_DATA_HOME");
        ::setenv("HOME", m_home.c_str(), 1);
    }
    std::string m_home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
};

}  // namespace

TEST_F(DatabasePath, FollowsTheDataFolderOfTheDesktop) {
    ::setenv("XDG_DATA_HOME", "/data", 1);
    EXPECT_EQ(defaultDatabasePath(), "/data/stepscope/sessions.db");
}

TEST_F(DatabasePath, IsBelowTheHomeFolderWithoutOne) {
    ::setenv("HOME", "/home/somebody", 1);
    ::unsetenv("XDG_DATA_HOME");
    EXPECT_EQ(defaultDatabasePath(), "/home/somebody/.local/share/stepscope/sessions.db");
    ::setenv("XDG_DATA_HOME", "relative/is/ignored", 1);
    EXPECT_EQ(defaultDatabasePath(), "/home/somebody/.local/share/stepscope/sessions.db");
}
