// CliFixture: a folder of its own for each test, with its own data and cache folders, and short words for what most tests do.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/Process.h"

namespace stepscope::test {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

// Exit codes, as `stepscope-cli --help` promises them (app/cli/ExitCode.h): written out, so that no number changes unnoticed.
inline constexpr int kUsage = 2, kBadInput = 3, kNotFound = 4, kUnsupported = 5, kOutOfMemory = 6, kIo = 7, kDamaged = 8, kTraining = 9,
                     kStopped = 10, kKilled = 11, kUndecided = 12, kSlower = 13;

class CliFixture : public testing::Test {
protected:
    CliFixture();
    ~CliFixture() override;

    std::string path(const std::string& name) const { return (m_folder / name).string(); }
    std::string write(const std::string& name, const std::string& content) const;
    static std::string read(const std::string& path);
    std::string database() const { return path("sessions.db"); }

    Process::Options options() const;
    Finished cli(const Words& words) const;
    Finished cli(const Words& words, Process::Options options) const;

    // `train` of a model that takes milliseconds a step, on generated text, into database(); more words at the end.
    Words tiny(const Words& more = {}) const;
    Json train(const Words& more = {}) const;  // expects success; the summary
    // `ab`, `ladder` or `tune` of the same model.
    Words measuring(const std::string& command, const Words& more) const;
    static Json lastLine(const Finished& finished);  // of stdout, as JSON
    Json session(std::int64_t id) const;             // sessions show --json
    Json newest() const;                             // first of sessions list --json
    static std::vector<Json> stepLog(const std::string& path);
    static std::vector<std::string> losses(const std::string& stepLogPath);  // as written, digit for digit
    bool waitForSteps(const std::string& stepLogPath, std::size_t count) const;

    // The promises about every refusal: an exit code from 1 to 99, one short line on stderr with these words, no trace, no hang.
    static void expectRefused(const Finished& finished, const Words& named, int exitCode = 0);

private:
    std::filesystem::path m_folder;
};

}  // namespace stepscope::test
