// AbSink: listens to an experiment for the command line: shows on a terminal how it stands, says warnings and errors, and keeps what the report
// needs. publish() on any thread; the rest on the main thread.
#pragma once
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "core/analysis/ExperimentHistory.h"

namespace stepscope::cli {

class AbSink final : public EventSink {
public:
    explicit AbSink(bool terminal) : m_terminal(terminal) {}

    void publish(Event event) override;
    // The status line goes. Whether `why` was said as an error already.
    bool finish(const std::string& why);

    const ExperimentHistory& history() const { return m_history; }
    std::int64_t session() const { return m_session; }
    const std::shared_ptr<const SessionInfo>& info() const { return m_info; }

private:
    void status(const std::string& text);
    void say(LogLevel level, const std::string& text);

    const bool m_terminal;
    std::mutex m_mutex;
    ExperimentHistory m_history;
    std::shared_ptr<const SessionInfo> m_info;
    std::int64_t m_session = 0;
    std::set<std::string> m_errorsShown;
};

}  // namespace stepscope::cli
