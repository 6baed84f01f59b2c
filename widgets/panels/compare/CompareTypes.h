// What the page Compare is told and what it tells: a question, what the engine says of it before it is measured, and an experiment to look at.
// Plain structs, made by app/gui and by the page.
#pragma once
#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

#include "core/analysis/ExperimentHistory.h"

namespace stepscope {

inline QString asText(const std::string& text) {
    return QString::fromStdString(text);
}

struct Difference {
    std::string key, a, b;  // texts as setKey() takes them
    bool operator==(const Difference&) const = default;
};

struct CompareQuestion {
    std::vector<Difference> differences;
    bool same = false;  // the settings beside themselves; differences count for nothing then
    double budgetSeconds = 180, delta = 0.01;
    std::int64_t seed = 0;   // of the coins; 0: another one each time
    double lossSeconds = 0;  // of training after which losses are compared too; 0: they are not
    std::string start{};     // a checkpoint's folder, or weights, that both begin with; empty: what the settings say
    bool operator==(const CompareQuestion&) const = default;
};

struct EarlierRow {
    std::int64_t session = 0;
    QString when, words;
    std::int64_t number = 1;  // of the experiments that the session holds, from 1
};

// Of a question, before it is measured.
struct CompareCheck {
    std::vector<QString> rows;        // what is wrong with each difference; empty = nothing
    QString problem;                  // of the whole of it
    QString notes;                    // what is compared, where they differ in more than speed
    std::vector<EarlierRow> earlier;  // newest first
    std::size_t earlierCount = 0;     // of them all
    bool possible() const;
};

enum class CompareBusy { Free, NoEngine, Training, Waiting, Measuring, Taken };  // Waiting: for a run's end, and then it is measured

// What a side holds when it holds most.
struct SideMemory {
    struct Part {
        QString kind;
        double bytes = 0;
    };
    std::vector<Part> parts;  // as predicted, or seen in captured steps; empty: not known
    bool seen = false;
    double measured = kUnknown;  // bytes of tensors
};

struct CompareView {
    enum class Stage { Data, Pilot, Pairs, Over, CutOff, Failed };
    Stage stage = Stage::Data;
    bool live = false;      // this window measures it
    bool stopping = false;  // Stop was pressed
    QString doing;          // Stage::Data: what is being prepared; Pairs: what is done beside them, empty = nothing; Failed: why
    QString title;          // of the session
    QString settingsA, settingsB;
    int sameKeys = 0;     // settings that both have alike; 0: not known
    QString whyNoEnergy;  // a sentence where the processors that measured it do not tell what they use; else empty
    QString preset;       // of both; empty: not known, or of neither
    QString source;       // of a stored one: "session 12, 3 h ago"
    QStringList which;    // a line for each experiment that the session holds; of fewer than two there is nothing to choose
    int number = 0;       // which of them this is, from 1
    double elapsed = 0;
    std::shared_ptr<const ExperimentHistory> history;  // never null
    std::vector<EarlierRow> earlier;
    std::size_t earlierCount = 0;
    bool canUse = false;  // B's settings can be put into the panel
    SideMemory memoryA, memoryB;
    double foretold = kUnknown;  // B's speed as a multiple of A's, as it was predicted before it was measured, and from what
    std::string foretoldBasis{};
};

}  // namespace stepscope
