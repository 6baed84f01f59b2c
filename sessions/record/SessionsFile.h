// Another file of Stepscope's: each of its sessions becomes one here, event by event and chunk by chunk through the reader and the writer of all that
// is stored, so that what a stranger wrote is checked as always. Used by Import.cpp.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/base/Result.h"
#include "sessions/importers/Import.h"

namespace stepscope::importing {

// By the first bytes of a file.
bool looksLikeSessionsFile(std::string_view head);

// name: of the session, where the file has one; empty: what each is called there. What is here already, is still recorded there or cannot be read is
// left out and told in the notes. go: how far it is, 0 to 1; false stops it, and what was not whole by then is not there. An error where nothing
// could be brought here.
Result<ImportSummary> importSessions(const std::string& database, const std::string& file, const std::string& name,
                                     const std::function<bool(double share)>& go);

}  // namespace stepscope::importing
