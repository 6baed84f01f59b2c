// What the forms of a model's weights give and cost: size, quality on held-out text, speed of prompt and text, each beside float32, measured in turn;
// and what pruning costs at several shares. Asked by `inference` and by the page of that name, on a thread of their own; torch-free header.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/base/Units.h"
#include "core/events/Experiment.h"

namespace stepscope {

struct FormsRequest {
    std::string from;                  // a checkpoint's folder, or weights that another program wrote (StoredModel.h)
    std::string data{};                // held-out text, as RunConfig::data; empty = the part of its own that its run validated on
    std::vector<std::string> forms{};  // words of --dtype beside f32, which is always there; empty = all
    std::int64_t sequences = 1;        // texts beside each other
    std::int64_t prompt = 0;           // tokens of each prompt; 0 = 128, or half of the positions where that is less
    std::int64_t text = 0;             // tokens of each text before it begins anew; 0 = 64, or as many as there is room for
    std::int64_t tokens = 4096;        // of the held-out text that are read in each form
    double budgetSeconds = 60;         // of the times; 0: none are taken
    double delta = 0.01;               // a ratio within 1 +- delta counts as equal
    std::int64_t threads = 0;          // 0 = every core
    std::int64_t seed = 1;             // of the coins that order the turns
    bool pruning = true;               // what zeros cost is asked too
    std::int64_t fineTune = 0;         // steps of training behind each pruning, its zeros kept; 0 = none
    bool besideAPausedRun = false;     // the one that goes on takes no processor: who asks has paused it, and cancels when it goes on
};
constexpr std::int64_t kMostFormTexts = 64, kMostFormTokens = 1'000'000, kMostFineTuning = 1'000'000;
constexpr double kMostFormSeconds = 86'400, kLeastFormDelta = 0.0005, kMostFormDelta = 0.5;

// What is pruned, at one point of a curve.
struct PruningPoint {
    std::string name;   // "30 %", "30 % of each matrix", "30 % of the heads", ..., "2:4"
    std::string scope;  // a word of `prune --scope`; empty of a pattern, which is a point of its own
    double share = 0;   // of the weights, or of the heads; not read of a pattern
};

// In the order of the rows: "f32", "bf16", ...; and the prunings, those of one curve behind each other.
std::vector<std::string> allForms();
std::vector<PruningPoint> prunedPoints();
constexpr double kPrunedShares[]{0.3, 0.5, 0.7, 0.9};
constexpr const char* kPrunedPattern = "2:4";

// Of a perplexity beside float32's, as a share of it: 0.01 = 1 % more. The interval is Student's 95 % of the mean difference of windows of the text.
struct QualityChange {
    double change = kUnknown, low = kUnknown, high = kUnknown;
};

struct FormSpeed {
    double perSecond = kUnknown, low = kUnknown, high = kUnknown;  // tokens of all texts together, with the 95 % interval over the rounds
    ExperimentJudged judged{};                                     // beside float32; outcome is empty of float32 itself, and before anything is known
    double bandwidthShare = kUnknown;  // bytes read a second ÷ those of a large copy here; unknown where that was not measured
};

struct FormRow {
    std::string form;
    Bytes weights, cache;  // memory of the copy of the weights, and of what is kept of the tokens
    double loss = kUnknown, perplexity = kUnknown;
    QualityChange quality;
    FormSpeed prompt, text;
};

struct PrunedRow {
    std::string name, scope;  // of its PruningPoint, and share too: scope and share say which one it is
    double share = 0;
    double zeros = 0;  // share of the weights of the blocks' matrices
    double perplexity = kUnknown;
    QualityChange quality;
    double tunedPerplexity = kUnknown;  // after the fine-tuning
    QualityChange tuned;                // beside the weights as they were, without any of it
};

struct FormsAnswer {
    std::string data;          // what was read
    std::int64_t tokens = 0;   // of it, by each form
    std::int64_t windows = 0;  // that they make
    std::int64_t sequences = 0, prompt = 0, text = 0;
    int threads = 0;
    double delta = 0.01;
    double bytesPerSecond = kUnknown;                     // of a large copy here, as measured before; unknown: nobody has
    std::int64_t rounds = 0, leftOut = 0;                 // of the times: that count, that other programs disturbed
    double promptFloor = kUnknown, textFloor = kUnknown;  // what float32 says beside itself in these rounds, as a ratio
    std::string whyNoSpeed;                               // where the time for speeds ended before one was known; else empty
    bool timed = false;                                   // the times have come to their end
    bool stopped = false;                                 // before everything was asked
    double seconds = 0;
    std::vector<FormRow> forms;     // float32 first
    std::vector<PrunedRow> pruned;  // with float32 weights
    std::int64_t fineTune = 0;      // steps behind each pruning
};

// What no kernel does, so that nobody takes zeros for speed.
constexpr const char* kZerosGiveNothing = "No kernel here leaves zeros out: at every sparsity the weights are as large and text as fast as before.";

struct FormsProgress {
    std::string doing;  // "reading the text in int8", "round 12"
    double share = 0;   // of the whole, 0 to 1
};

// progress is called with what is known so far. An answer that was cancelled after its first form is what is known then, `stopped`; before that the
// error is Cancelled. Unsupported while a run or an experiment goes on that is not paused.
Result<FormsAnswer> measureForms(const FormsRequest& request, const std::function<void(const FormsProgress&, const FormsAnswer& soFar)>& progress,
                                 const std::atomic<bool>& cancelled);

// "beside itself within 0.70 %", or that it is not known; empty where no rounds were made.
std::string besideItselfWords(double floor, std::int64_t rounds);
// Why there are no speeds although this many seconds were spent on them, and what to do.
std::string noSpeedWords(double seconds);
// "1.42 times as fast"-like words of the verdict, or "not measured".
std::string speedWords(const FormSpeed& speed, double delta);
// The verdict of the interval as speeds have it: within delta "equivalent", beside zero "worse" or "better", else, and without one, "inconclusive".
// Empty: not measured.
std::string qualityOutcome(const QualityChange& quality, double delta);
// "+3.10 % [+1.20 %, +5.00 %]", without an interval where there is one window, and "worse" or "no difference of more than 1 %"; both empty: not
// measured.
struct QualityParts {
    std::string figure, verdict;
};
QualityParts qualityParts(const QualityChange& quality, double delta);
// Both, "+3.10 % [+1.20 %, +5.00 %]: worse", or "not measured".
std::string qualityWords(const QualityChange& quality, double delta);

}  // namespace stepscope
