// A measured flip in words: the strip below the charts, the chip beside the switch, the sentence on its card. Pure functions.
#pragma once
#include <QStringList>

#include "app/gui/FlipMeter.h"
#include "sessions/MeasuredFlips.h"
#include "widgets/panels/FlipStrip.h"

namespace stepscope {

// titles: of the switches flipped, in their order.
FlipStripReading stripOf(const FlipReading& reading, const QStringList& titles);
// "from step 146 on": the first step that has the new value, as the log says it.
QString sinceOf(const SwitchApplied& flip);

// "×2.20", "−8 %", "no gain", "inconclusive": tokens/s away from the default against the default. Where neither side of the flip is
// the default, against the value before, by its name: "×1.20 vs kernels". Empty until it is measured.
QString chipOf(const SwitchApplied& flip, const FlipEffect& effect, const Value& byDefault);
// "Measured here, off → bf16: 65.1 → 50.3 ms a step (−23 %), 283 → 283 MB. Session “tiny-cpu”, from step 146 on,
// 21 Nov 2026."
QString sentenceOf(const SwitchApplied& flip, const FlipEffect& effect, const QString& where);
QString placeOf(const MeasuredFlip& measured);

}  // namespace stepscope
