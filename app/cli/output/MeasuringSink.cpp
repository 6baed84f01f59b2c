#include "app/cli/output/MeasuringSink.h"

#include <fmt/format.h>

#include "app/cli/output/Output.h"
#include "core/events/Event.h"

namespace stepscope::cli {

void MeasuringSink::publish(Event event) {
    std::lock_guard lock(m_mutex);
    if (const auto* started = std::get_if<SessionStarted>(&event)) {
        m_session = started->session;
        m_info = started->info;
        if (m_session != 0) say(LogLevel::Info, fmt::format("session {}: {}", m_session, m_info->name));
    } else if (const auto* line = std::get_if<LogLine>(&event)) {
        say(line->level, line->text);
    } else if (const auto* preparing = std::get_if<Preparing>(&event)) {
        status(preparing->what);
    }
    take(event);
}

bool MeasuringSink::finish(const std::string& why) {
    std::lock_guard lock(m_mutex);
    status("");
    return m_errorsShown.contains(why);  // by its words: what is asked is whether these words stand there already
}

void MeasuringSink::status(const std::string& text) {
    if (!m_terminal) return;
    const std::size_t room = terminalColumns() > 1 ? terminalColumns() - 1 : 1;
    std::string shown = printable(text);
    while (displayWidth(shown) > room) shown.pop_back();
    printStatus(fmt::format("\r\x1b[K{}", shown));
}

void MeasuringSink::say(LogLevel level, const std::string& text) {
    if (level == LogLevel::Error) m_errorsShown.insert(text);
    if (level == LogLevel::Info && !m_terminal) return;
    status("");
    printError(printable(text));
}

}  // namespace stepscope::cli
