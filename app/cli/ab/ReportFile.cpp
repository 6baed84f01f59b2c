#include "app/cli/ab/ReportFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "app/cli/output/Output.h"
#include "app/workbench/reports/DocumentFile.h"
#include "app/workbench/reports/ReportJson.h"
#include "core/report/Html.h"
#include "core/report/Markdown.h"
#include "sessions/exporters/ExportFile.h"

namespace stepscope::cli {

Result<ReportFormat> reportFormatOf(const std::string& path) {
    if (namesHtml(path)) return ReportFormat::Html;
    if (namesMarkdown(path)) return ReportFormat::Markdown;
    std::string ending = std::filesystem::path(path).extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (ending == ".json") return ReportFormat::Json;
    return makeError(ErrorCode::BadInput, fmt::format("A report is .html, .md or .json; \"{}\" ends in none of them. Name the file so.", path));
}

void addReports(CLI::App& command, std::vector<std::string>& files) {
    command.add_option("--report", files, "Write a report: FILE.html, FILE.md or FILE.json; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
}

Status checkReports(const std::vector<std::string>& files) {
    for (const std::string& path : files) {
        if (const auto format = reportFormatOf(path); !format) return format.error();
        if (auto place = canBeWritten(path); !place) return place;
    }
    return {};
}

Status writeReports(const StoredReport& stored, std::int64_t session, const std::vector<std::string>& files) {
    // Where one finds no room another may: what was measured is kept wherever it can be.
    Status all;
    for (const std::string& path : files) {
        const auto written = writeReport(stored, session, *reportFormatOf(path), path);
        if (!written && !all) printError(all.error().sentence);
        if (!written) all = written;
    }
    return all;
}

std::string reportText(const StoredReport& stored, std::int64_t session, ReportFormat format) {
    if (format == ReportFormat::Json) return json::line(json::ofReport(stored, session));
    const report::Document document = documentOf(stored);
    return format == ReportFormat::Html ? report::toHtml(document) : report::toMarkdown(document);
}

Status writeReport(const StoredReport& stored, std::int64_t session, ReportFormat format, const std::string& path) {
    return exportToFile(path, [&](std::ostream& out) -> Status {
        out << reportText(stored, session, format);
        return {};
    });
}

}  // namespace stepscope::cli
