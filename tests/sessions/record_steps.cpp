// record_steps DATABASE STEP_LOG: records made-up steps, one about every millisecond, until it is killed. After each published step a
// line {"step":…,"t_ns":…,"mono_ns":…} is written to the log with one write(): what the tests compare the database with. Every tenth step brings
// a block of bulk data that does not compress.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

int main(int argc, char** argv) {
    using namespace stepscope;
    if (argc != 3) return 2;
    const int log = ::open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644);
    auto recorder =
        Recorder::open({.path = argv[1], .durable = std::getenv("STEPSCOPE_TEST_NOT_DURABLE") == nullptr}, test::sampleInfo("to be killed"));
    if (!recorder || log < 0) {
        fmt::print(stderr, "{}\n", recorder ? "no step log" : recorder.error().sentence);
        return 1;
    }
    const SessionClock clock;
    std::mt19937 random(1);
    (*recorder)->publish(StateChanged{clock.now(), 0, RunState::Running, ""});
    for (std::int64_t step = 1;; ++step) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const TimeNs now = clock.now();
        (*recorder)->publish(test::sampleStep(step, now));
        if (step % 10 == 0) {
            auto chunk = std::make_shared<Chunk>(Chunk{"noise/1", 0, now, now, step, std::vector<std::byte>(4096)});
            for (auto& byte : chunk->bytes) byte = static_cast<std::byte>(random());
            (*recorder)->publishChunk(std::move(chunk));
        }
        const auto mono = std::chrono::steady_clock::now().time_since_epoch().count();
        const std::string line = fmt::format("{{\"step\":{},\"t_ns\":{},\"mono_ns\":{}}}\n", step, now.ns, mono);
        if (::write(log, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 1;
    }
}
