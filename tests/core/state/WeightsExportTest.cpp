// Weights written for other programs: what was written is read again the same, what cannot be written is refused by name, and a folder is whole or
// not there.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "ForeignFolder.h"
#include "core/model/Gpt.h"
#include "core/state/foreign/ForeignModel.h"
#include "core/state/foreign/WeightsExport.h"
#include "tests/sessions/FileSizeLimit.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kForeignModel;

class ExportForOthers : public testing::ForeignFolder {
protected:
    // A safetensors file as a checkpoint has it, opened.
    SafeTensorsFile source(const GptConfig& model, std::uint64_t seed = 9) const {
        const TrainState state = TrainState::initialise(model, seed);
        fs::remove(path("source.safetensors"));
        EXPECT_TRUE(writeSafeTensors(path("source.safetensors"), namedForFile(state.weights, state, "")).ok());
        return SafeTensorsFile::open(path("source.safetensors")).value();
    }
    Result<ExportedWeights> write(const GptConfig& model, WeightsExport wanted, const std::string& to = "out") const {
        SafeTensorsFile from = source(model);
        return writeFrom(from, model, wanted, to);
    }
    Result<ExportedWeights> writeFrom(SafeTensorsFile& from, const GptConfig& model, WeightsExport wanted, const std::string& to = "out",
                                      bool stopped = false) const {
        wanted.tensors = &from;
        if (wanted.place.empty()) wanted.place = "source";
        wanted.model = model;
        const std::atomic<bool> cancelled{stopped};
        return exportWeights(wanted, path(to), cancelled);
    }
    std::size_t inRoot() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path("")), {})); }
    static at::Tensor weightsIn(const std::string& place, GptConfig* model = nullptr) {
        auto opened = openForeignModel(place);
        EXPECT_TRUE(opened.ok()) << opened.error().sentence;
        if (!opened) return {};
        if (model != nullptr) *model = *opened->model;
        return readWeights(*opened->tensors, place, *opened->model).value();
    }
    static at::Tensor logits(const GptConfig& model, const at::Tensor& weights) {
        const ParameterLayout layout(model);
        const auto view = WeightsView::over(weights, layout, model, false);
        const at::Tensor tokens = (at::arange(0, 12, at::kLong) * 7 % 61).view({1, 12});
        return gptLogits(model, view, gptHidden(model, view, {}, tokens));
    }
};

TEST_F(ExportForOthers, IsReadAgainTheSameFromOneFileAndFromMany) {
    const at::Tensor weights = TrainState::initialise(kForeignModel, 9).weights;
    const auto one = write(kForeignModel, {});
    ASSERT_TRUE(one.ok()) << one.error().sentence;
    EXPECT_TRUE(at::equal(weightsIn(path("out")), weights));
    const auto many = write(kForeignModel, {.shardBytes = 5000}, "many");
    ASSERT_TRUE(many.ok()) << many.error().sentence;
    EXPECT_FALSE(fs::exists(path("many/model.safetensors")));
    EXPECT_TRUE(fs::exists(path("many/model.safetensors.index.json")));
    EXPECT_GT(many->files.size(), 4u);
    EXPECT_TRUE(at::equal(weightsIn(path("many")), weights));
    const auto half = write(kForeignModel, {.bf16 = true}, "half");
    ASSERT_TRUE(half.ok()) << half.error().sentence;
    EXPECT_TRUE(at::equal(weightsIn(path("half")), weights.to(at::kBFloat16).to(at::kFloat)));
    EXPECT_EQ(inRoot(), 5u) << "nothing unfinished stays";
}

TEST_F(ExportForOthers, OfLlmcIsReadAgainTheSame) {
    const at::Tensor weights = TrainState::initialise(kForeignModel, 9).weights;
    for (const bool bf16 : {false, true}) {
        const std::string to = bf16 ? "half" : "out";
        const auto written = write(kForeignModel, {.format = WeightsFormat::Llmc, .bf16 = bf16}, to);
        ASSERT_TRUE(written.ok()) << written.error().sentence;
        EXPECT_THAT(written->notes.front(), HasSubstr("tokenizer"));
        EXPECT_TRUE(at::equal(weightsIn(path(to) + "/model.bin"), bf16 ? weights.to(at::kBFloat16).to(at::kFloat) : weights));
    }
}

// What a GPT-2 has not can be written as what it has: the logits stay.
TEST_F(ExportForOthers, OfThreeProjectionsAnOwnHeadOrNoBiasesComputesTheSame) {
    for (int which = 0; which < 4; ++which) {
        GptConfig model = kForeignModel;
        if (which == 0 || which == 3) model.splitQkv = true;
        if (which == 1 || which == 3) model.tiedHead = false;
        if (which == 2 || which == 3) model.bias = false;
        const std::string to = "out" + std::to_string(which);
        const auto written = write(model, {}, to);
        ASSERT_TRUE(written.ok()) << written.error().sentence;
        EXPECT_EQ(written->notes.size(), (model.splitQkv ? 1u : 0u) + (model.bias ? 0u : 1u) + 1u);
        GptConfig read;
        const at::Tensor weights = weightsIn(path(to), &read);
        EXPECT_TRUE(read.bias && !read.splitQkv);
        EXPECT_LE((logits(read, weights) - logits(model, TrainState::initialise(model, 9).weights)).abs().max().item<double>(), 1e-5) << which;
    }
}

TEST_F(ExportForOthers, OfAModelThatNoGpt2CanBeIsRefusedByItsSettings) {
    GptConfig model = kForeignModel;
    model.norm = NormKind::RmsNorm;
    model.positionKind = PositionKind::Rope;
    model.activation = Activation::Swiglu;
    model.placement = NormPlacement::Post;
    const auto refused = write(model, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
    EXPECT_THAT(refused.error().sentence,
                AllOf(HasSubstr("norm=rmsnorm"), HasSubstr("positions=rope"), HasSubstr("activation=swiglu"), HasSubstr("norm-placement=post")));
    GptConfig untied = kForeignModel;
    untied.tiedHead = false;
    EXPECT_EQ(whyNotExported(untied, WeightsFormat::HuggingFace), "");
    EXPECT_THAT(whyNotExported(untied, WeightsFormat::Llmc), HasSubstr("tied-head=off"));
    EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(ExportForOthers, WritesTheTokenizerWhereOthersCanReadItAndSaysWhereNot) {
    const auto bytes = byteTokenizer(), letters = charTokenizer("abc");
    ASSERT_TRUE(write(kForeignModel, {.tokenizer = bytes.get()}).ok());
    EXPECT_TRUE(fs::exists(path("out/vocab.json")) && fs::exists(path("out/merges.txt")) && fs::exists(path("out/tokenizer_config.json")));
    const auto without = write(kForeignModel, {.tokenizer = letters.get()}, "letters");
    ASSERT_TRUE(without.ok()) << without.error().sentence;
    EXPECT_THAT(without->notes.front(), HasSubstr("characters"));
    EXPECT_FALSE(fs::exists(path("letters/vocab.json")));
    const auto ready = write(kForeignModel, {}, "ready"), others = write(kForeignModel, {.whyNoTokenizer = "w.bin has none."}, "others");
    ASSERT_TRUE(ready.ok() && others.ok());
    EXPECT_THAT(ready->notes.front(), HasSubstr("the run trained on ready tokens"));
    EXPECT_EQ(others->notes.front(), "No tokenizer is written: w.bin has none.") << "no run has made these weights";
    auto vocabulary = nlohmann::json::parse(bytePairTexts(*bytes)->vocabulary);
    vocabulary["ab"] = 256;
    vocabulary[kEndOfText] = 257;
    const auto own = bytePairTokenizer({vocabulary.dump(), "a b\n"}, true).value();
    GptConfig model = kForeignModel;
    model.vocabulary = model.paddedVocabulary = 258;
    ASSERT_TRUE(write(model, {.tokenizer = own.get()}, "own").ok());
    EXPECT_EQ(nlohmann::json::parse(read(path("own/config.json")))["eos_token_id"], 257);
    EXPECT_EQ(nlohmann::json::parse(read(path("own/tokenizer_config.json")))["eos_token"], kEndOfText);
    EXPECT_EQ(read(path("own/merges.txt")), "a b\n");
}

TEST_F(ExportForOthers, OfADamagedSourceWritesNothing) {
    GptConfig larger = kForeignModel;
    larger.layers = 3;
    SafeTensorsFile from = source(kForeignModel);
    const auto refused = writeFrom(from, larger, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().sentence, AllOf(HasSubstr("source"), HasSubstr("h.2.")));
    EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(ExportForOthers, IsWholeOrNotThereWhenTheDiskIsFullOrItIsStopped) {
    SafeTensorsFile from = source(kForeignModel);
    {
        const test::FileSizeLimit full(10'000);
        const auto refused = writeFrom(from, kForeignModel, {});
        ASSERT_FALSE(refused.ok());
        EXPECT_EQ(refused.error().code, ErrorCode::Io);
        EXPECT_THAT(refused.error().sentence, AllOf(HasSubstr("model.safetensors"), HasSubstr("cannot be written")));
    }
    EXPECT_FALSE(fs::exists(path("out")));
    EXPECT_EQ(inRoot(), 2u) << "the empty folder of the fixture and the source";
    const auto cancelled = writeFrom(from, kForeignModel, {}, "out", true);
    ASSERT_FALSE(cancelled.ok());
    EXPECT_EQ(cancelled.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(inRoot(), 2u);
}

TEST_F(ExportForOthers, TakesThePlaceOfAnExportAloneAndOnlyWhereThatIsAskedFor) {
    ASSERT_TRUE(write(kForeignModel, {.shardBytes = 5000}).ok());
    const auto refused = write(kForeignModel, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().sentence, AllOf(HasSubstr("already there"), HasSubstr("--force")));
    ASSERT_TRUE(write(kForeignModel, {.force = true}).ok());
    EXPECT_TRUE(fs::exists(path("out/model.safetensors")));
    EXPECT_FALSE(fs::exists(path("out/model.safetensors.index.json"))) << "nothing of the old one";
    {
        SafeTensorsFile from = source(kForeignModel);
        const test::FileSizeLimit full(10'000);
        EXPECT_FALSE(writeFrom(from, kForeignModel, {.force = true}).ok());
    }
    EXPECT_TRUE(at::equal(weightsIn(path("out")), TrainState::initialise(kForeignModel, 9).weights)) << "the old one stays whole";
    for (const char* own : {"out", "out/model.safetensors"})
        EXPECT_THAT(write(kForeignModel, {.place = path(own), .bf16 = true, .force = true}).error().sentence, HasSubstr("to be written"));
    EXPECT_TRUE(at::equal(weightsIn(path("out")), TrainState::initialise(kForeignModel, 9).weights)) << "what is read is never replaced";
    std::ofstream(path("out/thesis.tex")) << "x";
    const auto foreign = write(kForeignModel, {.force = true});
    ASSERT_FALSE(foreign.ok());
    EXPECT_THAT(foreign.error().sentence, HasSubstr("thesis.tex"));
    fs::create_symlink(path("out"), path("link"));
    EXPECT_THAT(write(kForeignModel, {.force = true}, "link").error().sentence, HasSubstr("is no folder"));
    EXPECT_TRUE(fs::exists(path("out/thesis.tex")));
}

TEST_F(ExportForOthers, IsForItsOwnersEyesAlone) {
    const mode_t before = ::umask(0);
    const auto written = write(kForeignModel, {}, "deep/out/");
    ::umask(before);
    ASSERT_TRUE(written.ok()) << written.error().sentence;
    const auto modeOf = [&](const std::string& name) {
        struct stat status {};
        EXPECT_EQ(::stat(path(name).c_str(), &status), 0) << name;
        return status.st_mode & 0777;
    };
    EXPECT_EQ(modeOf("deep"), 0700u);
    EXPECT_EQ(modeOf("deep/out"), 0700u);
    for (const ExportedFile& file : written->files) EXPECT_EQ(modeOf("deep/out/" + file.name), 0600u) << file.name;
}

}  // namespace
}  // namespace stepscope
