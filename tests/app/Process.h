// Process: starts a program, feeds it nothing, collects what it writes, ends it when it takes too long. For the tests of the
// command line; one thread.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace stepscope::test {

struct Finished {
    int exitCode = -1;  // -1 when a signal ended it
    int signal = 0;
    bool timedOut = false;
    std::string out, err;
};

class Process {
public:
    struct Options {
        std::map<std::string, std::string> environment;  // on top of ours
        bool terminal = false;                           // stderr is a pseudo-terminal
        bool terminalOut = false;                        // stdout is one
    };
    Process(const std::vector<std::string>& command, const Options& options);
    ~Process();  // kills what still runs
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t id() const { return m_id; }
    void send(int signal) const;
    Finished wait(std::chrono::seconds patience = std::chrono::seconds(120));

private:
    pid_t m_id = -1;
    int m_out = -1, m_err = -1;
};

}  // namespace stepscope::test
