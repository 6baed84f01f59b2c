#include "core/state/CheckpointRetention.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace stepscope {

std::vector<std::string> CheckpointRetention::add(const std::string& path, double validationLoss) {
    std::erase_if(m_kept, [&](const Kept& one) { return one.path == path; });
    m_kept.push_back({path, validationLoss});
    std::vector<std::string> removed;
    if (m_keep == 0) return removed;
    const auto worse = [](const Kept& a, const Kept& b) { return std::isfinite(b.loss) && (!std::isfinite(a.loss) || b.loss < a.loss); };
    const auto best = std::ranges::max_element(m_kept, worse)->path;
    const auto newest = static_cast<std::ptrdiff_t>(m_kept.size()) - m_keep;
    std::vector<Kept> kept;
    for (std::ptrdiff_t i = 0; i < std::ssize(m_kept); ++i) {
        const Kept& one = m_kept[static_cast<std::size_t>(i)];
        const bool stays = i >= newest || (m_keepBest && std::isfinite(one.loss) && one.path == best);
        if (!stays && !m_protected.contains(one.path)) removed.push_back(one.path);
        if (stays) kept.push_back(one);
    }
    m_kept = std::move(kept);
    return removed;
}

CheckpointPlan planCheckpoints(std::int64_t first, std::int64_t last, std::int64_t every, bool atEnd, std::int64_t keep, bool keepBest) {
    CheckpointPlan plan;
    if (every > 0) plan.written = last / every - first / every;
    if (atEnd && (every == 0 || last % every != 0)) ++plan.written;
    plan.kept = keep > 0 ? std::min(plan.written, keep + (keepBest ? 1 : 0)) : plan.written;
    plan.atOnce = std::min(plan.written, plan.kept + 1);
    plan.leastAtOnce = std::min<std::int64_t>(plan.written, keepBest ? 3 : 2);
    return plan;
}

bool removeCheckpoint(const std::string& path) {
    // Half of a checkpoint must not look like a whole one: what a kill leaves of it is removed as unfinished ones are.
    const std::string away = fmt::format("{}.unfinished-{}", path, ::getpid());
    std::error_code problem;
    std::filesystem::rename(path, away, problem);
    if (problem) return !std::filesystem::exists(path, problem);
    std::filesystem::remove_all(away, problem);
    return true;
}

}  // namespace stepscope
