#include "tests/app/CliFixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace stepscope::test {

CliFixture::CliFixture() {
    std::string folder = (std::filesystem::temp_directory_path() / "stepscope-cli-XXXXXX").string();
    m_folder = mkdtemp(folder.data());
}

CliFixture::~CliFixture() {
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
}

std::string CliFixture::write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
}

std::string CliFixture::read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

Process::Options CliFixture::options() const {
    return {.environment = {{"XDG_DATA_HOME", path("data")}, {"XDG_CACHE_HOME", path("cache")}}};
}

Finished CliFixture::cli(const Words& words) const {
    return cli(words, options());
}

Finished CliFixture::cli(const Words& words, Process::Options options) const {
    Words command{STEPSCOPE_CLI};
    command.insert(command.end(), words.begin(), words.end());
    return Process(command, options).wait();
}

Words CliFixture::tiny(const Words& more) const {
    Words words{"train", "--preset", "tiny-cpu", "--data", "generated", "--db", database(), "--steps", "12"};
    for (const char* setting : {"layers=1", "heads=2", "width=16", "context=16", "batch-size=2", "threads=1", "warmup=2"})
        words.insert(words.end(), {"--set", setting});
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Words CliFixture::measuring(const std::string& command, const Words& more) const {
    Words all{command};
    const Words words = tiny();
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i] == "--steps" || words[i] == "--step-log")
            ++i;
        else if (words[i] != "--json")
            all.push_back(words[i]);
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

Json CliFixture::lastLine(const Finished& finished) {
    return Json::parse(finished.out.substr(finished.out.rfind('\n', finished.out.size() - 2) + 1));
}

Json CliFixture::train(const Words& more) const {
    auto words = tiny(more);
    words.push_back("--json");
    const auto finished = cli(words);
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    return Json::parse(finished.out, nullptr, false);
}

Json CliFixture::session(std::int64_t id) const {
    const auto finished = cli({"sessions", "show", std::to_string(id), "--db", database(), "--json"});
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    return Json::parse(finished.out, nullptr, false);
}

Json CliFixture::newest() const {
    const auto finished = cli({"sessions", "list", "--db", database(), "--json"});
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    const auto all = Json::parse(finished.out, nullptr, false);
    return all.is_array() && !all.empty() ? all.front() : Json();
}

std::vector<Json> CliFixture::stepLog(const std::string& path) {
    std::istringstream lines(read(path));
    std::vector<Json> all;
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
    return all;
}

std::vector<std::string> CliFixture::losses(const std::string& stepLogPath) {
    std::istringstream lines(read(stepLogPath));
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t from = line.find("\"loss\":");
        all.push_back(line.substr(from, std::min(line.find(",\"waiting_ns\":"), line.size() - 1) - from));  // no two runs wait for others alike
    }
    return all;
}

bool CliFixture::waitForSteps(const std::string& stepLogPath, std::size_t count) const {
    for (int i = 0; i < 1200; ++i) {
        const std::string text = read(stepLogPath);
        if (static_cast<std::size_t>(std::ranges::count(text, '\n')) >= count) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
}

void CliFixture::expectRefused(const Finished& finished, const Words& named, int exitCode) {
    EXPECT_FALSE(finished.timedOut);
    EXPECT_EQ(finished.signal, 0) << finished.err;
    EXPECT_GE(finished.exitCode, 1);
    EXPECT_LE(finished.exitCode, 99);
    if (exitCode != 0) {
        EXPECT_EQ(finished.exitCode, exitCode) << finished.err;
    }
    for (const auto& word : named) EXPECT_THAT(finished.err, testing::HasSubstr(word));
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    for (const char* trace : {"terminate called", "Exception raised from", "frame #", "what():", "Segmentation"})
        EXPECT_THAT(finished.err, testing::Not(testing::HasSubstr(trace)));
}

}  // namespace stepscope::test
