// LoopTrace: with STEPSCOPE_LOOP_TRACE set, a probe that fires every 5 ms measures how late the GUI thread's event loop is, and prints
// "loop delay ms: p50 … p99 … max … over n probes" to stderr when the program ends. Meanwhile it edits a setting of the next run once a
// second, to a model whose memory takes long to predict. Read by tests/bench/loop_delay. GUI thread.
#pragma once
#include <QObject>
#include <QTimer>
#include <chrono>
#include <vector>

namespace stepscope {

class ExperimentPanel;

class LoopTrace final : public QObject {
public:
    explicit LoopTrace(ExperimentPanel& edited);
    ~LoopTrace() override;

private:
    void probe();

    QTimer m_timer, m_edits;
    std::chrono::steady_clock::time_point m_last;
    std::vector<double> m_lateMs;
};

}  // namespace stepscope
