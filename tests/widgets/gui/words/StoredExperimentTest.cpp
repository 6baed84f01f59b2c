// An experiment that is asked, live or stored, as the page Compare shows it.
#include <gtest/gtest.h>

#include "app/gui/measuring/StoredExperiment.h"
#include "core/analysis/ExperimentHistory.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

TEST(ViewOfAnExperiment, SaysInWhatTheSidesDifferAndHowManySettingsTheyShare) {
    ExperimentRequest request;
    request.a.switches["amp"] = std::string("off");
    request.b.switches["amp"] = std::string("bf16");
    const auto settings = static_cast<int>(listConfig(request.a).size()) - 1;  // a preset's name is none
    CompareView view = viewOf(request);
    EXPECT_EQ(view.settingsA, "amp=off");
    EXPECT_EQ(view.settingsB, "amp=bf16");
    EXPECT_EQ(view.sameKeys, settings - 1);
    request.b.layers = request.a.layers + 1;
    request.b.preset = "another";
    view = viewOf(request);
    EXPECT_EQ(view.sameKeys, settings - 2);
    request.same = true;
    EXPECT_EQ(viewOf(request).sameKeys, 0) << "they differ in nothing";
}

TEST(RequestAgain, AsksAllThatWasAskedBefore) {
    ExperimentHistory history;
    EXPECT_FALSE(requestAgain(history, "s.db").ok());
    const std::string config = configToJson(RunConfig{});
    history.add(ExperimentBegan{.configA = config,
                                .configB = config,
                                .same = true,
                                .seed = 4,
                                .budgetSeconds = 60,
                                .from = "/checkpoints/step-0000012",
                                .captures = false,
                                .lossSeconds = 20,
                                .lossSeeds = 3});
    const auto from = requestAgain(history, "s.db");
    ASSERT_TRUE(from.ok()) << from.error().sentence;
    EXPECT_EQ(from->from, "/checkpoints/step-0000012");
    EXPECT_EQ(from->seed, 5);
    EXPECT_EQ(from->whyWindows, 0);
    EXPECT_EQ(from->lossSeconds, 20) << "also where it ended before the losses were known";
    EXPECT_EQ(from->lossSeeds, 3);
    history.add(ExperimentBegan{.configA = config, .configB = config, .init = "gpt2.safetensors"});
    EXPECT_EQ(requestAgain(history, "s.db")->init, "gpt2.safetensors");
    EXPECT_GT(requestAgain(history, "s.db")->whyWindows, 0);
    EXPECT_EQ(requestAgain(history, "s.db")->lossSeconds, 0);
}

}  // namespace
}  // namespace stepscope
