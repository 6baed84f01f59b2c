// Every model option, alone and together, against the plain restatement: the loss to 1e-5, and every parameter's gradient against
// the restatement's difference along a direction of its own.
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "PlainForward.h"
#include "core/base/DropoutMask.h"

namespace stepscope {
namespace {

constexpr int kContext = 6, kSequences = 3;

double uniform(std::uint64_t stream, std::uint64_t i) {
    return static_cast<double>(counterRandom(11, stream, i) >> 11) * 0x1p-53 - 0.5;
}

GptConfig base() {
    return {.layers = 2, .heads = 2, .width = 12, .vocabulary = 13, .paddedVocabulary = 13, .positions = kContext};
}

struct Option {
    const char* name;
    std::function<void(GptConfig&, Regularisation&)> set;
};
void PrintTo(const Option& option, std::ostream* out) {
    *out << option.name;
}

struct Model {
    GptConfig config;
    Regularisation training;
    ParameterLayout layout;
    at::Tensor flat;
    PlainParameters plain;
    std::vector<std::int64_t> inputs, targets;

    explicit Model(const Option& option) : config(base()) {
        option.set(config, training);
        layout = ParameterLayout(config);
        flat = at::zeros({layout.size()}, at::TensorOptions().dtype(at::kFloat));
        for (std::size_t i = 0; i < layout.slots().size(); ++i) {
            const auto& slot = layout.slots()[i];
            const std::int64_t count = slot.vocabulary ? config.vocabulary * config.width : slot.count;
            float* into = flat.data_ptr<float>() + slot.offset;
            const bool scale = slot.name.find("ln_") != std::string::npos && slot.name.find("weight") != std::string::npos;
            for (std::int64_t j = 0; j < count; ++j) {
                into[j] = static_cast<float>((scale ? 1 : 0) + 0.6 * uniform(i, static_cast<std::uint64_t>(j)));
                plain[slot.name].push_back(into[j]);
            }
        }
        for (std::uint64_t i = 0; i < kSequences * kContext; ++i) {
            inputs.push_back(static_cast<std::int64_t>(counterRandomBelow(3, 1, i, 13)));
            targets.push_back(static_cast<std::int64_t>(counterRandomBelow(3, 2, i, 13)));
        }
    }
    static at::Tensor tokens(std::vector<std::int64_t>& ids) {
        return at::from_blob(ids.data(), {kSequences, kContext}, at::TensorOptions().dtype(at::kLong)).clone();
    }
    double plainAt() const { return plainLoss(config, plain, inputs, targets, kContext, training); }
    // Slope of the plain loss along `direction` of one parameter.
    double slope(const std::string& name, const std::vector<double>& direction) {
        constexpr double kEpsilon = 1e-5;
        auto& values = plain.at(name);
        const auto kept = values;
        const auto shifted = [&](double by) {
            for (std::size_t j = 0; j < values.size(); ++j) values[j] = kept[j] + by * direction[j];
            return plainAt();
        };
        const double up = shifted(kEpsilon), down = shifted(-kEpsilon);
        values = kept;
        return (up - down) / (2 * kEpsilon);
    }
};

class ModelOption : public ::testing::TestWithParam<Option> {};

TEST_P(ModelOption, AgreesWithThePlainRestatementInLossAndEveryGradient) {
    Model m(GetParam());
    const auto weights = WeightsView::over(m.flat, m.layout, m.config, true);
    const at::Tensor loss = gptLoss(m.config, weights, {}, Model::tokens(m.inputs), Model::tokens(m.targets), m.training);
    EXPECT_NEAR(loss.item<double>(), m.plainAt(), 1e-5);
    loss.backward();
    for (std::size_t i = 0; i < m.layout.slots().size(); ++i) {
        const auto& slot = m.layout.slots()[i];
        ASSERT_TRUE(weights.all[i].grad().defined()) << slot.name;
        const at::Tensor gradient = weights.all[i].grad().contiguous();
        std::vector<double> direction;
        double along = 0, size = 0;
        for (std::size_t j = 0; j < m.plain.at(slot.name).size(); ++j) {
            direction.push_back(uniform(500 + i, j));
            along += direction[j] * gradient.data_ptr<float>()[j];
            size += std::abs(direction[j] * gradient.data_ptr<float>()[j]);
        }
        EXPECT_NEAR(along, m.slope(slot.name, direction), 1e-5 * std::max(1.0, size)) << slot.name;
    }
}

TEST_P(ModelOption, CountsItsParametersAsItsLayoutDoes) {
    const Model m(GetParam());
    GptConfig unpadded = m.config;
    unpadded.paddedVocabulary = unpadded.vocabulary;
    EXPECT_EQ(parameterCount(m.config), ParameterLayout(unpadded).parameterCount());
}

const std::vector<Option> kOptions = {
    {"Plain", [](GptConfig&, Regularisation&) {}},
    {"SplitQkv", [](GptConfig& c, Regularisation&) { c.splitQkv = true; }},
    {"Swiglu", [](GptConfig& c, Regularisation&) { c.activation = Activation::Swiglu; }},
    {"UntiedHead", [](GptConfig& c, Regularisation&) { c.tiedHead = false; }},
    {"PostNorm", [](GptConfig& c, Regularisation&) { c.placement = NormPlacement::Post; }},
    {"RmsNorm", [](GptConfig& c, Regularisation&) { c.norm = NormKind::RmsNorm; }},
    {"Rope", [](GptConfig& c, Regularisation&) { c.positionKind = PositionKind::Rope; }},
    {"NoBias", [](GptConfig& c, Regularisation&) { c.bias = false; }},
    {"Dropout", [](GptConfig&, Regularisation& r) { r = {.dropout = 0.3, .seed = 7, .step = 5, .firstSequence = 6}; }},
    {"LabelSmoothing", [](GptConfig&, Regularisation& r) { r.smoothing = 0.1; }},
    {"PaddedSmoothing", [](GptConfig& c, Regularisation& r) { c.paddedVocabulary = 16, r.smoothing = 0.1; }},
    {"PaddedUntied", [](GptConfig& c, Regularisation&) { c.paddedVocabulary = 16, c.tiedHead = false; }},
    {"AllTogether",
     [](GptConfig& c, Regularisation& r) {
         c.splitQkv = true, c.activation = Activation::Swiglu, c.tiedHead = false, c.norm = NormKind::RmsNorm, c.positionKind = PositionKind::Rope;
         c.bias = false, c.paddedVocabulary = 16;
         r = {.dropout = 0.2, .smoothing = 0.05, .seed = 3, .step = 2, .firstSequence = 0};
     }},
    {"PostNormWithTheOthers",
     [](GptConfig& c, Regularisation& r) {
         c.placement = NormPlacement::Post, c.activation = Activation::Swiglu, c.positionKind = PositionKind::Rope;
         r = {.dropout = 0.1, .smoothing = 0, .seed = 3, .step = 2, .firstSequence = 3};
     }},
};
INSTANTIATE_TEST_SUITE_P(Each, ModelOption, ::testing::ValuesIn(kOptions), [](const auto& info) { return info.param.name; });

TEST(GptConfig, SwigluHasNearlyTheParametersOfGelu) {
    for (const std::int64_t width : {16, 64, 128, 384, 512, 768, 1024, 1280, 1600}) {
        GptConfig gelu{.layers = 1, .heads = 1, .width = width, .vocabulary = 1, .paddedVocabulary = 1, .positions = 1, .bias = false}, swiglu = gelu;
        swiglu.activation = Activation::Swiglu;
        const auto mlp = [](const GptConfig& c) { return static_cast<double>(c.hiddenRows() + c.hidden()) * static_cast<double>(c.width); };
        EXPECT_NEAR(mlp(swiglu) / mlp(gelu), 1, width < 64 ? 0.07 : 0.02) << width;
    }
    EXPECT_EQ((GptConfig{.width = 768, .activation = Activation::Swiglu}.hidden()), 2048);
}

TEST(GptConfig, NamesTheFirstKeyInWhichTwoModelsDiffer) {
    GptConfig other = base();
    EXPECT_EQ(differingKey(base(), other), "");
    other.paddedVocabulary = 64, other.positions = 999;
    EXPECT_EQ(differingKey(base(), other), "") << "padding and positions are conversions";
    other.norm = NormKind::RmsNorm;
    EXPECT_EQ(differingKey(base(), other), "norm");
}

TEST(Dropout, TensorOperationsKeepTheSameElementsAsTheLoop) {
    const DropoutPlace place{0.37, dropoutKey(1, 2, 3), 12'345};
    const at::Tensor loop = dropoutMask({3, 100, 70}, place, at::kCPU);
    EXPECT_TRUE(at::equal(loop, dropoutMaskByTensors({3, 100, 70}, place, at::kCPU)));
    EXPECT_NEAR(loop.to(at::kFloat).mean().item<double>(), 0.63, 0.01);
}

TEST(Dropout, AMicroBatchDropsWhatItsSequencesDropInTheWholeBatch) {
    const at::Tensor whole = dropoutMask({4, 5, 8}, {0.5, 99, 0}, at::kCPU);
    EXPECT_TRUE(at::equal(whole.narrow(0, 2, 2), dropoutMask({2, 5, 8}, {0.5, 99, 2 * 5 * 8}, at::kCPU)));
}

}  // namespace
}  // namespace stepscope
