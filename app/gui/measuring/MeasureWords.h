// A measurement within a run in words: the strip below the charts while two values take turns and when it is known which one is faster, and what the
// switch's chip and card say of it. Pure functions.
#pragma once
#include <QString>
#include <optional>

#include "core/analysis/ExperimentHistory.h"
#include "core/events/RunConfig.h"
#include "core/events/RunEvents.h"
#include "sessions/findings/MeasuredTurns.h"
#include "widgets/panels/run/FlipStrip.h"

namespace stepscope {

// What a person asked to be measured: `to` beside `from`, which the run has.
struct Measured {
    std::string id;
    Value from, to;
    QString title;  // of the switch
    // Asked because the run was flipped from `to` to `from`: then people ask what that flip did, so it is told in the flip's direction.
    bool afterFlip = false;
};

// Sent, and not answered yet; or refused with this sentence. mayAgree: it would be measured if the person agreed that the loss may move.
FlipStripReading askedStrip(const Measured& asked);
FlipStripReading refusedStrip(const Measured& asked, const QString& why, bool mayAgree);
// What the pairs of blocks say so far, or at the end, then with the sentence of which value stays. changed: the run has gone on with the other one,
// or has not; until that is known nothing is said of it where the other one is faster, for it may break afterwards, or the run ends meanwhile.
FlipStripReading measuredStrip(const Measured& asked, const ExperimentHistory& history, std::optional<bool> changed = {});

// What was found when the two values of a flip were measured properly before, in the flip's direction, in front of the note: it is known when the
// flip is made and does not change, so that it stands still while steps are counted.
void addMeasuredBefore(FlipStripReading& strip, const SwitchApplied& flip, const MeasuredPair& before);

// "Mixed precision off beside bf16, in turns: slower by 18.2 % [16.1 %, 20.3 %]", for the summary of a run.
QString measuredVerdict(const Measured& asked, const ExperimentJudged& judged, double delta);
// "bf16 ×1.24": what the value that is not the default does to the tokens/s of the default, as FlipWords' chipOf; empty where nothing can be said.
QString measuredChip(const Measured& asked, const ExperimentJudged& judged, const Value& byDefault);
// "Measured in turns here, off → bf16: faster by 12.3 % [11.0 %, 13.6 %], in 14 pairs of blocks. In this run."
QString measuredSentence(const Measured& asked, const ExperimentJudged& judged, double delta, const QString& where);

}  // namespace stepscope
