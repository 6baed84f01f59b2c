// The presets, as the guide lists them (resources/guide/settings.md). Which of them fits this machine is decided by app/workbench/PresetChoice.
#pragma once
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"

namespace stepscope {

struct Preset {
    std::string id;
    std::string summary;  // one line
    RunConfig config;     // switches not named here have the registry's default
    std::string title;    // as people read it, where the id alone would mislead about what is trained on
};

const std::vector<Preset>& presets();
Result<RunConfig> presetConfig(const std::string& id);  // NotFound names the known ones

// Where a preset is to run, which it leaves open: "cpu", "cuda:0".
void placeOn(RunConfig& config, const std::string& device);
bool isOnGpu(const RunConfig& config);
// The same place for another configuration; none, where none was said.
void placeAs(const RunConfig& before, RunConfig& config);
// Has a run do nothing between its steps: no validation, checkpoints or samples.
void onlySteps(RunConfig& config);

struct PresetChoice {
    std::string id;
    std::string why;  // a sentence: "No GPU here: 4 layers, 128 wide train in seconds per 100 steps on 2 cores."
    std::string device = "cpu";
};

}  // namespace stepscope
