#include "app/cli/ab/ReportFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "app/cli/ab/AbReport.h"
#include "app/cli/study/StudyReport.h"
#include "core/report/Html.h"
#include "core/report/Markdown.h"
#include "sessions/exporters/ExportFile.h"

namespace stepscope::cli {
namespace {

Json machineJson(const report::ReportFacts& facts) {
    if (!facts.machineKnown) return nullptr;
    const Machine& machine = facts.machine;
    return {{"cpu", machine.cpu},
            {"cores", machine.cores},
            {"memory_bytes", machine.memory.count},
            {"system", machine.system},
            {"driver", machine.driver},
            {"instructions", machine.instructions},
            {"stepscope", machine.stepscope},
            {"libtorch", machine.libtorch}};
}

Json pairsJson(const std::vector<ExperimentJudged>& judged) {
    Json pairs = Json::array();
    for (const ExperimentJudged& pair : judged)
        pairs.push_back({{"pair", pair.pair},
                         {"log_ratio", number(pair.difference)},
                         {"left_out", pair.discarded},
                         {"rebuild", pair.rebuild},
                         {"same_arm_log_ratio", number(pair.sameArm)},
                         {"low", number(pair.low)},
                         {"high", number(pair.high)}});
    return pairs;
}

Json studyAsJson(const StoredReport& stored, std::int64_t session) {
    const report::StudyFacts& facts = stored.studyFacts;
    Json all = studyJson(*stored.study, session);
    all["name"] = facts.name;
    all["started"] = facts.started;
    all["preset"] = facts.preset;
    all["machine"] = machineJson(facts);
    Json pairs = Json::object();  // by the number of the row
    for (const StudyRow& row : stored.study->rows())
        if (const auto& judged = stored.study->pairsOf(row); !judged.empty()) pairs[std::to_string(row.row)] = pairsJson(judged);
    all["every_pair"] = pairs;
    all["repeat"] = facts.repeat;
    return all;
}

Json asJson(const StoredReport& stored, std::int64_t session) {
    if (stored.study) return studyAsJson(stored, session);
    const report::ExperimentFacts& facts = stored.facts;
    Json all = experimentJson(stored.history);
    all["experiment"] = session > 0 ? Json(session) : Json(nullptr);
    if (facts.of > 0) {  // which of those that the session holds
        all["number"] = facts.number;
        all["of"] = facts.of;
    }
    all["name"] = facts.name;
    all["started"] = facts.started;
    all["preset"] = facts.preset;
    Json keys = Json::array();
    for (const auto& key : facts.keys) keys.push_back({{"key", key.key}, {"a", key.a}, {"b", key.b}});
    all["differing"] = keys;
    all["machine"] = machineJson(facts);
    all["every_pair"] = pairsJson(stored.history.pairs());
    all["earlier"] = facts.earlier;
    all["repeat"] = facts.repeat;
    return all;
}

}  // namespace

Result<ReportFormat> reportFormatOf(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (ending == ".html" || ending == ".htm") return ReportFormat::Html;
    if (ending == ".md" || ending == ".markdown") return ReportFormat::Markdown;
    if (ending == ".json") return ReportFormat::Json;
    return makeError(ErrorCode::BadInput, fmt::format("A report is .html, .md or .json; \"{}\" ends in neither. Name the file so.", path));
}

void addReports(CLI::App& command, std::vector<std::string>& files) {
    command.add_option("--report", files, "Write a report: FILE.html, FILE.md or FILE.json; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
}

Status checkReports(const std::vector<std::string>& files) {
    for (const std::string& path : files)
        if (const auto format = reportFormatOf(path); !format) return format.error();
    return {};
}

Status writeReports(const StoredReport& stored, std::int64_t session, const std::vector<std::string>& files) {
    for (const std::string& path : files)
        if (auto written = writeReport(stored, session, *reportFormatOf(path), path); !written) return written;
    return {};
}

std::string reportText(const StoredReport& stored, std::int64_t session, ReportFormat format) {
    if (format == ReportFormat::Json) return line(asJson(stored, session));
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
