// MeasuringSink: listens to something that is measured, for the command line: shows on a terminal how it stands, says warnings and errors, and keeps
// which session it is. What is shown of each kind is for who derives from it. publish() on any thread; the rest on the main thread.
#pragma once
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"

namespace stepscope::cli {

class MeasuringSink : public EventSink {
public:
    explicit MeasuringSink(bool terminal) : m_terminal(terminal) {}

    void publish(Event event) final;
    // The status line goes. Whether `why` was said as an error already.
    bool finish(const std::string& why);

    std::int64_t session() const { return m_session; }
    const std::shared_ptr<const SessionInfo>& info() const { return m_info; }  // null before it is known

protected:
    virtual void take(const Event& event) = 0;  // one at a time
    void status(const std::string& text);       // one line that is written over; nothing where there is no terminal

private:
    void say(LogLevel level, const std::string& text);

    const bool m_terminal;
    std::mutex m_mutex;
    std::shared_ptr<const SessionInfo> m_info;
    std::int64_t m_session = 0;
    std::set<std::string> m_errorsShown;
};

}  // namespace stepscope::cli
