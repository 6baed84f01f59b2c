// Text while a run trains: several prompts of one request beside each other, each with its place, and one request behind the other. CTest.
#include <gtest/gtest.h>

#include <atomic>

#include "TinyTraining.h"
#include "app/workbench/text/GeneratorThread.h"

namespace stepscope {
namespace {

GeneratorThread::Job textJob(GenerateText request) {
    const auto state = TrainState::initialise({.layers = 1, .heads = 1, .width = 8, .vocabulary = 256, .paddedVocabulary = 256, .positions = 64}, 1);
    return {std::move(request), {state.config, state.layout, state.weights}, 7, byteTokenizer()};
}

GenerateText behindThree(std::int64_t tokens) {
    return {.prompt = "In the", .tokens = tokens, .temperature = 3, .seed = 5, .besides = {"A", "In the"}};
}

TEST(GeneratorThread, WritesBehindSeveralPromptsBesideEachOtherAndSaysOfWhichEachTextIs) {
    testing::CollectingSink sink;
    const SessionClock clock;
    GeneratorThread thread(sink, clock);
    thread.post(textJob(behindThree(24)));
    thread.post(textJob({.prompt = "Behind it", .tokens = 8}));
    thread.finish();

    std::vector<std::int64_t> pieces;
    std::vector<std::string> whole;
    std::string behind;
    for (const TextGenerated& text : sink.all<TextGenerated>()) {
        EXPECT_EQ(text.step, 7);
        if (text.prompt == "Behind it") {
            EXPECT_EQ(text.place, 0);
            EXPECT_EQ(whole.size(), 3u) << "one request behind the other";
            behind = text.text;
            continue;
        }
        EXPECT_EQ(text.prompt, text.place == 1 ? "A" : "In the");
        if (text.complete)
            whole.push_back(text.text);
        else
            pieces.push_back(text.place);
    }
    EXPECT_EQ(pieces, (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 1, 2})) << "none waits for another one's end";
    EXPECT_FALSE(behind.empty());

    const GeneratorThread::Job alone = textJob(behindThree(24));
    TextWork work;
    const std::vector<std::string> prompts{"In the", "A", "In the"};
    const std::atomic<bool> never{false};
    const auto expected = generateTexts(
        alone.model, *alone.tokenizer, alone.request, prompts, {}, [](std::size_t, const std::string&, const TextWork&) {}, never, work);
    ASSERT_TRUE(expected.ok()) << expected.error().sentence;
    EXPECT_EQ(whole, *expected);
    EXPECT_NE(whole[0], whole[2]) << "each draws for itself";
}

TEST(GeneratorThread, CutOffAllOfThemEndWhereTheyAre) {
    testing::CollectingSink sink;
    const SessionClock clock;
    GeneratorThread thread(sink, clock);
    sink.onEvent = [&](const Event&) { thread.cutOff(); };
    thread.post(textJob(behindThree(kMostTokensWritten)));
    thread.finish();
    std::vector<std::int64_t> ended;
    for (const TextGenerated& text : sink.all<TextGenerated>())
        if (text.complete) ended.push_back(text.place);
    EXPECT_EQ(ended, (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_EQ(thread.busy().load(), 0);
}

TEST(GeneratorThread, MorePromptsThanAreWrittenAtATimeAreRefusedWithASentence) {
    testing::CollectingSink sink;
    const SessionClock clock;
    GeneratorThread thread(sink, clock);
    GenerateText request = behindThree(8);
    request.besides.resize(64, "A");
    thread.post(textJob(request));
    thread.finish();
    EXPECT_TRUE(sink.all<TextGenerated>().empty());
    const auto lines = sink.all<LogLine>();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].subject.kind, Subject::Kind::Text);
    EXPECT_NE(lines[0].text.find("64 prompts at a time; these are 65"), std::string::npos) << lines[0].text;
}

}  // namespace
}  // namespace stepscope
