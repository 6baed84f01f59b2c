// `profile --report FILE`: what a session captured as a page to keep or to send, HTML or Markdown. Main thread.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"

namespace stepscope::cli {

// --report FILE, which may be repeated.
void addCaptureReports(CLI::App& command, std::vector<std::string>& files);
// Before anything is read: whether each name says which format.
Status checkCaptureReports(const std::vector<std::string>& files);
// Each in whole or not at all.
Status writeCaptureReports(const std::string& database, std::int64_t session, const std::vector<std::string>& files);

}  // namespace stepscope::cli
