// `sessions`: the group, and what its commands share: --db and session ids.
#include "app/cli/Commands.h"
#include "app/cli/sessions/ProfileCommand.h"

namespace stepscope::cli {

void addSessions(CLI::App& parent, Actions& actions) {
    auto* group = parent.add_subcommand("sessions", "List, show, export and tidy what was recorded");
    addSessionsList(*group, actions);
    addSessionsShow(*group, actions);
    addSessionsCaptures(*group, actions);
    addSessionsWorkers(*group, actions);
    addSessionsExport(*group, actions);
    addSessionsChanges(*group, actions);
}

}  // namespace stepscope::cli
