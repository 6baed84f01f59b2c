// From a finding to the one change that tests it, by the real registry: the switch and value that a person would choose, and nothing that cannot be
// used.
#include <gtest/gtest.h>

#include <functional>

#include "app/workbench/diagnose/Advise.h"
#include "core/events/Presets.h"

namespace stepscope {
namespace {

Machine machine() {
    Machine machine;
    machine.cpu = "a processor";
    machine.cores = 4;
    machine.memory = {16'000'000'000};
    machine.instructions = {"avx2", "avx512", "avx512_bf16"};
    return machine;
}

class AdviseTest : public ::testing::Test {
protected:
    // The change that is advised first for the rule; "" = none.
    std::string tested(const std::string& rule, const std::function<void(RunConfig&)>& settings, const std::function<void(AdviceFacts&)>& numbers) {
        RunConfig config = presetConfig("tiny-cpu").value();
        settings(config);
        const auto complete = m_registry.complete(config);
        EXPECT_TRUE(complete) << complete.error().sentence;
        AdviceFacts facts;
        facts.machine = m_registry.machine();
        facts.plan = m_registry.plan(*complete, 50257).value();
        facts.stepMs = facts.medianMs = 100;
        numbers(facts);
        for (const Advice& advice : advise(m_registry, facts)) {
            if (advice.rule != rule) continue;
            EXPECT_TRUE(advice.besideItself || advice.from != advice.value);
            return advice.besideItself ? "itself" : advice.key + "=" + advice.value;
        }
        return "";
    }
    static void asItIs(RunConfig&) {}

    const Registry m_registry{machine()};
};

TEST_F(AdviseTest, FindsTheSwitchWhoseValueGivesThePlan) {
    EXPECT_EQ(tested("float32-products", asItIs, [](auto& f) { f.peaks = {.float32 = 1e11, .bf16 = 4e11}; }), "amp=bf16");
    EXPECT_EQ(tested("slower-attention", asItIs, [](auto& f) { f.manualAttentionMs = 1, f.sdpaAttentionMs = 4; }), "attention=manual");
    EXPECT_EQ(tested(
                  "page-faults", [](auto& c) { c.switches["host-memory"] = std::string("system"); },
                  [](auto& f) { f.faultsPerStep = 1e5, f.peaks.secondsAPage = 1e-6; }),
              "host-memory=caching");
    EXPECT_EQ(tested("unpadded-vocabulary", asItIs, [](auto& f) { f.vocabularyRows = 50257, f.work.products = 10, f.work.head = 5; }),
              "vocab-padding=64");
    EXPECT_EQ(tested(
                  "validation-share", [](auto& c) { c.switches["validation-every"] = std::int64_t{7}; }, [](auto& f) { f.validationMs = 900; }),
              "validation-every=14");
    EXPECT_EQ(tested(
                  "unfused-optimizer", [](auto& c) { c.switches["optimizer"] = std::string("loop"); }, [](auto& f) { f.phaseMs[5] = 40; }),
              "optimizer=fused");
    EXPECT_EQ(tested("small-operations", asItIs, [](auto& f) { f.smallLaunches = 400, f.smallShare = 0.6; }), "fusion=step");
    EXPECT_EQ(tested("batch-below-knee", asItIs, [](auto& f) { f.twiceTheBatchGain = 1.4; }), "batch-size=24");
    EXPECT_EQ(tested("clips-always", asItIs, [](auto& f) { f.clippedShare = 1, f.stepsMade = 500; }), "grad-clip=2");
    EXPECT_TRUE(tested("tight-memory", asItIs, [](auto& f) { f.memoryShare = 0.95; }).starts_with("checkpointing="));
    EXPECT_EQ(
        tested(
            "recomputes-with-room", [](auto& c) { c.switches["checkpointing"] = std::string("every-block"); }, [](auto& f) { f.memoryShare = 0.2; }),
        "checkpointing=off");
    EXPECT_EQ(tested(
                  "loader-wait", [](auto& c) { c.switches["data-source"] = std::string("text"); }, [](auto& f) { f.phaseMs[0] = 30; }),
              "data-source=mmap");
    EXPECT_EQ(tested(
                  "fp16-unclipped", [](auto& c) { c.switches["amp"] = std::string("fp16"), c.switches["grad-clip"] = 0.0; }, [](auto&) {}),
              "grad-clip=1");
    EXPECT_EQ(tested(
                  "fp16-without-units", [](auto& c) { c.switches["amp"] = std::string("fp16"); }, [](auto&) {}),
              "amp=bf16");
}

TEST_F(AdviseTest, FindsSettingsToo) {
    EXPECT_EQ(tested(
                  "threads", [](auto& c) { c.threads = 3; }, [](auto&) {}),
              "threads=0");
    EXPECT_EQ(tested(
                  "rate-unusual", [](auto& c) { c.lr = 0.01; }, [](auto& f) { f.parameters = 124'000'000; }),
              "lr=0.0006");
    EXPECT_EQ(tested("noisy-machine", asItIs, [](auto& f) { f.othersPct = 40; }), "itself");
    EXPECT_EQ(tested("checkpoint-room", asItIs, [](auto& f) { f.checkpointBytes = 2e12, f.freeDiskBytes = 1e12; }), "keep=1");
}

TEST_F(AdviseTest, LeavesOutWhatCannotBeTestedHere) {
    const auto gpu = [](AdviceFacts& f) { f.memoryShare = 0.95, f.plan.recompute.everyKthBlock = 1, f.plan.batchSize = 1; };
    EXPECT_EQ(tested(
                  "tight-memory",
                  [](auto& c) { c.switches["checkpointing"] = std::string("every-block"), c.switches["batch-size"] = std::int64_t{1}; }, gpu),
              "");
}

TEST_F(AdviseTest, FindsTheValueOfANumberThatIsAskedFor) {
    const RunConfig config = m_registry.complete(presetConfig("tiny-cpu").value()).value();
    const auto found = settingFor(
        m_registry, config, 256, [](const RunPlan& plan) { return plan.batchSize == 37; }, 37);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first + "=" + found->second, "batch-size=37");
    EXPECT_FALSE(settingFor(m_registry, config, 256, [](const RunPlan&) { return false; }));
}

}  // namespace
}  // namespace stepscope
