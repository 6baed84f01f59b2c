#include "app/cli/SettingsChapter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>
#include <vector>

#include "app/cli/output/Markdown.h"
#include "core/base/Check.h"
#include "core/events/ConfigKeys.h"
#include "core/events/ConfigNumbers.h"
#include "core/events/Presets.h"
#include "core/events/Schedule.h"

namespace stepscope::cli {
namespace {

// One table a section, in the order of the window; defaults of RunConfig, which presets change.
std::string keyTables() {
    std::string all, section;
    for (const auto& key : configKeys()) {
        if (key.section != section) {
            std::string heading = section = key.section;
            heading[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(heading[0])));
            all += fmt::format("{}## {}\n\n| Key | In the window | What it is | Values, default in bold |\n|---|---|---|---|\n",
                               all.empty() ? "" : "\n", heading);
        }
        all += fmt::format("| `{}` | {} | {} | {} |\n", key.id, markdownCell(key.title), markdownCell(key.help),
                           markdownCell(markdownValues(key.values, key.get(RunConfig{}))));
    }
    return all;
}

struct ScheduleWords {
    const char *schedule, *rate, *use;
};

constexpr ScheduleWords kSchedules[] = {
    {"constant", "is `lr` from the first step to the last", "to compare settings without a schedule in the way"},
    {"warmup", "rises in a straight line to `lr` over `warmup` steps, then stays", "for a run whose length is open"},
    {"cosine", "falls from `lr` along half a cosine to `min-lr` at the last step; the first step is already one step down",
     "to train weights further that are good already"},
    {"linear", "warms up, then falls in a straight line to `min-lr` at the last step", "for fine-tuning, as with BERT"},
    {"warmup-cosine", "warms up, then falls along half a cosine to `min-lr` at the last step",
     "to train a GPT from the beginning, as GPT-3 was: the usual choice"},
    {"one-cycle",
     "rises along half a cosine from a 25th of `lr` to `lr` in the first 30 % of the steps, then falls along another to next to nothing, as "
     "PyTorch's OneCycleLR",
     "for short runs at a high rate (Smith and Topin 2018)"},
    {"trapezoid", "warms up, stays at `lr`, and falls in a straight line to `min-lr` in the last fifth of the steps",
     "for long runs that may be made longer: a checkpoint from before the fall goes on as if nothing had been (also called WSD; Hägele et al. 2024)"},
    {"range-test", "rises from `min-lr` to `lr`, at each step by the same factor", "not to train: to find a rate; `lr-range` runs it (Smith 2017)"},
};

const ScheduleWords& wordsOf(const std::string& schedule) {
    const auto* found = std::ranges::find_if(kSchedules, [&](const ScheduleWords& words) { return words.schedule == schedule; });
    SS_CHECK(found != std::end(kSchedules));
    return *found;
}

// The keys that move the rate of some step, asked of the schedule itself.
std::vector<std::string> keysReadBy(const std::string& schedule) {
    RunConfig base;
    base.schedule = schedule;
    base.steps = 100;
    base.warmup = 10;
    RunConfig lr = base, minLr = base, warmup = base, steps = base;
    lr.lr *= 2, minLr.minLr *= 2, warmup.warmup *= 2, steps.steps *= 2;
    std::vector<std::string> read;
    for (const auto& [key, other] : {std::pair{"lr", &lr}, {"min-lr", &minLr}, {"warmup", &warmup}, {"steps", &steps}}) {
        bool moves = false;
        for (std::int64_t step = 1; step <= base.steps; ++step) moves = moves || learningRate(base, step) != learningRate(*other, step);
        if (moves) read.push_back(fmt::format("`{}`", key));
    }
    return read;
}

std::string scheduleTable() {
    std::string all = "| Schedule | What the rate does | When people use it | Keys it reads |\n|---|---|---|---|\n";
    const auto key = std::ranges::find(configKeys(), "schedule", &ConfigKey::id);
    SS_CHECK(key != configKeys().end());
    for (const std::string& word : std::get<Choices>(key->values).words) {
        const ScheduleWords& words = wordsOf(word);
        all += fmt::format("| `{}` | {} | {} | {} |\n", word, markdownCell(words.rate), markdownCell(words.use), fmt::join(keysReadBy(word), ", "));
    }
    return all;
}

// Switches that a preset sets beside the shape of its batches.
std::string furtherSwitches(const RunConfig& config, const SwitchCatalogue& switches) {
    std::vector<std::string> all;
    for (const auto& entry : switches)
        if (const auto set = config.switches.find(entry.id); set != config.switches.end() && entry.group != SwitchGroup::Batch)
            all.push_back(fmt::format("`{}={}`", entry.id, toString(set->second)));
    return fmt::format("{}", fmt::join(all, ", "));
}

std::string presetTable(const SwitchCatalogue& switches) {
    std::string all =
        "| Preset | In short | Layers, heads, width | Context | Batch | Tokenizer | `lr` | Steps | Switches "
        "|\n|---|---|---|---|---|---|---|---|---|\n";
    for (const auto& [id, summary, config, title] : presets()) {
        const BatchShape batch = batchShape(config);
        all += fmt::format("| `{}` | {} | {}, {}, {} | {} | {} x {} | {} | {} | {} | {} |\n", id, markdownCell(summary), config.layers, config.heads,
                           config.width, batch.context, batch.sequences, batch.microBatches, config.tokenizer, toString(Value{config.lr}),
                           config.steps, markdownCell(furtherSwitches(config, switches)));
    }
    return all;
}

}  // namespace

std::string settingsChapter(const SwitchCatalogue& switches) {
    return keyTables() + "\n## What each schedule does\n\n" + scheduleTable() +
           "\n## The presets\n\nBatch: sequences of a micro-batch x micro-batches an update. `min-lr` is a tenth of `lr`.\n\n" +
           presetTable(switches);
}

}  // namespace stepscope::cli
