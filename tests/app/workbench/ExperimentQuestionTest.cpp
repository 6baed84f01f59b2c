// By which key the same question is found again, and what makes it another one. CTest.
#include <gmock/gmock.h>

#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigNumbers.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ExperimentQuestion : public ::testing::Test {
protected:
    ExperimentQuestion() {
        machine.cpu = "a processor";
        machine.cores = 2;
        b.lr = 2 * a.lr;
    }
    std::string key(const std::string& from = {}, const std::string& init = {}) const { return questionKey(a, b, false, machine, from, init); }

    Machine machine;
    RunConfig a, b;
};

TEST_F(ExperimentQuestion, ThoseOfVersionsWithoutInitAndEarlyStoppingAreFoundAgain) {
    EXPECT_EQ(key(), "54c41e2caefd730c5f171c531087e993") << "a new setting must add nothing while it has its usual value";
}

TEST_F(ExperimentQuestion, WhatNoTimedStepKnowsOfIsTheSameQuestion) {
    const std::string before = key();
    b.earlyStopping = a.earlyStopping = 3;
    b.steps = a.steps = 77;
    EXPECT_EQ(key(), before);
    b.lr = 3 * a.lr;
    EXPECT_NE(key(), before);
}

TEST_F(ExperimentQuestion, WeightsOfTheSettingAndOfTheOptionAreTheSameBeginning) {
    const std::string random = key(), option = key({}, "/somewhere/gpt2");
    EXPECT_NE(option, random);
    const std::string checkpoint = key("/somewhere/step-0000005");
    a.init = b.init = "/somewhere/gpt2";
    EXPECT_EQ(key(), option);
    EXPECT_EQ(key({}, "/somewhere/gpt2"), option);
    EXPECT_EQ(key("/somewhere/step-0000005"), checkpoint) << "nothing of the setting is used beside a checkpoint";
}

TEST_F(ExperimentQuestion, WithItsSidesSwappedIsFoundFromWhatIsStored) {
    ExperimentBegan began{.configA = configToJson(a), .configB = configToJson(b), .question = key("/somewhere/step-5"), .from = "/somewhere/step-5"};
    EXPECT_EQ(turnedQuestion(began, machine), questionKey(b, a, false, machine, "/somewhere/step-5"));
    EXPECT_NE(turnedQuestion(began, machine), began.question);
    Machine another = machine;
    another.cores = 64;
    EXPECT_EQ(turnedQuestion(began, another), "") << "it was not asked there";
    began.question = "of another version";
    EXPECT_EQ(turnedQuestion(began, machine), "");
    const ExperimentBegan itself{.configA = configToJson(a), .configB = configToJson(a), .question = questionKey(a, a, true, machine), .same = true};
    EXPECT_EQ(turnedQuestion(itself, machine), "") << "it has no other side";
}

TEST_F(ExperimentQuestion, WhatARunDoesBetweenItsStepsIsNoQuestionByItself) {
    b.lr = a.lr;
    b.keep = a.keep + 1;
    b.switches["validation-every"] = std::int64_t{7};
    a.switches["validation-every"] = std::int64_t{5};
    EXPECT_THAT(whyNotComparable(a, b, false),
                AllOf(HasSubstr("keep, validation-every alone"), HasSubstr("without validation, checkpoints and text")));
    b.lr = 2 * a.lr;
    EXPECT_EQ(whyNotComparable(a, b, false), "") << "beside something that is one";
    EXPECT_TRUE(isOfLearning("lr") && isOfLearning("seed"));
    EXPECT_FALSE(isOfLearning("steps") || isOfLearning("fusion") || isInTimedSteps("steps"));
}

TEST_F(ExperimentQuestion, SidesThatBeginOtherwiseAreNoQuestion) {
    EXPECT_EQ(whyNotComparable(a, b, false), "");
    b.init = "/somewhere/gpt2";
    EXPECT_THAT(whyNotComparable(a, b, false), HasSubstr("A begins with other weights than B (init=random beside /somewhere/gpt2)"));
}

}  // namespace
}  // namespace stepscope
