// Workers of one run as processes of their own: started with a rank, where they meet, what became of them.
#pragma once
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/app/CliFixture.h"
#include "tests/support/FreePort.h"

namespace stepscope::test {

class Workers : public CliFixture {
protected:
    // `train` of the fixture's model; words: of every worker, then of one alone. folder: where it is started, if not here.
    std::unique_ptr<Process> start(int rank, const Words& words, int size = 2, const Words& own = {}, const std::string& folder = {}) const {
        Words command;
        if (!folder.empty()) command = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder};
        command.push_back(STEPSCOPE_CLI);
        for (const Words& part : {tiny(words), own}) command.insert(command.end(), part.begin(), part.end());
        Process::Options with = options();
        with.environment["RANK"] = std::to_string(rank);
        with.environment["WORLD_SIZE"] = std::to_string(size);
        if (m_port > 0) {
            with.environment["MASTER_ADDR"] = "127.0.0.1";
            with.environment["MASTER_PORT"] = std::to_string(m_port);
        } else {
            with.environment["STEPSCOPE_WORKERS_FILE"] = path("meet");
        }
        return std::make_unique<Process>(command, with);
    }
    std::vector<Finished> run(const Words& words, int size = 2) {
        std::vector<std::unique_ptr<Process>> workers;
        for (int rank = 0; rank < size; ++rank) workers.push_back(start(rank, words, size));
        std::vector<Finished> finished;
        for (const auto& worker : workers) finished.push_back(worker->wait());
        std::filesystem::remove(path("meet"));
        return finished;
    }
    void expectDone(const std::vector<Finished>& finished) const {
        for (std::size_t rank = 0; rank < finished.size(); ++rank) {
            EXPECT_EQ(finished[rank].exitCode, 0) << finished[rank].err;
            EXPECT_EQ(finished[rank].err, "");
            if (rank > 0) {
                EXPECT_EQ(finished[rank].out, "") << "the first one alone tells";
            }
        }
    }
    // That was written last.
    std::string checkpoint() const {
        std::filesystem::path last;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(database() + ".checkpoints"))
            if (entry.path().filename() == "model.safetensors" &&
                (last.empty() || std::filesystem::last_write_time(entry) > std::filesystem::last_write_time(last)))
                last = entry.path();
        return last.parent_path().string();
    }
    std::string weights() const { return read(checkpoint() + "/model.safetensors"); }
    int logLines(const std::string& like) const {
        SQLite::Database stored(database(), SQLite::OPEN_READONLY);
        SQLite::Statement lines(stored, "SELECT count(*) FROM log_lines WHERE text LIKE ?");
        lines.bind(1, like);
        lines.executeStep();
        return lines.getColumn(0).getInt();
    }
    bool comes(const std::string& name) const {
        for (int look = 0; look < 6000 && !std::filesystem::exists(path(name)); ++look) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return std::filesystem::exists(path(name));
    }
    void meetAtAPort(int port = freePort()) { m_port = port; }

private:
    int m_port = 0;
};

}  // namespace stepscope::test
