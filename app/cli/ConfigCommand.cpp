// `config`: prints the complete YAML of a preset with what --config and --set change, ready for `train --config`, and as comments (with
// --memory alone) what memory it is expected to need, what runs in place of a choice that cannot and which choice does nothing; with --markdown the
// guide's chapter on settings (SettingsChapter).
#include <fmt/format.h>

#include "app/cli/Commands.h"
#include "app/cli/RunOptions.h"
#include "app/cli/SettingsChapter.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

// Three lines, each after `mark`.
std::string memoryText(const Workbench::Estimate& predicted, const char* mark) {
    return fmt::format(
        "{0}{1} parameters; predicted peak memory {2} for tensors, of {3} available\n{0}at the worst moment of a step: {4}\n"
        "{0}with the program and its libraries: {5}\n",
        mark, format::count(predicted.parameters), format::bytes(predicted.total), format::bytes(predicted.available), predicted.parts,
        format::bytes(predicted.total + predicted.process));
}

// A comment a switch that runs as another value than the one chosen, or does nothing beside the others.
std::string noteText(const SwitchCatalogue& catalogue) {
    std::string text;
    for (const auto& entry : catalogue)
        for (const std::string& sentence : {entry.fallback, entry.note})
            if (!sentence.empty()) text += "# " + sentence + "\n";
    return text;
}

std::string memoryLine(const Workbench::Estimate& predicted) {
    return line({{"parameters", predicted.parameters},
                 {"weights", predicted.weights.count},
                 {"gradients", predicted.gradients.count},
                 {"moments", predicted.moments.count},
                 {"activations", predicted.activations.count},
                 {"logits", predicted.logits.count},
                 {"tensors", predicted.tensors.count},
                 {"total", predicted.total.count},
                 {"process", predicted.process.count},
                 {"available", predicted.available.count}});
}

}  // namespace

void addConfig(CLI::App& parent, Actions& actions) {
    struct Options {
        RunOptions run;
        bool json = false, markdown = false, memory = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("config", "Print every setting and switch of a preset as YAML");
    options->run.add(*command);
    auto* json = command->add_flag("--json", options->json, "As JSON");
    auto* markdown = command->add_flag("--markdown", options->markdown, "As the guide's tables of settings, schedules and presets")->excludes(json);
    command->add_flag("--memory", options->memory, "Print only what memory it is expected to need")->excludes(markdown);
    actions[command] = [options]() -> Result<ExitCode> {
        if (options->markdown) {
            print(settingsChapter(Workbench::create(Machine{})->switches(RunConfig{})));
            return ExitCode::Ok;
        }
        const auto workbench = Workbench::create();
        const auto config = options->run.configure(*workbench);
        if (!config) return config.error();
        const auto predicted = workbench->estimate(*config);
        if (options->memory)
            print(options->json ? memoryLine(predicted) : memoryText(predicted, ""));
        else
            print(options->json ? line(toJson(*config)) : memoryText(predicted, "# ") + noteText(workbench->switches(*config)) + toYaml(*config));
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
