// What tests of engines that outlive their line share: such an engine on "its own machine", a folder of its own, and a line that is cut or cannot be
// had for a while. Real processes; what stands in for ssh is the command itself.
#pragma once
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <limits>
#include <thread>

#include "app/workbench/engine/detached/EngineFolder.h"
#include "core/trace/LodCodec.h"
#include "tests/app/engine/EngineFixture.h"

namespace stepscope::test {

using std::chrono::milliseconds;

class DetachedRuns : public EngineRuns {
protected:
    DetachedRuns() {
        // Longer than the path of a socket may be.
        m_data = path(std::string(90, 'a') + "/" + std::string(90, 'b'));
        ::setenv("XDG_DATA_HOME", m_data.c_str(), 1);
        std::signal(SIGPIPE, SIG_IGN);
    }
    ~DetachedRuns() override {
        for (const ListedEngine& one : listEngines()) killEngine(one.id);
        ::unsetenv("XDG_DATA_HOME");
    }

    // While the file "cut" is there nobody can be reached.
    std::vector<std::string> command() const {
        return {"sh", "-c",
                "test -e '" + path("cut") + "' && { echo 'No route to host' >&2; exit 255; }; test -e '" + path("banner") +
                    "' && echo 'Last login: today'; exec '" STEPSCOPE_CLI "' engine --detach"};
    }
    RunRequest askedThere(std::int64_t steps) const {
        RunRequest request = asked(steps, command());
        request.enginePause = milliseconds(1);
        return request;
    }
    static bool cutLine() {
        const auto lines = children();
        for (const pid_t line : lines) ::kill(line, SIGKILL);
        return !lines.empty();
    }
    void cutForLong() const {
        std::ofstream(path("cut")) << "x";
        cutLine();
    }
    void mend() const { std::filesystem::remove(path("cut")); }

    static std::string onlyEngine() {
        const auto all = listEngines();
        EXPECT_EQ(all.size(), 1u);
        return all.empty() ? std::string() : all.front().id;
    }
    static void waitForEnd(const std::string& id) {
        const auto folder = EngineFolder::open(id);
        while (folder && folder->engine().value_or(0) > 0) std::this_thread::sleep_for(milliseconds(10));
    }
    static void killEngine(const std::string& id) {
        const auto folder = EngineFolder::open(id);
        const auto process = folder ? folder->engine() : std::nullopt;
        if (process == ::getpid()) return;
        if (process && *process > 0) ::kill(*process, SIGKILL);
        waitForEnd(id);
    }
    static void waitUntilThereAreNone() {
        for (int i = 0; i < 2'000 && !listEngines().empty(); ++i) std::this_thread::sleep_for(milliseconds(10));
        EXPECT_THAT(listEngines(), ::testing::IsEmpty());
    }
    // What the engine's own machine has stored.
    static std::vector<SessionSummary> storedThere() {
        const auto reader = SessionReader::open(defaultDatabasePath());
        return reader ? (*reader)->list().value() : std::vector<SessionSummary>();
    }
    template <class E>
    static std::vector<E> storedEvents(const std::string& database, std::int64_t session) {
        std::vector<E> all;
        const auto reader = SessionReader::open(database);
        const auto events =
            reader ? (*reader)->events(session, 0, std::numeric_limits<std::int64_t>::max()) : Result<std::vector<Event>>(reader.error());
        if (!events) return all;
        for (const Event& event : *events)
            if (const auto* one = std::get_if<E>(&event)) all.push_back(*one);
        return all;
    }
    static std::vector<std::uint64_t> storedLosses(const std::string& database, std::int64_t session) {
        std::vector<std::uint64_t> bits;
        for (const StepDone& step : storedEvents<StepDone>(database, session)) bits.push_back(std::bit_cast<std::uint64_t>(step.loss));
        return bits;
    }

    // Bulk data as it was told, without what each recorder makes of it.
    static std::vector<ChunkLane> toldLanes(const std::string& database, std::int64_t session) {
        const auto reader = SessionReader::open(database);
        auto lanes = reader ? (*reader)->chunkLanes(session).value() : std::vector<ChunkLane>();
        std::erase_if(lanes, [](const ChunkLane& lane) { return lane.kind.starts_with("lod") || lane.kind == kNames || lane.kind == kKin; });
        return lanes;
    }

    std::string m_data;
};

}  // namespace stepscope::test
