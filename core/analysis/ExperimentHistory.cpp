#include "core/analysis/ExperimentHistory.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/Statistics.h"

namespace stepscope {

void ExperimentHistory::add(const Event& event) {
    if (const auto* began = std::get_if<ExperimentBegan>(&event)) {
        *this = {};  // a run may hold several, one after the other
        m_began = *began;
    }
    if (const auto* block = std::get_if<BlockDone>(&event)) m_blocks.push_back(*block);
    if (const auto* judged = std::get_if<ExperimentJudged>(&event)) {
        if (!judged->over) m_pairs.push_back(*judged);
        m_newest = *judged;
    }
}

bool ExperimentHistory::counts(const BlockDone& block) const {
    if (block.pair < 0) return false;
    const auto found = std::ranges::find(m_pairs, block.pair, &ExperimentJudged::pair);
    return found != m_pairs.end() && !found->discarded;
}

SideFacts ExperimentHistory::facts(Arm arm) const {
    SideFacts facts;
    double seconds = 0, faults = 0, joules = 0;
    std::vector<double> medians;
    for (const BlockDone& block : m_blocks) {
        if (block.arm != arm || !counts(block)) continue;
        ++facts.blocks;
        facts.steps += block.steps;
        facts.tokens += block.tokens;
        seconds += block.duration.seconds();
        faults += static_cast<double>(block.pageFaults);
        joules += block.joules;
        medians.push_back(block.median.milliseconds());
        facts.slowestMs = std::fmax(facts.slowestMs, block.slowest.milliseconds());
        facts.peakBytes = std::fmax(facts.peakBytes, block.peakBytes);
        if (std::isfinite(block.operations)) facts.operations = block.operations;
    }
    if (facts.steps == 0 || facts.tokens == 0 || !(seconds > 0)) return facts;
    const auto steps = static_cast<double>(facts.steps), tokens = static_cast<double>(facts.tokens);
    facts.msPerStep = seconds / steps * 1e3;
    facts.medianMsPerStep = median(medians);
    facts.tokensPerSecond = tokens / seconds;
    facts.faultsPerStep = faults / steps;
    facts.joulesPerToken = joules / tokens;
    return facts;
}

double ExperimentHistory::lossDifference() const {
    std::vector<double> differences;
    for (std::size_t i = 0; i + 1 < m_blocks.size(); ++i) {
        const BlockDone &one = m_blocks[i], &other = m_blocks[i + 1];
        if (one.pair < 0 || one.pair != other.pair || one.step != other.step || one.tokens != other.tokens) continue;
        const double difference = other.loss - one.loss;
        if (std::isfinite(difference)) differences.push_back(other.arm == Arm::B ? difference : -difference);
    }
    return mean(differences);
}

}  // namespace stepscope
