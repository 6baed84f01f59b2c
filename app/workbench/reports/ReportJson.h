// Experiments, ladders and searches as JSON: what `ab`, `ladder` and `tune --json` print, and what a report is that ends in .json, from the command
// line and from the window. Keys in the order written; what is not known is null. Torch-free; any thread.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/analysis/StudyHistory.h"
#include "core/events/RunConfig.h"
#include "sessions/findings/Studies.h"

namespace stepscope {

struct StoredReport;

namespace json {

using Json = nlohmann::ordered_json;

Json number(double value);                          // null when not finite
Json bound(double low, double high, double which);  // `which` of an interval's bounds; null where 0 or infinity bound nothing
// On one line: broken UTF-8 is replaced; control characters and those that turn the direction of writing are escaped, for it may go to a terminal.
std::string text(const Json& json);
std::string line(const Json& json);  // the same, ending in a newline

// Clocks and quotas while something was measured.
Json machineMeanwhileOf(const MachineMeanwhile& machine);
// One side of an experiment: what its settings differ in from the other's, and what was seen of it.
Json sideOf(const RunConfig& a, const RunConfig& b, Arm arm, const SideFacts& facts);
// What is known so far, as `ab` promises it.
Json answerOf(const ExperimentHistory& history);
// One configuration beside itself: its sides differ in nothing that would say what ran, so these settings do, of both.
void tellSettings(Json& answer, const std::vector<std::pair<std::string, std::string>>& settings);
// What a search recommends: keys that differ from the present settings; none where it found nothing, or nothing that held when it was measured anew.
Json recommendedBy(const StudyHistory& history);
// Null where there is none. session: 0 = not recorded. Promised of a search: recommended, ratio, low, high, rejected, seconds.
Json ofStudy(const StudyHistory& history, std::int64_t session);
// Earlier studies of the same question, newest first: which session, what it came to and with what interval.
Json earlierOf(const std::vector<EarlierStudy>& earlier);
// The same with the machine, the settings that differ, every pair and the line that repeats it.
Json ofReport(const StoredReport& stored, std::int64_t session);

}  // namespace json
}  // namespace stepscope
