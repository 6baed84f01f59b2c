// Ticks: where an axis is labelled and with what text. Pure functions: nice numbers, one number of decimals along an axis,
// narrow no-break spaces in thousands, and one prefix ("K tok/s", "×10⁻³") in the unit instead of zeros in every label.
// Called by the charts while drawing; tested as text.
#pragma once
#include <QString>
#include <vector>

#include "core/analysis/Decimate.h"

namespace stepscope {

// Count: of steps; Events: of anything else that is counted, such as page faults.
enum class Quantity { Number, Count, Events, Tokens, Seconds, Milliseconds, Bytes, TokenRate, Percent, Watts, Joules };

struct Tick {
    double value = 0;
    QString label;
};
struct AxisTicks {
    std::vector<Tick> ticks;  // inside the scale, increasing
    QString unit;             // "ms", "K tok/s", "×10⁻³"; may be empty
};

// At most about `most` ticks (>= 2), and `least` of them wherever the quantity can be divided that far (a step cannot).
AxisTicks makeTicks(const Scale& scale, Quantity quantity, int most, int least = 2);

// A scale that shows low..high with a little room, ending on half ticks so that it rests while data grow; with `fromZero`
// it starts at 0. Bounds that are equal but for their last digits, reversed or unusable give a scale that can be drawn.
Scale niceScale(double low, double high, bool logarithmic, bool fromZero);

// Whether a person may go from the scale `now` to `wanted`: no end further away than anybody looks, and no closer than labels can tell apart, unless
// the data themselves lie as close.
bool canFollow(const Scale& wanted, const Scale& now);

// One value as the read-out shows it, with its unit: "24.4 ms", "step 1 240".
QString readOut(double value, Quantity quantity);

}  // namespace stepscope
