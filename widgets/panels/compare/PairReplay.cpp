#include "widgets/panels/compare/PairReplay.h"

#include <algorithm>
#include <cmath>

#include "core/base/Format.h"

namespace stepscope {
namespace {

std::vector<ScrubMark> marksOf(const std::vector<ExperimentJudged>& pairs) {
    std::vector<ScrubMark> marks;
    const auto placeBehind = [&](std::size_t count) { return static_cast<double>(count) / static_cast<double>(pairs.size()); };
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (i > 0 && pairs[i].rebuild != pairs[i - 1].rebuild)
            marks.push_back({placeBehind(i), ScrubMark::Shape::Square, QString("before pair %1 both programs were built again").arg(i + 1)});
        if (pairs[i].discarded) marks.push_back({placeBehind(i + 1), ScrubMark::Shape::Tick, QString("pair %1: left out").arg(i + 1)});
    }
    return marks;
}

}  // namespace

void PairReplay::setExperiment(const std::shared_ptr<const ExperimentHistory>& history, bool offered) {
    const bool another = history != m_history;
    m_history = history;
    const std::vector<ExperimentJudged>& all = m_history->pairs();
    setStops(
        all.size(), another, offered, [&all] { return marksOf(all); },
        [history](std::size_t pairs) {
            const std::vector<ExperimentJudged>& every = history->pairs();
            const double seconds = pairs > 0 && pairs <= every.size() ? every[pairs - 1].seconds : 0;
            return QString("pair %1 of %2 · %3")
                .arg(pairs)
                .arg(every.size())
                .arg(QString::fromStdString(format::duration(TimeNs::fromSeconds(std::isfinite(seconds) ? std::clamp(seconds, 0.0, 1e9) : 0))));
        });
}

}  // namespace stepscope
