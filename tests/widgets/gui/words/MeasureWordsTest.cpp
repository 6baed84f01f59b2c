// What the strip says of a measurement within a run.
#include <gtest/gtest.h>

#include "app/gui/measuring/MeasureWords.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

// Two values of a switch that took turns for ten seconds while the processors ran at these clocks.
ExperimentHistory measuredAt(double first, double second, const std::string& why, bool over) {
    ExperimentHistory history;
    history.add(ExperimentBegan{.configA = "{}", .configB = "{}"});
    history.add(BlockDone{.at = TimeNs::fromSeconds(1), .duration = TimeNs::fromSeconds(1), .pair = 0, .steps = 1, .tokens = 1});
    history.add(BlockDone{.at = TimeNs::fromSeconds(10), .duration = TimeNs::fromSeconds(1), .pair = 0, .arm = Arm::B, .steps = 1, .tokens = 1});
    for (double at = 0; at < 10; at += 0.5) {
        DeviceSample sample;
        sample.at = TimeNs::fromSeconds(at);
        sample.cpuClockMhz = at < 5 ? first : second;
        history.add(sample);
    }
    history.add(ExperimentJudged{
        .over = over, .pair = 0, .outcome = "faster", .why = why, .ratio = 1.2, .low = 1.1, .high = 1.3, .pairs = 9, .secondsToGo = 0});
    return history;
}

TEST(MeasureWords, TheStripSaysAtTheEndAtWhichClocksTheTwoTookTurns) {
    const Measured asked{"amp", std::string("off"), std::string("bf16"), "Mixed precision", false};
    const std::string clocks = "The processors ran at 2\u202F000 to 3\u202F000 MHz meanwhile (nine of ten samples).";
    const auto note = [&](const ExperimentHistory& history) { return measuredStrip(asked, history, true).note.toStdString(); };
    EXPECT_TRUE(note(measuredAt(3000, 2000, "", true)).ends_with("bf16 is used from here on. " + clocks)) << note(measuredAt(3000, 2000, "", true));
    EXPECT_TRUE(note(measuredAt(3000, 2000, "A host took part.", true)).ends_with("A host took part. " + clocks));
    EXPECT_TRUE(note(measuredAt(3000, 3000, "A host took part.", true)).ends_with("from here on. A host took part."))
        << "clocks that stood still need no sentence";
    EXPECT_EQ(note(measuredAt(3000, 2000, "", false)).find("MHz"), std::string::npos) << "while it goes on there is more to come";
}

TEST(MeasureWords, TheStripSaysHowLongItHasMeasuredAndHowLongItMay) {
    const Measured asked{"amp", std::string("off"), std::string("bf16"), "Mixed precision", false};
    ExperimentHistory history;
    history.add(ExperimentBegan{.configA = "{}", .configB = "{}", .budgetSeconds = 180});
    EXPECT_TRUE(measuredStrip(asked, history, {}).note.endsWith("; at most 03:00 in all")) << measuredStrip(asked, history, {}).note.toStdString();
    history.add(ExperimentJudged{.pair = 0, .outcome = "inconclusive", .ratio = 1.2, .pairs = 9, .seconds = 52});
    EXPECT_TRUE(measuredStrip(asked, history, {}).note.endsWith("; 00:52 of at most 03:00")) << measuredStrip(asked, history, {}).note.toStdString();
}

// A faster value may break behind the pairs that found it, and a run that ends has no step more.
TEST(MeasureWords, TheFasterValueIsSaidToBeUsedOnlyWhereTheRunHasGoneOnWithIt) {
    const Measured asked{"amp", std::string("off"), std::string("bf16"), "Mixed precision", false};
    const std::string broke = "amp bf16 cannot go on: memory is short.";
    const ExperimentHistory faster = measuredAt(3000, 3000, broke, true);
    const auto note = [&](const ExperimentHistory& history, std::optional<bool> changed) {
        return measuredStrip(asked, history, changed).note.toStdString();
    };
    EXPECT_TRUE(note(faster, true).ends_with("in 9 pairs of blocks; bf16 is used from here on. " + broke)) << note(faster, true);
    EXPECT_TRUE(note(faster, false).ends_with("in 9 pairs of blocks; off stays. " + broke)) << note(faster, false);
    EXPECT_TRUE(note(faster, {}).ends_with("in 9 pairs of blocks. " + broke)) << note(faster, {});
    ExperimentHistory alike = faster;
    alike.add(ExperimentJudged{.over = true, .outcome = "equivalent", .ratio = 1, .low = 0.99, .high = 1.01, .pairs = 9});
    for (const std::optional<bool> changed : {std::optional<bool>(), std::optional<bool>(true)})
        EXPECT_TRUE(note(alike, changed).ends_with("; off stays.")) << note(alike, changed);
}

}  // namespace
}  // namespace stepscope
