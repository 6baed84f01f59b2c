// `query`: added by CommandLine.cpp.
#pragma once
#include "app/cli/Commands.h"

namespace stepscope::cli {

void addQuery(CLI::App& parent, Actions& actions);

}  // namespace stepscope::cli
