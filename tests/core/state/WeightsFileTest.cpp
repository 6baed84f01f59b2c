// Weights that others wrote: what fits, what is cut, what is passed over, what is refused and with which list.
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "TinyTraining.h"
#include "core/state/WeightsFile.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

const GptConfig kModel{.layers = 2, .heads = 2, .width = 16, .vocabulary = 61, .paddedVocabulary = 61, .positions = 12};

class WeightsFile : public ::testing::Test {
protected:
    WeightsFile() {
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    ~WeightsFile() override { fs::remove_all(folder); }

    static NamedTensors tensorsOf(const GptConfig& shape, std::uint64_t seed = 9) {
        const TrainState state = TrainState::initialise(shape, seed);
        NamedTensors all;
        for (auto& [name, tensor] : namedForFile(state.weights, state, "")) all.emplace_back(name, tensor.clone());
        return all;
    }
    std::string write(const NamedTensors& tensors) const {
        fs::remove(path);  // nothing is written over
        EXPECT_TRUE(writeSafeTensors(path, tensors).ok());
        return path;
    }
    // With a mask as GPT-2's files have it, in another type than weights.
    void addRaw(const std::string& name, const std::string& type, const std::vector<std::int64_t>& shape, const std::string& bytes) const {
        std::ifstream in(path, std::ios::binary);
        const std::string all{std::istreambuf_iterator<char>(in), {}};
        std::uint64_t length = 0;
        std::memcpy(&length, all.data(), 8);
        auto header = nlohmann::json::parse(all.substr(8, length));
        const std::uint64_t end = all.size() - 8 - length;
        header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {end, end + bytes.size()}}};
        const std::string text = header.dump();
        length = text.size();
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(&length), 8);
        out << text << all.substr(8 + (all.size() - 8 - end)) << bytes;
    }
    std::string refusal(const GptConfig& shape) const {
        const auto loaded = loadInitialWeights(path, shape, 1, false);
        EXPECT_FALSE(loaded.ok());
        return loaded ? std::string() : loaded.error().sentence;
    }

    const fs::path folder = fs::temp_directory_path() / ("stepscope-weights-" + std::to_string(::getpid()));
    const std::string path = (folder / "model.safetensors").string();
};

TEST_F(WeightsFile, AreTakenWholeWhereModelAndFileAgree) {
    write(tensorsOf(kModel));
    const auto loaded = loadInitialWeights(path, kModel, 1, false);
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
    EXPECT_TRUE(at::equal(loaded->state.weights, TrainState::initialise(kModel, 9).weights));
    EXPECT_TRUE(loaded->note.empty());
    EXPECT_EQ(loaded->state.seed, 1u);
}

TEST_F(WeightsFile, OfALargerModelAreRefusedWithAListOfWhatHasNoPlace) {
    write(tensorsOf(kModel));
    GptConfig smaller = kModel;
    smaller.layers = 1;
    EXPECT_THAT(refusal(smaller), AllOf(HasSubstr("no place for h.1."), HasSubstr(" more"), Not(HasSubstr("lacks"))));
    GptConfig plain = kModel;
    plain.norm = NormKind::RmsNorm;
    plain.positionKind = PositionKind::Rope;
    EXPECT_THAT(refusal(plain), AllOf(HasSubstr("ln_1.bias"), HasSubstr("ln_f.bias")));
    GptConfig larger = kModel;
    larger.layers = 3;
    EXPECT_THAT(refusal(larger), AllOf(HasSubstr("lacks"), HasSubstr("h.2.")));
}

TEST_F(WeightsFile, ArePartlyTakenWhereThatIsAskedForAndSayWhatIsNew) {
    write(tensorsOf(kModel));
    GptConfig larger = kModel;
    larger.layers = 3;
    const auto loaded = loadInitialWeights(path, larger, 4, true);
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
    EXPECT_THAT(loaded->note, AllOf(HasSubstr("lacks"), HasSubstr("h.2."), HasSubstr("drawn as for a new model")));
    const TrainState fresh = TrainState::initialise(larger, 4), source = TrainState::initialise(kModel, 9);
    const auto slot = [](const TrainState& state, const std::string& name) { return ParameterLayout::view(state.weights, state.layout.slot(name)); };
    EXPECT_TRUE(at::equal(slot(loaded->state, "h.1.mlp.c_fc.weight"), slot(source, "h.1.mlp.c_fc.weight")));
    EXPECT_TRUE(at::equal(slot(loaded->state, "h.2.mlp.c_fc.weight"), slot(fresh, "h.2.mlp.c_fc.weight")));
    EXPECT_TRUE(at::equal(slot(loaded->state, "h.2.ln_1.weight"), slot(fresh, "h.2.ln_1.weight"))) << "a norm begins with ones";
}

TEST_F(WeightsFile, PositionsAreCutToAShorterContextAndNotMadeUpForALongerOne) {
    write(tensorsOf(kModel));
    GptConfig shorter = kModel, longer = kModel;
    shorter.positions = 5;
    longer.positions = 20;
    const auto loaded = loadInitialWeights(path, shorter, 1, false);
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
    EXPECT_THAT(loaded->note, HasSubstr("Of its 12 positions the first 5 are used"));
    const TrainState source = TrainState::initialise(kModel, 9);
    EXPECT_TRUE(at::equal(ParameterLayout::view(loaded->state.weights, loaded->state.layout.slot("wpe.weight")),
                          ParameterLayout::view(source.weights, source.layout.slot("wpe.weight")).narrow(0, 0, 5)));
    EXPECT_THAT(refusal(longer), AllOf(HasSubstr("12 positions"), HasSubstr("context is 20")));
}

TEST_F(WeightsFile, MasksOtherTypesAndARepeatedHeadArePassedOver) {
    NamedTensors tensors = tensorsOf(kModel);
    for (auto& [name, tensor] : tensors) name = "transformer." + name;
    tensors.emplace_back("transformer.h.0.attn.bias", at::ones({1, 1, 12, 12}));
    tensors.emplace_back("transformer.h.0.attn.masked_bias", at::full({}, -1e4));
    tensors.emplace_back("lm_head.weight", tensors.front().second.clone());
    write(tensors);
    addRaw("h.1.attn.bias", "U8", {1, 1, 2, 2}, std::string(4, '\1'));
    addRaw("step", "I64", {1}, std::string(8, '\0'));
    const auto loaded = loadInitialWeights(path, kModel, 1, false);
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
    EXPECT_TRUE(loaded->note.empty());

    tensors.back().second = at::randn({61, 16});
    write(tensors);
    EXPECT_THAT(refusal(kModel), HasSubstr("no place for lm_head.weight")) << "a head of its own";
}

TEST_F(WeightsFile, Float64IsReadAndIntegersAreNoWeights) {
    NamedTensors tensors = tensorsOf(kModel);
    const at::Tensor norm = tensors.back().second;
    const std::string name = tensors.back().first;
    tensors.pop_back();
    write(tensors);
    std::string bytes;
    for (std::int64_t i = 0; i < norm.numel(); ++i) {
        const double value = 0.25 * static_cast<double>(i);
        bytes.append(reinterpret_cast<const char*>(&value), 8);
    }
    addRaw(name, "F64", {norm.numel()}, bytes);
    const auto loaded = loadInitialWeights(path, kModel, 1, false);
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
    EXPECT_EQ(ParameterLayout::view(loaded->state.weights, loaded->state.layout.slot(name))[3].item<float>(), 0.75f);

    write(tensors);
    addRaw(name, "I64", {norm.numel()}, bytes);
    const auto integers = loadInitialWeights(path, kModel, 1, false);
    ASSERT_FALSE(integers.ok());
    EXPECT_THAT(integers.error().sentence, AllOf(HasSubstr(name), HasSubstr("I64")));
}

TEST_F(WeightsFile, ThatAreNoNumbersAreRefused) {
    NamedTensors tensors = tensorsOf(kModel);
    tensors.front().second.view({-1})[7] = std::numeric_limits<float>::quiet_NaN();
    write(tensors);
    EXPECT_THAT(refusal(kModel), HasSubstr("no numbers"));
}

TEST_F(WeightsFile, AreComparedWithAModelWithoutBeingRead) {
    write(tensorsOf(kModel));
    EXPECT_EQ(describeFit(path, kModel).value(), "");
    GptConfig shorter = kModel, smaller = kModel, wider = kModel;
    shorter.positions = 5;
    smaller.layers = 1;
    wider.width = 32;
    EXPECT_EQ(describeFit(path, shorter).value(), "Of its 12 positions the first 5 are used.");
    const auto refused = describeFit(path, smaller);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refusal(smaller).starts_with(refused.error().sentence)) << refused.error().sentence;
    EXPECT_THAT(describeFit(path, wider).error().sentence, AllOf(HasSubstr("Of another shape"), HasSubstr("this model needs")));
    addRaw("h.0.attn.bias", "BOOL", {1, 1, 12, 12}, std::string(144, '\1'));
    EXPECT_THAT(describeFit(path, kModel).value(), HasSubstr("Masks and other buffers of its files, 1 tensor, are passed over."));
    EXPECT_FALSE(describeFit(path + ".none", kModel));
}

TEST_F(WeightsFile, TellTheShapeOfTheirModel) {
    GptConfig shape = kModel;
    shape.splitQkv = true;
    shape.activation = Activation::Swiglu;
    shape.tiedHead = false;
    shape.positionKind = PositionKind::Rope;
    shape.norm = NormKind::RmsNorm;
    for (const GptConfig& of : {kModel, shape}) {
        write(tensorsOf(of));
        GptConfig like;  // another model altogether
        like.heads = 2;
        const auto told = shapeOfWeights(path, like);
        ASSERT_TRUE(told.ok()) << told.error().sentence;
        EXPECT_EQ(differingKey(*told, of), "");
        EXPECT_EQ(told->vocabulary, of.vocabulary);
    }
    GptConfig seven;
    seven.heads = 7;
    EXPECT_THAT(shapeOfWeights(path, seven).error().sentence, HasSubstr("heads"));
    std::ofstream(folder / "config.json") << R"({"n_head": 4})";
    EXPECT_EQ(shapeOfWeights(path, seven)->heads, 4);
    EXPECT_THAT(refusal(shape), AllOf(HasSubstr("of 4 heads"), HasSubstr("heads is 2"))) << "whatever it computes with 2, it is not that model";
    fs::remove(folder / "config.json");
    EXPECT_EQ(headsBeside(path), 0);
    std::ofstream(folder / "state.json") << R"({"model": {"n_head": 8}})";
    EXPECT_EQ(shapeOfWeights(path, seven)->heads, 8) << "a checkpoint's";
    for (const char* hostile : {R"({"model": {"n_head": -1}})", R"({"model": 3})", R"([1])", R"({"model": {"n_head": 1e300}})", "{"}) {
        std::ofstream(folder / "state.json") << hostile;
        EXPECT_EQ(headsBeside(path), 0) << hostile;
    }
    std::ofstream(folder / "state.json") << R"({"model": {"n_head": 8}})";
    fs::create_symlink("/proc/self/mem", folder / "config.json");
    EXPECT_EQ(headsBeside(path), 8) << "a file that is opened and cannot be read tells as much as none";
    fs::remove(folder / "config.json");
    fs::remove(folder / "state.json");
    write({{"something", at::randn({3})}});
    EXPECT_FALSE(shapeOfWeights(path, kModel).ok());
}

}  // namespace
}  // namespace stepscope
