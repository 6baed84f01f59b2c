// The experiment being edited: values against the preset, and refusals that lose nothing.
#include <gtest/gtest.h>

#include "PanelFixture.h"
#include "widgets/panels/experiment/ExperimentDraft.h"

namespace stepscope {
namespace {

ExperimentDraft tiny() {
    ExperimentDraft draft;
    EXPECT_TRUE(draft.choosePreset("tiny-cpu").ok());
    draft.setCatalogue(smallCatalogue());
    return draft;
}

TEST(ExperimentDraft, TakesTheDefaultsOfSwitchesThatThePresetDoesNotName) {
    const ExperimentDraft draft = tiny();
    EXPECT_EQ(draft.text("amp"), "off");
    EXPECT_EQ(draft.text("context"), "128");  // the preset's, not the registry's 64
    EXPECT_FALSE(draft.changed("amp"));
    EXPECT_FALSE(draft.changed("context"));
}

TEST(ExperimentDraft, KnowsWhatDiffersFromThePresetAndGivesItBack) {
    ExperimentDraft draft = tiny();
    ASSERT_TRUE(draft.set("layers", "6").ok());
    ASSERT_TRUE(draft.set("amp", "bf16").ok());
    EXPECT_TRUE(draft.changed("layers"));
    EXPECT_TRUE(draft.changed("amp"));
    EXPECT_EQ(draft.differences().size(), 2u);
    draft.reset("layers");
    draft.reset("amp");
    EXPECT_EQ(draft.config().layers, 4);
    EXPECT_TRUE(draft.differences().empty());
}

TEST(ExperimentDraft, RefusesATextThatSetKeyRefusesAndStaysAsItWas) {
    ExperimentDraft draft = tiny();
    const auto done = draft.set("layers", "many");
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().sentence.find("layers"), std::string::npos);
    EXPECT_EQ(draft.config().layers, 4);
}

TEST(ExperimentDraft, KeepsTheChosenDataWhenThePresetChanges) {
    ExperimentDraft draft = tiny();
    ASSERT_TRUE(draft.set("data", "/home/me/poems.txt").ok());
    ASSERT_TRUE(draft.choosePreset("gpt2-small").ok());
    EXPECT_EQ(draft.config().data, "/home/me/poems.txt");
    EXPECT_EQ(draft.config().layers, 12);
}

TEST(ExperimentDraft, StaysOnItsDeviceWhenThePresetChanges) {
    ExperimentDraft draft = tiny();
    draft.useDevice("cuda:0");
    ASSERT_TRUE(draft.choosePreset("gpu-8gb").ok());
    EXPECT_EQ(draft.config().word("device"), "cuda:0");
    EXPECT_EQ(draft.config().layers, 8);
}

TEST(ExperimentDraft, NamesTheKnownPresetsWhenAskedForAnotherOne) {
    ExperimentDraft draft = tiny();
    const auto done = draft.choosePreset("huge");
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().sentence.find("tiny-cpu"), std::string::npos);
}

TEST(ExperimentDraft, CountsWhatAStoredSessionHasBesidesItsPresetAsChanged) {
    ExperimentDraft draft = tiny();
    RunConfig stored = draft.config();
    stored.width = 256;
    draft.choosePreset("gpt2-small").ok();
    draft.adopt(stored);
    EXPECT_EQ(draft.config().preset, "tiny-cpu");
    EXPECT_TRUE(draft.changed("width"));
    EXPECT_FALSE(draft.changed("layers"));
}

TEST(ExperimentDraft, ChecksTheRulesBetweenKeys) {
    ExperimentDraft draft = tiny();
    ASSERT_TRUE(draft.set("heads", "3").ok());
    EXPECT_FALSE(draft.check().ok());
}

}  // namespace
}  // namespace stepscope
