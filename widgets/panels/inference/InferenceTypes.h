// What the page Inference is told and asks, as plain structs, made and read by app/gui. GUI thread.
#pragma once
#include <QString>
#include <QStringList>
#include <vector>

#include "core/base/Units.h"

namespace stepscope {

// Numbers as typed, checked by the page.
struct InferenceQuestion {
    QString data;  // held-out text; empty = the part of its own data that the run validated on
    std::int64_t prompt = 0, text = 0, sequences = 1, tokens = 4096;
    double seconds = 60;
    bool pruning = true;
    std::int64_t fineTune = 0;  // steps behind each pruning
};

// A form of the weights. Empty texts: not known yet.
struct InferenceRow {
    QString form, what;  // "int8", "8 bits, a scale for each row"
    QString weights, perplexity, quality, qualityVerdict;
    QString prompt, promptVerdict, text, textVerdict, bandwidth;
    QString why;  // of verdicts that need one: a tool tip
};

// A share of the weights that are zeros.
struct PrunedPoint {
    QString name;   // "50 %", "50 % of the heads", "2:4"
    QString scope;  // the curve that it is of, a word of `prune --scope`; empty: beside every curve
    bool pattern = false;
    double share = 0;                                           // of what is pruned: weights, or heads
    double zeros = kUnknown;                                    // 0 to 1
    double change = kUnknown, low = kUnknown, high = kUnknown;  // of the perplexity, 0.01 = 1 % more
    QString perplexity, quality;
    QString tuned;  // perplexity after the fine-tuning and how much more it is; empty where there was none
};

// A pruning of the weights that are measured, to be written as a checkpoint.
struct PruneWish {
    PrunedPoint point;
    QString out;   // a folder that is not there yet
    QString data;  // held-out text, as InferenceQuestion has it
    std::int64_t tokens = 0;
};

struct InferenceView {
    enum class Stage { Empty, Measuring, Found, Failed };
    Stage stage = Stage::Empty;
    QString whose;     // weights the tables tell of; what can be measured next may be others
    QString doing;     // Measuring: what; Failed: why; Found: a sentence on what it rests on
    double share = 0;  // 0 to 1, while measuring
    std::vector<InferenceRow> rows;
    std::vector<PrunedPoint> pruned;
    QString pruning;  // what zeros give
};

}  // namespace stepscope
