// `config`: prints the complete YAML of a preset with what --config and --set change, ready for `train --config`; with --markdown the
// guide's tables of settings, which packaging/guide writes into resources/guide/settings.md.
#include "app/cli/Commands.h"
#include "app/cli/Json.h"
#include "app/cli/Markdown.h"
#include "app/cli/Output.h"
#include "app/cli/RunOptions.h"
#include "core/events/ConfigKeys.h"

#include <cctype>
#include <fmt/format.h>

namespace stepscope::cli {
namespace {

// One table a section, in the order of the window; defaults of RunConfig, which presets change.
std::string asMarkdown() {
    std::string all, section;
    for (const auto& key : configKeys()) {
        if (key.section != section) {
            std::string heading = section = key.section;
            heading[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(heading[0])));
            all += fmt::format("{}## {}\n\n| Key | In the window | What it is | Values, default in bold |\n|---|---|---|---|\n", all.empty() ? "" : "\n", heading);
        }
        all += fmt::format("| `{}` | {} | {} | {} |\n", key.id, markdownCell(key.title), markdownCell(key.help),
                           markdownCell(markdownValues(key.values, key.get(RunConfig{}))));
    }
    return all;
}

}  // namespace

void addConfig(CLI::App& parent, Actions& actions) {
    struct Options {
        RunOptions run;
        bool json = false, markdown = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("config", "Print every setting and switch of a preset as YAML");
    options->run.add(*command);
    auto* json = command->add_flag("--json", options->json, "As JSON");
    command->add_flag("--markdown", options->markdown, "As the guide's tables of settings")->excludes(json);
    actions[command] = [options]() -> Result<ExitCode> {
        if (options->markdown) {
            print(asMarkdown());
            return ExitCode::Ok;
        }
        const auto config = options->run.configure(*Workbench::create());
        if (!config) return config.error();
        print(options->json ? line(toJson(*config)) : toYaml(*config));
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
