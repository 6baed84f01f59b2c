// LoopTrace: with STEPSCOPE_LOOP_TRACE set, a probe that fires every 5 ms measures how late the GUI thread's event loop is, and prints
// "loop delay ms: p50 … p99 … max … over n probes" to stderr when the program ends. Read by tests/bench/loop_delay. GUI thread.
#pragma once
#include <QObject>
#include <QTimer>
#include <chrono>
#include <vector>

namespace stepscope {

class LoopTrace final : public QObject {
public:
    LoopTrace();
    ~LoopTrace() override;

private:
    void probe();

    QTimer m_timer;
    std::chrono::steady_clock::time_point m_last;
    std::vector<double> m_lateMs;
};

}  // namespace stepscope
