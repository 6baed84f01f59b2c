// CheckpointKeeper: writes the checkpoints of a run, knows which were written, and removes those that `keep` does not want. What cannot be written is
// told and does not end a run that may have taken days. Trainer thread.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/data/Corpus.h"
#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"
#include "core/state/Checkpoint.h"
#include "core/state/CheckpointRetention.h"

namespace stepscope {

// Free for this user on the disk of a folder that need not be there yet; all there can be where nobody can tell.
std::int64_t freeSpaceAt(std::filesystem::path folder);

class CheckpointKeeper {
public:
    struct Setup {
        std::string folder;  // of the session; empty = only to paths that are named
        CheckpointOrigin origin;
        const Corpus* corpus = nullptr;
        const SessionClock* clock = nullptr;
        EventSink* sink = nullptr;
    };
    CheckpointKeeper(Setup setup, const RunConfig& config);

    enum class Kept { Yes, No, BrokenState };
    // path: empty = the session's folder, where a step that is kept already is not written again. Values that are no numbers are never kept: a run
    // resumed from them could only break again. moments: the whole ones, of a State that holds a part.
    Kept keep(const TrainState& state, const RunConfig& config, double loss, const std::string& path = {}, const FloatMoments* moments = nullptr);
    // The newest one was due: older ones go as `keep` says. validationLoss: of its step; unknown = nobody validated it.
    void retain(std::int64_t step, double validationLoss);
    // One of this session that a process before this one has written, of this step: the State came from it. It and those before it in the session's
    // folder go in their turn, but for what a person asked for. validated: by step, the validation loss of those of them of which it is known; with
    // `keep-best` the best of them stays in its turn too, and each of which none is known, as it may be the best.
    void found(const std::string& path, std::int64_t step, const std::map<std::int64_t, double>& validated);
    void protectNewest();  // a person asked for it: it stays, also where another process goes on with the session

    bool hasFolder() const { return !m_setup.folder.empty(); }
    const std::string& newest() const { return m_newest; }    // empty = none
    const std::string& earlier() const { return m_earlier; }  // the one before
    std::int64_t keptAt() const { return m_keptAt; }          // the step of the newest; -1 = none

private:
    void log(std::int64_t step, LogLevel level, std::string text);
    void log(std::int64_t step, LogLevel level, std::string text, std::string checkpoint);  // about this one, or about one without a place

    Setup m_setup;
    CheckpointRetention m_retention;
    std::int64_t m_keepNewest;
    bool m_keepsBest;
    std::vector<std::string> m_over;  // of those found, more than are kept: they go once a newer one is there
    std::string m_newest, m_earlier;
    std::int64_t m_keptAt = -1;
};

}  // namespace stepscope
