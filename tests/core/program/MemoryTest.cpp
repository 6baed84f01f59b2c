// The prediction of memory against what the host allocator really handed out at the worst moment of real steps.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <functional>

#include "TinyTraining.h"
#include "core/events/SessionInfo.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/HostAllocator.h"
#include "core/prediction/MemoryPrediction.h"

namespace stepscope {
namespace {

struct Shape {
    std::string name;
    std::int64_t layers, heads, width, batch, context;
    std::vector<std::pair<std::string, Value>> switches;
    std::function<void(RunConfig&)> change = [](RunConfig&) {};
    int threads = 1;
    double within = 0.05;
};
void PrintTo(const Shape& shape, std::ostream* out) {
    *out << shape.name;
}

class PredictedMemory : public ::testing::TestWithParam<Shape> {};

TEST_P(PredictedMemory, IsWhatAStepTakes) {
    host_memory::install();
    host_memory::refreshBudget();
    const Shape& shape = GetParam();
    RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), 2);
    config.layers = shape.layers;
    config.heads = shape.heads;
    config.width = shape.width;
    config.switches["batch-size"] = shape.batch;
    config.switches["context"] = shape.context;
    config.validationTokens = 2 * shape.batch * shape.context;  // whole batches, as a run's default has
    for (const auto& [id, value] : shape.switches) config.switches[id] = value;
    shape.change(config);
    const std::int64_t vocabulary = config.vocabulary > 0 ? config.vocabulary : 61;

    const std::int64_t before = host_memory::usage().live.count;
    device_memory::resetPeak(at::kCPU);
    {
        testing::TinyTrainer trainer(config, testing::tinyBatches(vocabulary));
        at::set_num_threads(shape.threads);
        ASSERT_EQ(trainer.run().state, RunState::Finished);
    }
    const auto measured = static_cast<double>(device_memory::peak(at::kCPU).count - before);
    const GptConfig model = Registry(testing::plainCpu()).modelShape(config, vocabulary);
    const ModelSizes sizes{.parameters = ParameterLayout(model).size(),
                           .vocabulary = model.paddedVocabulary,
                           .hidden = model.hidden(),
                           .hiddenRows = model.hiddenRows(),
                           .threads = shape.threads};
    const auto predicted = static_cast<double>(predictMemory(Registry(testing::plainCpu()).plan(config).value(), sizes).tensors.count);
    RecordProperty("predicted_to_measured", std::to_string(predicted / measured));
    EXPECT_NEAR(predicted / measured, 1, shape.within) << measured << " bytes measured";
}

INSTANTIATE_TEST_SUITE_P(
    Shape, PredictedMemory,
    ::testing::Values(
        Shape{"plain", 3, 4, 64, 8, 64, {}}, Shape{"bf16", 3, 4, 64, 8, 64, {{"amp", std::string("bf16")}}},
        Shape{"manual", 3, 4, 64, 4, 128, {{"attention", std::string("manual")}}},
        Shape{"manual_bf16", 3, 4, 64, 4, 128, {{"attention", std::string("manual")}, {"amp", std::string("bf16")}}},
        Shape{"math", 3, 4, 64, 4, 128, {{"attention", std::string("sdpa-math")}}},
        Shape{"accumulated", 3, 4, 64, 8, 64, {{"grad-accumulation", std::int64_t{3}}}},
        Shape{"zeroed", 3, 4, 64, 8, 64, {{"zero-grad", std::string("zero")}}},
        Shape{"wide_foreach", 2, 4, 256, 2, 32, {{"optimizer", std::string("foreach")}}},
        Shape{"wide_loop", 2, 4, 256, 2, 32, {{"optimizer", std::string("loop")}}}, Shape{"narrow", 5, 2, 32, 16, 64, {}},
        Shape{"kernels", 3, 4, 64, 8, 64, {{"fusion", std::string("kernels")}}},
        Shape{"kernels_bf16", 3, 4, 64, 8, 64, {{"fusion", std::string("kernels")}, {"amp", std::string("bf16")}}},
        Shape{"planned", 4, 4, 128, 16, 128, {{"fusion", std::string("step")}}},
        Shape{"planned_bf16", 4, 4, 128, 16, 128, {{"fusion", std::string("step")}, {"amp", std::string("bf16")}}},
        Shape{"planned_foreach", 4, 4, 128, 4, 32, {{"fusion", std::string("step")}, {"optimizer", std::string("foreach")}}},
        Shape{"planned_loop", 2, 4, 256, 2, 32, {{"fusion", std::string("step")}, {"optimizer", std::string("loop")}}},
        Shape{"planned_loader",
              1,
              2,
              32,
              16,
              128,
              {{"fusion", std::string("step")}, {"loader-workers", std::int64_t{2}}, {"loader-prefetch", std::int64_t{40}}}},
        Shape{"planned_bf16_validates_in_float32",
              2,
              4,
              64,
              16,
              128,
              {{"fusion", std::string("step")}, {"amp", std::string("bf16")}, {"validation-every", std::int64_t{1}}},
              [](RunConfig& c) { c.vocabulary = 20000, c.validationTokens = 2 * 16 * 128; }},
        Shape{"planned_bf16_validates_on_little",
              2,
              4,
              64,
              16,
              128,
              {{"fusion", std::string("step")}, {"amp", std::string("bf16")}, {"validation-every", std::int64_t{1}}},
              [](RunConfig& c) { c.vocabulary = 20000, c.validationTokens = 128; }},
        Shape{"planned_bf16_large_vocabulary",
              2,
              4,
              64,
              16,
              128,
              {{"fusion", std::string("step")}, {"amp", std::string("bf16")}},
              [](RunConfig& c) { c.vocabulary = 20000; }},
        Shape{"planned_bf16_many_threads",
              2,
              4,
              64,
              16,
              128,
              {{"fusion", std::string("step")}, {"amp", std::string("bf16")}},
              [](RunConfig& c) { c.vocabulary = 20000; },
              12},
        Shape{"planned_two_threads", 2, 4, 64, 16, 128, {{"fusion", std::string("step")}}, [](RunConfig& c) { c.vocabulary = 20000; }, 2},
        Shape{"kernels_bf16_many_threads",
              2,
              4,
              64,
              16,
              128,
              {{"fusion", std::string("kernels")}, {"amp", std::string("bf16")}},
              [](RunConfig& c) { c.vocabulary = 20000; },
              12},
        Shape{"planned_bf16_validates_in_bf16",
              2,
              4,
              64,
              16,
              128,
              {{"fusion", std::string("step")},
               {"amp", std::string("bf16")},
               {"validation-amp", std::string("on")},
               {"validation-every", std::int64_t{1}}}},
        Shape{"every_block", 5, 4, 64, 8, 64, {{"checkpointing", std::string("every-block")}}},
        Shape{"every_block_bf16", 5, 4, 64, 8, 64, {{"checkpointing", std::string("every-block")}, {"amp", std::string("bf16")}}},
        Shape{"every_2nd", 5, 4, 64, 8, 64, {{"checkpointing", std::string("every-2nd")}}},
        Shape{"every_6th", 8, 4, 64, 8, 64, {{"checkpointing", std::string("every-6th")}}},
        Shape{"every_block_kernels", 5, 4, 64, 8, 64, {{"checkpointing", std::string("every-block")}, {"fusion", std::string("kernels")}}},
        Shape{"selective", 5, 4, 64, 8, 64, {{"checkpointing", std::string("selective")}}},
        Shape{"selective_manual", 5, 4, 64, 4, 128, {{"checkpointing", std::string("selective")}, {"attention", std::string("manual")}}},
        Shape{"selective_manual_bf16",
              5,
              4,
              64,
              4,
              128,
              {{"checkpointing", std::string("selective")}, {"attention", std::string("manual")}, {"amp", std::string("bf16")}}},
        Shape{"chunks", 1, 2, 32, 16, 64, {{"chunked-loss", std::int64_t{64}}}, [](RunConfig& c) { c.vocabulary = 2000; }},
        Shape{"chunks_bf16",
              1,
              2,
              32,
              16,
              64,
              {{"chunked-loss", std::int64_t{100}}, {"amp", std::string("bf16")}},
              [](RunConfig& c) { c.vocabulary = 2000; }},
        Shape{"chunks_larger_than_all", 1, 2, 32, 4, 64, {{"chunked-loss", std::int64_t{100000}}}, [](RunConfig& c) { c.vocabulary = 2000; }},
        Shape{"every_block_chunks_post_norm",
              5,
              4,
              64,
              8,
              64,
              {{"checkpointing", std::string("every-block")}, {"chunked-loss", std::int64_t{64}}},
              [](RunConfig& c) { c.normPlacement = "post"; }},
        Shape{"planned_options",
              4,
              4,
              128,
              16,
              128,
              {{"fusion", std::string("step")}, {"optimizer", std::string("8-bit")}},
              [](RunConfig&
                     c) { c.activation = "swiglu", c.qkv = "split", c.tiedHead = "off", c.norm = "rmsnorm", c.positions = "rope", c.dropout = 0.1; }},
        Shape{"planned_post_bf16",
              4,
              4,
              128,
              16,
              128,
              {{"fusion", std::string("step")}, {"amp", std::string("bf16")}},
              [](RunConfig& c) { c.normPlacement = "post", c.bias = "off", c.labelSmoothing = 0.1; }},
        Shape{"swiglu", 3, 4, 64, 8, 64, {}, [](RunConfig& c) { c.activation = "swiglu"; }},
        Shape{"rmsnorm", 3, 4, 64, 8, 64, {}, [](RunConfig& c) { c.norm = "rmsnorm"; }},
        Shape{"rope", 3, 4, 64, 8, 64, {}, [](RunConfig& c) { c.positions = "rope"; }, 1, 0.02},
        Shape{"rope_bf16", 3, 4, 64, 8, 64, {{"amp", std::string("bf16")}}, [](RunConfig& c) { c.positions = "rope"; }, 1, 0.02},
        Shape{"rope_kernels", 3, 4, 64, 8, 64, {{"fusion", std::string("kernels")}}, [](RunConfig& c) { c.positions = "rope"; }, 1, 0.02},
        Shape{"rope_kernels_bf16",
              3,
              4,
              64,
              8,
              64,
              {{"fusion", std::string("kernels")}, {"amp", std::string("bf16")}},
              [](RunConfig& c) { c.positions = "rope"; },
              1,
              0.02},
        Shape{"rope_deep", 8, 4, 64, 8, 64, {}, [](RunConfig& c) { c.positions = "rope"; }, 1, 0.02},
        Shape{"rope_long", 3, 4, 128, 2, 512, {}, [](RunConfig& c) { c.positions = "rope"; }, 1, 0.02},
        Shape{"rope_manual", 3, 4, 64, 4, 128, {{"attention", std::string("manual")}}, [](RunConfig& c) { c.positions = "rope"; }, 1, 0.02},
        Shape{"rope_again", 5, 4, 64, 8, 64, {{"checkpointing", std::string("every-block")}}, [](RunConfig& c) { c.positions = "rope"; }, 1, 0.02},
        Shape{"rope_selective", 5, 4, 64, 8, 64, {{"checkpointing", std::string("selective")}}, [](RunConfig& c) { c.positions = "rope"; }, 1, 0.02},
        Shape{"rope_split", 3, 4, 64, 8, 64, {}, [](RunConfig& c) { c.positions = "rope", c.qkv = "split"; }, 1, 0.02},
        Shape{"rope_swiglu", 3, 4, 64, 8, 64, {}, [](RunConfig& c) { c.positions = "rope", c.activation = "swiglu"; }},
        Shape{"rope_planned", 4, 4, 128, 16, 128, {{"fusion", std::string("step")}}, [](RunConfig& c) { c.positions = "rope"; }, 1, 0.02},
        Shape{"post_norm", 3, 4, 64, 8, 64, {}, [](RunConfig& c) { c.normPlacement = "post"; }},
        Shape{"dropout", 3, 4, 64, 8, 64, {}, [](RunConfig& c) { c.dropout = 0.1; }},
        Shape{"smoothed", 3, 4, 64, 8, 64, {}, [](RunConfig& c) { c.labelSmoothing = 0.1; }},
        Shape{"untied_split", 3, 4, 64, 8, 64, {}, [](RunConfig& c) { c.tiedHead = "off", c.qkv = "split", c.bias = "off"; }},
        Shape{"all_bf16",
              3,
              4,
              64,
              8,
              64,
              {{"amp", std::string("bf16")}},
              [](RunConfig& c) { c.activation = "swiglu", c.norm = "rmsnorm", c.positions = "rope", c.dropout = 0.1; }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace stepscope
