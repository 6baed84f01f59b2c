#include "core/events/Presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepscope {
namespace {

constexpr std::int64_t kBatchesToValidate = 4;  // that a validation reads with the preset's own batch size and context

struct Shape {
    std::int64_t layers, heads, width, context, batch, accumulation;
};

Preset make(std::string id, std::string summary, Shape shape, std::string tokenizer, double lr, std::int64_t steps, std::int64_t warmup) {
    RunConfig config;
    config.preset = id;
    config.tokenizer = std::move(tokenizer);
    config.layers = shape.layers;
    config.heads = shape.heads;
    config.width = shape.width;
    config.lr = lr;
    config.minLr = lr / 10;
    config.steps = steps;
    config.warmup = warmup;
    config.validationTokens = kBatchesToValidate * shape.batch * shape.context;
    config.switches["batch-size"] = shape.batch;
    config.switches["context"] = shape.context;
    config.switches["grad-accumulation"] = shape.accumulation;
    std::string title = id;
    return {std::move(id), std::move(summary), std::move(config), std::move(title)};
}

// A preset by memory: what its name says holds with 16-bit products and without a table of all logits (tests/app/workbench/PresetChoiceTest.cpp).
// Not with fused kernels: on a GPU those run only for who asks for them.
Preset forGpu(std::string id, std::string summary, Shape shape, double lr) {
    Preset preset = make(std::move(id), std::move(summary), shape, "gpt2", lr, 10000, 500);
    preset.config.switches["amp"] = std::string("bf16");
    preset.config.switches["chunked-loss"] = std::int64_t{4096};
    return preset;
}

std::vector<Preset> allPresets() {
    // Rates of the four GPT-2 sizes: the upper end of the range that the guide names for each (resources/guide/settings.md, "Which learning rate?").
    std::vector<Preset> all;
    all.push_back(make("tiny-cpu", "4 layers, 128 wide, bytes: seconds per 100 steps on two cores", {4, 4, 128, 128, 12, 1}, "byte", 2e-3, 2000, 50));
    all.push_back(make("shakespeare-char", "6 layers, 384 wide, characters of Shakespeare's plays: minutes on a GPU, an evening on a laptop",
                       {6, 6, 384, 256, 64, 1}, "char", 1e-3, 5000, 100));
    all.back().config.data = "shakespeare";
    all.push_back(make("gpt2-small", "124 M parameters, 12 layers, 768 wide", {12, 12, 768, 1024, 8, 4}, "gpt2", 6e-4, 20000, 700));
    all.push_back(make("gpt2-medium", "355 M parameters, 24 layers, 1024 wide", {24, 16, 1024, 1024, 4, 8}, "gpt2", 3e-4, 20000, 700));
    all.push_back(make("gpt2-large", "774 M parameters, 36 layers, 1280 wide", {36, 20, 1280, 1024, 2, 16}, "gpt2", 2e-4, 20000, 700));
    all.push_back(make("gpt2-xl", "1.5 B parameters, 48 layers, 1600 wide", {48, 25, 1600, 1024, 1, 32}, "gpt2", 1e-4, 20000, 700));
    all.push_back(forGpu("gpu-8gb", "for 8-12 GB: 8 layers, 512 wide, batch 64 x 8", {8, 8, 512, 256, 64, 8}, 6e-4));
    all.push_back(forGpu("gpu-12gb", "for 12 GB: 8 layers, 512 wide, batch 96 x 8", {8, 8, 512, 256, 96, 8}, 6e-4));
    // Micro-batches of 128 and 256 sequences do not fit: as many an update, in smaller parts (DECISIONS.md).
    all.push_back(forGpu("gpu-16gb", "for 13-16 GB: 12 layers, 768 wide, batch 64 x 8", {12, 12, 768, 256, 64, 8}, 6e-4));
    all.push_back(forGpu("gpu-24gb", "for 24 GB and more: 24 layers, 1024 wide, batch 16 x 32", {24, 16, 1024, 512, 16, 32}, 3e-4));
    return all;
}

}  // namespace

const std::vector<Preset>& presets() {
    static const std::vector<Preset> all = allPresets();
    return all;
}

Result<RunConfig> presetConfig(const std::string& id) {
    std::vector<std::string> known;
    for (const auto& preset : presets()) {
        if (preset.id == id) return preset.config;
        known.push_back(preset.id);
    }
    return makeError(ErrorCode::NotFound, fmt::format("There is no preset \"{}\"; choose one of {}.", id, fmt::join(known, ", ")));
}

void placeOn(RunConfig& config, const std::string& device) {
    config.switches["device"] = device;
}

bool isOnGpu(const RunConfig& config) {
    return config.has("device") && config.word("device") != "cpu";
}

void placeAs(const RunConfig& before, RunConfig& config) {
    if (before.has("device")) placeOn(config, before.word("device"));
}

void onlySteps(RunConfig& config) {
    config.switches["validation-every"] = std::int64_t{0};
    config.checkpointEvery = 0;
    config.sampleEvery = 0;
}

}  // namespace stepscope
