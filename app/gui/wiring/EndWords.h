// The end of a run in words: what it took, what it reached, what its flips did. Pure functions.
#pragma once
#include <QStringList>
#include <functional>
#include <vector>

#include "app/workbench/Workbench.h"
#include "core/analysis/RunHistory.h"
#include "widgets/panels/run/FlipStrip.h"

namespace stepscope {

struct RunEnd {
    FlipStripReading strip;
    QString took;  // "02:11": stands in the strip's heading too
};
// What a measurement in turns found within the run, and how many flips the run had when it was over.
struct TurnsVerdict {
    std::size_t flips = 0;
    QString sentence;
};
// Of each flip of the run, whatever the window showed meanwhile, and of each measurement in turns, in their order: what they did. A flip that such a
// measurement chose is told by it. titleOf: of a switch.
QStringList verdictsOf(const RunHistory& history, const std::vector<TurnsVerdict>& turns,
                       const std::function<QString(const std::string& id)>& titleOf);
// flips: a sentence each, in their order. A run that made no step has nothing to be summed up: an empty heading.
RunEnd endOf(const RunHistory& history, const RunSummary& summary, const QStringList& flips);
// The same as one line of the log; empty where there is nothing.
QString sentenceOf(const RunEnd& all);

}  // namespace stepscope
