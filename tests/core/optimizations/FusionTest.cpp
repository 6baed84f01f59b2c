// The fused switches as a whole: each alone trains as the plain form does, "auto" follows fusion and gives way, "on" beside another claim
// is refused with both names, and each runs operations of its own name.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "TinyTraining.h"
#include "core/base/OperationSpan.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "core/profile/OperationCounter.h"
#include "core/program/ProgramBuilder.h"

namespace stepscope {
namespace {

using testing::lossesOf;
using testing::registry;
using testing::with;

const std::vector<std::string> kSwitches{"fused-embedding", "fused-norm", "fused-activation", "fused-qkv",
                                         "fused-attention", "fused-loss", "fused-optimizer"};

class FusedSwitch : public ::testing::TestWithParam<std::string> {};

TEST_P(FusedSwitch, AloneTrainsAsThePlainFormDoes) {
    for (const std::string amp : {"off", "bf16"}) {
        const RunConfig plain = with(testing::tinyConfig(registry(), 20), {{"amp", amp}});
        const auto wanted = lossesOf(plain), got = lossesOf(with(plain, {{GetParam(), "on"}}));
        ASSERT_EQ(got.size(), wanted.size());
        for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], amp == "off" ? 2e-5 : 5e-2) << "step " << i;
    }
}

TEST_P(FusedSwitch, IsRefusedBesideAProgramThatHasItsOwn) {
    const RunConfig config = with(testing::tinyConfig(registry()), {{"fusion", "step"}, {GetParam(), "on"}});
    const auto complete = registry().complete(config);
    ASSERT_FALSE(complete.ok());
    EXPECT_NE(complete.error().sentence.find("fusion=step"), std::string::npos) << complete.error().sentence;
}

std::string asTestName(std::string name) {
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, FusedSwitch, ::testing::ValuesIn(kSwitches), [](const auto& info) { return asTestName(info.param); });

TEST(Fusion, OnBesideAnotherClaimOfTheSlotIsRefusedWithBothNamesBeforeTheRun) {
    for (const auto& [id, value, fused] :
         {std::tuple{"attention", "manual", "fused-attention"}, std::tuple{"optimizer", "loop", "fused-optimizer"}}) {
        const auto complete = registry().complete(with(testing::tinyConfig(registry()), {{id, value}, {fused, "on"}}));
        ASSERT_FALSE(complete.ok());
        EXPECT_NE(complete.error().sentence.find(id), std::string::npos) << complete.error().sentence;
        EXPECT_NE(complete.error().sentence.find(fused), std::string::npos);
    }
}

RunConfig withThreeProjections(const std::string& fusedQkv) {
    RunConfig config = with(testing::tinyConfig(registry()), {{"fusion", "kernels"}, {"fused-qkv", fusedQkv}});
    config.qkv = "split";
    return config;
}

TEST(Fusion, FusedQkvBesideThreeProjectionsIsRefusedWithBothNamesAlsoWhenFlipped) {
    const auto begun = registry().complete(withThreeProjections("on"));
    const auto flipped = registry().flipped(withThreeProjections("auto"), "fused-qkv", std::string("on"));
    for (const auto* refused : {&begun, &flipped}) {
        ASSERT_FALSE(refused->ok());
        EXPECT_NE(refused->error().sentence.find("fused-qkv needs the one projection of qkv=fused"), std::string::npos) << refused->error().sentence;
        EXPECT_NE(refused->error().sentence.find("qkv=split"), std::string::npos) << refused->error().sentence;
    }
    const auto catalogue = registry().catalogue(withThreeProjections("auto"));
    const auto info = std::ranges::find(catalogue, "fused-qkv", &SwitchInfo::id);
    ASSERT_NE(info, catalogue.end());
    ASSERT_EQ(info->refusedChoices.size(), 1u) << "auto and off stay";
    EXPECT_EQ(info->refusedChoices[0].first, "on");
}

TEST(Fusion, AutoLeavesThreeProjectionsAsTheyAre) {
    ASSERT_TRUE(registry().complete(withThreeProjections("auto")).ok());
    EXPECT_EQ(lossesOf(withThreeProjections("auto")), lossesOf(withThreeProjections("off")));
}

TEST(Fusion, EachFormRunsFewerOperationsAStepAndSaysHowMany) {
    const auto operations = [](const std::string& fusion, const std::string& amp) {
        testing::TinyTrainer trainer(with(testing::tinyConfig(registry(), 4), {{"fusion", fusion}, {"amp", amp}}));
        trainer.run();
        const auto steps = trainer.sink.all<StepDone>();
        EXPECT_TRUE(std::isnan(steps.at(0).operations)) << "the first step still prepares";
        EXPECT_EQ(steps.at(3).operations, steps.at(1).operations);
        return steps.at(3).operations;
    };
    for (const std::string amp : {"off", "bf16"}) {
        const double off = operations("off", amp), kernels = operations("kernels", amp), step = operations("step", amp);
        EXPECT_GT(step, 0);
        EXPECT_LT(step, 0.5 * kernels) << kernels;
        EXPECT_LT(kernels, 0.7 * off) << off;
    }
}

// Of a step of the preset tiny-cpu, so that a person who flips a switch there sees what it does.
double operationsOnTinyCpu(const std::string& id, const std::string& value) {
    RunConfig config = with(presetConfig("tiny-cpu").value(), {{"fusion", "off"}});
    config.switches[id] = value;
    config = registry().complete(config).value();
    TrainState state = TrainState::initialise(registry().modelShape(config, 61), 1);
    const auto program = testing::programOver(state, registry(), config);
    program->step(state, *testing::tinyBatches(), 1e-3);
    const OperationCounter counter;
    program->step(state, *testing::tinyBatches(), 1e-3);
    return static_cast<double>(counter.count());
}

TEST(Fusion, EveryFusedFormRunsFewerOperationsThanThePlainOne) {
    const double plain = operationsOnTinyCpu("fusion", "off"), kernels = operationsOnTinyCpu("fusion", "kernels");
    for (const auto& id : kSwitches) {
        const double alone = operationsOnTinyCpu(id, "on");
        EXPECT_LT(alone, plain) << id;
        EXPECT_LT(kernels, alone) << id << " and the others together";
        RecordProperty(id, fmt::format("{:.0f} of {:.0f}", alone, plain));
    }
    EXPECT_LT(operationsOnTinyCpu("fusion", "step"), kernels);
}

// What runs by name, on how many workers.
class Names final : public StepObserver {
public:
    void spanBegins(const SpanFacts& span) noexcept override {
        const std::lock_guard lock(m_mutex);
        begun[span.name].insert(span.worker);
        places[span.name].insert({span.place.layer, toString(span.place.role), toString(span.place.activity)});
    }
    void spanEnds(const SpanFacts& span) noexcept override {
        const std::lock_guard lock(m_mutex);
        ended.insert(span.name);
    }
    std::map<std::string, std::set<std::tuple<int, std::string, std::string>>> places;  // layer, role, activity
    std::map<std::string, std::set<int>> begun;
    std::set<std::string> ended;

private:
    std::mutex m_mutex;
};

// Of one step with a switch at a value.
auto operationsOf(const std::string& id, const std::string& value) {
    const RunConfig config = with(testing::tinyConfig(registry()), {{id, value}});
    TrainState state = TrainState::initialise(registry().modelShape(config, 61), 1);
    const auto program = testing::programOver(state, registry(), config);
    const auto names = std::make_shared<Names>();
    const Listening<StepObserver> listening(stepObservers, names);
    program->step(state, *testing::tinyBatches(), 1e-3);
    return names->begun;
}

// A switch that did nothing would train as the plain form does, too.
TEST(Fusion, EachSwitchAloneRunsItsOwnOperationsAndNoOther) {
    const std::map<std::string, std::vector<std::string>> own{{"fused-embedding", {"embedding", "embedding backward"}},
                                                              {"fused-norm", {"residual + norm", "residual + norm backward"}},
                                                              {"fused-activation", {"bias + activation", "bias + activation backward"}},
                                                              {"fused-qkv", {"merge QKV gradients"}},
                                                              {"fused-attention", {"attention", "attention backward"}},
                                                              {"fused-loss", {"head + cross-entropy", "head weight gradient"}},
                                                              {"fused-optimizer", {"AdamW"}}};
    EXPECT_TRUE(operationsOf("fusion", "off").empty()) << "nothing of our own runs";
    for (const auto& entry : own) {
        const std::string& id = entry.first;
        const auto heard = operationsOf(id, "on");
        for (const auto& [other, others] : own)
            for (const auto& name : others) EXPECT_EQ(heard.count(name), other == id ? 1U : 0U) << id << ": " << name << " of " << other;
    }
}

TEST(Fusion, EveryOperationOfOurOwnHasANameWhichAProfilerHears) {
    const auto namesOf = [](const std::string& fusion) {
        const RunConfig config = with(testing::tinyConfig(registry()), {{"fusion", fusion}});
        TrainState state = TrainState::initialise(registry().modelShape(config, 61), 1);
        const auto program = testing::programOver(state, registry(), config);
        const auto names = std::make_shared<Names>();
        const Listening<StepObserver> listening(stepObservers, names);
        program->step(state, *testing::tinyBatches(), 1e-3);
        EXPECT_EQ(names->ended.size(), names->begun.size());
        return std::pair(names->begun, names->places);
    };
    using Places = std::set<std::tuple<int, std::string, std::string>>;
    const auto layersAndRoles = [](const Places& places) {
        std::set<std::pair<int, std::string>> found;
        for (const auto& [layer, role, activity] : places) found.emplace(layer, role);
        return found;
    };
    const auto both = [](const std::string& role) { return std::set<std::pair<int, std::string>>{{0, role}, {1, role}}; };
    const auto [kernels, kernelPlaces] = namesOf("kernels");
    for (const char* name :
         {"embedding", "embedding backward", "residual + norm", "residual + norm backward", "bias + activation", "bias + activation backward",
          "attention", "attention backward", "QKV bias gradient", "head + cross-entropy", "head weight gradient", "sum of squares", "AdamW"})
        EXPECT_EQ(kernels.count(name), 1U) << name;
    // Backward has the layer and role of its forward pass.
    for (const auto& [name, role] : {std::pair{"attention", "attention/core"},
                                     {"attention backward", "attention/core"},
                                     {"bias + activation", "mlp/up"},
                                     {"bias + activation backward", "mlp/up"},
                                     {"QKV bias gradient", "attention/qkv"}})
        EXPECT_EQ(layersAndRoles(kernelPlaces.at(name)), both(role)) << name;
    EXPECT_EQ(layersAndRoles(kernelPlaces.at("residual + norm backward")),
              (std::set<std::pair<int, std::string>>{{-1, "last norm"}, {0, "norm1"}, {0, "norm2"}, {1, "norm1"}, {1, "norm2"}}));
    for (const char* name : {"embedding", "embedding backward"})
        EXPECT_EQ(layersAndRoles(kernelPlaces.at(name)), (std::set<std::pair<int, std::string>>{{-1, "embedding"}})) << name;
    const int threads = at::get_num_threads();
    at::set_num_threads(2);
    const auto [step, stepPlaces] = namesOf("step");
    at::set_num_threads(threads);
    for (const char* name : {"embedding", "norm + QKV", "attention", "projection + MLP", "norm + head + cross-entropy", "MLP + projection backward",
                             "attention backward", "QKV + norm backward", "weight gradients", "embedding backward", "sum biases' gradients",
                             "sum of squares", "AdamW + pack weights"}) {
        ASSERT_EQ(step.count(name), 1U) << name;
        EXPECT_EQ(step.at(name), (std::set<int>{0, 1})) << name;
    }
    for (const auto& [name, places] : stepPlaces)
        for (const auto& [layer, role, activity] : places) EXPECT_NE(role, "") << name;
    const auto of = [](const char* role, const char* activity) { return Places{{0, role, activity}, {1, role, activity}}; };
    EXPECT_EQ(stepPlaces.at("norm + QKV"), of("norm1 + attention/qkv", "forward"));
    EXPECT_EQ(stepPlaces.at("attention backward"), of("attention/core", "backward"));
    EXPECT_EQ(stepPlaces.at("weight gradients"), of("weights of the block", "backward"));
    EXPECT_EQ(stepPlaces.at("sum of squares"), (Places{{-1, "optimizer", "clip"}}));
    EXPECT_EQ(stepPlaces.at("AdamW + pack weights"), (Places{{-1, "optimizer", "optimizer"}}));
}

TEST(Fusion, AFlipIsFollowedByACountOfItsOwn) {
    testing::TinyTrainer trainer(testing::tinyConfig(registry(), 12));
    trainer.sink.onEvent = [&](const Event& event) {
        if (const auto* step = std::get_if<StepDone>(&event); step != nullptr && step->step == 5)
            trainer.commands.push(Flip{"fusion", std::string("step")});
    };
    trainer.run();
    const auto steps = trainer.sink.all<StepDone>();
    const auto first = std::ranges::find_if(steps, [](const StepDone& s) { return s.step > 1 && std::isnan(s.operations); });
    ASSERT_NE(first, steps.end());
    EXPECT_GE(first->step, 6);
    EXPECT_LT(steps.back().operations, steps[2].operations);
}

TEST(Fusion, AutoFollowsFusionAndGivesWayToAnExplicitChoice) {
    const auto reportOf = [](const RunConfig& config) {
        TrainState state = TrainState::initialise(registry().modelShape(config, 61), 1);
        const auto program = testing::programOver(state, registry(), config);
        program->step(state, *testing::tinyBatches(), 1e-3);
        return program->report();
    };
    at::set_num_threads(1);
    const RunConfig off = testing::tinyConfig(registry()), on = with(off, {{"fusion", "kernels"}});
    EXPECT_NE(reportOf(off).attention, "fused");
    EXPECT_EQ(reportOf(on).attention, "fused");
    EXPECT_EQ(reportOf(on).optimizer, "fused clip + AdamW");
    EXPECT_EQ(reportOf(with(on, {{"attention", "manual"}})).attention, "manual");
    EXPECT_EQ(reportOf(with(on, {{"optimizer", "loop"}})).optimizer, "loop");
    EXPECT_NE(reportOf(with(on, {{"fused-attention", "off"}})).attention, "fused");
}

// What fusion=step cannot give beside another switch.
const std::vector<std::pair<std::string, std::string>> kNotCarried{{"checkpointing", "every-block"},
                                                                   {"checkpointing", "selective"},
                                                                   {"attention", "manual"},
                                                                   {"attention", "sdpa-math"},
                                                                   {"matmul-precision", "medium"}};

TEST(Fusion, WhereStepDoesNotCarryAChoiceKernelsAreUsedAndTheSentenceSaysSo) {
    for (const auto& [id, value] : kNotCarried) {
        const RunConfig config = with(testing::tinyConfig(registry(), 10), {{"fusion", "step"}, {id, value}});
        ASSERT_TRUE(registry().complete(config).ok()) << id;
        EXPECT_EQ(registry().complete(config)->word("fusion"), "step") << "the choice stays as it was made";
        EXPECT_EQ(registry().running(config).word("fusion"), "kernels");
        const std::string sentence = "fusion=step does not carry " + id + "=" + value + ": fusion=kernels is used.";
        for (const auto& info : registry().catalogue(config)) EXPECT_EQ(info.fallback, info.id == "fusion" ? sentence : "") << info.id;
        testing::TinyTrainer trainer(config);
        trainer.run();
        const auto lines = trainer.sink.all<LogLine>();
        EXPECT_TRUE(std::ranges::any_of(lines, [&](const LogLine& line) { return line.text == sentence; })) << sentence;
        EXPECT_EQ(trainer.sink.losses(), lossesOf(with(config, {{"fusion", "kernels"}})));
    }
}

TEST(Fusion, StepIsBackWhenTheChoiceItDidNotCarryIsFlippedAway) {
    testing::TinyTrainer trainer(with(testing::tinyConfig(registry(), 20), {{"fusion", "step"}, {"checkpointing", "every-block"}}));
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && done->step == 10) trainer.commands.push(Flip{"checkpointing", std::string("off")});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    std::vector<std::string> told;
    for (const auto& line : trainer.sink.all<LogLine>()) told.push_back(std::to_string(line.step) + " " + line.text);
    EXPECT_NE(std::ranges::find(told, "0 fusion=step does not carry checkpointing=every-block: fusion=kernels is used."), told.end());
    EXPECT_NE(std::ranges::find(told, "10 Every switch runs as it is set."), told.end());
    EXPECT_NE(std::ranges::find(told, "11 Attention that runs: planned."), told.end());
}

TEST(Fusion, AKernelOfItsOwnIsAllowedOnceKernelsRunInStepsPlace) {
    EXPECT_TRUE(registry().complete(with(testing::tinyConfig(registry()), {{"fusion", "step"}, {"attention", "manual"}, {"fused-norm", "on"}})).ok());
}

TEST(Fusion, StepNeverHoldsAllLogitsSoThatAnyChunkIsTheSame) {
    const RunConfig whole = with(testing::tinyConfig(registry(), 5), {{"fusion", "step"}});
    RunConfig chunked = whole;
    chunked.switches["chunked-loss"] = std::int64_t{7};
    EXPECT_EQ(lossesOf(chunked), lossesOf(whole));
}

}  // namespace
}  // namespace stepscope
