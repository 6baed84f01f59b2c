// Texts that a person no longer wants: the one under way, those that wait behind it, and those that a run has not begun yet. CTest.
#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/Workbench.h"
#include "app/workbench/text/GeneratorThread.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "core/state/TrainState.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLong = kMostTokensWritten;

// Of each text what came last.
class Written final : public EventSink {
public:
    void publish(Event event) override {
        const auto* text = std::get_if<TextGenerated>(&event);
        if (text == nullptr) return;
        const std::lock_guard lock(m_mutex);
        if (m_all.empty() || m_all.back().complete)
            m_all.push_back(*text);
        else
            m_all.back() = *text;
        m_more.notify_all();
    }
    void waitForFirst() {
        std::unique_lock lock(m_mutex);
        m_more.wait(lock, [this] { return !m_all.empty(); });
    }
    std::vector<TextGenerated> all() const {
        const std::lock_guard lock(m_mutex);
        return m_all;
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_more;
    std::vector<TextGenerated> m_all;
};

// Its tokens are letters, so that a text has as many bytes as tokens.
GeneratorThread::Job job(std::int64_t tokens, bool asked = true) {
    const auto state = TrainState::initialise({.layers = 1, .heads = 1, .width = 8, .vocabulary = 27, .paddedVocabulary = 27, .positions = 8}, 1);
    GeneratorThread::Job made;
    made.request.tokens = tokens;
    made.model = {state.config, state.layout, state.weights};
    made.tokenizer = charTokenizer("\nabcdefghijklmnopqrstuvwxyz");
    made.asked = asked;
    return made;
}

TEST(CutOffText, WhatWaitsAndWasAskedForIsNotBegunAndWhatIsAskedForLaterIs) {
    Written written;
    const SessionClock clock;
    GeneratorThread generator(written, clock);
    generator.post(job(kLong));
    generator.post(job(20));
    generator.post(job(21, false));
    generator.cutOff();
    generator.post(job(22));
    generator.finish();
    const auto all = written.all();
    ASSERT_EQ(all.size(), 4u) << "whoever asked hears of each";
    EXPECT_LT(all[0].text.size(), static_cast<std::size_t>(kLong));
    EXPECT_EQ(all[1].text, "");
    EXPECT_TRUE(all[1].complete);
    EXPECT_EQ(all[2].text.size(), 21u) << "a sample that is due waits for nobody's wish";
    EXPECT_EQ(all[3].text.size(), 22u);
}

TEST(CutOffText, AWishOfSomeTimeAgoLeavesASampleThatHasBegunMeanwhile) {
    Written written;
    const SessionClock clock;
    GeneratorThread generator(written, clock);
    generator.post(job(5'000, false));
    written.waitForFirst();
    generator.post(job(20));
    generator.cutOffAsked();
    generator.finish();
    const auto all = written.all();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].text.size(), 5'000u);
    EXPECT_EQ(all[1].text, "");
}

TEST(CutOffText, OneThatARunHasNotTakenYetIsCutOffToo) {
    Written written;
    const auto workbench = Workbench::create();
    RunRequest request;
    request.config = presetConfig("tiny-cpu").value();
    request.config.data = "generated";
    request.config.tokenizer = "char";
    request.config.sampleEvery = 0;
    request.config.layers = 1;
    request.config.heads = 2;
    request.config.width = 32;
    request.config.threads = 1;
    request.config.steps = 3;
    request.config.checkpointAtEnd = "off";
    request.config.switches["batch-size"] = std::int64_t{2};
    request.config.switches["context"] = std::int64_t{32};
    request.record = false;
    const auto run = workbench->start(std::move(request), written);
    ASSERT_TRUE(run) << run.error().sentence;
    // Before its first step, or between two of them: commands are taken at their boundaries.
    (*run)->send(GenerateText{.tokens = kLong});
    (*run)->send(GenerateText{.tokens = 0});
    (*run)->send(GenerateText{.tokens = 5});
    EXPECT_EQ((*run)->wait().state, RunState::Finished);
    const auto all = written.all();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_LT(all[0].text.size(), static_cast<std::size_t>(kLong) / 2);
    EXPECT_FALSE(all[1].text.empty());
}

}  // namespace
}  // namespace stepscope
