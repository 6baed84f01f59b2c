#include "core/experiment/StudyRows.h"

namespace stepscope {

void fillJudged(StudyRow& row, const ExperimentJudged& judged) {
    row.outcome = judged.outcome;
    row.ratio = judged.ratio;
    row.low = judged.low;
    row.high = judged.high;
    row.floor = judged.floor;
    row.pairs = judged.pairs;
    row.seconds = judged.seconds;
    row.why = judged.why;
}

void fillSide(StudyRow& row, const SideFacts& facts) {
    row.msPerStep = facts.msPerStep;
    row.tokensPerSecond = facts.tokensPerSecond;
    row.peakBytes = facts.peakBytes;
    row.operations = facts.operations;
}

}  // namespace stepscope
