// A measured flip in words: the strip below the charts, the chip beside the switch, the sentence on its card. Pure functions.
#pragma once
#include <QStringList>

#include "core/analysis/flips/FlipMeter.h"
#include "sessions/findings/MeasuredFlips.h"
#include "widgets/panels/run/FlipStrip.h"

namespace stepscope {

// Of the figure "tensor memory".
constexpr const char* kTensorMemoryHint =
    "The most that tensors held at a time in a step; of sessions that do not know it, what the process held. The process holds more: what is kept to "
    "be "
    "used again, the program and its libraries. The chart Memory shows that.";

// titles: of the switches flipped, in their order.
FlipStripReading stripOf(const FlipReading& reading, const QStringList& titles);
// "from step 146 on": the first step that has the new value, as the log says it.
QString sinceOf(const SwitchApplied& flip);

// "bf16 ×2.20", "bf16 −8 %": what the value that is not the default does to the tokens/s of the default. Where neither side of
// the flip is the default, against the value before, by its name: "step ×1.20 vs kernels". Empty where nothing can be said.
QString chipOf(const SwitchApplied& flip, const FlipEffect& effect, const Value& byDefault);
// The same of two values and the ratio of their tokens/s, `to` over `from`.
QString gainChip(const Value& from, const Value& to, double ratio, const Value& byDefault);
// "Measured here, off → bf16: 65.1 → 50.3 ms a step (−23 %), 283 → 283 MB. Session “tiny-cpu”, from step 146 on,
// 21 Nov 2026."
QString sentenceOf(const SwitchApplied& flip, const FlipEffect& effect, const QString& where);
// "Mixed precision off → bf16 at step 146: −23 % a step", for the summary of a run.
QString verdictOf(const FlipReading& reading, const QStringList& titles);
// "Session “tiny-cpu”, from step 146 on, 21 Nov 2026."
QString placeOf(const MeasuredFlip& measured);
// The same with another place in the session.
QString placeOf(const std::string& session, const QString& place, std::int64_t startedUnixMs);

}  // namespace stepscope
