// WorkerGroup: the workers of a run, joined. Each collective is called by all of them in the same order, each from one thread at a time; it returns
// when the result is there. What goes wrong (a worker that ended, one that does not come, a store that is not there) is one sentence, and the group
// is worth nothing afterwards. Torch-free to include; c10d with Gloo behind it.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/workers/WorkerPlace.h"

namespace stepscope {

class WorkerGroup {
public:
    // Waits for all workers; `patience` is also how long a collective waits for the slowest. Of a place with more than one worker.
    static Result<std::unique_ptr<WorkerGroup>> join(const WorkerPlace& place, std::chrono::milliseconds patience);
    ~WorkerGroup();
    WorkerGroup(const WorkerGroup&) = delete;
    WorkerGroup& operator=(const WorkerGroup&) = delete;

    const WorkerPlace& place() const;

    // Every worker's values added up, in place; the same bits with every worker.
    Status sum(float* values, std::int64_t count);
    // `from`'s bytes, with everybody.
    Status broadcast(void* bytes, std::int64_t count, int from = 0);
    // Each worker's text, by rank; at most 1 MiB each.
    Result<std::vector<std::string>> texts(const std::string& own);
    Status meet();

private:
    struct Joined;
    explicit WorkerGroup(std::unique_ptr<Joined> joined);
    std::unique_ptr<Joined> m_joined;
};

}  // namespace stepscope
