// DetachedServer: the engine that outlives its line (`stepscope-cli engine --detach` starts it in a session of its own). It trains one run, as
// EngineServer does, but all that it says goes into its journal, and a line, which is a connection to the socket in its folder, is told what it has
// not heard. The run goes on whatever becomes of lines. Main thread; the run has its own.
#pragma once
#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <optional>

#include "app/workbench/engine/ServedRun.h"
#include "app/workbench/engine/detached/EngineFolder.h"
#include "app/workbench/engine/detached/Journal.h"

namespace stepscope {

class DetachedServer {
public:
    // listening: of the folder. lock: the folder's, held. Errors: Io.
    static Result<std::unique_ptr<DetachedServer>> make(Workbench& workbench, EngineFolder folder, Descriptor listening, Descriptor lock);
    ~DetachedServer();

    // Returns when nobody needs it any longer: the run is over and was heard to its end, or its lines have gone and its journal lies there; or no run
    // was asked for.
    void serve();
    void stop();  // the run; any thread

private:
    class Outlet;
    struct Caller;
    DetachedServer(Workbench& workbench, EngineFolder folder, Descriptor listening, Descriptor lock, std::unique_ptr<Journal> journal);
    void wake() const;
    bool over();
    void exchange();
    void accept();
    void read(Caller& caller);
    void fill(Caller& caller);
    void flush(Caller& caller);
    Status take(Caller& caller, const Frame& frame);
    Status attach(Caller& caller, const Frame& frame);
    Status becomeLine(Caller& caller, std::uint64_t number);
    Status letGo(const Frame& frame);
    void refuse(Caller& caller, const Error& why);
    void hangUp(Caller& caller);

    const EngineFolder m_folder;
    Descriptor m_listening, m_lock, m_wake;
    FrameBytes m_hello;
    std::unique_ptr<Journal> m_journal;
    std::unique_ptr<Outlet> m_outlet;
    std::list<Caller> m_callers;
    Caller* m_line = nullptr;  // of them, who is told what happens
    bool m_called = false, m_heard = false;
    std::atomic<bool> m_stopped{false};
    const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
    ServedRun m_served;  // last: it uses what is above
};

}  // namespace stepscope
