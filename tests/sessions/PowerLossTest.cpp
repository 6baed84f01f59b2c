// A power cut at 100 random moments of a real recording (power_cut.cpp is preloaded): the file opens and is whole, and no more than 250 ms and the
// slowest fsync is missing. The promise is of the program: that its threads wait for a processor where others have them all is not its doing, so the
// time that a thread beside them lost that way within the last second is allowed too. That excuses no more than a moment, and the last line of the
// test asks that some cuts had something to find all the same.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "sessions/record/WalSync.h"
#include "tests/sessions/TestSupport.h"
#include "tests/support/Sanitized.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

constexpr int kCuts = 100;
constexpr std::int64_t kPromisedNs = 250'000'000;

struct Recording {
    TempFolder folder;
    std::string data = folder.file("data"), into = folder.file("into"), log = folder.file("steps");
    pid_t child = 0;

    explicit Recording(int slowerMs) {
        std::filesystem::create_directory(data);
        std::filesystem::create_directory(into);
        const std::string program = besideThis("record_steps"), library = besideThis("libpower_cut.so");
        child = ::fork();
        if (child == 0) {
            ::setenv("LD_PRELOAD", library.c_str(), 1);
            ::setenv("POWER_CUT_FOLDER", data.c_str(), 1);
            ::setenv("POWER_CUT_INTO", into.c_str(), 1);
            ::setenv("POWER_CUT_SLOWER_MS", std::to_string(slowerMs).c_str(), 1);
            ::execl(program.c_str(), program.c_str(), (data + "/s.db").c_str(), log.c_str(), nullptr);
            ::_exit(127);
        }
    }
    ~Recording() {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }

    // The number of the last step that was published before this moment of the machine's clock.
    std::int64_t lastStepBefore(std::int64_t moment) const {
        std::int64_t last = 0;
        std::istringstream all(contentOf(log));
        for (std::string line; std::getline(all, line) && !all.eof();) {
            const auto parsed = nlohmann::json::parse(line);
            if (parsed["mono_ns"].get<std::int64_t>() >= moment) break;
            last = parsed["step"].get<std::int64_t>();
        }
        return last;
    }
};

}  // namespace

TEST(PowerLoss, TakesNoMoreThanAQuarterOfASecondAndTheSlowestFsyncAtAHundredMoments) {
    if (underSanitizer()) GTEST_SKIP() << "what stands for the power cut is loaded first, and so is a sanitizer";
    const Recording recording(30);
    int withSteps = 0, asked = 0;
    std::int64_t worst = 0;
    for (int number = 0; number < kCuts; ++number) {
        const std::string cut = recording.into + "/cut", path = cut + "/s.db";
        ASSERT_TRUE(eventually([&] { return std::filesystem::exists(cut); }, 60));
        std::int64_t moment = 0, slowest = 0, stall = 0;
        std::ifstream(cut + "/moment") >> moment >> slowest >> stall;
        const auto where = fmt::format("cut {}: slowest fsync {:.1f} ms, a thread waited {:.1f} ms of the last second for a processor", number,
                                       static_cast<double>(slowest) / 1e6, static_cast<double>(stall) / 1e6);
        const std::int64_t must = recording.lastStepBefore(moment - kPromisedNs - slowest - stall);
        asked += must > 0;
        std::int64_t stored = 0;
        if (std::filesystem::exists(path)) {
            auto reader = SessionReader::open(path);
            ASSERT_TRUE(reader) << where << ": " << reader.error().sentence << " " << reader.error().cause;
            const auto list = (*reader)->list();
            ASSERT_TRUE(list) << where << ": " << list.error().sentence;
            ASSERT_TRUE((*reader)->unreadable().empty()) << where;
            if (!list->empty()) {
                stored = list->at(0).steps;
                EXPECT_EQ(list->at(0).state, stored > 0 ? RunState::Interrupted : list->at(0).state) << where;
                EXPECT_EQ(static_cast<std::int64_t>(stepsOf(storedEvents(path, list->at(0).id)).size()), stored) << where << ": a gap";
            }
            EXPECT_EQ(pragma(path, "integrity_check"), "ok") << where;
        }
        EXPECT_GE(stored, must) << where;
        withSteps += stored > 0;
        worst = std::max(worst, recording.lastStepBefore(moment) - stored);
        std::filesystem::remove_all(cut);
    }
    EXPECT_GE(withSteps, kCuts * 3 / 4);
    EXPECT_GE(asked, kCuts / 10) << "so slow were fsyncs or the machine that nothing had to be there yet";
    RecordProperty("most_steps_missing", static_cast<int>(worst));
}

TEST(PowerLoss, TheLogIsFollowedWhenItIsMadeAnew) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    std::string problem;
    WalSync sync(path, [&](const std::string& why) { problem = why; });
    sync.committed();  // there is none yet
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    ASSERT_TRUE((*recorder)->finish());  // the last connection removes it
    sync.committed();
    recorder = Recorder::open({.path = path}, sampleInfo());
    sync.committed();
    ASSERT_TRUE((*recorder)->finish());
    EXPECT_EQ(problem, "");
}
