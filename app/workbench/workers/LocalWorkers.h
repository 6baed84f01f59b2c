// LocalWorkers: the other workers of a run on this machine, started by the first one as processes of their own, who meet it at a file that nobody
// else can see. They end with it. Made before the run, by whoever starts it; kept until it is over.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/Result.h"
#include "core/workers/WorkerPlace.h"

namespace stepscope {

class LocalWorkers {
public:
    static constexpr int kMost = 256;

    // command: program and words of each of the others; its environment tells it which one it is. workers: 2 to kMost, this process among them.
    // stoppedStatus: with which one ends that was stopped as asked. onFailure is called on a thread of its own, at most once for each, when one has
    // ended that could not do its part: the run will not end well, and before it has begun nobody else would notice. Errors: Io, where no process can
    // be started; those that were are ended.
    static Result<std::unique_ptr<LocalWorkers>> start(const std::vector<std::string>& command, int workers, int stoppedStatus,
                                                       std::function<void()> onFailure);
    ~LocalWorkers();  // ends those that are still there
    LocalWorkers(const LocalWorkers&) = delete;
    LocalWorkers& operator=(const LocalWorkers&) = delete;

    const WorkerPlace& place() const { return m_place; }  // of this process, the first
    // Once the run is over, which they have a moment to notice: what each said that did not end well, or how it ended where it said nothing; that of
    // the one that ended first stands first, for others may have ended for want of it.
    std::vector<std::string> failures();

private:
    struct Other {
        int pid = 0;
        std::atomic<bool> ended{false};
        int status = 0;  // as waitpid tells it; valid when ended
        int order = 0;   // among those that have ended; the same
        std::thread waiting;
    };
    LocalWorkers() = default;
    Status spawn(const std::vector<std::string>& command, int rank, const std::function<void()>& onFailure);
    bool failed(int status) const;
    void end(std::chrono::milliseconds patience);
    std::string saidBy(int rank) const;

    std::string m_folder;
    WorkerPlace m_place;
    int m_stoppedStatus = 0;
    std::vector<std::unique_ptr<Other>> m_others;
    std::atomic<int> m_endings{0};
};

// Whether LocalWorkers started this process.
bool startedByFirstWorker();
// In a process that LocalWorkers started: it ends when the one that started it does, however that ends. Elsewhere nothing.
void endWithFirstWorker();

// The program of this process, however it was named, and wherever this process is by now.
std::string ownProgram();
// The same and the words that it was started with, as the system tells them. An error: what the system does not tell.
Result<std::vector<std::string>> ownCommand(const std::string& told = "/proc/self/cmdline");

}  // namespace stepscope
