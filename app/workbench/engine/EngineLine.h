// EngineLine: the process of an engine that runs apart, and the pipes to it: frames to its stdin, frames from its stdout, and what it says on stderr,
// of which the end is kept for the sentence that tells how it ended. Made and read by EngineRun; send() from any thread, which never waits.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "sessions/wire/Frame.h"

namespace stepscope {

// While one is there, this thread is not ended by a process that is killed while it is written to: its end tells that.
class BrokenPipesAreTold {
public:
    BrokenPipesAreTold();
    ~BrokenPipesAreTold();
    BrokenPipesAreTold(const BrokenPipesAreTold&) = delete;
    BrokenPipesAreTold& operator=(const BrokenPipesAreTold&) = delete;

private:
    sigset_t m_before;
};

class EngineLine {
public:
    // command: a program, looked for in PATH where it names no folder, and its words. Errors: NotFound, Io.
    static Result<std::unique_ptr<EngineLine>> start(const std::vector<std::string>& command);
    ~EngineLine();  // end()s
    EngineLine(const EngineLine&) = delete;
    EngineLine& operator=(const EngineLine&) = delete;

    // What no frame can hold is not sent, and next() fails with that.
    void send(FrameType type, const FrameBytes& payload);
    // One thread. The next frame, or nothing within that time. An error: what comes is no frame, nothing more will, or something could not be sent.
    Result<std::optional<Frame>> next(std::chrono::milliseconds patience);
    bool broken() const { return m_over; }  // next() has failed as nothing more comes, not for what has come
    // Says what was to be said and nothing more, and waits for the process, which has a moment before it is killed: "was ended by signal 9 (Killed)".
    std::string end();

private:
    EngineLine() = default;
    void exchange(std::chrono::milliseconds patience);
    Status unsendable();
    bool takeUnsent();
    void write();
    void sayRest();
    void readSaid();
    void readUnheard();
    Error gone();
    std::string lastSaid() const;

    pid_t m_process = -1;
    int m_in = -1, m_out = -1, m_err = -1, m_wake = -1;
    std::mutex m_mutex;
    FrameBytes m_unsent;        // under m_mutex
    Status m_unsendable;        //   as this
    FrameBytes m_writing;       // of the reading thread,
    std::size_t m_written = 0;  //   and how much of it has gone
    FrameReader m_frames;
    std::string m_said;
    bool m_over = false;  // nothing more comes
    int m_status = 0;     // as waitpid tells it; valid when m_process is -1
};

}  // namespace stepscope
