// record_steps DATABASE STEP_LOG: records made-up steps, one about every millisecond, until it is killed. After each published step a
// line {"step":…,"t_ns":…} is written to the log with one write(): what the kill test compares the database with.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "sessions/Recorder.h"
#include "tests/sessions/TestSupport.h"

int main(int argc, char** argv) {
    using namespace stepscope;
    if (argc != 3) return 2;
    const int log = ::open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644);
    auto recorder = Recorder::open({.path = argv[1]}, test::sampleInfo("to be killed"));
    if (!recorder || log < 0) {
        fmt::print(stderr, "{}\n", recorder ? "no step log" : recorder.error().sentence);
        return 1;
    }
    const SessionClock clock;
    (*recorder)->publish(StateChanged{clock.now(), 0, RunState::Running, ""});
    for (std::int64_t step = 1;; ++step) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const TimeNs now = clock.now();
        (*recorder)->publish(test::sampleStep(step, now));
        const std::string line = fmt::format("{{\"step\":{},\"t_ns\":{}}}\n", step, now.ns);
        if (::write(log, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 1;
    }
}
