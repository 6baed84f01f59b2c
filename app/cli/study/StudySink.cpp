#include "app/cli/study/StudySink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/events/Event.h"

namespace stepscope::cli {

void StudySink::take(const Event& event) {
    m_history.add(event);
    if (const auto* row = std::get_if<StudyRow>(&event)) onRow(*row);
}

void StudySink::onRow(const StudyRow& row) {
    if (!m_history.began()) return;
    const bool search = m_history.began()->kind != "ladder";
    const auto count = [&](const char* state) { return std::ranges::count(m_history.rows(), state, &StudyRow::state); };
    const std::string sure = std::isfinite(row.ratio) ? fmt::format(" · ×{:.3f} [{:.3f}, {:.3f}]", row.ratio, row.low, row.high) : "";
    if (row.state == study::kRunning && search)
        status(fmt::format("{} racing, {} rejected · {}{}", count(study::kRunning), count(study::kRejected), row.name, sure));
    else if (row.state == study::kRunning)
        status(fmt::format("{} of {} measured · {} · pair {}{}", m_history.measuredLegs(), m_history.began()->legs, row.name, row.pairs, sure));
}

}  // namespace stepscope::cli
