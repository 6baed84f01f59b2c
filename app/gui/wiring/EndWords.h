// The end of a run in words: what it took, what it reached, what its flips did. Pure functions.
#pragma once
#include <QStringList>

#include "app/workbench/Workbench.h"
#include "core/analysis/RunHistory.h"
#include "widgets/panels/run/FlipStrip.h"

namespace stepscope {

struct RunEnd {
    FlipStripReading strip;
    QString took;  // "02:11": stands in the strip's heading too
};
// flips: a sentence each, in their order. A run that made no step has nothing to be summed up: an empty heading.
RunEnd endOf(const RunHistory& history, const RunSummary& summary, const QStringList& flips);
// The same as one line of the log; empty where there is nothing.
QString sentenceOf(const RunEnd& all);

}  // namespace stepscope
