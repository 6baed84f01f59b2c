// The looks of the window's tests: what Diagnose finds, how long that takes, what the search for a batch size says, and what the forms of weights
// give. Never linked together with the real ones of app/workbench/diagnose.
#pragma once
#include <cstdint>
#include <string>

#include "core/base/Result.h"

namespace stepscope {

struct FakeLook {
    int ms = 1;           // that a look takes, unless it is cancelled
    std::string failure;  // instead of finding something
    ErrorCode code = ErrorCode::BadInput;
    bool advises = true;
    bool knowsTime = false;  // from earlier
    bool knowsPeaks = false;
    std::string disturbed;  // who takes the processors while steps are timed
};
void setFakeLook(const FakeLook& look);
// Of the newest look: the settings' value of this switch or setting.
std::string fakeLookedAt(const std::string& key);
int fakeLooks();         // that were begun
bool fakeLookWasHere();  // one was asked on the thread that calls this
// Of the newest measurement of forms: whose weights, and what was asked; "-" before the first.
struct FakeForms {
    std::string from = "-", data{};
    double budgetSeconds = 0;
    std::int64_t sequences = 0;
    bool besideAPausedRun = false;
};
FakeForms fakeForms();
// Of the newest pruned checkpoint that was asked for; "-" before the first.
struct FakePruned {
    std::string from = "-", out{}, scope{}, pattern{}, data{};
    double sparsity = 0;
};
FakePruned fakePruned();

}  // namespace stepscope
