// What is told of weights when they are chosen: their model, what is left of the files, why these settings cannot begin from them. CTest.
#include <gmock/gmock.h>

#include "TinyTraining.h"
#include "app/workbench/WeightsLook.h"
#include "core/events/ConfigNumbers.h"
#include "tests/core/state/ForeignFolder.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class WeightsLookTest : public testing::ForeignFolder {
protected:
    WeightsLookTest() {
        writeConfig();
        writeTensors("model.safetensors", tensors());
        RunConfig preset;
        preset.switches["context"] = std::int64_t{64};
        config = Registry(testing::plainCpu()).complete(preset).value();
    }
    RunConfig config;
};

TEST_F(WeightsLookTest, AnotherModelIsNamedKeyByKeyAndItsShapeOffered) {
    const WeightsLook look = lookAtWeights(folder(), config);
    EXPECT_THAT(look.found, HasSubstr("2 layers, 2 heads, 16 wide, 61 ids, 12 positions"));
    EXPECT_THAT(look.problem, AllOf(HasSubstr("layers 2 instead of 4"), HasSubstr("heads 2 instead of 4"), HasSubstr("width 16 instead of 128")));
    ASSERT_TRUE(look.shaped);
    EXPECT_EQ(look.shaped->layers, 2);
    EXPECT_EQ(look.shaped->vocabulary, 61);
    EXPECT_EQ(batchShape(*look.shaped).context, 12) << "no more than its positions";
    EXPECT_EQ(look.shaped->lr, config.lr) << "the rest stays";
    const WeightsLook again = lookAtWeights(folder(), *look.shaped);
    EXPECT_EQ(again.problem, "");
    EXPECT_FALSE(again.shaped);
}

TEST_F(WeightsLookTest, WhatIsLeftOutIsSaidWithWhatIsThere) {
    RunConfig shaped = *lookAtWeights(folder(), config).shaped;
    shaped.switches["context"] = std::int64_t{8};
    const WeightsLook look = lookAtWeights(folder(), shaped);
    EXPECT_EQ(look.problem, "");
    EXPECT_THAT(look.found, HasSubstr("Of its 12 positions the first 8 are used."));
}

TEST_F(WeightsLookTest, OfAnotherShapeWhatFitsIsToldWhereThatIsToBeTaken) {
    RunConfig deeper = *lookAtWeights(folder(), config).shaped;
    deeper.layers = 3;
    EXPECT_THAT(lookAtWeights(folder(), deeper).problem, HasSubstr("layers 2 instead of 3"));
    deeper.initPartial = "on";
    const WeightsLook taken = lookAtWeights(folder(), deeper);
    EXPECT_EQ(taken.problem, "");
    EXPECT_THAT(taken.found, AllOf(HasSubstr("h.2."), HasSubstr("drawn as for a new model")));
    deeper.heads = 4;
    EXPECT_THAT(lookAtWeights(folder(), deeper).problem, HasSubstr("heads 2 instead of 4")) << "no tensor tells them";
}

TEST_F(WeightsLookTest, WhatCannotBeReadIsOneSentence) {
    const WeightsLook missing = lookAtWeights(path("nothing"), config);
    EXPECT_THAT(missing.problem, HasSubstr(path("nothing")));
    EXPECT_EQ(missing.found, "");
    EXPECT_FALSE(missing.shaped);
    writeConfig("model_type", "llama");
    EXPECT_THAT(lookAtWeights(folder(), config).problem, HasSubstr("model_type"));
}

}  // namespace
}  // namespace stepscope
