// What a study is asked: a ladder of switches, or a search for the fastest settings. Built by the window and the command line for
// Workbench::startLadder and startTune.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/Workbench.h"
#include "core/events/Study.h"
#include "core/experiment/Ladder.h"

namespace stepscope {

struct LadderRequest {
    Ladder ladder;
    RunConfig config;  // what the ladder's bottom is set on top of
    bool leaveOneOut = true;
    bool pairs = false;        // the top without each two rungs too
    double budgetSeconds = 0;  // of everything; 0 = by the number of measurements (LadderCourse)
    double delta = 0.01;
    std::int64_t seed = 1;  // or kAnySeed
    std::string name;       // empty = made from the ladder's
    std::string notes;
    std::vector<std::string> tags;
    std::string database;  // empty = defaultDatabasePath()
    bool record = true;
    std::int64_t goesOnWith = 0;  // the session that `kept` comes from; 0: none
    std::vector<StudyRow> kept;   // rows that were measured there
};

struct TuneRequest {
    RunConfig config;  // the present settings
    double budgetSeconds = 300;
    bool sizes = false;           // batch size and context may change too
    std::optional<Bytes> memory;  // what the predicted peak may be at most, beside what the device has
    double delta = 0.01;
    std::int64_t seed = 1;  // or kAnySeed
    std::string name, notes;
    std::vector<std::string> tags;
    std::string database;
    bool record = true;
};
constexpr double kShortestTune = 20;  // seconds

// The request that goes on with a stored ladder: what it asked, with the rows that it has measured. Errors: no such session, no ladder, measured on
// another machine, or stored by a stranger.
Result<LadderRequest> resumedLadder(const std::string& database, std::int64_t session, const Machine& machine);

// The same text for the same question on the same machine, whatever the budget and the coins. bottom: of the ladder, complete (ladderBottom).
std::string ladderQuestion(const LadderRequest& request, const RunConfig& bottom, const Machine& machine);
std::string tuneQuestion(const TuneRequest& request, const Machine& machine);  // the request's configuration is complete

// What would be done and what cannot be, before anything is measured: the rows of the table, how many measurements, and seconds.
struct LadderForecast {
    std::vector<StudyRow> rows;
    std::int64_t legs = 0;  // that are meant; of them still to be measured, where an earlier session is gone on with:
    std::int64_t open = 0;
    double budgetSeconds = 0;
    double seconds = 0;        // that it is expected to take where its steps were timed here: more than the budget where they are slow
    double pairSeconds = 0;    // of it, pairs of rungs
    double slowestStep = 0;    // seconds, of those that were timed; 0: none was, and the budget is all that is known
    std::int64_t waiting = 0;  // measurements that slow rungs leave no time for, unless a larger budget is given
};

// The bottom of the ladder as it is measured, complete: whose steps are the slowest. Errors: those of the settings.
Result<RunConfig> ladderBottom(const Workbench& workbench, const LadderRequest& request);

// "6 measurements, about 4.8 minutes": how long a ladder takes, and on what that rests. budget: one was given.
std::string forecastWords(const LadderForecast& forecast, bool budget);

}  // namespace stepscope
