// StudySink: listens to a ladder or a search for the command line: shows on a terminal how it stands, says warnings and errors, and keeps what the
// report needs. publish() on any thread; the rest on the main thread.
#pragma once
#include <mutex>
#include <set>
#include <string>

#include "core/analysis/StudyHistory.h"

namespace stepscope::cli {

class StudySink final : public EventSink {
public:
    explicit StudySink(bool terminal) : m_terminal(terminal) {}

    void publish(Event event) override;
    // The status line goes. Whether `why` was said as an error already.
    bool finish(const std::string& why);

    const StudyHistory& history() const { return m_history; }
    std::int64_t session() const { return m_session; }

private:
    void status(const std::string& text);
    void say(LogLevel level, const std::string& text);
    void onRow(const StudyRow& row);

    const bool m_terminal;
    std::mutex m_mutex;
    StudyHistory m_history;
    std::int64_t m_session = 0;
    std::set<std::string> m_errorsShown;
};

}  // namespace stepscope::cli
