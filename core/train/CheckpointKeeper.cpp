#include "core/train/CheckpointKeeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "core/events/Event.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

// An empty file beside what a checkpoint holds: a person asked for this one.
constexpr const char* kAskedFor = "asked-for";

// In a session's folder, by their step: those up to one.
std::map<std::int64_t, std::string> writtenUpTo(const std::string& folder, std::int64_t last) {
    constexpr std::string_view kStep = "step-";
    std::map<std::int64_t, std::string> all;
    std::error_code problem;
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(kStep)) continue;
        std::int64_t step = -1;
        const char* stop = name.data() + name.size();
        const auto [read, wrong] = std::from_chars(name.data() + kStep.size(), stop, step);
        if (wrong == std::errc{} && read == stop && step >= 0 && step <= last) all[step] = at->path().string();
    }
    return all;
}

}  // namespace

std::int64_t freeSpaceAt(std::filesystem::path folder) {
    std::error_code problem;
    if (folder.empty()) folder = ".";
    while (!std::filesystem::exists(folder, problem) && folder.has_parent_path() && folder != folder.parent_path()) folder = folder.parent_path();
    const auto space = std::filesystem::space(folder, problem);
    return problem ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(space.available);
}

CheckpointKeeper::CheckpointKeeper(Setup setup, const RunConfig& config)
    : m_setup(std::move(setup)), m_retention(config.keep, config.keepsBest()), m_keepNewest(config.keep), m_keepsBest(config.keepsBest()) {}

void CheckpointKeeper::found(const std::string& path, std::int64_t step, const std::map<std::int64_t, double>& validated) {
    m_newest = path;
    m_keptAt = step;
    if (m_keepNewest == 0 || !hasFolder()) return;
    for (const auto& [at, one] : writtenUpTo(m_setup.folder, step)) {
        std::error_code problem;
        if (fs::exists(fs::path(one) / kAskedFor, problem)) {
            m_retention.protect(one);  // and takes the place of none that was due
            continue;
        }
        const auto known = validated.find(at);
        const double loss = known != validated.end() ? known->second : kUnknown;
        if (m_keepsBest && !std::isfinite(loss)) continue;
        const auto over = m_retention.add(one, loss);
        m_over.insert(m_over.end(), over.begin(), over.end());
    }
}

void CheckpointKeeper::protectNewest() {
    m_retention.protect(m_newest);
    // Where it is of a path that a person named it is nobody's to remove.
    if (!hasFolder() || fs::path(m_newest).parent_path() != fs::path(m_setup.folder)) return;
    const int file = ::open((fs::path(m_newest) / kAskedFor).c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) ::close(file);
}

CheckpointKeeper::Kept CheckpointKeeper::keep(const TrainState& state, const RunConfig& config, double loss, const std::string& path,
                                              const FloatMoments* moments) {
    // A person may ask for what checkpoint-every has just written.
    if (path.empty() && m_keptAt == state.updates) {
        log(state.updates, LogLevel::Info, fmt::format("Step {} is kept already in {}.", state.updates, m_newest), m_newest);
        return Kept::Yes;
    }
    const std::string place = !path.empty() ? path : hasFolder() ? fmt::format("{}/step-{:07}", m_setup.folder, state.updates) : "";
    if (place.empty()) {
        log(state.updates, LogLevel::Warning, "This run is not recorded and has no checkpoint folder; name a path for the checkpoint.", "");
        return Kept::No;
    }
    if (!state.isFinite() || (moments != nullptr && !(allNumbers(moments->first) && allNumbers(moments->second)))) return Kept::BrokenState;
    const TimeNs begin = m_setup.clock->now();
    const auto& tokenizer = m_setup.corpus->tokenizer;
    const auto saved = saveCheckpoint(place, state, config, tokenizer ? tokenizer->toJson() : "", loss, m_setup.origin, moments);
    const TimeNs end = m_setup.clock->now();
    if (!saved) {
        const Error& error = saved.error();
        m_setup.sink->publish(LogLine{end, state.updates, LogLevel::Error, error.sentence, error.code, error.subject});
        return Kept::No;
    }
    m_earlier = std::exchange(m_newest, place);
    m_keptAt = state.updates;
    m_setup.sink->publish(CheckpointSaved{state.updates, end, end - begin, place});
    log(state.updates, LogLevel::Info, fmt::format("Checkpoint of step {} written to {}.", state.updates, place));
    return Kept::Yes;
}

// Of what cannot be removed nothing is said: its disk may be full or gone.
void CheckpointKeeper::retain(std::int64_t step, double validationLoss) {
    auto gone = std::exchange(m_over, {});
    std::ranges::move(m_retention.add(m_newest, validationLoss), std::back_inserter(gone));
    for (const auto& path : gone)
        if (removeCheckpoint(path)) log(step, LogLevel::Info, fmt::format("The checkpoint {} is removed: keep={}.", path, m_keepNewest));
}

void CheckpointKeeper::log(std::int64_t step, LogLevel level, std::string text) {
    m_setup.sink->publish(LogLine{m_setup.clock->now(), step, level, std::move(text)});
}

void CheckpointKeeper::log(std::int64_t step, LogLevel level, std::string text, std::string checkpoint) {
    m_setup.sink->publish(
        LogLine{m_setup.clock->now(), step, level, std::move(text), std::nullopt, {Subject::Kind::Checkpoint, std::move(checkpoint)}});
}

}  // namespace stepscope
