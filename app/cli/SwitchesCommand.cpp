// `switches`: prints the registry: for a person, as JSON, or as the table of the user guide (--markdown).
#include "app/cli/Commands.h"
#include "app/cli/Json.h"
#include "app/cli/Output.h"
#include "app/cli/RunOptions.h"
#include "app/cli/Table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepscope::cli {
namespace {

Json jsonValues(const ValueRange& range) {
    if (const auto* choices = std::get_if<Choices>(&range)) return choices->words;
    if (const auto* whole = std::get_if<IntegerRange>(&range)) return {{"type", "integer"}, {"least", whole->least}, {"most", whole->most}};
    const auto& real = std::get<RealRange>(range);
    return {{"type", "real"}, {"least", real.least}, {"most", real.most}};
}

std::string words(const ValueRange& range) {
    if (const auto* choices = std::get_if<Choices>(&range)) return fmt::format("{}", fmt::join(choices->words, ", "));
    if (const auto* whole = std::get_if<IntegerRange>(&range)) return fmt::format("{} to {}", whole->least, whole->most);
    const auto& real = std::get<RealRange>(range);
    return fmt::format("{} to {}", real.least, real.most);
}

Json toJson(const SwitchInfo& entry) {
    Json refused = Json::object();
    for (const auto& [choice, why] : entry.refusedChoices) refused[choice] = why;
    return {{"id", entry.id},
            {"title", entry.title},
            {"group", toString(entry.group)},
            {"values", jsonValues(entry.values)},
            {"default", cli::toJson(entry.byDefault)},
            {"takes_effect", entry.takesEffect == TakesEffect::Step ? "step" : "new-run"},
            {"why_new_run", entry.whyNewRun},
            {"applicable", entry.applicable.usable},
            {"reason", entry.applicable.reason},
            {"refused", refused},
            {"why", entry.why},
            {"cost", entry.cost},
            {"reported", entry.reported}};
}

std::string asTable(const SwitchCatalogue& catalogue) {
    Table table({{"SWITCH"}, {"VALUES"}, {"DEFAULT"}, {"TAKES EFFECT"}, {"HERE"}});
    for (const auto& entry : catalogue)
        table.add({entry.id, words(entry.values), toString(entry.byDefault), entry.takesEffect == TakesEffect::Step ? "at a step" : "in a new run",
                   entry.applicable.usable ? "yes" : "no: " + entry.applicable.reason});
    return table.text();
}

std::string cell(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '|') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

// The same on every machine: what can be used here is left out.
std::string asMarkdown(const SwitchCatalogue& catalogue) {
    std::string all = "| Switch | Title | Values | Default | Takes effect | What it does | What it costs | Reported elsewhere |\n|---|---|---|---|---|---|---|---|\n";
    for (const auto& entry : catalogue)
        all += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", entry.id, cell(entry.title), cell(words(entry.values)),
                           cell(toString(entry.byDefault)), entry.takesEffect == TakesEffect::Step ? "at the next step" : cell("in a new run: " + entry.whyNewRun),
                           cell(entry.why), cell(entry.cost), cell(entry.reported));
    return all;
}

}  // namespace

void addSwitches(CLI::App& parent, Actions& actions) {
    struct Options {
        RunOptions run;
        bool json = false, markdown = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("switches", "Print every switch: its values, what it does and whether it can be used here");
    options->run.add(*command);
    auto* json = command->add_flag("--json", options->json, "As JSON");
    command->add_flag("--markdown", options->markdown, "As the table of the user guide")->excludes(json);
    actions[command] = [options]() -> Result<ExitCode> {
        const auto workbench = Workbench::create();
        const auto config = options->run.configure(*workbench);
        if (!config) return config.error();
        const SwitchCatalogue catalogue = workbench->switches(*config);
        if (options->json) {
            Json all = Json::array();
            for (const auto& entry : catalogue) all.push_back(toJson(entry));
            print(line(all));
        } else {
            print(options->markdown ? asMarkdown(catalogue) : asTable(catalogue));
        }
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
