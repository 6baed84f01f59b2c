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
    const auto note = [&](const ExperimentHistory& history) { return measuredStrip(asked, history).note.toStdString(); };
    EXPECT_TRUE(note(measuredAt(3000, 2000, "", true)).ends_with("bf16 is used from here on. " + clocks)) << note(measuredAt(3000, 2000, "", true));
    EXPECT_TRUE(note(measuredAt(3000, 2000, "A host took part.", true)).ends_with("A host took part. " + clocks));
    EXPECT_TRUE(note(measuredAt(3000, 3000, "A host took part.", true)).ends_with("from here on. A host took part."))
        << "clocks that stood still need no sentence";
    EXPECT_EQ(note(measuredAt(3000, 2000, "", false)).find("MHz"), std::string::npos) << "while it goes on there is more to come";
}

}  // namespace
}  // namespace stepscope
