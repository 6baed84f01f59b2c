// FlipsOfRun: the live flips of one run, live or replayed, and what each did to the steps around it, by FlipEffect's rule. For the window's list
// of flips. Torch-free, Qt-free; called on the GUI thread while the list is open.
#pragma once
#include <cstddef>
#include <vector>

#include "core/analysis/RunHistory.h"
#include "core/analysis/flips/FlipEffect.h"

namespace stepscope {

struct RunFlip {
    std::size_t marker = 0;           // in RunHistory::markers()
    std::size_t number = 0;           // among all flips of the run, counted from 0
    std::size_t first = 0, last = 0;  // the flips measured together with it, counted from 0: nobody knows which of them did it
    FlipEffect effect;
    bool alone() const { return first == last; }
};

// In order of place. Flips with fewer steps between them than can be compared are measured together, against the steps before the first.
std::vector<RunFlip> flipsOf(const RunHistory& history);

struct NewestFlips {
    std::vector<RunFlip> flips;  // the newest, in order of place
    std::size_t all = 0;         // that the run has
    // What finding them cost: flips looked at, and measurements made. Once through all of them, however many are measured.
    std::size_t looked = 0, measured = 0;
};
// As flipsOf(), of the newest `most` alone: a stranger's session may hold a million. Each is said what flipsOf() says of it; only where more than ten
// thousand older ones belong to the same group does the group begin at the last of these.
NewestFlips newestFlips(const RunHistory& history, std::size_t most);

}  // namespace stepscope
