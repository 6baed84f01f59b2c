#include "app/cli/study/StudySink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/cli/output/Output.h"

namespace stepscope::cli {

void StudySink::publish(Event event) {
    std::lock_guard lock(m_mutex);
    m_history.add(event);
    if (const auto* started = std::get_if<SessionStarted>(&event)) {
        m_session = started->session;
        if (m_session != 0) say(LogLevel::Info, fmt::format("session {}: {}", m_session, started->info->name));
    } else if (const auto* line = std::get_if<LogLine>(&event)) {
        say(line->level, line->text);
    } else if (const auto* preparing = std::get_if<Preparing>(&event)) {
        status(preparing->what);
    } else if (const auto* row = std::get_if<StudyRow>(&event)) {
        onRow(*row);
    }
}

void StudySink::onRow(const StudyRow& row) {
    if (!m_history.began()) return;
    const bool search = m_history.began()->kind != "ladder";
    const auto count = [&](const char* state) { return std::ranges::count(m_history.rows(), state, &StudyRow::state); };
    const std::string sure = std::isfinite(row.ratio) ? fmt::format(" · ×{:.3f} [{:.3f}, {:.3f}]", row.ratio, row.low, row.high) : "";
    if (row.state == study::kRunning && search)
        status(fmt::format("{} racing, {} rejected · {}{}", count(study::kRunning), count(study::kRejected), row.name, sure));
    else if (row.state == study::kRunning)
        status(fmt::format("{} of {} measured · {} · pair {}{}", count(study::kMeasured) - 1, m_history.began()->legs, row.name, row.pairs, sure));
}

bool StudySink::finish(const std::string& why) {
    std::lock_guard lock(m_mutex);
    status("");
    return m_errorsShown.contains(why);
}

void StudySink::status(const std::string& text) {
    if (!m_terminal) return;
    const std::size_t room = terminalColumns() > 1 ? terminalColumns() - 1 : 1;
    std::string shown = printable(text);
    while (displayWidth(shown) > room) shown.pop_back();
    std::fputs(fmt::format("\r\x1b[K{}", shown).c_str(), stderr);
    std::fflush(stderr);
}

void StudySink::say(LogLevel level, const std::string& text) {
    if (level == LogLevel::Error) m_errorsShown.insert(text);
    if (level == LogLevel::Info && !m_terminal) return;
    status("");
    printError(printable(text));
}

}  // namespace stepscope::cli
