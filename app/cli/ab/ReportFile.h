// The report of an experiment as a file or on stdout: HTML, Markdown or JSON. Main thread.
#pragma once
#include <string>

#include "app/workbench/ExperimentReports.h"

namespace stepscope::cli {

enum class ReportFormat { Html, Markdown, Json };

// By the name's ending: .html, .htm, .md, .markdown, .json. A sentence for others.
Result<ReportFormat> reportFormatOf(const std::string& path);

// In whole or not at all.
Status writeReport(const StoredReport& stored, std::int64_t session, ReportFormat format, const std::string& path);
// JSON: the answer as `ab --json` has it, with the machine, the settings that differ, every pair and the line that repeats it.
std::string reportText(const StoredReport& stored, std::int64_t session, ReportFormat format);

}  // namespace stepscope::cli
