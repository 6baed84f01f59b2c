// What LibTorch warns of reaches whoever listens, as a sentence, and never a terminal: from any thread, once each, and during a run as a line of its
// log. CTest.
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <mutex>
#include <thread>

#include "app/workbench/Workbench.h"
#include "app/workbench/process/LibraryWarnings.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;

class LibraryWarnings : public ::testing::Test {
protected:
    void SetUp() override {
        takeLibraryWarnings();
        // What other tests left behind is told to this one.
        const LibraryWarningListener earlier([](const std::string&) {});
        ::testing::internal::CaptureStderr();
    }
    void TearDown() override { EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "raw on the terminal"; }

    std::function<void(const std::string&)> hear() {
        return [this](const std::string& sentence) {
            const std::lock_guard lock(m_mutex);
            heard.push_back(sentence);
        };
    }
    std::vector<std::string> heard;

private:
    std::mutex m_mutex;
};

TEST_F(LibraryWarnings, AreHeardFromEveryThreadWithoutPlaceAndTimeAndOnceEach) {
    const LibraryWarningListener listener(hear());
    TORCH_WARN("the moon is ", "full");
    TORCH_WARN("the moon is ", "full");
    std::thread([] { TORCH_WARN("and the tide is high"); }).join();
    LOG(ERROR) << "the sea (all of it) has risen";
    std::cerr << "something " << 7 << " else" << std::endl;
    EXPECT_THAT(heard, ElementsAre("LibTorch warns: the moon is full", "LibTorch warns: and the tide is high",
                                   "LibTorch warns: the sea (all of it) has risen", "A library says: something 7 else"));
}

TEST_F(LibraryWarnings, ThatCameWhileNobodyListenedAreToldFirstAndTheNewestListenerHears) {
    TORCH_WARN("early");
    const LibraryWarningListener outer(hear());
    EXPECT_THAT(heard, ElementsAre("LibTorch warns: early"));
    std::vector<std::string> inside;
    {
        const LibraryWarningListener inner([&](const std::string& sentence) {
            inside.push_back(sentence);
            if (inside.size() == 1) TORCH_WARN("caused by telling the first");
        });
        TORCH_WARN("during a run");
    }
    TORCH_WARN("after it");
    EXPECT_THAT(inside, ElementsAre("LibTorch warns: during a run", "LibTorch warns: caused by telling the first"));
    EXPECT_THAT(heard, ElementsAre("LibTorch warns: early", "LibTorch warns: after it"));
}

TEST_F(LibraryWarnings, OfAnyLengthAndFromManyThreadsAtOnceAreBounded) {
    const LibraryWarningListener listener(hear());
    std::cerr << std::string(1 << 20, 'x') << std::endl;
    ASSERT_EQ(heard.size(), 1u);
    EXPECT_LT(heard[0].size(), 5000u);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            for (int i = 0; i < 200; ++i) TORCH_WARN(t, " and ", i);
        });
    for (auto& thread : threads) thread.join();
    EXPECT_LE(heard.size(), 100u);
    EXPECT_GE(heard.size(), 50u);
}

TEST_F(LibraryWarnings, LinesThatWereReadElsewhereAreToldAsTheyAreAndWhatIsTooMuchIsCounted) {
    tellLibraryLine("early");
    leaveOutLibraryLines(2);
    {
        const LibraryWarningListener listener(hear());
        tellLibraryLine("\x1b[1;31mdnnl_verbose\x1b[0m,info \x07");
        tellLibraryLine("\x1b[1;31mdnnl_verbose\x1b[0m,info \x07");
        tellLibraryLine("[W1122 08:03:07.123456 Context.cpp:80] Warning: as LibTorch says it (function operator())");
        EXPECT_THAT(heard, ElementsAre("A library says: early", "A library says: dnnl_verbose,info \uFFFD", "LibTorch warns: as LibTorch says it"));
        for (int i = 0; i < 200; ++i) tellLibraryLine("line " + std::to_string(i));
        EXPECT_EQ(heard.size(), 100u);
    }
    ASSERT_EQ(heard.size(), 101u);
    EXPECT_EQ(heard.back(), "Libraries said 105 more things; they are left out here.") << "3 + 97 told; 103 of the lines and the 2 of before";
}

TEST_F(LibraryWarnings, OfARunAreLinesOfItsLog) {
    struct Sink final : EventSink {
        void publish(Event event) override {
            // On the trainer's thread, as an operation of a step would.
            if (std::holds_alternative<StepDone>(event)) {
                TORCH_WARN("an operation warned");
                std::thread([] { tellLibraryLine("a library in C warned"); }).join();
            }
            const std::lock_guard lock(mutex);
            if (const auto* line = std::get_if<LogLine>(&event)) lines.push_back(*line);
        }
        std::mutex mutex;
        std::vector<LogLine> lines;
    } sink;
    const auto workbench = Workbench::create();
    RunRequest request;
    request.record = false;
    request.config.data = "random";
    request.config.tokenizer = "byte";
    request.config.layers = 1;
    request.config.heads = 2;
    request.config.width = 16;
    request.config.steps = 3;
    request.config.threads = 1;
    request.config.switches["batch-size"] = std::int64_t{2};
    request.config.switches["context"] = std::int64_t{8};
    auto run = workbench->start(request, sink);
    ASSERT_TRUE(run.ok()) << run.error().sentence;
    EXPECT_EQ((*run)->wait().state, RunState::Finished);
    std::vector<LogLine> warned;
    for (const auto& line : sink.lines)
        if (line.text.find("warned") != std::string::npos) warned.push_back(line);
    ASSERT_EQ(warned.size(), 2u);
    EXPECT_EQ(warned[1].text, "A library says: a library in C warned");
    EXPECT_EQ(warned[0].text, "LibTorch warns: an operation warned");
    EXPECT_EQ(warned[0].level, LogLevel::Warning);
    EXPECT_EQ(warned[0].step, 1);
}

TEST(WarningSentence, HasNoFramesAndLeavesOutWhatTheWorkersTellThemselves) {
    EXPECT_EQ(warningSentence("[W1123 10:41:09.773000 socket.cpp:1030] It failed. Exception raised from here at x.cpp:1: frame #0: c10::Error\n"),
              "LibTorch warns: It failed.");
    EXPECT_EQ(warningSentence("[W1123 10:41:09.773000 socket.cpp:767] [c10d] The client socket has timed out after 2000ms.\n"), "");
}

}  // namespace
}  // namespace stepscope
