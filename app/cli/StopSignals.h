// StopSignals: Ctrl-C, SIGTERM and a closed terminal while a run is on. The first asks for a clean stop, on a thread of its
// own (a signal handler may do next to nothing); a second one ends the process at once with ExitCode::Killed, unless it comes together with the
// first, as `timeout` sends them. SIGUSR1, where somebody wants it, ends a capture and nothing else, as often as it comes. One at a time; made by
// `train` on the main thread.
#pragma once
#include <functional>
#include <memory>
#include <thread>

#include "app/workbench/Workbench.h"

namespace stepscope::cli {

class StopSignals {
public:
    // Called on the listening thread; onFirst once. Without onUser SIGUSR1 does what it did.
    explicit StopSignals(std::function<void()> onFirst, std::function<void()> onUser = {});
    ~StopSignals();  // the former behaviour is back, unless a signal came: another one then still ends the process with ExitCode::Killed
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

private:
    std::function<void()> m_onFirst, m_onUser;
    std::thread m_listener;
};

// Starts something and waits until it is over; the first signal asks it to stop, also while it is being started. Errors are those of `start`.
Result<RunSummary> waitOrStop(const std::function<Result<std::unique_ptr<Run>>()>& start);

}  // namespace stepscope::cli
