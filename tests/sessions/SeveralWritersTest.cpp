// Several programs record into one file at the same time, from before it exists.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

constexpr std::int64_t kStepsOfEach = 3000;

int recordAsProcess(const std::string& path, const std::string& name) {
    auto recorder = Recorder::open({.path = path}, sampleInfo(name));
    if (!recorder) {
        fmt::print(stderr, "{} {}\n", recorder.error().sentence, recorder.error().cause);
        return 1;
    }
    (*recorder)->publish(StateChanged{{1}, 0, RunState::Running, ""});
    for (std::int64_t step = 1; step <= kStepsOfEach; ++step) {
        (*recorder)->publish(sampleStep(step));
        if (step % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    (*recorder)->publish(StateChanged{{kStepsOfEach * 1'000'000 + 1}, kStepsOfEach, RunState::Finished, ""});
    return (*recorder)->finish() ? 0 : 2;
}

}  // namespace

TEST(SeveralWriters, EachFindAllTheirStepsWhileAReaderLooksOn) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    std::vector<pid_t> children;
    for (int child = 0; child < 3; ++child) {
        const pid_t pid = ::fork();
        if (pid == 0) ::_exit(recordAsProcess(path, fmt::format("writer {}", child)));
        children.push_back(pid);
    }
    // A reader of this process, again and again, while they write.
    std::size_t mostRunning = 0;
    EXPECT_TRUE(eventually(
        [&] {
            auto reader = SessionReader::open(path);
            if (!reader) return false;
            const auto list = (*reader)->list();
            EXPECT_TRUE(list) << list.error().sentence;
            mostRunning = std::max(mostRunning, static_cast<std::size_t>(std::ranges::count(*list, RunState::Running, &SessionSummary::state)));
            EXPECT_EQ(std::ranges::count(*list, RunState::Interrupted, &SessionSummary::state), 0);
            return list->size() == 3 && std::ranges::all_of(*list, [](const auto& s) { return s.state == RunState::Finished; });
        },
        60));
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    EXPECT_EQ(mostRunning, 3u);
    std::set<std::string> names;
    for (std::int64_t session = 1; session <= 3; ++session) {
        EXPECT_EQ(stepsOf(storedEvents(path, session)).size(), static_cast<std::size_t>(kStepsOfEach));
        names.insert((*SessionReader::open(path))->summary(session)->name);
    }
    EXPECT_EQ(names.size(), 3u);
    EXPECT_EQ(pragma(path, "integrity_check"), "ok");
}

TEST(SeveralWriters, MayAllMakeTheFileAtTheSameMoment) {
    for (int round = 0; round < 10; ++round) {
        const TempFolder folder;
        const auto path = folder.file("s.db");
        std::vector<pid_t> children;
        for (int child = 0; child < 4; ++child) {
            const pid_t pid = ::fork();
            if (pid == 0) {
                auto recorder = Recorder::open({.path = path}, sampleInfo());
                if (!recorder) fmt::print(stderr, "{} {}\n", recorder.error().sentence, recorder.error().cause);
                ::_exit(recorder && (*recorder)->finish() ? 0 : 1);
            }
            children.push_back(pid);
        }
        for (const pid_t child : children) {
            int status = 0;
            ::waitpid(child, &status, 0);
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        EXPECT_EQ((*SessionReader::open(path))->list()->size(), 4u);
    }
}
