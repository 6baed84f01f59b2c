// ConsoleSink: what a run says, on stderr. A progress bar and every line of the log on a terminal; in a pipe only warnings and
// errors, or with --log-every the log too and a line every so many steps. Writes the step log on the side. publish() comes from the trainer, recorder
// and sampler threads.
#pragma once
#include <spdlog/logger.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "app/cli/output/ProgressBar.h"
#include "app/cli/output/StepLines.h"
#include "app/cli/output/StepLog.h"
#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"

namespace stepscope::cli {

class ConsoleSink final : public EventSink {
public:
    ConsoleSink(std::unique_ptr<StepLog> stepLog, StepLines lines, bool terminal);
    ~ConsoleSink() override;
    ConsoleSink(const ConsoleSink&) = delete;
    ConsoleSink& operator=(const ConsoleSink&) = delete;

    void publish(Event event) override;
    // Takes the bar away. Whether the sentence has already been shown as an error.
    bool finish(const std::string& why);
    // Whether every step is in the step log that was asked for.
    bool stepLogWhole() const { return !m_stepLogFailed; }

private:
    void say(LogLevel level, const std::string& words);
    void onStep(const StepDone& step);

    std::mutex m_mutex;
    std::unique_ptr<StepLog> m_stepLog;
    StepLines m_lines;
    bool m_terminal;
    bool m_stepLogFailed = false;  // read when the run is over
    ProgressBar m_bar;
    std::shared_ptr<spdlog::logger> m_log;
    std::set<std::string> m_errorsShown;
    double m_delta = 0.01;  // of the experiment that goes on,
    std::string m_sides;    //   and of what it is: "amp bf16 beside off"
};

}  // namespace stepscope::cli
