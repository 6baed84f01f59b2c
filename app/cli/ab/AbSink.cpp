#include "app/cli/ab/AbSink.h"

#include <fmt/format.h>

#include <cstdio>

#include "app/cli/output/Output.h"
#include "core/analysis/JudgedSentence.h"

namespace stepscope::cli {

void AbSink::publish(Event event) {
    std::lock_guard lock(m_mutex);
    m_history.add(event);
    if (const auto* started = std::get_if<SessionStarted>(&event)) {
        m_session = started->session;
        m_info = started->info;
        if (m_session != 0) say(LogLevel::Info, fmt::format("session {}: {}", m_session, m_info->name));
    } else if (const auto* line = std::get_if<LogLine>(&event)) {
        say(line->level, line->text);
    } else if (const auto* preparing = std::get_if<Preparing>(&event)) {
        status(preparing->what);
    } else if (const auto* block = std::get_if<BlockDone>(&event)) {
        if (block->pair < 0) status("pilot: how long a block must be, and how much pairs scatter");
    } else if (const auto* judged = std::get_if<ExperimentJudged>(&event)) {
        if (judged->over) return;
        const double budget = m_history.began() ? m_history.began()->budgetSeconds : 0;
        status(fmt::format("pair {} · {:.0f} of at most {:.0f} s · time of A ÷ time of B so far: {:.3f} [{:.3f}, {:.3f}]", judged->pair + 1,
                           judged->seconds, budget, judged->ratio, judged->low, judged->high));
    }
}

bool AbSink::finish(const std::string& why) {
    std::lock_guard lock(m_mutex);
    status("");
    return m_errorsShown.contains(why);
}

void AbSink::status(const std::string& text) {
    if (!m_terminal) return;
    const std::size_t room = terminalColumns() > 1 ? terminalColumns() - 1 : 1;
    std::string shown = printable(text);
    while (displayWidth(shown) > room) shown.pop_back();
    std::fputs(fmt::format("\r\x1b[K{}", shown).c_str(), stderr);
    std::fflush(stderr);
}

void AbSink::say(LogLevel level, const std::string& text) {
    if (level == LogLevel::Error) m_errorsShown.insert(text);
    if (level == LogLevel::Info && !m_terminal) return;
    status("");
    printError(printable(text));
}

}  // namespace stepscope::cli
