#include "app/cli/sessions/ProfileReport.h"

#include <fmt/format.h>

#include "app/workbench/reports/CaptureReports.h"
#include "app/workbench/reports/DocumentFile.h"

namespace stepscope::cli {

void addCaptureReports(CLI::App& command, std::vector<std::string>& files) {
    command.add_option("--report", files, "Write a report of all that was captured: FILE.html or FILE.md; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
}

Status checkCaptureReports(const std::vector<std::string>& files) {
    for (const std::string& path : files)
        if (!namesHtml(path) && !namesMarkdown(path))
            return makeError(ErrorCode::BadInput,
                             fmt::format("A report of a capture is .html or .md; \"{}\" ends in neither. Name the file so, or take "
                                         "--json for a script.",
                                         path));
    return {};
}

Status writeCaptureReports(const std::string& database, std::int64_t session, const std::vector<std::string>& files) {
    if (files.empty()) return {};
    const auto workbench = Workbench::create();
    const auto document = capturedReport(*workbench, database, session);
    if (!document) return document.error();
    for (const std::string& path : files)
        if (auto written = exportDocument(*document, path); !written) return written;
    return {};
}

}  // namespace stepscope::cli
