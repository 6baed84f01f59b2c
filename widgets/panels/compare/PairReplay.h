// The line on which an experiment that is over is gone through pair by pair: the bar that replays of runs have, and which pair it stands at. Pairs
// that were left out are ticks on it, squares where both sides were made anew. Part of CompareResult, which shows what was known then; GUI thread.
#pragma once
#include <QWidget>
#include <memory>

#include "core/analysis/ExperimentHistory.h"

namespace stepscope {

class ElidedLabel;
class ScrubBar;

class PairReplay : public QWidget {
    Q_OBJECT
public:
    explicit PairReplay(QWidget* parent = nullptr);

    // The same one again keeps its place; another one stands at its end. Out of sight, but not out of its place, where it is not offered or where
    // there are fewer than two pairs.
    void setExperiment(const std::shared_ptr<const ExperimentHistory>& history, bool offered);
    std::size_t pairs() const { return m_pairs; }  // that it stands behind
    bool atEnd() const;
    QString place() const;  // "pair 8 of 23 · 00:41"
    ScrubBar* bar() const { return m_bar; }

Q_SIGNALS:
    void moved();

private:
    void go(double fraction);
    void showPlace();

    std::shared_ptr<const ExperimentHistory> m_history;
    std::size_t m_pairs = 0, m_count = 0;
    bool m_offered = false;
    ScrubBar* m_bar;
    ElidedLabel* m_place;
};

}  // namespace stepscope
