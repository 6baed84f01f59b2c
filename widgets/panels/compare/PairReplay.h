// The line on which an experiment that is over is gone through pair by pair. Pairs that were left out are ticks on it, squares where both sides were
// made anew. Part of CompareResult, which shows what was known then; GUI thread.
#pragma once
#include <memory>

#include "core/analysis/ExperimentHistory.h"
#include "widgets/panels/run/StopsReplay.h"

namespace stepscope {

class PairReplay : public StopsReplay {
    Q_OBJECT
public:
    explicit PairReplay(QWidget* parent = nullptr) : StopsReplay("experiment", "pair", parent) {}

    // The same one again keeps its place; another one stands at its end. place(): "pair 8 of 23 · 00:41".
    void setExperiment(const std::shared_ptr<const ExperimentHistory>& history, bool offered);
    std::size_t pairs() const { return stop(); }  // that it stands behind

private:
    std::shared_ptr<const ExperimentHistory> m_history;
};

}  // namespace stepscope
