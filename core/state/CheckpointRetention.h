// CheckpointRetention: which of a run's own checkpoints stay when a newer one is written: the newest `keep`, and beside them the one with the lowest
// validation loss. Plain bookkeeping of the trainer; it removes nothing itself.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace stepscope {

class CheckpointRetention {
public:
    CheckpointRetention(std::int64_t keep, bool keepBest) : m_keep(keep), m_keepBest(keepBest) {}  // keep = 0: all stay

    // One that a person asked for: it stays.
    void protect(const std::string& path) { m_protected.insert(path); }
    // One more that was written because it was due; no number where nobody validated it. Returns those to remove, oldest first.
    std::vector<std::string> add(const std::string& path, double validationLoss);

private:
    struct Kept {
        std::string path;
        double loss;
    };
    std::int64_t m_keep;
    bool m_keepBest;
    std::set<std::string> m_protected;
    std::vector<Kept> m_kept;  // oldest first
};

// How many checkpoints lie on the disk at most once steps first + 1 ... last are made.
struct CheckpointPlan {
    std::int64_t written = 0;      // in all
    std::int64_t kept = 0;         // at the end
    std::int64_t atOnce = 0;       // while one is written: an older one goes only when the newer one is there
    std::int64_t leastAtOnce = 0;  // the same with keep=1
};
CheckpointPlan planCheckpoints(std::int64_t first, std::int64_t last, std::int64_t every, bool atEnd, std::int64_t keep, bool keepBest);

// Takes a checkpoint's folder away in one step, then what is in it. False: it is still there.
bool removeCheckpoint(const std::string& path);

}  // namespace stepscope
