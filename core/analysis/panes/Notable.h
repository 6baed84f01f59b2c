// Notable: what a range of a timeline shows that a person can do something about, a sentence each with the number that it rests on. The same slices
// give the same sentences, and below its threshold a rule says nothing; the guide's chapter on the panes has them all. Pure functions; any thread.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/analysis/panes/RangePanes.h"

namespace stepscope {

struct Notable {
    std::string rule;
    std::string sentence;  // empty: nothing to be said
    double share = 0;      // 0..1: what passed the threshold
};

struct NotableRule {
    const char* id;
    const char* threshold;  // in words, as the guide has it
    Notable (*look)(const RangePanes& panes);
};
// Those of what can be taken away come before those of what merely takes much.
const std::vector<NotableRule>& notableRules();

// What the first of these rules say, `most` at most; of what is too large to be read slice by slice nothing.
std::vector<Notable> notables(const RangePanes& panes, std::size_t most = 3);

}  // namespace stepscope
