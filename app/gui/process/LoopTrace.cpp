#include "app/gui/process/LoopTrace.h"

#include <algorithm>
#include <cstdio>

#include "app/workbench/process/StandardError.h"
#include "core/analysis/Statistics.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueRow.h"

namespace stepscope {
namespace {

constexpr std::chrono::milliseconds kInterval{5};
constexpr std::size_t kWarmUpProbes = 200;  // the first second: the window is being made

}  // namespace

LoopTrace::LoopTrace(ExperimentPanel& edited) {
    if (!qEnvironmentVariableIsSet("STEPSCOPE_LOOP_TRACE")) return;
    m_timer.setTimerType(Qt::PreciseTimer);
    m_timer.setSingleShot(true);  // started anew by each probe, so that one delay is not counted again by those that queue behind it
    connect(&m_timer, &QTimer::timeout, this, &LoopTrace::probe);
    m_last = std::chrono::steady_clock::now();
    m_timer.start(kInterval);
    connect(&m_edits, &QTimer::timeout, &edited,
            [&edited] { Q_EMIT edited.row("layers")->committed("layers", edited.config().layers == 1000 ? "999" : "1000"); });
    m_edits.start(std::chrono::seconds(1));
}

void LoopTrace::probe() {
    const auto now = std::chrono::steady_clock::now();
    m_lateMs.push_back(std::max(0.0, std::chrono::duration<double, std::milli>(now - m_last - kInterval).count()));
    m_last = std::chrono::steady_clock::now();
    m_timer.start(kInterval);
}

LoopTrace::~LoopTrace() {
    if (m_lateMs.size() <= kWarmUpProbes) return;
    const std::span<const double> settled = std::span(m_lateMs).subspan(kWarmUpProbes);
    std::fprintf(standard_error::own(), "loop delay ms: p50 %.2f p99 %.2f max %.2f over %zu probes\n", quantile(settled, 0.5),
                 quantile(settled, 0.99), *std::ranges::max_element(settled), settled.size());
}

}  // namespace stepscope
