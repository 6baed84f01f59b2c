// What a study says, which is a table of many measurements made one after the other: a ladder (switches added one at a time) or a search for the
// fastest settings. Rows are published whenever something of them changes, each whole, so the newest of every row is the table. One of Event.h;
// the experiments that a study makes publish their own events between them (Experiment.h).
#pragma once
#include <cstdint>
#include <string>

#include "core/base/Units.h"
#include "core/events/Experiment.h"

namespace stepscope {

// First of a study.
struct StudyBegan {
    TimeNs at;
    std::string kind;      // "ladder" or "tune"
    std::string title;     // of the ladder
    std::string source;    // its YAML text, from which it can be asked again; of a search the options of its own, as words
    std::string unit;      // what the figures reported elsewhere count, and of what
    std::string config;    // JSON, complete: what everything else is set on top of
    std::string question;  // the same text for the same question on the same machine
    double budgetSeconds = 0, delta = 0.01, alpha = 0.05;
    std::int64_t seed = 1;
    std::int64_t legs = 0;  // measurements that are meant; of a search 1, the last
    bool leaveOneOut = false, pairs = false;
    bool finalLook = true;  // of its experiments, as ExperimentBegan has it
};

// Words, as stored, of what a row is and how it stands; never renamed.
namespace study {
constexpr const char* kBottom = "bottom";        // a ladder: what the first rung stands on,
constexpr const char* kRung = "rung";            //   a rung beside the one below it,
constexpr const char* kTop = "top";              //   the top beside the bottom,
constexpr const char* kWithout = "without";      //   the top beside itself without one rung,
constexpr const char* kPair = "pair";            //   or without two
constexpr const char* kCandidate = "candidate";  // a search: settings that race,
constexpr const char* kValue = "value";          //   a value of a switch that was not chosen,
constexpr const char* kFinal = "final";          //   and the best of them beside the present ones

constexpr const char* kWaiting = "waiting";
constexpr const char* kRunning = "running";
constexpr const char* kMeasured = "measured";
constexpr const char* kSkipped = "skipped";    // cannot run here, or does nothing: `why` says which
constexpr const char* kFailed = "failed";      // broke off with an error
constexpr const char* kRejected = "rejected";  // of a race
constexpr const char* kChosen = "chosen";

// How the winner of a search computes, beside the present settings.
constexpr const char* kSame = "same";
constexpr const char* kOther = "other";
}  // namespace study

struct StudyRow {
    TimeNs at;
    std::int64_t row = 0;  // from 0
    std::string role, state;
    std::string name;
    std::string settings;                                      // "key=value key=value" that it adds, leaves out or differs in
    std::string reported;                                      // elsewhere, on other hardware
    std::string why;                                           // a sentence or two of its own: why not, or what to know of it
    std::string outcome;                                       // of an experiment: "faster", ...
    double ratio = kUnknown, low = kUnknown, high = kUnknown;  // time per token of what it is beside / of this
    // The same beside the bottom; of settings that race, beside the present ones; of two rungs left out: how many times what both give apart they
    // give together.
    double total = kUnknown, totalLow = kUnknown, totalHigh = kUnknown;
    double msPerStep = kUnknown, tokensPerSecond = kUnknown, peakBytes = kUnknown, operations = kUnknown;
    double loss = kUnknown;   // at equal tokens: of this minus of what it is beside
    double floor = kUnknown;  // what a side beside itself says here, as a ratio
    std::int64_t pairs = 0;   // of blocks; of a race: rounds
    double seconds = 0;       // that it took
    // The earlier session of the same ladder that measured it; 0: its own. And the versions that did, where they are not those of the rows measured
    // here; else empty. What is said of both is made of them (whyWords in core/analysis/StudyHistory.h).
    std::int64_t keptSession = 0;
    std::string keptVersions;
    bool waits = false;      // left out for want of time: going on with the ladder measures it
    std::string arithmetic;  // of the winner of a search beside the present settings: "same", "other"; empty: nobody asked
};

}  // namespace stepscope
