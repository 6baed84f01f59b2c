// What the registry publishes about its switches, without torch: the panel, tooltips, --set, session columns, the guide's
// table and the parameterised test are all generated from it. core/optimizations makes it; everybody reads it.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "core/events/RunConfig.h"

namespace stepscope {

enum class SwitchGroup { Device, Precision, Kernels, Memory, Batch, Optimizer, Data, Loop };
const char* toString(SwitchGroup group);

enum class TakesEffect { Step, NewRun };  // at the next step boundary, or only in a new run

struct Choices {
    std::vector<std::string> words;
};
struct IntegerRange {
    std::int64_t least = 0, most = 0;
    std::string word = {};  // what may stand in place of a number; empty = nothing
    std::string zero = {};  // another word for 0, "off"; empty = none
};
struct RealRange {
    double least = 0, most = 0;
    std::string zero = {};
};
using ValueRange = std::variant<Choices, IntegerRange, RealRange>;

// Whether a value can be used on this machine with this configuration, and if not, why (a sentence).
struct Verdict {
    bool usable = true;
    std::string reason;
    bool ofMachine = false;  // no other setting would help: this machine cannot
    static Verdict yes() { return {}; }
    static Verdict no(std::string why) { return {false, std::move(why)}; }
    static Verdict notHere(std::string why) { return {false, std::move(why), true}; }
};

// How a search for the fastest settings treats a switch.
enum class RaceRole {
    Free,  // another way to compute: every value that can be used is tried
    Size,  // another batch: only when a person allows it
    Never  // it changes what is learnt, is none of a step's, or is the person's to choose
};
struct Racing {
    RaceRole role = RaceRole::Free;
    int promise = 10;                   // those with more of it are tried first, and the first ones in every combination
    std::vector<std::string> values{};  // to be tried; empty: every word, of numbers none
};

struct SwitchInfo {
    std::string id;  // never renamed: --set key, YAML key, stored column
    std::string title;
    SwitchGroup group = SwitchGroup::Device;
    std::string why;       // what it does, two sentences a student understands
    std::string cost;      // what it costs
    std::string reported;  // what others report, on other hardware; may be empty
    ValueRange values;
    Value byDefault;
    TakesEffect takesEffect = TakesEffect::Step;
    std::string whyNewRun;                                            // when takesEffect is NewRun
    Verdict applicable;                                               // can this switch be moved from its default here at all
    std::vector<std::pair<std::string, std::string>> refusedChoices;  // choice -> why it cannot be used here
    std::string fallback;  // the value chosen does not run with the other switches: what does, and why; empty = it runs
    std::string note;      // of the value that runs: that it does nothing beside the others, or what it costs on this machine; empty = nothing to say
    bool idle = false;     // that note says that the value changes nothing where it is chosen: a run is as with the default
    Racing racing{};
};

using SwitchCatalogue = std::vector<SwitchInfo>;

}  // namespace stepscope
