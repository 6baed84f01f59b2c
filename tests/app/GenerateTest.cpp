// `generate` and what weights of fewer bits cost, through the command line: several prompts, stops, what is said of speed and memory, refusals.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

using testing::HasSubstr;

class Generate : public CliFixture {
protected:
    std::string trained() { return std::to_string(train({"--checkpoint-every", "12"})["session"].get<std::int64_t>()); }
    Words words(const std::string& id, const Words& more) const {
        Words all{"generate", "--from", id, "--db", database(), "--tokens", "24", "--seed", "3"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
};

TEST_F(Generate, SaysHowFastItWasBesideTheText) {
    const auto id = trained();
    const auto text = cli(words(id, {"--prompt", "In the "}));
    ASSERT_EQ(text.exitCode, 0) << text.err;
    EXPECT_THAT(text.out, testing::StartsWith("In the "));
    EXPECT_THAT(text.err, HasSubstr("prompt 7 tokens"));
    EXPECT_THAT(text.err, HasSubstr("text 24 tokens"));
    EXPECT_THAT(text.err, HasSubstr("f32"));
    EXPECT_THAT(text.err, testing::Not(HasSubstr("computed anew")));
}

TEST_F(Generate, WritesBehindSeveralPromptsAtATimeWhateverTheyComeFrom) {
    const auto id = trained();
    const auto twice = cli(words(id, {"--prompt", "In the ", "--prompt", "A", "--temperature", "0", "--json"}));
    ASSERT_EQ(twice.exitCode, 0) << twice.err;
    const auto told = Json::parse(twice.out);
    ASSERT_EQ(told["texts"].size(), 2u);
    EXPECT_EQ(told["texts"][1]["prompt"], "A");
    EXPECT_EQ(told["prompt_tokens"], 8);
    EXPECT_EQ(told["text_tokens"], 48);
    EXPECT_GT(told["text_tokens_per_s"].get<double>(), 0);
    EXPECT_GT(told["weight_bytes"].get<std::int64_t>(), 0);
    EXPECT_GT(told["cache_bytes"].get<std::int64_t>(), 0);
    EXPECT_TRUE(told["recomputed"].is_null());
    const auto fromFile = cli(words(id, {"--prompts", write("prompts.txt", "\xEF\xBB\xBFIn the \n\nA\r\n"), "--temperature", "0", "--json"}));
    ASSERT_EQ(fromFile.exitCode, 0) << fromFile.err;
    EXPECT_EQ(Json::parse(fromFile.out)["texts"], told["texts"]);
    const auto shown = cli(words(id, {"--prompt", "In the ", "--prompt", "A", "--temperature", "0"}));
    EXPECT_THAT(shown.out, HasSubstr("--- 2 of 2\nA" + told["texts"][1]["text"].get<std::string>()));
}

TEST_F(Generate, EndsBeforeAStop) {
    const auto id = trained();
    const auto text = [&](const Words& more) {
        Words all{"--prompt", "In the ", "--temperature", "1.5", "--json"};
        all.insert(all.end(), more.begin(), more.end());
        return Json::parse(cli(words(id, all)).out)["texts"][0]["text"].get<std::string>();
    };
    const std::string whole = text({});
    const auto place = std::find_if(whole.begin() + 4, whole.end(), [](char c) { return c > ' ' && c < 127; });
    ASSERT_NE(place, whole.end()) << whole;
    const std::string stop(1, *place);
    EXPECT_EQ(text({"--stop", "nowhere at all", "--stop", stop}), whole.substr(0, whole.find(stop)));
}

TEST_F(Generate, WritesWithWeightsOfFewerBitsInLessMemory) {
    const auto id = trained();
    std::int64_t former = 0;
    for (const char* dtype : {"int4", "int8", "bf16", "f32"}) {
        const auto written = cli(words(id, {"--dtype", dtype, "--threads", "1", "--json"}));
        ASSERT_EQ(written.exitCode, 0) << written.err;
        const auto told = Json::parse(written.out);
        EXPECT_EQ(told["dtype"], dtype);
        EXPECT_EQ(told["threads"], 1);
        EXPECT_GT(told["weight_bytes"].get<std::int64_t>(), former);
        former = told["weight_bytes"].get<std::int64_t>();
    }
    const auto dynamic = cli(words(id, {"--dtype", "int8-dynamic", "--json"}));
    ASSERT_EQ(dynamic.exitCode, 0) << dynamic.err;
    EXPECT_LT(Json::parse(dynamic.out)["weight_bytes"].get<std::int64_t>(), former / 2);
}

// Bytes that come next, at most as many as are kept back where nothing is flushed; nothing where it has ended, or none come for a minute.
std::string nextOf(int pipe) {
    pollfd waiting{pipe, POLLIN, 0};
    if (::poll(&waiting, 1, 60'000) <= 0) return "";
    std::string bytes(1 << 16, '\0');
    const ssize_t got = ::read(pipe, bytes.data(), bytes.size());
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

TEST_F(Generate, OnePromptsTextGoesDownAPipeAsItComes) {
    const auto id = trained();
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    const int pipe = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);  // which waits for no writer
    ASSERT_GE(pipe, 0);
    Words all{"/bin/sh", "-c", "exec \"$0\" \"$@\" > '" + path("pipe") + "'", STEPSCOPE_CLI};
    for (const auto& word : words(id, {"--tokens", "100000", "--prompt", "In the "})) all.push_back(word);
    Process process(all, options());
    // A stream into a pipe keeps 4096 bytes back unless it is told not to: then they would come in as many at a time.
    constexpr std::size_t kKeptBack = 4096;
    std::string text;
    for (int pieces = 0; pieces < 20; ++pieces) {
        const std::string piece = nextOf(pipe);
        ASSERT_FALSE(piece.empty()) << process.wait().err;
        EXPECT_TRUE(piece.size() < kKeptBack || piece.size() % kKeptBack != 0) << piece.size() << " bytes at a time";
        text += piece;
    }
    EXPECT_THAT(text, testing::StartsWith("In the "));
    EXPECT_GT(text.size(), std::string("In the ").size());
    process.send(SIGINT);
    while (!nextOf(pipe).empty()) {
    }
    const Finished stopped = process.wait();
    EXPECT_EQ(stopped.exitCode, kStopped) << "it had not come to its end: " << stopped.err;
    ::close(pipe);
}

TEST_F(Generate, StoppedByCtrlCSaysWhatThereIs) {
    const auto id = trained();
    const auto stopped = [&](const Words& more) {
        Words all{STEPSCOPE_CLI};
        for (const auto& word : words(id, {"--tokens", "100000"})) all.push_back(word);
        for (int i = 0; i < 64; ++i) all.insert(all.end(), {"--prompt", "In the "});
        all.insert(all.end(), more.begin(), more.end());
        Process process(all, options());
        std::this_thread::sleep_for(std::chrono::seconds(4));
        process.send(SIGINT);
        return process.wait();
    };
    const auto shown = stopped({});
    EXPECT_EQ(shown.exitCode, kStopped) << shown.err;
    EXPECT_THAT(shown.out, testing::StartsWith("--- 1 of 64\nIn the "));
    EXPECT_THAT(shown.err, HasSubstr("It was stopped"));
    const auto asked = stopped({"--json"});
    EXPECT_EQ(asked.exitCode, kStopped) << asked.err;
    const auto told = Json::parse(asked.out);
    EXPECT_EQ(told["stopped"], true);
    EXPECT_FALSE(told["texts"][0]["text"].get<std::string>().empty());
    EXPECT_EQ(Json::parse(cli(words(id, {"--json"})).out)["stopped"], false);
}

TEST_F(Generate, APromptThatItsTokenizerCannotReadIsNamedByItsFileAndLine) {
    std::string text;
    for (int i = 0; i < 4000; ++i) text += static_cast<char>('a' + i % 8);
    const Json made = train({"--checkpoint-every", "12", "--data", write("text.txt", text), "--set", "tokenizer=char"});
    const auto id = std::to_string(made["session"].get<std::int64_t>());
    expectRefused(cli(words(id, {"--prompts", write("broken.txt", "a\n\na\xff\n")})), {"Line 3", "broken.txt", "not UTF-8 at byte 1"}, kBadInput);
}

TEST_F(Generate, RefusesWithASentence) {
    const auto id = trained();
    const auto refused = [&](const Words& more, const Words& named, int code) { expectRefused(cli(words(id, more)), named, code); };
    refused({"--dtype", "fp8"}, {"fp8", "int8-dynamic"}, kBadInput);
    refused({"--stop", ""}, {"stop"}, kBadInput);
    refused({"--repetition-penalty", "0"}, {"repetition-penalty"}, kBadInput);
    refused({"--presence-penalty", "much"}, {"presence-penalty", "much"}, kBadInput);
    refused({"--prompts", path("none.txt")}, {"none.txt"}, kNotFound);
    refused({"--prompts", "/dev/zero"}, {"/dev/zero", "no ordinary file"}, kBadInput);
    refused({"--prompts", path("")}, {"folder"}, kBadInput);
    refused({"--prompts", write("large.txt", std::string(5 << 20, 'a'))}, {"large.txt", "larger than 4 MB"}, kBadInput);
    refused({"--prompts", write("empty.txt", "\n\n")}, {"empty.txt", "no line"}, kBadInput);
    refused({"--prompts", write("one.txt", "a"), "--prompt", "b"}, {"--prompt", "--prompts"}, kBadInput);
    std::string many;
    for (int i = 0; i < 65; ++i) many += "a\n";
    refused({"--prompts", write("many.txt", many)}, {"64", "65"}, kBadInput);
}

TEST_F(Generate, EvaluatesWhatFewerBitsCost) {
    const auto id = trained();
    const Words eval{"eval", "--from", id, "--db", database(), "--tokens", "200", "--dtype", "int8"};
    const auto shown = cli(eval);
    ASSERT_EQ(shown.exitCode, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("int8 instead of f32: perplexity"));
    Words asJson = eval;
    asJson.push_back("--json");
    const auto told = Json::parse(cli(asJson).out);
    ASSERT_EQ(told["types"].size(), 2u);
    const auto &before = told["types"][0], &after = told["types"][1];
    EXPECT_EQ(before["dtype"], "f32");
    EXPECT_EQ(after["dtype"], "int8");
    EXPECT_NEAR(after["loss"].get<double>(), before["loss"].get<double>(), 0.1);
    EXPECT_LT(after["weight_bytes"].get<std::int64_t>(), before["weight_bytes"].get<std::int64_t>());
    EXPECT_GT(after["text_tokens_per_s"].get<double>(), 0);
    const auto plain = Json::parse(cli({"eval", "--from", id, "--db", database(), "--tokens", "200", "--json"}).out);
    EXPECT_FALSE(plain.contains("types"));
    EXPECT_NEAR(plain["loss"].get<double>(), before["loss"].get<double>(), 1e-4);
    const auto fewest = Json::parse(cli({"eval", "--from", id, "--db", database(), "--tokens", "200", "--dtype", "int4", "--json"}).out)["types"][1];
    EXPECT_EQ(fewest["dtype"], "int4");
    EXPECT_LT(fewest["weight_bytes"].get<std::int64_t>(), after["weight_bytes"].get<std::int64_t>());
    EXPECT_NEAR(fewest["loss"].get<double>(), before["loss"].get<double>(), 0.5);
    const auto dynamic = cli({"eval", "--from", id, "--db", database(), "--tokens", "200", "--dtype", "int8-dynamic"});
    ASSERT_EQ(dynamic.exitCode, 0) << dynamic.err;
    EXPECT_THAT(dynamic.out, HasSubstr("int8-dynamic instead of f32: perplexity"));
    expectRefused(cli({"eval", "--from", id, "--db", database(), "--dtype", "fp4"}), {"fp4"}, kBadInput);
}

}  // namespace
}  // namespace stepscope::test
