// What the tests and benches of sessions/ share: folders that go away, made-up sessions, a sink that keeps what it gets, and
// events as text, so that a comparison names the field that differs.
#pragma once
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/events/Event.h"

namespace stepscope::test {

class TempFolder {
public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    std::string path() const { return m_path; }
    std::string file(const std::string& name) const { return m_path + "/" + name; }

private:
    std::string m_path;
};

SessionInfo sampleInfo(const std::string& name = "a run");
StepDone sampleStep(std::int64_t step, TimeNs at);
inline StepDone sampleStep(std::int64_t step) {
    return sampleStep(step, {step * 1'000'000});
}
std::vector<Event> oneOfEachKind();  // in order of time, every field set to something of its own

std::string asText(const Event& event);
std::vector<std::string> asText(const std::vector<Event>& events);

class KeepingSink : public EventSink {
public:
    void publish(Event event) override {
        std::lock_guard lock(m_mutex);
        m_events.push_back(std::move(event));
    }
    std::vector<Event> events() const {
        std::lock_guard lock(m_mutex);
        return m_events;
    }
    void clear() {
        std::lock_guard lock(m_mutex);
        m_events.clear();
    }

private:
    mutable std::mutex m_mutex;
    std::vector<Event> m_events;
};

std::vector<Event> storedEvents(const std::string& database, std::int64_t session);
std::vector<std::int64_t> stepsOf(const std::vector<Event>& events);
std::string pragma(const std::string& database, const std::string& name);  // first value, read with a connection of its own
std::string contentOf(const std::string& path);
// A program or a library that is built beside this test: the path of no build is in its code (packaging/cmake/StepscopeTests.cmake).
std::string besideThis(const std::string& name);
void writeFile(const std::string& path, const std::string& content);

bool eventually(const std::function<bool()>& holds, double seconds = 20);

// Runs `body` in a child process without a superuser's rights; what it returns is its exit status, 255 an exception.
int asOrdinaryUser(const std::function<int()>& body);

}  // namespace stepscope::test
