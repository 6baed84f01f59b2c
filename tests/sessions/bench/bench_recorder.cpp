// bench_recorder [STEPS]: how many step events a second reach the database, from the first publish() to the last commit, and what one
// publish() costs the trainer; in turns with and without making the log durable. Exits 1 below the bar of 50 000 a second. Plain program: a run of it
// is one long measurement.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <vector>

#include "core/analysis/Statistics.h"
#include "sessions/Recorder.h"
#include "tests/sessions/TestSupport.h"

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
    return rate >= 50'000 ? 0 : 1;
}
