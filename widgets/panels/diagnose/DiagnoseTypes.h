// What the page Diagnose is told: what was found of the settings at the left. Plain structs, made by app/gui.
#pragma once
#include <QString>
#include <vector>

#include "core/advice/Advice.h"

namespace stepscope {

struct DiagnoseFact {
    QString name, text;
    bool bad = false;  // it keeps the settings from running, or should be looked at
};

// One size of the search for a batch.
struct BatchRow {
    QString batch, step, speed, memory;
    bool knee = false;
};

struct DiagnoseView {
    enum class Stage { Empty, Looking, Found, Failed };
    Stage stage = Stage::Empty;
    QString doing;  // Looking: what; Failed: why
    std::vector<DiagnoseFact> facts;
    std::vector<Advice> advice;
    bool timed = false;  // steps were timed; without them most rules have nothing to look at
    bool stale = false;  // the settings are others by now
    // The search for a batch size; no rows: it was not made.
    std::vector<BatchRow> batches;
    QString batchSentence;
    QString key, value;  // of the setting that gives the knee; empty = the settings have it already
    // The newest range test of learning rate in this window; empty: it was not made.
    QString rateSentence;
    QString rate;  // the lr that it suggests; empty = none, or the settings have it already
};

enum class DiagnoseBusy { Free, NoEngine, Training, Looking };  // Training: a run or an experiment goes on

}  // namespace stepscope
