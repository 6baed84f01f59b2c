// What the engine says of the settings in the experiment panel: every switch's verdict, what keeps them from running, the memory they would
// need. Called by ExperimentWiring on its own thread: with a model of 1000 layers it takes a tenth of a second and more.
#pragma once
#include <functional>
#include <map>
#include <optional>

#include "app/workbench/Workbench.h"
#include "widgets/panels/experiment/ExperimentPanel.h"

namespace stepscope {

struct EditAnswer {
    SwitchCatalogue catalogue;
    QString problem;                         // what keeps them from running; empty = nothing
    std::optional<MemoryForecast> forecast;  // where the settings go together
    std::map<std::string, QString> memory;   // by switch: what its other values would need
};

// Nothing when `wanted` says no in between: somebody typed on.
std::optional<EditAnswer> answerEdit(const Workbench& workbench, const RunConfig& config, const std::function<bool()>& wanted);

}  // namespace stepscope
