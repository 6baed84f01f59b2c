// Ladder: switches added one at a time, each measured beside the rung below it, as data. The known ones are files of resources/ladders, built in; a
// person's own is a YAML file of the same form (resources/guide/ladders.md). Reading names file and line of whatever is wrong. Any thread.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"
#include "core/events/SwitchCatalogue.h"

namespace stepscope {

struct LadderRung {
    std::string name;                                           // as people read it; the settings where the file gives none
    std::vector<std::pair<std::string, std::string>> settings;  // key, value; not empty but of the bottom
    std::string reported;                                       // elsewhere, on other hardware; may be empty
    int line = 0;                                               // of the file; 0 = unknown
};

struct Ladder {
    std::string title;
    std::string unit;    // what `reported` counts, and of what
    std::string source;  // the text it was read from
    std::string place;   // how sentences name it: the file, or "ladder NAME"
    LadderRung bottom;   // what all rungs stand on
    std::vector<LadderRung> rungs;
};

constexpr std::size_t kMostRungs = 30;
constexpr double kSecondsALeg = 25;  // of a measurement, unless a budget is given

// title: where the text has none. Errors are BadInput and begin with `place` and the line.
Result<Ladder> parseLadder(const std::string& text, const std::string& place, const std::string& title);

// The names of those that are built in, in the order of their files.
const std::vector<std::string>& builtInLadders();
// A built-in one by its name, else a file. NotFound names the built-in ones.
Result<Ladder> loadLadder(const std::string& nameOrFile);

// "float32 → TF32 → bf16": what it begins with, and what each rung adds.
std::string ladderWords(const Ladder& ladder);

// "amp=bf16 fusion=step"
std::string settingsWords(const LadderRung& rung);

// Whether every key and value of it can be set on top of `config`, whatever of it can run here. The first that cannot: BadInput with file and line.
Status checkLadder(const Ladder& ladder, const RunConfig& config, const SwitchCatalogue& catalogue);

// The configuration with the bottom and the rungs of these numbers, ascending, on top; checkLadder() was satisfied.
Result<RunConfig> onLadder(const Ladder& ladder, const std::vector<std::size_t>& rungs, const RunConfig& config, const SwitchCatalogue& catalogue);

}  // namespace stepscope
