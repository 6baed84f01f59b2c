// `switches`: prints the registry: for a person, as JSON, or as the table of the user guide (--markdown), which
// packaging/guide writes into resources/guide/switches.md.
#include <fmt/format.h>

#include <utility>

#include "app/cli/Commands.h"
#include "app/cli/RunOptions.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Markdown.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"

namespace stepscope::cli {
namespace {

Json jsonValues(const ValueRange& range) {
    if (const auto* choices = std::get_if<Choices>(&range)) return choices->words;
    if (const auto* whole = std::get_if<IntegerRange>(&range)) {
        Json values = {{"type", "integer"}, {"least", whole->least}, {"most", whole->most}};
        if (!whole->word.empty()) values["word"] = whole->word;
        return values;
    }
    const auto& real = std::get<RealRange>(range);
    return {{"type", "real"}, {"least", real.least}, {"most", real.most}};
}

Json switchJson(const SwitchInfo& entry) {
    Json refused = Json::object();
    for (const auto& [choice, why] : entry.refusedChoices) refused[choice] = why;
    return {{"id", entry.id},
            {"title", entry.title},
            {"group", toString(entry.group)},
            {"values", jsonValues(entry.values)},
            {"default", toJson(entry.byDefault)},
            {"takes_effect", entry.takesEffect == TakesEffect::Step ? "step" : "new-run"},
            {"why_new_run", entry.whyNewRun},
            {"applicable", entry.applicable.usable},
            {"reason", entry.applicable.reason},
            {"refused", refused},
            {"fallback", entry.fallback},
            {"note", entry.note},
            {"why", entry.why},
            {"cost", entry.cost},
            {"reported", entry.reported}};
}

std::string asTable(const SwitchCatalogue& catalogue) {
    Table table({{"SWITCH"}, {"VALUES"}, {"DEFAULT"}, {"TAKES EFFECT"}, {"HERE"}});
    for (const auto& entry : catalogue)
        table.add({entry.id, rangeWords(entry.values), toString(entry.byDefault),
                   entry.takesEffect == TakesEffect::Step ? "at a step" : "in a new run",
                   entry.applicable.usable ? "yes" : "no: " + entry.applicable.reason});
    return table.text();
}

// The guide's chapter: a table to look things up in, then every switch in sentences. The same on every machine: what can be used
// here is left out.
std::string asMarkdown(const SwitchCatalogue& catalogue) {
    std::string all = "| Switch | Title | Values, default in bold | Takes effect |\n|---|---|---|---|\n";
    for (const auto& entry : catalogue)
        all +=
            fmt::format("| `{}` | {} | {} | {} |\n", entry.id, markdownCell(entry.title), markdownCell(markdownValues(entry.values, entry.byDefault)),
                        entry.takesEffect == TakesEffect::Step ? "at the next step" : "in a new run");
    for (int group = 0; group <= static_cast<int>(SwitchGroup::Loop); ++group) {
        bool first = true;
        for (const auto& entry : catalogue) {
            if (static_cast<int>(entry.group) != group) continue;
            if (std::exchange(first, false)) all += fmt::format("\n## {}\n", toString(entry.group));
            all += fmt::format("\n### {} (`{}`)\n{}\n", entry.title, entry.id, entry.why);
            if (!entry.cost.empty()) all += fmt::format("\n*It costs:* {}\n", entry.cost);
            if (!entry.reported.empty()) all += fmt::format("\n*Reported elsewhere, on other hardware:* {}\n", entry.reported);
            if (entry.takesEffect == TakesEffect::NewRun) all += fmt::format("\n*Takes effect in a new run:* {}\n", entry.whyNewRun);
        }
    }
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
    command->add_flag("--markdown", options->markdown, "As the chapter of the guide")->excludes(json);
    actions[command] = [options]() -> Result<ExitCode> {
        const auto workbench = Workbench::create();
        const auto config = options->run.configure(*workbench);
        if (!config) return config.error();
        const SwitchCatalogue catalogue = workbench->switches(*config);
        if (options->json) {
            Json all = Json::array();
            for (const auto& entry : catalogue) all.push_back(switchJson(entry));
            print(line(all));
        } else {
            print(options->markdown ? asMarkdown(catalogue) : asTable(catalogue));
        }
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
