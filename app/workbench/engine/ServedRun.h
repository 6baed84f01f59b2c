// ServedRun: the run that an engine which runs apart trains, as the frames of who asked for it move it: what to train, commands, where its session is
// kept. What it says goes out by an EngineOutlet. take() on one thread; the run has its own.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "app/workbench/Workbench.h"
#include "app/workbench/engine/AskingKeeper.h"
#include "app/workbench/engine/EngineOutlet.h"

namespace stepscope {

class ServedRun {
public:
    // onEnded: called on a thread of its own once the summary is said. Both outlive it.
    ServedRun(Workbench& workbench, EngineOutlet& outlet, AskingKeeper::Kind kind, std::function<void()> onEnded)
        : m_workbench(workbench), m_outlet(outlet), m_keeper(outlet, kind), m_onEnded(std::move(onEnded)) {}
    ~ServedRun();  // stops it, and waits
    ServedRun(const ServedRun&) = delete;
    ServedRun& operator=(const ServedRun&) = delete;

    // Errors: it is no frame of a program like this one, or cannot come now.
    Status take(const Frame& frame);
    void stop();  // as the command; any thread, between construction and destruction
    bool began() const { return m_run != nullptr; }
    bool ended() const { return m_ended; }
    std::uint64_t commands() const { return m_commands; }  // number of the newest that was heard

private:
    Status start(const Frame& frame);
    Status command(const Frame& frame);

    Workbench& m_workbench;
    EngineOutlet& m_outlet;
    AskingKeeper m_keeper;
    std::function<void()> m_onEnded;
    std::unique_ptr<Run> m_run;
    std::atomic<Run*> m_running{nullptr};
    std::atomic<bool> m_stopped{false}, m_ended{false};
    std::uint64_t m_commands = 0;
    std::thread m_waiting;
};

}  // namespace stepscope
