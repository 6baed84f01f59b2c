// bench_replay [STEPS]: how long a stored session takes to its end, into a sink that counts. Exits 1 when 100 000 steps take a second
// or more. Plain program.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include "core/analysis/Statistics.h"
#include "sessions/Replayer.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace {

struct CountingSink : stepscope::EventSink {
    std::atomic<std::int64_t> steps = 0;
    void publish(stepscope::Event event) override { steps += std::holds_alternative<stepscope::StepDone>(event); }
};

}  // namespace

int main(int argc, char** argv) {
    using namespace stepscope;
    using Clock = std::chrono::steady_clock;
    const std::int64_t steps = argc > 1 ? std::atoll(argv[1]) : 100'000;
    const test::TempFolder folder;
    {
        auto recorder = Recorder::open({.path = folder.file("s.db")}, test::sampleInfo());
        if (!recorder) return fmt::print(stderr, "{}\n", recorder.error().sentence), 2;
        for (std::int64_t step = 1; step <= steps; ++step) {
            (*recorder)->publish(test::sampleStep(step));
            if (step % 25 == 0) (*recorder)->publish(DeviceSample{{step * 1'000'000}, 50});
        }
    }
    std::vector<double> jumped, played;
    for (int round = 0; round < 10; ++round) {
        CountingSink sink;
        const auto begin = Clock::now();
        auto replayer = Replayer::open(folder.file("s.db"), 1, sink);
        if (!replayer) return fmt::print(stderr, "{}\n", replayer.error().sentence), 2;
        if (round % 2 == 0) {
            (*replayer)->seekEnd();
        } else {
            (*replayer)->setSpeed(std::numeric_limits<double>::infinity());
            (*replayer)->play();
        }
        while (!(*replayer)->position().atEnd) std::this_thread::sleep_for(std::chrono::microseconds(200));
        (round % 2 == 0 ? jumped : played).push_back(std::chrono::duration<double>(Clock::now() - begin).count());
        if (sink.steps != steps) return fmt::print(stderr, "only {} of {} steps came\n", sink.steps.load(), steps), 2;
    }
    fmt::print("replay: {} steps to the end, opening included: {:.3f} s by a jump, {:.3f} s played (medians of 5)\n", steps, median(jumped),
               median(played));
    return std::max(median(jumped), median(played)) < 1.0 * static_cast<double>(std::max<std::int64_t>(steps, 100'000)) / 100'000 ? 0 : 1;
}
