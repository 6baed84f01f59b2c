// StopSignals: Ctrl-C, SIGTERM and a closed terminal while a run is on. The first asks for a clean stop, on a thread of its
// own (a signal handler may do next to nothing); a second one ends the process at once with ExitCode::Killed.
// One at a time; made by `train` on the main thread.
#pragma once
#include <functional>
#include <thread>

namespace stepscope::cli {

class StopSignals {
public:
    explicit StopSignals(std::function<void()> onFirst);  // called once, on the listening thread
    ~StopSignals();                                       // the former behaviour is back
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

private:
    std::function<void()> m_onFirst;
    std::thread m_listener;
};

}  // namespace stepscope::cli
