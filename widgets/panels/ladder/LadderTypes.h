// What the page Ladder shows and is asked, as plain structs. GUI thread.
#pragma once
#include <QString>
#include <memory>
#include <vector>

#include "core/analysis/StudyHistory.h"
#include "widgets/panels/compare/CompareTypes.h"

namespace stepscope {

// A question of the page: a built-in ladder or a file, or the search for what is best.
struct LadderQuestion {
    bool search = true;
    std::string ladder;  // name or file
    double minutes = 0;  // 0: as long as it needs
    bool leaveOneOut = true, pairs = false, sizes = false;
    double delta = 0.01;    // a difference of less counts as none
    std::int64_t seed = 0;  // of the coins; 0: another one each time
    double memoryGb = 0;    // of a search: nothing that is predicted to take more races; 0: no such bound
};

// A built-in ladder, to choose from.
struct LadderChoice {
    std::string name;
    std::string words{};  // what it adds, one switch after the other
};

enum class LadderBusy { NoEngine, Training, Measuring, Taken, Free };

struct LadderView {
    std::shared_ptr<const StudyHistory> history;
    std::shared_ptr<const std::vector<StudyRow>> told{};  // of a stored one: every state of its rows, in the order of time
    QString title, source, doing;
    bool live = false, stopping = false;
    bool goesOn = false;                                 // another program measures it
    QString failed;                                      // it broke off: why
    double elapsed = 0;                                  // seconds, while live
    bool resumable = false;                              // a ladder that was cut off or stopped, or has rows that wait for a larger budget
    std::vector<EarlierRow> earlier;                     // what the same question came to before, newest first
    std::size_t earlierCount = 0;                        // of them all
    bool canUse = false;                                 // its settings can be put into the panel at the left
    bool undecided() const { return !live && !goesOn; }  // what of its rows still runs never came to a verdict
};

}  // namespace stepscope
