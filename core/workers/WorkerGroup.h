// WorkerGroup: the workers of a run, joined: Collectives over c10d with Gloo, and what is said before a run begins and when it breaks. What goes
// wrong (a worker that ended, gave up or does not come, a store that is not there) is one sentence that names the worker, and the group is worth
// nothing afterwards. Torch-free to include.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/workers/Collectives.h"

namespace stepscope {

class WorkerGroup final : public Collectives {
public:
    // Waits for all workers; `patience` is also how long a collective waits for the slowest. Of a place with more than one worker. From here on the
    // process ignores SIGPIPE, unless it handles it. `cancelled` is polled while some have not come; true: ErrorCode::Cancelled.
    static Result<std::unique_ptr<WorkerGroup>> join(const WorkerPlace& place, std::chrono::milliseconds patience,
                                                     const std::function<bool()>& cancelled = {});
    ~WorkerGroup() override;
    WorkerGroup(const WorkerGroup&) = delete;
    WorkerGroup& operator=(const WorkerGroup&) = delete;

    const WorkerPlace& place() const override;
    std::chrono::milliseconds patience() const;  // as it joined
    int onThisMachine() const;                   // of the workers, this one included
    int firstHere() const;                       // the lowest rank of those of this machine
    int sharingProcessors() const;               // of those, with whom this one shares a processor, itself included

    Status sum(float* values, std::int64_t count) override;
    Status sumBf16(std::uint16_t* bits, std::int64_t count) override;
    Status gather(const void* own, std::int64_t bytes, void* all) override;
    // `from`'s bytes, with everybody.
    Status broadcast(void* bytes, std::int64_t count, int from = 0);
    // Each worker's text, by rank; at most 1 MiB each.
    Result<std::vector<std::string>> texts(const std::string& own);
    Status meet();

    // What workers leave for those whom torchrun starts in their place, and what was left by name: it is kept by torchrun's agent for as long as that
    // runs. Of any other start nothing is kept. Not while others are within a collective.
    void leave(const std::string& name, const std::string& what);
    std::optional<std::string> left(const std::string& name) const;

    // This worker ends for a reason of its own, a sentence: what the others wait for with it fails at once, and tells them. Nothing where the group
    // is worth nothing already.
    void giveUp(const std::string& why);

private:
    struct Joined;
    explicit WorkerGroup(std::unique_ptr<Joined> joined);
    std::unique_ptr<Joined> m_joined;
};

}  // namespace stepscope
