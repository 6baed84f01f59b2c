// `profile` and `sessions export-trace`: what captures of a session say. Added by CommandLine.cpp and SessionsCommand.cpp.
#pragma once
#include "app/cli/Commands.h"

namespace stepscope::cli {

void addProfile(CLI::App& parent, Actions& actions);
void addSessionsExportTrace(CLI::App& parent, Actions& actions);

}  // namespace stepscope::cli
