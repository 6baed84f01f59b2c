// The slots of a Program: two switches on one slot are refused with both names; a switch may bring a Program of its own.
#include <gtest/gtest.h>

#include "TinyTraining.h"

namespace stepscope {
namespace {

struct CountingProgram final : StepProgram {
    explicit CountingProgram(ProgramParts parts) : context(parts.context) {}
    StepResult step(TrainState&, const BatchSource&, double) override { return {}; }
    double evaluate(const TrainState&, const BatchSource&, std::int64_t) override { return static_cast<double>(context); }
    const ProgramReport& report() const override { return words; }
    ProgramReport words;
    std::int64_t context;
};

TEST(ProgramBuilder, RefusesTwoSwitchesOnOneSlotWithBothNames) {
    ProgramBuilder builder(testing::tinyConfig(Registry(testing::plainCpu())));
    builder.beginSwitch("one-loss");
    builder.setLossOp(plain::loss);
    builder.setLossOp(plain::loss);  // of the same switch: no conflict
    EXPECT_TRUE(builder.build().ok());
    builder.beginSwitch("other-loss");
    builder.setLossOp(plain::loss);
    const auto built = builder.build();
    ASSERT_FALSE(built.ok());
    EXPECT_NE(built.error().sentence.find("one-loss"), std::string::npos) << built.error().sentence;
    EXPECT_NE(built.error().sentence.find("other-loss"), std::string::npos) << built.error().sentence;
}

TEST(ProgramBuilder, BuildsTheProgramThatASwitchBrings) {
    ProgramBuilder builder(testing::tinyConfig(Registry(testing::plainCpu())));
    builder.beginSwitch("whole-step");
    builder.setProgram([](ProgramParts parts) -> std::unique_ptr<StepProgram> { return std::make_unique<CountingProgram>(std::move(parts)); });
    builder.setContext(31);
    auto built = builder.build();
    ASSERT_TRUE(built.ok());
    const TrainState none;
    EXPECT_EQ((*built)->evaluate(none, *testing::tinyBatches(), 1), 31);
}

TEST(ProgramBuilder, LetsAnInstallSeeTheOtherSwitches) {
    const auto config = testing::tinyConfig(Registry(testing::plainCpu()));
    EXPECT_EQ(ProgramBuilder(config).config().word("attention"), "auto");
}

}  // namespace
}  // namespace stepscope
