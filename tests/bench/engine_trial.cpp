// A run of a preset whose steps are written down, trained by this process or by an engine of its own; until Ctrl-C. For tests/bench/engine_cost:
//   engine_trial LOG DATABASE PRESET [ENGINE'S WORDS ...]
// LOG: a line of JSON a step, with the time at which it ended by the clock of who trained it. Exit status 0 where the run was stopped or finished.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>

#include "app/workbench/Workbench.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"

namespace {

using namespace stepscope;

std::atomic<bool> g_asked{false};

class StepLog final : public EventSink {
public:
    explicit StepLog(const char* path) : m_file(std::fopen(path, "w")) {}
    ~StepLog() override {
        if (m_file != nullptr) std::fclose(m_file);
    }
    bool good() const { return m_file != nullptr; }
    void publish(Event event) override {
        if (const auto* step = std::get_if<StepDone>(&event)) fmt::print(m_file, "{{\"step\": {}, \"t_ns\": {}}}\n", step->step, step->at.ns);
        if (std::get_if<LogLine>(&event) == nullptr) return;
        const auto& line = std::get<LogLine>(event);
        if (line.level == LogLevel::Error) fmt::print(stderr, "{}\n", line.text);
    }

private:
    std::FILE* m_file;
};

}  // namespace

int main(int argc, char** argv) {
    initialiseEngine();
    if (argc < 4) {
        fmt::print(stderr, "engine_trial LOG DATABASE PRESET [ENGINE'S WORDS ...]\n");
        return 2;
    }
    StepLog log(argv[1]);
    const auto preset = presetConfig(argv[3]);
    if (!log.good() || !preset) {
        fmt::print(stderr, "{}\n", log.good() ? preset.error().sentence : std::string("The log cannot be written."));
        return 2;
    }
    std::signal(SIGINT, [](int) { g_asked = true; });
    RunRequest request;
    request.config = *preset;
    request.config.steps = 1'000'000;
    request.config.checkpointAtEnd = "off";
    request.config.switches["validation-every"] = std::int64_t{0};
    request.database = argv[2];
    request.engine.assign(argv + 4, argv + argc);
    const auto workbench = Workbench::create();
    auto run = workbench->start(std::move(request), log);
    if (!run) {
        fmt::print(stderr, "{}\n", run.error().sentence);
        return 1;
    }
    while (!g_asked && !(*run)->done()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    (*run)->send(Stop{});
    const RunSummary summary = (*run)->wait();
    if (summary.state != RunState::Stopped) fmt::print(stderr, "{}\n", summary.why);
    return summary.state == RunState::Stopped || summary.state == RunState::Finished ? 0 : 1;
}
