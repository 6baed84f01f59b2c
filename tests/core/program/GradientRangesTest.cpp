// Final gradients are announced while backward goes on: every element once, in one order whatever the Program, none that changes afterwards; and what
// a subscriber writes there is what the update uses. CTest.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "TinyTraining.h"
#include "core/program/EagerProgram.h"
#include "core/program/PlannedProgram.h"

namespace stepscope {
namespace {

using testing::registry;

class Counting final : public GradientSubscriber {
public:
    explicit Counting(std::int64_t size) : times(static_cast<std::size_t>(size), 0) {}

    void onFinal(const FinalGradients& range) noexcept override {
        EXPECT_FALSE(reduced) << "after reduce()";
        for (std::int64_t i = 0; i < range.count; ++i) ++times.at(static_cast<std::size_t>(range.offset + i));
        order.push_back({range.offset, range.count});
        for (const auto& gradient : range.parameters) {
            gradients.push_back(gradient);
            asAnnounced.push_back(gradient.clone());
        }
        if (heard) heard();
    }
    void reduce() override {
        reduced = true;
        for (std::size_t i = 0; i < gradients.size(); ++i) EXPECT_TRUE(at::equal(gradients[i], asAnnounced[i])) << "changed after it was final";
        for (auto& gradient : gradients) gradient.mul_(factor);
    }

    std::vector<int> times;
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    std::vector<at::Tensor> gradients, asAnnounced;
    std::function<void()> heard;
    double factor = 1;
    bool reduced = false;
};

struct Model {
    const char* name;
    void (*change)(RunConfig&);
};
void PrintTo(const Model& model, std::ostream* out) {
    *out << model.name;
}
const Model kModels[] = {
    {"gpt2", [](RunConfig&) {}},
    {"UntiedHead", [](RunConfig& c) { c.tiedHead = "off"; }},
    {"EveryOption",
     [](RunConfig& c) {
         c.positions = "rope", c.qkv = "split", c.activation = "swiglu", c.norm = "rmsnorm", c.bias = "off", c.normPlacement = "post",
         c.dropout = 0.1;
     }},
    {"ThreeMicroBatches", [](RunConfig& c) { c.switches["grad-accumulation"] = std::int64_t{3}; }},
    {"Checkpointed", [](RunConfig& c) { c.switches["checkpointing"] = std::string("every-block"); }},
    {"ChunkedLoss", [](RunConfig& c) { c.switches["chunked-loss"] = std::int64_t{7}; }},
    {"Padded", [](RunConfig& c) { c.switches["vocab-padding"] = std::string("64"); }},
};

RunConfig configOf(const Model& model, const std::string& fusion, const std::string& amp = "off") {
    RunConfig config = testing::tinyConfig(registry());
    config.layers = 3;
    config.weightDecay = 0;
    model.change(config);
    config.switches["fusion"] = fusion;
    config.switches["amp"] = amp;
    config.switches["grad-clip"] = 0.0;
    return registry().complete(config).value();
}

struct Training {
    explicit Training(const RunConfig& config)
        : state(TrainState::initialise(registry().modelShape(config, 61), 1)), program(testing::programOver(state, registry(), config)) {}
    double step() { return program->step(state, *batches, 1e-2).loss; }
    TrainState state;
    std::unique_ptr<StepProgram> program;
    std::shared_ptr<const BatchSource> batches = testing::tinyBatches();
};

class FinalGradientsOf : public ::testing::TestWithParam<Model> {
protected:
    void SetUp() override { at::set_num_threads(2); }
    void TearDown() override { at::set_num_threads(1); }
};

TEST_P(FinalGradientsOf, EveryElementIsAnnouncedOnceInTheSameOrderByEveryProgramAndIsFinal) {
    for (const auto& [fusion, amp] : {std::pair{"off", "off"}, {"kernels", "off"}, {"kernels", "bf16"}, {"step", "off"}, {"step", "bf16"}}) {
        Training plain(configOf(GetParam(), fusion, amp)), heard(configOf(GetParam(), fusion, amp));
        for (int i = 0; i < 3; ++i) {
            Counting counting(heard.state.layout.size());
            heard.program->subscribe(&counting);
            EXPECT_EQ(heard.step(), plain.step()) << "listening changes nothing";
            EXPECT_TRUE(counting.reduced);
            EXPECT_EQ(std::ranges::count(counting.times, 1), heard.state.layout.size()) << fusion << " " << amp;
            std::vector<std::pair<std::int64_t, std::int64_t>> order;
            for (const auto& range : gradientRanges(heard.state.layout)) order.emplace_back(range.offset, range.count);
            EXPECT_EQ(counting.order, order) << fusion << " " << amp;
        }
        heard.program->subscribe(nullptr);
        EXPECT_EQ(heard.step(), plain.step());
        EXPECT_TRUE(at::equal(heard.state.weights, plain.state.weights));
    }
}

TEST_P(FinalGradientsOf, WhatIsWrittenThereIsWhatTheUpdateUses) {
    for (const char* fusion : {"off", "kernels", "step"}) {
        Training plain(configOf(GetParam(), fusion)), halved(configOf(GetParam(), fusion)), none(configOf(GetParam(), fusion));
        const at::Tensor before = none.state.weights.clone();
        Counting half(halved.state.layout.size()), zero(none.state.layout.size());
        half.factor = 0.5;
        zero.factor = 0;
        halved.program->subscribe(&half);
        none.program->subscribe(&zero);
        for (Training* const one : {&plain, &halved, &none}) one->step();
        EXPECT_GT(plain.state.firstMoment.abs().max().item<double>(), 1e-4);
        EXPECT_TRUE(at::equal(halved.state.firstMoment * 2, plain.state.firstMoment)) << fusion;
        EXPECT_TRUE(at::equal(none.state.weights, before)) << fusion;
    }
}

INSTANTIATE_TEST_SUITE_P(Of, FinalGradientsOf, ::testing::ValuesIn(kModels), [](const auto& info) { return std::string(info.param.name); });

TEST(GradientRanges, GoFromTheHeadOverTheLastBlockToTheEmbeddingsAndCoverTheWholeLayout) {
    for (const bool tied : {true, false}) {
        const GptConfig config{.layers = 3, .heads = 2, .width = 16, .vocabulary = 61, .paddedVocabulary = 61, .positions = 5, .tiedHead = tied};
        const ParameterLayout layout(config);
        const auto ranges = gradientRanges(layout);
        std::vector<std::string> first;
        std::int64_t covered = 0;
        for (const auto& range : ranges) {
            first.push_back(layout.slots()[range.firstSlot].name);
            EXPECT_EQ(range.offset, layout.slots()[range.firstSlot].offset);
            covered += range.count;
        }
        std::vector<std::string> wanted{"h.2.attn.c_attn.weight", "h.1.attn.c_attn.weight", "h.0.attn.c_attn.weight", "wte.weight",
                                        "h.0.ln_1.weight"};
        if (!tied) wanted.insert(wanted.begin(), "lm_head.weight");
        EXPECT_EQ(first, wanted);
        EXPECT_EQ(covered, layout.size());
    }
}

TEST(GradientRanges, TheLastBlocksGradientsAreAnnouncedWhileTheFirstOnesAreStillBeingMade) {
    at::set_num_threads(2);
    const auto batches = testing::tinyBatches();
    ProgramParts parts;
    parts.batchSize = 4;
    parts.context = 12;
    parts.optimizerName = "fused";
    parts.optimizer = adamWFused;
    bool backAtTheEmbedding = false;
    ProgramParts watched = parts;
    watched.ops.embed = [&](const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe) {
        const at::Tensor out = plain::embed(tokens, wte, wpe);
        if (out.requires_grad()) out.register_hook([&](const at::Tensor& gradient) { return backAtTheEmbedding = true, gradient; });
        return out;
    };
    const RunConfig config = configOf(kModels[0], "off");
    std::vector<bool> heard;
    TrainState state = TrainState::initialise(registry().modelShape(config, 61), 1);
    Counting eager(state.layout.size());
    eager.heard = [&] { heard.push_back(backAtTheEmbedding); };
    EagerProgram program(std::move(watched));
    program.subscribe(&eager);
    program.step(state, *batches, 1e-2);
    ASSERT_EQ(heard.size(), 5u) << "three blocks, embeddings, vectors";
    EXPECT_FALSE(heard[0] || heard[1]);
    EXPECT_TRUE(heard[3]);

    TrainState other = TrainState::initialise(registry().modelShape(config, 61), 1);
    PlannedProgram planned(std::move(parts));
    Counting counting(other.layout.size());
    at::Tensor atTheFirst;
    counting.heard = [&] {
        if (!atTheFirst.defined()) atTheFirst = planned.gradients().clone();
    };
    planned.subscribe(&counting);
    planned.step(other, *batches, 1e-2);
    const ParameterSlot& early = other.layout.slot("h.0.mlp.c_fc.weight");
    EXPECT_EQ(ParameterLayout::view(atTheFirst, early).abs().max().item<double>(), 0.0) << "not made yet";
    EXPECT_GT(ParameterLayout::view(planned.gradients(), early).abs().max().item<double>(), 0.0);
    at::set_num_threads(1);
}

}  // namespace
}  // namespace stepscope
