// What the engine says of a question before it is measured: what is wrong with each difference, whether the sides can be compared and can run here,
// how it was answered earlier, and the request that measures it. Called by CompareWiring on its own thread.
#pragma once
#include <optional>

#include "app/workbench/Workbench.h"
#include "widgets/panels/compare/CompareTypes.h"

namespace stepscope {

struct CheckedQuestion {
    CompareCheck check;
    std::optional<ExperimentRequest> request;  // where it is possible
};

// settings: what both sides start from. database: where earlier answers are; one that is not there has none.
CheckedQuestion checkQuestion(const Workbench& workbench, const RunConfig& settings, const CompareQuestion& question, const std::string& database);

// Answers to the same question, for the page: at most a few of them, newest first, and how many there are.
struct EarlierList {
    std::vector<EarlierRow> rows;
    std::size_t count = 0;
};
// turned: the key of the question with its sides swapped, whose answers count too.
EarlierList earlierOf(const std::string& database, const std::string& question, std::int64_t besides, const std::string& turned);

}  // namespace stepscope
