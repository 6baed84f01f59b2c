#include "app/workbench/workers/LocalRun.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "app/workbench/workers/LocalWorkers.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "core/memory/HostAllocator.h"

namespace stepscope {
namespace {

constexpr int kEndedAsAsked = 10;  // with which status the command line's program ends when it was stopped

class LocalRun final : public Run, public EventSink {
public:
    explicit LocalRun(EventSink& listener) : m_listener(listener) {}

    ~LocalRun() override {
        if (m_run) {
            m_run->send(Stop{});
            (void)m_run->wait();
        }
        m_others.reset();            // who is told that one of them has failed goes with them
        host_memory::shareAmong(1);  // what this process does next it does alone
    }

    Status begin(Workbench& workbench, RunRequest request) {
        auto others = LocalWorkers::start(workerCommand(request), request.localWorkers, kEndedAsAsked, [this] { otherFailed(); });
        if (!others) return others.error();
        m_others = std::move(*others);
        request.workers = m_others->place();
        request.localWorkers = 1;
        auto started = workbench.start(std::move(request), *this);
        if (!started) return started.error();
        m_run = std::move(*started);
        m_told = m_run.get();
        if (m_otherFailed) m_run->send(Stop{});  // before there was a run to tell
        return {};
    }

    void send(Command command) override {
        if (std::holds_alternative<Stop>(command)) m_stopAsked = true;
        m_run->send(std::move(command));
    }
    bool done() const override { return m_run->done(); }

    RunSummary wait() override {
        RunSummary summary = m_run->wait();
        const std::lock_guard joining(m_joining);
        if (!m_ended) m_ended = endOf(std::move(summary));
        return *m_ended;
    }

    // A stop that nobody asked for is not told as one.
    void publish(Event event) override {
        if (becauseOfOther()) {
            const auto* line = std::get_if<LogLine>(&event);
            if (line != nullptr && line->code == ErrorCode::Cancelled) return;
            if (const auto* changed = std::get_if<StateChanged>(&event); changed != nullptr && changed->state == RunState::Stopped) {
                const std::lock_guard lock(m_mutex);
                m_held = *changed;
                return;
            }
        }
        if (const auto* changed = std::get_if<StateChanged>(&event); changed != nullptr && changed->state == RunState::Failed) {
            const std::lock_guard lock(m_mutex);
            m_end = *changed;
        }
        m_listener.publish(std::move(event));
    }
    void publishChunk(ChunkPtr chunk) override { m_listener.publishChunk(std::move(chunk)); }

private:
    // Once: the others are waited for.
    RunSummary endOf(RunSummary summary) {
        const bool otherWasFirst = m_otherFailed;  // and has not ended for want of this one
        const auto failures = m_others->failures();
        if (summary.state == RunState::Failed && otherWasFirst && !failures.empty()) tellWhatOtherSaid(failures.front(), summary.why);
        if (!becauseOfOther() || summary.state != RunState::Stopped) return summary;
        // It was stopped for want of another one, and the one that is missing knows why.
        summary.state = RunState::Failed;
        summary.code = ErrorCode::Training;
        summary.why = failures.empty() ? std::string("A worker ended before the run had begun.") : failures.front();
        const std::lock_guard lock(m_mutex);
        StateChanged end = m_held.value_or(StateChanged{});
        end.state = RunState::Failed;
        end.why = summary.why;
        end.code = summary.code;
        m_listener.publish(LogLine{end.at, end.step, LogLevel::Error, summary.why, summary.code});
        m_listener.publish(std::move(end));
        return summary;
    }

    // The sentence of the end names the one that is missing, and says that its last words tell why: nobody else has them. Words that only repeat that
    // sentence add nothing.
    void tellWhatOtherSaid(const std::string& said, const std::string& why) {
        if (why.find(said) != std::string::npos || said.find(why) != std::string::npos) return;
        const std::lock_guard lock(m_mutex);
        m_listener.publish(LogLine{m_end.at, m_end.step, LogLevel::Warning, said});
    }

    bool becauseOfOther() const { return m_otherFailed && !m_stopAsked; }

    // Before all have met nobody else would notice; afterwards the run ends by itself, and names it. On a thread of its own.
    void otherFailed() {
        m_otherFailed = true;
        if (Run* run = m_told.load()) run->send(Stop{});
    }

    EventSink& m_listener;
    std::atomic<bool> m_otherFailed{false}, m_stopAsked{false};
    std::atomic<Run*> m_told{nullptr};
    std::mutex m_joining;  // who waits for its end may be several
    std::optional<RunSummary> m_ended;
    std::mutex m_mutex;
    std::optional<StateChanged> m_held;  // the end that was told as a stop
    StateChanged m_end;                  // the one that was told as a failure
    std::unique_ptr<Run> m_run;
    std::unique_ptr<LocalWorkers> m_others;  // behind m_run: they go first
};

}  // namespace

// Every key by its name: nothing that this program makes of a preset must come out otherwise there.
std::vector<std::string> workerCommand(const RunRequest& request) {
    std::vector<std::string> words{request.workerProgram, "train"};
    const auto add = [&](std::string option, std::string value) {
        words.push_back(std::move(option));
        words.push_back(std::move(value));
    };
    for (const auto& [key, value] : listConfig(request.config)) {
        if (key != "preset")
            add("--set", key + '=' + value);
        else if (request.resume.empty())  // a checkpoint knows its own
            add("--preset", value);
    }
    for (const ScheduledCommand& scheduled : request.scheduled)
        if (const auto* flip = std::get_if<Flip>(&scheduled.command))
            add("--flip", fmt::format("{}:{}={}", scheduled.step, flip->id, toString(flip->value)));
    if (!request.resume.empty()) add("--resume", request.resume);
    if (!request.init.empty()) add("--init", request.init);
    if (request.initPartial) words.emplace_back("--init-partial");
    add("--patience", fmt::format("{}", request.workerPatience.count() / 1000));
    return words;
}

Result<std::unique_ptr<Run>> startLocalRun(Workbench& workbench, RunRequest request, EventSink& sink) {
    if (request.localWorkers < 2 || request.localWorkers > LocalWorkers::kMost)
        return makeError(ErrorCode::BadInput,
                         fmt::format("There can be 1 to {} workers on this machine, not {}.", LocalWorkers::kMost, request.localWorkers));
    std::error_code ignored;
    if (!std::filesystem::exists(request.workerProgram, ignored))
        return makeError(ErrorCode::NotFound,
                         fmt::format("Several workers are processes of stepscope-cli, and \"{}\" is not there; install it beside this program, or "
                                     "train with one worker.",
                                     request.workerProgram));
    auto run = std::make_unique<LocalRun>(sink);
    if (const Status begun = run->begin(workbench, std::move(request)); !begun) return begun.error();
    return std::unique_ptr<Run>(std::move(run));
}

}  // namespace stepscope
