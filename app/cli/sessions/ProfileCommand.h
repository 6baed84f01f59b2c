// `profile`, `sessions export-trace` and `import`: what captures of a session say, and those that come from elsewhere. Added by CommandLine.cpp and
// SessionsCommand.cpp.
#pragma once
#include "app/cli/Commands.h"

namespace stepscope::cli {

void addProfile(CLI::App& parent, Actions& actions);
void addImport(CLI::App& parent, Actions& actions);  // ImportCommand.cpp
void addSessionsExport(CLI::App& parent, Actions& actions);

}  // namespace stepscope::cli
