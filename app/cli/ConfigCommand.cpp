// `config`: prints the complete YAML of a preset with what --config and --set change, ready for `train --config`.
#include "app/cli/Commands.h"
#include "app/cli/Json.h"
#include "app/cli/Output.h"
#include "app/cli/RunOptions.h"

namespace stepscope::cli {

void addConfig(CLI::App& parent, Actions& actions) {
    struct Options {
        RunOptions run;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("config", "Print every setting and switch of a preset as YAML");
    options->run.add(*command);
    command->add_flag("--json", options->json, "As JSON");
    actions[command] = [options]() -> Result<ExitCode> {
        const auto config = options->run.configure(*Workbench::create());
        if (!config) return config.error();
        print(options->json ? line(toJson(*config)) : toYaml(*config));
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
