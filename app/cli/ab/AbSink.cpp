#include "app/cli/ab/AbSink.h"

#include <fmt/format.h>

#include <cmath>

#include "core/analysis/JudgedSentence.h"
#include "core/events/Event.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/SliceCodec.h"

namespace stepscope::cli {

void AbSink::publishChunk(ChunkPtr chunk) {
    if (isSlices(chunk->kind)) {
        const auto block = decodeSlices(*chunk);
        const std::lock_guard lock(m_mutex);
        if (block) m_history.add(*block);
    } else if (chunk->kind == kAllocations) {
        const auto block = decodeAllocations(*chunk);
        const std::lock_guard lock(m_mutex);
        if (block) m_history.add(*block);
    }
}

void AbSink::take(const Event& event) {
    const std::lock_guard lock(m_mutex);
    m_history.add(event);
    if (const auto* began = std::get_if<ExperimentBegan>(&event)) {
        m_names = armNames(*began);
    } else if (const auto* block = std::get_if<BlockDone>(&event)) {
        if (block->pair < 0) status("pilot: how long a block must be, and how much pairs scatter");
    } else if (const auto* preparing = std::get_if<Preparing>(&event)) {
        // The verdict stands already; what is done beside it only says more of it.
        if (m_history.newest() && m_history.newest()->over) status(verdict(false) + " · " + preparing->what);
    } else if (const auto* judged = std::get_if<ExperimentJudged>(&event)) {
        if (judged->over) return status(verdict(true));
        const std::string pair = fmt::format("pair {} · ", judged->pair + 1);
        const double budget = m_history.began() ? m_history.began()->budgetSeconds : 0;
        const std::string time = fmt::format(" · {:.0f} of at most {:.0f} s", judged->seconds, budget);
        if (!std::isfinite(judged->ratio)) return status(pair + "none counts yet: other programs took the processors" + time);
        const bool bounded = judged->low > 0 && std::isfinite(judged->high);
        const std::string interval = bounded ? fmt::format("[{:.3f}, {:.3f}]", judged->low, judged->high) : "(no interval yet)";
        status(pair + fmt::format("{} is {:.3f} times as fast as {} so far {}", m_names.b, judged->ratio, m_names.a, interval) + time);
    }
}

std::string AbSink::verdict(bool whole) const {
    const double delta = m_history.began() ? m_history.began()->delta : 0.01;
    const bool same = m_history.began() && m_history.began()->same;
    std::string said =
        same ? "one configuration beside itself: " + judgedWords(*m_history.newest(), delta) : verdictLine(*m_history.newest(), delta, m_names);
    const std::string interval = " " + judgedParts(*m_history.newest(), delta).interval;
    if (!whole && said.ends_with(interval)) said.resize(said.size() - interval.size());
    return said;
}

}  // namespace stepscope::cli
