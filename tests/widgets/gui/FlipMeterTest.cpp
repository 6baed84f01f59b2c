// The before/after reading of a live flip: the steps it takes, the spread, and when it stays silent.
#include "app/gui/FlipMeter.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

class FlipMeterTest : public testing::Test {
protected:
    FlipMeterTest() {
        history.append(SessionStarted{1, std::make_shared<SessionInfo>(), false});
    }
    void steps(int count, double ms) {
        for (int i = 0; i < count; ++i) {
            StepDone done;
            done.step = ++step;
            at += ms;
            done.at = TimeNs::fromSeconds(at / 1000);
            done.duration = TimeNs::fromSeconds(ms / 1000);
            done.tokens = 1000;
            history.append(done);
        }
    }
    SwitchApplied flip(const std::string& from, const std::string& to) { return {step, {}, "amp", from, to, ""}; }
    const Value off = std::string("off");
    RunHistory history;
    FlipMeter meter;
    std::int64_t step = 0;
    double at = 0;
};

TEST_F(FlipMeterTest, MeasuresTheGainOfASwitchThatIsTurnedOn) {
    steps(60, 20);
    meter.flipped(history, flip("off", "bf16"), off);
    steps(30, 10);
    EXPECT_TRUE(meter.finished(history).empty()) << "not enough steps yet";
    steps(30, 10);
    const auto chips = meter.finished(history);
    ASSERT_EQ(chips.size(), 1u);
    EXPECT_EQ(chips[0].id, "amp");
    EXPECT_EQ(chips[0].text, "×2.00");
    EXPECT_TRUE(chips[0].tooltip.contains("bf16"));
    EXPECT_TRUE(meter.finished(history).empty()) << "told once";
}

TEST_F(FlipMeterTest, SaysTheSameWhenItIsTurnedOff) {
    steps(60, 10);
    meter.flipped(history, flip("bf16", "off"), off);
    steps(60, 20);
    const auto chips = meter.finished(history);
    ASSERT_EQ(chips.size(), 1u);
    EXPECT_EQ(chips[0].text, "×2.00");
}

TEST_F(FlipMeterTest, LeavesTheFirstStepsAfterAFlipOut) {
    steps(60, 10);
    meter.flipped(history, flip("off", "bf16"), off);
    steps(5, 500);
    steps(60, 10);
    EXPECT_EQ(meter.finished(history).at(0).text, "no gain");
}

TEST_F(FlipMeterTest, MeasuresNothingWhenTwoFlipsOverlapOrTheRunIsTooShort) {
    steps(60, 10);
    meter.flipped(history, flip("off", "bf16"), off);
    steps(10, 10);
    meter.flipped(history, SwitchApplied{step, {}, "other", off, off, ""}, off);
    steps(100, 10);
    EXPECT_TRUE(meter.finished(history).empty());
    RunHistory fresh;
    meter.flipped(fresh, flip("off", "bf16"), off);
    EXPECT_TRUE(meter.finished(fresh).empty());
}

TEST_F(FlipMeterTest, ComparesOnlyWithTheDefault) {
    steps(60, 10);
    meter.flipped(history, flip("bf16", "fp16"), off);
    steps(100, 5);
    EXPECT_TRUE(meter.finished(history).empty());
}

TEST(FlipChip, IsShort) {
    EXPECT_EQ(FlipMeter::chipText(2.2), "×2.20");
    EXPECT_EQ(FlipMeter::chipText(1.01), "no gain");
    EXPECT_EQ(FlipMeter::chipText(0.92), "−8 %");
    EXPECT_EQ(FlipMeter::chipText(16.2), "×16");
}

}  // namespace
}  // namespace stepscope
