// What tests of runs that another process trains share: an ear that keeps what is published, and a small run with a folder of its own. Real
// processes.
#pragma once
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/types.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "app/workbench/Workbench.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "sessions/SessionStore.h"
#include "sessions/wire/Frame.h"

namespace stepscope::test {

namespace fs = std::filesystem;

// Keeps all that is published, and wakes whoever waits for something of it.
class Ear final : public EventSink {
public:
    void publish(Event event) override {
        const std::lock_guard lock(m_mutex);
        m_all.push_back(std::move(event));
        m_more.notify_all();
    }
    void publishChunk(ChunkPtr chunk) override {
        const std::lock_guard lock(m_mutex);
        m_chunks.push_back(std::move(chunk));
    }
    bool waitFor(const std::function<bool(const Event&)>& wanted) {
        std::unique_lock lock(m_mutex);
        std::size_t seen = 0;
        return m_more.wait_for(lock, std::chrono::seconds(60), [&] {
            for (; seen < m_all.size(); ++seen)
                if (wanted(m_all[seen])) return true;
            return false;
        });
    }
    bool waitForStep(std::int64_t step) {
        return waitFor([step](const Event& event) {
            const auto* done = std::get_if<StepDone>(&event);
            return done != nullptr && done->step >= step;
        });
    }
    bool waitForLog(const std::string& part) {
        return waitFor([&part](const Event& event) {
            const auto* line = std::get_if<LogLine>(&event);
            return line != nullptr && line->text.find(part) != std::string::npos;
        });
    }
    template <class E>
    std::vector<E> all() const {
        const std::lock_guard lock(m_mutex);
        std::vector<E> found;
        for (const Event& event : m_all)
            if (const auto* one = std::get_if<E>(&event)) found.push_back(*one);
        return found;
    }
    std::vector<std::uint64_t> losses() const {
        std::vector<std::uint64_t> bits;
        for (const StepDone& step : all<StepDone>()) bits.push_back(std::bit_cast<std::uint64_t>(step.loss));
        return bits;
    }
    std::vector<std::string> log() const {
        std::vector<std::string> texts;
        for (const LogLine& line : all<LogLine>()) texts.push_back(line.text);
        return texts;
    }
    std::size_t chunks() const {
        const std::lock_guard lock(m_mutex);
        return m_chunks.size();
    }
    std::vector<std::vector<std::byte>> chunkBytes() const {
        const std::lock_guard lock(m_mutex);
        std::vector<std::vector<std::byte>> all;
        for (const ChunkPtr& chunk : m_chunks) all.push_back(chunk->bytes);
        return all;
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_more;
    std::vector<Event> m_all;
    std::vector<ChunkPtr> m_chunks;
};

class EngineRuns : public ::testing::Test {
protected:
    EngineRuns() {
        std::string made = (fs::temp_directory_path() / "stepscope-engine-XXXXXX").string();
        m_folder = ::mkdtemp(made.data());
    }
    ~EngineRuns() override { fs::remove_all(m_folder); }

    std::string path(const std::string& name) const { return (m_folder / name).string(); }

    // A model that takes milliseconds a step.
    RunRequest asked(std::int64_t steps, std::vector<std::string> engine = {STEPSCOPE_CLI, "engine"}) const {
        RunRequest request;
        request.config = presetConfig("tiny-cpu").value();
        request.config.data = "generated";
        request.config.layers = 1;
        request.config.heads = 2;
        request.config.width = 32;
        request.config.threads = 1;
        request.config.steps = steps;
        request.config.warmup = 2;
        request.config.checkpointAtEnd = "off";
        request.config.switches["batch-size"] = std::int64_t{2};
        request.config.switches["context"] = std::int64_t{32};
        request.config.switches["validation-every"] = std::int64_t{5};
        request.database = path("sessions.db");
        request.engine = std::move(engine);
        return request;
    }
    std::unique_ptr<stepscope::Run> start(RunRequest request, Ear& ear) {
        auto started = workbench->start(std::move(request), ear);
        EXPECT_TRUE(started) << started.error().sentence;
        return started ? std::move(*started) : nullptr;
    }
    // Of what answers in the engine's place.
    RunSummary failedWith(const std::string& shell, Ear& ear) {
        const auto run = start(asked(3, {"sh", "-c", shell}), ear);
        const std::jthread impatient([&run](const std::stop_token& ended) {
            for (int waited = 0; waited < 600 && !ended.stop_requested(); ++waited) std::this_thread::sleep_for(std::chrono::milliseconds(100));
            if (!ended.stop_requested()) run->send(Stop{});  // what is taken for an engine would be waited for without end
        });
        return run->wait();
    }
    std::string shellFile(const std::string& name, const FrameBytes& bytes) const {
        std::ofstream file(path(name), std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        return "cat '" + path(name) + "'; cat >/dev/null";
    }
    static std::vector<pid_t> children() {
        std::vector<pid_t> all;
        for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
            std::ifstream file(thread.path() / "children");
            for (pid_t child = 0; file >> child;) all.push_back(child);
        }
        return all;
    }
    std::vector<SessionSummary> stored() const {
        const auto reader = SessionReader::open(path("sessions.db"));
        return reader ? (*reader)->list().value() : std::vector<SessionSummary>();
    }

    std::unique_ptr<Workbench> workbench = Workbench::create();

private:
    fs::path m_folder;
};

}  // namespace stepscope::test
