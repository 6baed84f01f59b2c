// The words with which the other workers of a run of the window are started, and what is refused before any is. CTest.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <string>

#include "app/workbench/workers/LocalRun.h"
#include "app/workbench/workers/LocalWorkers.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

RunRequest asked() {
    RunRequest request;
    request.workerProgram = "/somewhere/stepscope-cli";
    request.localWorkers = 2;
    request.config.data = "my text=1.txt";
    request.config.lr = 0.00123;
    request.config.switches["amp"] = std::string("bf16");
    return request;
}

TEST(LocalRun, OthersAreStartedWithEveryKeyOfTheFirst) {
    const RunRequest request = asked();
    const auto words = workerCommand(request);
    ASSERT_GT(words.size(), 2u);
    EXPECT_EQ(words[0], "/somewhere/stepscope-cli");
    EXPECT_EQ(words[1], "train");
    for (const auto& [key, value] : listConfig(request.config)) EXPECT_THAT(words, Contains(key == "preset" ? value : key + "=" + value)) << key;
    EXPECT_THAT(words, IsSupersetOf({"--preset", "data=my text=1.txt", "lr=0.00123", "amp=bf16", "--patience", "300"}));
    EXPECT_THAT(words, Not(Contains("--resume")));
    EXPECT_THAT(words, Not(Contains("--init")));
}

TEST(LocalRun, OthersGoOnFromTheSameCheckpointOrBeginFromTheSameWeights) {
    RunRequest request = asked();
    request.resume = "/somewhere/step-0000005";
    EXPECT_THAT(workerCommand(request), IsSupersetOf({"--resume", "/somewhere/step-0000005"}));
    EXPECT_THAT(workerCommand(request), Not(Contains("--preset"))) << "a checkpoint knows its own";
    request = asked();
    request.init = "/somewhere/gpt2";
    request.initPartial = true;
    request.scheduled.push_back({100, Flip{"amp", std::string("off")}});
    EXPECT_THAT(workerCommand(request), IsSupersetOf({"--init", "/somewhere/gpt2", "--init-partial", "--flip", "100:amp=off"}));
}

TEST(LocalRun, WhatCannotBeStartedIsRefusedBeforeAnybodyIs) {
    struct Silence final : EventSink {
        void publish(Event) override {}
    } silence;
    const auto workbench = Workbench::create();
    RunRequest request = asked();
    const auto missing = startLocalRun(*workbench, request, silence);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_THAT(missing.error().sentence, HasSubstr("\"/somewhere/stepscope-cli\" is not there"));
    request.localWorkers = LocalWorkers::kMost + 1;
    EXPECT_THAT(startLocalRun(*workbench, request, silence).error().sentence, HasSubstr("There can be 1 to 256 workers on this machine, not 257."));
}

TEST(LocalRun, AFolderForTemporaryFilesThatIsNoneIsNamed) {
    const char* const before = std::getenv("TMPDIR");
    const std::string kept = before != nullptr ? before : "";
    ::setenv("TMPDIR", "/dev/null", 1);
    const auto file = LocalWorkers::start({"/bin/true"}, 2, 0, {});
    ::setenv("TMPDIR", "/nowhere/to/be/found", 1);
    const auto missing = LocalWorkers::start({"/bin/true"}, 2, 0, {});
    if (before != nullptr)
        ::setenv("TMPDIR", kept.c_str(), 1);
    else
        ::unsetenv("TMPDIR");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().sentence, "No folder can be made at \"/dev/null\" for workers to meet in: Not a directory. TMPDIR names another place.");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().sentence,
              "No folder can be made at \"/nowhere/to/be/found\" for workers to meet in: No such file or directory. TMPDIR names another place.");
}

TEST(LocalRun, TheWordsOfThisProcessAreThoseItWasStartedWithOrASentence) {
    const auto own = ownCommand();
    ASSERT_TRUE(own) << own.error().sentence;
    EXPECT_EQ(own->front(), ownProgram());
    EXPECT_THAT(ownProgram(), ::testing::EndsWith("/workbench_test"));
    // Opened, and refused when it is read.
    const auto unread = ownCommand("/proc/self/mem");
    ASSERT_FALSE(unread);
    EXPECT_EQ(unread.error().sentence,
              "The other workers cannot be started, as the words that this one was started with are not known: /proc/self/mem cannot be read: "
              "Input/output error.");
    EXPECT_THAT(ownCommand("/dev/null").error().sentence, HasSubstr("/dev/null is empty."));
}

}  // namespace
}  // namespace stepscope
