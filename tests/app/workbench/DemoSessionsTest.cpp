// What the two demo sessions are: two runs of one small model that differ in switches alone.
#include <gtest/gtest.h>

#include "app/workbench/experiments/DemoSessions.h"

namespace stepscope {
namespace {

TEST(DemoSessions, DifferInTheOneSwitchThatPromisesMostAndHoldACapture) {
    const auto workbench = Workbench::create(Machine{.cpu = "Some CPU", .cores = 2, .memory = {8'000'000'000}});
    const auto requests = demoRequests(*workbench, "some.db");
    ASSERT_TRUE(requests) << requests.error().sentence;
    ASSERT_EQ(requests->size(), 2u);
    const RunRequest &off = requests->at(0), &on = requests->at(1);
    EXPECT_EQ(off.name, "demo: fusion=off");
    EXPECT_EQ(on.name, "demo: fusion=step");
    RunConfig same = on.config;
    same.switches = off.config.switches;
    EXPECT_EQ(same, off.config);
    int different = 0;
    for (const auto& [id, value] : off.config.switches) different += value != on.config.switches.at(id) ? 1 : 0;
    EXPECT_EQ(different, 1);
    for (const RunRequest* one : {&off, &on}) {
        EXPECT_EQ(one->database, "some.db");
        EXPECT_TRUE(one->record);
        ASSERT_TRUE(one->capture);
        EXPECT_EQ(one->capture->steps, 3);
    }
}

}  // namespace
}  // namespace stepscope
