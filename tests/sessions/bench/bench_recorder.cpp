// bench_recorder [STEPS]: how many step events a second reach the database, from the first publish() to the last commit, and what one
// publish() costs the trainer; in turns with and without making the log durable. Then what that costs a run of 1000 steps a second: processor time of
// the whole process. Exits 1 below the bar of 50 000 a second, or where it costs a run 1 % of a core or more. Plain program: one long measurement.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/analysis/Statistics.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace {

double processorSeconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Of a recording of 1000 steps a second, in percent of one core.
double pacedCost(bool durable, std::chrono::milliseconds length) {
    using namespace stepscope;
    const test::TempFolder folder;
    const auto recorder = Recorder::open({.path = folder.file("s.db"), .durable = durable}, test::sampleInfo());
    if (!recorder) return kUnknown;
    const double before = processorSeconds();
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t step = 1; std::chrono::steady_clock::now() < begin + length; ++step) {
        (*recorder)->publish(test::sampleStep(step));
        std::this_thread::sleep_until(begin + std::chrono::milliseconds(step));
    }
    return 100 * (processorSeconds() - before) / std::chrono::duration<double>(length).count();
}

}  // namespace

int main(int argc, char** argv) {
    using namespace stepscope;
    using Clock = std::chrono::steady_clock;
    const std::int64_t steps = argc > 1 ? std::atoll(argv[1]) : 300'000;
    std::vector<double> rates, loose, publishNs;
    for (int round = 0; round < 10; ++round) {
        const bool durable = round % 2 == 0;
        const test::TempFolder folder;
        auto recorder = Recorder::open({.path = folder.file("s.db"), .durable = durable}, test::sampleInfo());
        if (!recorder) return fmt::print(stderr, "{}\n", recorder.error().sentence), 2;
        const auto begin = Clock::now();
        for (std::int64_t step = 1; step <= steps; ++step) {
            const Event event = test::sampleStep(step);
            const auto before = Clock::now();
            (*recorder)->publish(event);
            publishNs.push_back(std::chrono::duration<double, std::nano>(Clock::now() - before).count());
        }
        (*recorder)->flush();
        (durable ? rates : loose).push_back(static_cast<double>(steps) / std::chrono::duration<double>(Clock::now() - begin).count());
    }
    const double rate = median(rates);
    fmt::print("recorder: {:.0f} step events/s (median of {} rounds of {}; {:.0f} to {:.0f}); publish() {:.0f} ns median, {:.0f} ns p99\n", rate,
               rates.size(), steps, quantile(rates, 0), quantile(rates, 1), median(publishNs), quantile(publishNs, 0.99));
    fmt::print("with the log not made durable: {:.0f} step events/s ({:.0f} to {:.0f})\n", median(loose), quantile(loose, 0), quantile(loose, 1));
    std::vector<double> with, without;
    for (int round = 0; round < 5; ++round) {
        with.push_back(pacedCost(true, std::chrono::seconds(2)));
        without.push_back(pacedCost(false, std::chrono::seconds(2)));
    }
    const double cost = median(with) - median(without);
    fmt::print(
        "at 1000 steps/s: {:.2f} % of a core with the log made durable ({:.2f} to {:.2f}), {:.2f} % without ({:.2f} to {:.2f}): it costs {:.2f} %\n",
        median(with), quantile(with, 0), quantile(with, 1), median(without), quantile(without, 0), quantile(without, 1), cost);
    return rate >= 50'000 && cost < 1 ? 0 : 1;
}
