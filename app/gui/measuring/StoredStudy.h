// A ladder or a search as the page Ladder shows it, of what a database holds: all of it, what the same question came to before, and the settings that
// it ends with. Pure but for the database; any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"
#include "core/events/SwitchCatalogue.h"
#include "widgets/panels/ladder/LadderTypes.h"

namespace stepscope {

// Errors: those of SessionReader.
Result<LadderView> storedStudy(const std::string& database, std::int64_t session);

struct EarlierStudyRows {
    std::vector<EarlierRow> rows;  // newest first
    std::size_t count = 0;         // of them all
};
// What the same question came to before; nothing where the file cannot be read: the list of sessions is read from it too and says why.
EarlierStudyRows earlierRows(const std::string& database, const std::string& question, std::int64_t besides);
// Of the question as it stands, behind what would be measured.
QString askedBefore(const EarlierStudyRows& earlier);

// The settings that a study ends with: of a search what it recommends, of a ladder its top.
Result<RunConfig> studySettings(const StudyHistory& history, const SwitchCatalogue& catalogue);

}  // namespace stepscope
