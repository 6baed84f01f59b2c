// A history that went back to a moment is the one that was never fed further.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/RunHistory.h"
#include "core/analysis/flips/FlipMeter.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

struct Told {
    TimeNs at;
    Event event;
};

// 2000 steps with a validation, a checkpoint, a sample, a flip, a text and a pause every so often, and the end of the run.
std::vector<Told> session(const std::string& schedule = "constant") {
    auto info = std::make_shared<SessionInfo>();
    info->config.emplace();
    info->config->schedule = schedule;
    info->config->steps = 2000;
    std::vector<Told> all{{TimeNs{}, SessionStarted{7, info, true}}};
    std::int64_t at = 0;
    const auto tell = [&](auto event) {
        event.at = TimeNs{at += 1'234'567};
        all.push_back({event.at, event});
    };
    tell(Preparing{{}, "tokenising", 0.5});
    tell(Preparing{{}, "building", 1});
    tell(StateChanged{{}, 0, RunState::Running, ""});
    std::int64_t batch = 8;
    for (std::int64_t step = 1; step <= 2000; ++step) {
        StepDone done;
        done.step = step;
        done.duration = TimeNs{9'000'000 + (step * 7919) % 1'000'003};
        done.loss = step % 97 == 0 ? kUnknown : 4 - std::log(static_cast<double>(step)) / 3;
        done.learningRate = 1e-5 * static_cast<double>(step);
        done.tokens = 1000 + step % 3;
        done.phaseNs = {1, 2, 3'000'000, 5'000'000, 4, 5};
        done.residentBytes = 100'000'000 + step;
        done.skipped = step % 50 == 0;
        tell(done);
        if (step % 13 == 0)
            tell(DeviceSample{.cpuPct = 90,
                              .residentBytes = step * 100,
                              .availableBytes = 5,
                              .gpuPowerW = 200 + 0.5 * static_cast<double>(step % 7),
                              .cpuPowerW = 0.5 * static_cast<double>(step)});
        if (step % 100 == 0) tell(ValidationDone{step, {}, {5'000}, 3.5});
        if (step % 250 == 0) tell(CheckpointSaved{step, {}, {7'000}, "there"});
        if (step % 170 == 0) {
            tell(SwitchApplied{step, {}, "batch-size", batch, batch + 1, ""});
            ++batch;
        }
        if (step % 500 == 20) tell(ExperimentBegan{.step = step});
        if (step % 500 > 20 && step % 500 <= 320 && step % 20 == 0)
            tell(BlockDone{.step = step, .pair = step % 500 / 40 - 2, .arm = step % 40 == 0 ? Arm::A : Arm::B, .steps = 15});
        if (step % 500 == 321) tell(ExperimentJudged{.step = step, .over = true, .outcome = "faster", .ratio = 1.2, .low = 1.1, .high = 1.3});
        if (step % 300 == 0) tell(TextGenerated{step, {}, "In", fmt::format("text {}", step), true});
        if (step % 400 == 0) {
            tell(StateChanged{{}, step, RunState::Paused, ""});
            tell(StateChanged{{}, step, RunState::Running, ""});
        }
    }
    tell(StateChanged{{}, 2000, RunState::Finished, ""});
    return all;
}

StandingEvents standingAt(const std::vector<Told>& events, TimeNs at) {
    StandingEvents standing;
    for (const Told& told : events) {
        if (told.at > at) break;
        if (const auto* state = std::get_if<StateChanged>(&told.event)) standing.state = *state;
        if (const auto* preparing = std::get_if<Preparing>(&told.event)) standing.preparing = *preparing;
        if (const auto* text = std::get_if<TextGenerated>(&told.event)) standing.text = *text;
    }
    return standing;
}

std::string textOf(const Column& column) {
    std::string text;
    for (std::size_t row = 0; row < column.size(); ++row) text += fmt::format("{} ", column[row]);
    for (std::size_t begin = 0; begin < column.size(); begin += 37) {
        const auto found = column.extremes(begin, column.size(), begin % 2 == 0);
        text += fmt::format("[{} {} {}]", found.low, found.high, found.any);
    }
    return text;
}

std::string textOf(const RunPlace& place) {
    return fmt::format("{}/{}/{}/{}/{} ", place.step, place.tokens, place.seconds, place.rate, place.joules);
}

// Everything that the window reads of it.
std::string textOf(const RunHistory& history) {
    const StepColumns& steps = history.steps();
    std::string text = fmt::format("{} rows\n", history.rows());
    for (std::size_t row = 0; row < history.rows(); ++row)
        text += textOf(history.place(row)) + fmt::format("{:.9g} ", steps.smoothedLoss.at(row, 10));
    for (const Column* column : {&steps.loss,
                                 &steps.learningRate,
                                 &steps.gradientNorm,
                                 &steps.lossScale,
                                 &steps.stepMs,
                                 &steps.tokensPerSecond,
                                 &steps.rateP10,
                                 &steps.rateP50,
                                 &steps.rateP90,
                                 &steps.residentBytes,
                                 &steps.peakBytes,
                                 &steps.pageFaults,
                                 &steps.operations,
                                 &history.device().cpuPct,
                                 &history.device().othersPct,
                                 &history.device().stealPct,
                                 &history.device().throttledPct,
                                 &history.device().residentBytes,
                                 &history.device().availableBytes,
                                 &history.device().gpuPct,
                                 &history.device().gpuMemoryBytes,
                                 &history.device().cpuPowerW,
                                 &history.device().gpuPowerW})
        text += '\n' + textOf(*column);
    for (std::size_t row = 0; row < history.rows(); row += 7)
        for (const SumColumn* column : {&steps.phaseMs[2], &steps.phaseMs[5], &steps.otherMs, &steps.skipped, &steps.disturbed})
            text += fmt::format("{} ", column->sum(0, row + 1));
    for (const RunPlace& place : history.device().place) text += textOf(place);
    for (const ValidationPoint& point : history.validation()) text += fmt::format("\n{} {}", point.loss, textOf(point.place));
    for (const Marker& marker : history.markers()) text += fmt::format("\n{} {} {}", marker.label, history.detailOf(marker), textOf(marker.place));
    for (const FlippedSwitch& flipped : history.flips()) text += fmt::format("\n{} row {}", flipped.flip.step, flipped.row);
    for (const TurnBlock& block : history.turns())
        text += fmt::format("\nturn {} {} {} {} {}", block.firstStep, block.lastStep, block.at.ns, toString(block.arm), block.counts);
    for (const JudgedTurns& turns : history.judgedTurns())
        text += fmt::format("\njudged {} {} {} {}", turns.began.ns, turns.flips, turns.judged.over, turns.judged.outcome);
    text += history.measuring() ? "\nmeasuring" : "";
    if (history.state()) text += fmt::format("\nstate {} {}", static_cast<int>(history.state()->state), history.state()->at.ns);
    if (history.preparing()) text += "\npreparing " + history.preparing()->what;
    if (history.text()) text += "\ntext " + history.text()->text;
    for (const auto& [id, value] : history.config().switches) text += fmt::format("\n{}={}", id, toString(value));
    const RunNumbers numbers = history.numbers();
    return text + fmt::format("\n{} {} {} {} {}", numbers.elapsed.ns, numbers.secondsLeft, numbers.tokensPerSecond, numbers.step, numbers.fraction);
}

RunHistory fedUntil(const std::vector<Told>& events, TimeNs at) {
    RunHistory history;
    for (const Told& told : events)
        if (told.at <= at) history.append(told.event);
    return history;
}

}  // namespace

TEST(RunHistoryRewind, ShowsWhatPlayingToThatMomentShows) {
    const std::vector<Told> events = session();
    for (const std::size_t place :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{5}, events.size() / 3, events.size() / 2, events.size() - 1}) {
        for (const std::int64_t off : {-1, 0, 1}) {
            const TimeNs at{std::max<std::int64_t>(0, events[place].at.ns + off)};
            RunHistory history = fedUntil(events, events.back().at);
            history.rewind(at, standingAt(events, at));
            ASSERT_EQ(textOf(history), textOf(fedUntil(events, at))) << "event " << place << ", off by " << off << " ns";
        }
    }
}

TEST(RunHistoryRewind, GrowsOnFromThereAsIfItHadNeverBeenFurther) {
    const std::vector<Told> events = session();
    const std::string whole = textOf(fedUntil(events, events.back().at));
    RunHistory history = fedUntil(events, events.back().at);
    for (const std::size_t place : {events.size() - 3, events.size() / 2, std::size_t{40}}) {
        const TimeNs at = events[place].at;
        history.rewind(at, standingAt(events, at));
        for (const Told& told : events)
            if (told.at > at) history.append(told.event);
        ASSERT_EQ(textOf(history), whole) << place;
    }
}

TEST(RunHistoryRewind, TakesBackTheSuggestionThatARangeTestEndsWith) {
    const std::vector<Told> events = session("range-test");
    RunHistory history = fedUntil(events, events.back().at);
    const TimeNs before{events.back().at.ns - 1};
    history.rewind(before, standingAt(events, before));
    EXPECT_EQ(textOf(history), textOf(fedUntil(events, before)));
}

TEST(RunHistoryRewind, TheFlipThatWasMeasuredThereIsMeasuredAgain) {
    const std::vector<Told> events = session();
    const TimeNs at = events[events.size() / 2].at;
    FlipMeter played, back;
    RunHistory there;
    for (const Told& told : events) {
        if (told.at > at) break;
        there.append(told.event);
        if (const auto* flip = std::get_if<SwitchApplied>(&told.event)) played.flipped(there, *flip);
    }
    RunHistory history = fedUntil(events, events.back().at);
    history.rewind(at, standingAt(events, at));
    back.catchUp(history);
    const auto wanted = played.read(there), found = back.read(history);
    ASSERT_TRUE(wanted && found);
    EXPECT_EQ(found->context, wanted->context);
    ASSERT_EQ(found->flips.size(), wanted->flips.size());
    EXPECT_EQ(found->flips.back().step, wanted->flips.back().step);
    EXPECT_EQ(found->effect.stepsBefore, wanted->effect.stepsBefore);
    EXPECT_EQ(found->effect.stepsAfter, wanted->effect.stepsAfter);
    EXPECT_EQ(found->effect.ms.before.median, wanted->effect.ms.before.median);
    EXPECT_EQ(found->effect.ms.after.median, wanted->effect.ms.after.median);
}

}  // namespace stepscope
