// The report of an experiment, a ladder or a search as a file or on stdout: HTML, Markdown or JSON. Main thread.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/workbench/experiments/ExperimentReports.h"

namespace stepscope::cli {

enum class ReportFormat { Html, Markdown, Json };

// By the name's ending: .html, .htm, .md, .markdown, .json. A sentence for others.
Result<ReportFormat> reportFormatOf(const std::string& path);

// --report FILE, which may be repeated.
void addReports(CLI::App& command, std::vector<std::string>& files);
// Before anything is measured: whether each name says which format, and whether there is a place for it.
Status checkReports(const std::vector<std::string>& files);
Status writeReports(const StoredReport& stored, std::int64_t session, const std::vector<std::string>& files);

// In whole or not at all.
Status writeReport(const StoredReport& stored, std::int64_t session, ReportFormat format, const std::string& path);
// JSON: the answer as `--json` of `ab`, `ladder` and `tune` has it, with the machine, the settings that differ, every pair and the line that repeats
// it.
std::string reportText(const StoredReport& stored, std::int64_t session, ReportFormat format);

}  // namespace stepscope::cli
