// The rules of advice: each looks at the facts, and where a number passes its threshold it says so, with the numbers, and with what to try.
// Deterministic. No rule names a switch: what to try is a setting of ConfigKeys.h, or what the plan should come to (Advise in app/workbench/diagnose
// finds the value that gives it). Every rule stands in the guide's chapter advice.md with its threshold. Torch-free; any thread.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/advice/Advice.h"
#include "core/advice/Facts.h"

namespace stepscope {

// What a change is to come to: a setting and its value, or a property that the plan has then. The latter is asked of plans that differ in one switch.
using KeyValue = std::pair<std::string, std::string>;
using WantedPlan = std::function<bool(const RunPlan& other)>;
struct BesideItself {};  // nothing is to change: how much this machine changes by itself is asked
using Remedy = std::variant<KeyValue, WantedPlan, BesideItself>;

struct Finding {
    std::string rule;  // its id
    std::string title;
    std::string sentence;  // what was seen and what it means
    std::string threshold;
    std::vector<Evidence> evidence;  // never empty
    std::vector<Remedy> remedies;    // the best first; never empty
};

struct Rule {
    const char* id;                                          // never renamed: scripts read it
    const char* title;                                       // what to do, in a few words
    const char* threshold;                                   // when it speaks, as the guide says it
    void (*judge)(const AdviceFacts& facts, Finding& into);  // adds evidence where it speaks
};
const std::vector<Rule>& rules();

// Those that speak, in the order of the rules.
std::vector<Finding> findings(const AdviceFacts& facts);

}  // namespace stepscope
