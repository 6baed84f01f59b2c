// Plays a Course over a series of step times in the place of a machine: contiguous steps in their order from some start, warm-ups and rebuilding
// included; B's steps are multiplied. Or over the blocks of recorded experiments, with what turns and rebuilding really cost. Used by tests and by
// bench course_simulation.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/experiment/Course.h"

namespace stepscope {

struct StepSeries {
    std::vector<double> seconds;
    std::vector<double> others;  // processors that other processes had meanwhile; empty = nothing is known
};

struct PlayOptions {
    CourseRules rules;
    std::size_t start = 0;       // the step to begin with; the series is a ring
    double slowdownOfB = 1;      // 1.03: B's steps take 3 % longer
    std::int64_t tokens = 1000;  // of a step
    double rebuildSeconds = 0.2;
    // Steps after a turn that are slower than the others, and by how much: a warm-up that the pilot must find.
    std::int64_t slowAfterTurn = 0;
    double slowBy = 1;
};

// What an order comes to where every step takes so long: turns, warm-up and rebuilding are the caller's.
inline BlockTimes blockOf(const BlockOrder& order, double secondsAStep, double elapsed) {
    BlockTimes times;
    const auto steps = std::max(order.steps, static_cast<std::int64_t>(std::ceil(order.leastSeconds / secondsAStep)));
    times.steps.assign(static_cast<std::size_t>(steps), secondsAStep);
    times.seconds = secondsAStep * static_cast<double>(steps);
    times.tokens = 100 * steps;
    times.elapsed = elapsed;
    return times;
}

inline Course playCourse(const StepSeries& series, const PlayOptions& options) {
    Course course(options.rules);
    std::size_t at = options.start % series.seconds.size();
    double elapsed = 0;
    while (const auto order = course.next()) {
        BlockTimes times;
        double others = 0, length = 0;
        std::int64_t sinceTurn = 0;
        const auto step = [&] {
            double seconds = series.seconds[at];
            if (order->arm == Arm::B) seconds *= options.slowdownOfB;
            if (sinceTurn++ < options.slowAfterTurn) seconds *= options.slowBy;
            if (!series.others.empty()) others += series.others[at] * seconds;
            length += seconds;
            at = (at + 1) % series.seconds.size();
            return seconds;
        };
        if (order->rebuild) {
            for (double spent = 0; spent < options.rebuildSeconds;) spent += step();
            times.rebuildSeconds = options.rebuildSeconds;
            sinceTurn = 0;
        }
        for (std::int64_t i = 0; i < order->warmUp; ++i) step();
        times.turnSeconds = length;
        while (static_cast<std::int64_t>(times.steps.size()) < order->steps || times.seconds < order->leastSeconds) {
            times.steps.push_back(step());
            times.seconds += times.steps.back();
        }
        times.tokens = options.tokens * static_cast<std::int64_t>(times.steps.size());
        if (!series.others.empty()) times.others = others / length;
        elapsed += length;
        times.elapsed = elapsed;
        course.done(times);
    }
    return course;
}

// A block of an experiment of one configuration beside itself, as it was recorded.
struct RecordedBlock {
    std::int64_t instance = 0;            // of both Programs, that ran it: another number each time that they were made anew
    double turnSeconds = 0, seconds = 0;  // before the steps that counted, rebuilding included; and of these
    std::int64_t steps = 1;
    double others = kUnknown;  // processors that other processes had
};

// Blocks in the order in which they were recorded, from options.start on; where the course makes both anew, on to where the recorded ones were. Which
// of them are A's is decided by this course's coins: all are of one configuration.
inline Course playBlocks(const std::vector<RecordedBlock>& blocks, const PlayOptions& options) {
    Course course(options.rules);
    std::size_t at = options.start % blocks.size();
    double elapsed = 0;
    while (const auto order = course.next()) {
        if (order->rebuild) {
            const std::int64_t former = blocks[at].instance;
            for (std::size_t i = 0; i < blocks.size() && blocks[at].instance == former; ++i) at = (at + 1) % blocks.size();
        }
        const RecordedBlock& block = blocks[at];
        at = (at + 1) % blocks.size();
        const double factor = order->arm == Arm::B ? options.slowdownOfB : 1;
        const auto steps = static_cast<std::size_t>(std::max<std::int64_t>(1, block.steps));
        BlockTimes times;
        times.seconds = block.seconds * factor;
        times.steps.assign(steps, times.seconds / static_cast<double>(steps));
        times.tokens = options.tokens * static_cast<std::int64_t>(steps);
        times.turnSeconds = block.turnSeconds * factor;
        if (order->rebuild) times.rebuildSeconds = times.turnSeconds;
        times.others = block.others;
        elapsed += times.turnSeconds + times.seconds;
        times.elapsed = elapsed;
        course.done(times);
    }
    return course;
}

// Which arm is made after which, of so many instances of both, by the coins of a seed.
inline std::vector<Arm> buildOrder(std::uint64_t seed, std::size_t instances) {
    Course course({.seed = seed, .budgetSeconds = 1e9, .delta = 1e-9});
    std::vector<Arm> made;
    for (double block = 1; made.size() < 2 * instances; ++block) {
        const auto order = course.next();
        if (!order) break;
        if (order->rebuild) {
            made.push_back(order->builtFirst);
            made.push_back(order->builtFirst == Arm::A ? Arm::B : Arm::A);
        }
        BlockTimes times;
        times.steps.assign(static_cast<std::size_t>(order->steps), 0.01 * (1 + 0.3 * std::sin(12.9898 * block * block)));
        times.tokens = 100 * order->steps;
        for (const double step : times.steps) times.seconds += step;
        times.elapsed = block;
        course.done(times);
    }
    return made;
}

}  // namespace stepscope
