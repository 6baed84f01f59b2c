// A piece of advice as a person gets it: a finding of a rule (Rules.h), and the one change that tests it here. Plain data; any thread.
#pragma once
#include <string>
#include <vector>

namespace stepscope {

struct Evidence {
    std::string name;  // "float32 products"
    double value = 0;  // finite
    std::string text;  // "167 GFLOP/s"
};

struct Advice {
    std::string rule;      // its id
    std::string title;     // what to do, in a few words
    std::string sentence;  // what was seen and what it means
    std::string threshold;
    std::vector<Evidence> evidence;  // never empty
    // "Test it": side B has this key at this value; with besideItself the settings are measured beside themselves.
    std::string key, from, value;
    bool besideItself = false;
    bool inSteps = true;  // timed steps tell of it; false: there is nothing to measure, and "Use it" takes the setting over
    bool learns = false;  // it changes what is learnt: losses after equal time answer it, not the time of a step
};

}  // namespace stepscope
