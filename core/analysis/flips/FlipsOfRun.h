// FlipsOfRun: every live flip of one run, live or replayed, and what it did to the steps around it, by FlipEffect's rule. For the window's list
// of flips. Torch-free, Qt-free; called on the GUI thread when the list is opened.
#pragma once
#include <vector>

#include "core/analysis/RunHistory.h"
#include "core/analysis/flips/FlipEffect.h"

namespace stepscope {

struct RunFlip {
    std::size_t marker = 0;           // in RunHistory::markers()
    std::size_t first = 0, last = 0;  // the flips measured together with it, counted from 0: nobody knows which of them did it
    FlipEffect effect;
    bool alone() const { return first == last; }
};

// In order of place. Flips with fewer steps between them than can be compared are measured together, against the steps before the first.
std::vector<RunFlip> flipsOf(const RunHistory& history);

}  // namespace stepscope
