// ShamFlips: how much the steps of this very run differ where nothing was flipped. Its unflipped stretches are cut into places that do not
// overlap, each with as many steps on either side as a flip has and as many left out between them; a flip's change is then ranked among theirs.
// Where flipping does nothing, every rank is equally likely, whatever the steps are distributed like: noise that is correlated, a drift and rare
// slow steps are in the shams as they are in the flip. Rank tests: Wilcoxon 1945; sham treatments as a control: Fisher 1935. Pure functions, any
// thread.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/flips/StepSample.h"

namespace stepscope {

class RunHistory;

// The change at one place: logarithm of the median after over that before; unknown where either is.
struct ShamFlip {
    double ms = kUnknown, tokensPerSecond = kUnknown, memory = kUnknown, pageFaults = kUnknown;
};

struct ShamTest {
    static constexpr double kLevel = 0.05;      // two-sided: of a hundred flips that do nothing, five are called something
    static constexpr std::size_t kFewest = 39;  // 2 / (39 + 1) is the level
    static constexpr std::size_t kMost = 59;    // nearest to the flip: what a machine did an hour ago is another machine's
    static constexpr std::size_t kSteps = 20;   // on either side of a place
    static constexpr std::size_t kBetween = 5;  // as a flip's warm-up
    static constexpr std::size_t kPlace = 2 * kSteps + kBetween;
};

// steps: of one unflipped stretch, the nearest to the flip first; backwards: they lie before it, so the later ones come first. At most `most`.
std::vector<ShamFlip> shamFlips(std::span<const StepSample> steps, bool backwards, std::size_t most);

// How often a change as far off as this one, on its side, is to be expected where nothing was flipped, times two for the other side; unknown
// where there are fewer than ShamTest::kFewest shams that know theirs.
double flipChance(double change, std::span<const double> shams);

// The change between two medians as the shams hold it. A count may be 0; a time may not.
double changeBetween(double before, double after, bool isCount);

// Where the stretches without a flip begin: the first row, and each at which a flip that changed something was made. Ascending; looks at every flip
// of the history once.
struct Stretches {
    explicit Stretches(const RunHistory& history);
    std::vector<std::size_t> begins;
};

// Of the rows before `end` and behind `begin` (first rows that may be used), the nearest first, never across a flip: up to kMost before it, and
// only where those are fewer than kFewest, as many behind it as are missing. So what is said of a flip is never another thing later.
std::vector<ShamFlip> shamsAround(const RunHistory& history, std::size_t end, std::size_t begin);
std::vector<ShamFlip> shamsAround(const RunHistory& history, const Stretches& stretched, std::size_t end, std::size_t begin);

}  // namespace stepscope
