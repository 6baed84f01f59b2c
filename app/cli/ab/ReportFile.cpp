#include "app/cli/ab/ReportFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "app/cli/ab/AbReport.h"
#include "core/report/Html.h"
#include "core/report/Markdown.h"
#include "sessions/exporters/ExportFile.h"

namespace stepscope::cli {
namespace {

Json asJson(const StoredReport& stored, std::int64_t session) {
    const report::ExperimentFacts& facts = stored.facts;
    Json all = experimentJson(stored.history);
    all["experiment"] = session > 0 ? Json(session) : Json(nullptr);
    all["name"] = facts.name;
    all["started"] = facts.started;
    all["preset"] = facts.preset;
    Json keys = Json::array();
    for (const auto& key : facts.keys) keys.push_back({{"key", key.key}, {"a", key.a}, {"b", key.b}});
    all["differing"] = keys;
    all["machine"] = nullptr;
    if (facts.machineKnown)
        all["machine"] = {{"cpu", facts.machine.cpu},
                          {"cores", facts.machine.cores},
                          {"memory_bytes", facts.machine.memory.count},
                          {"system", facts.machine.system},
                          {"driver", facts.machine.driver},
                          {"instructions", facts.machine.instructions},
                          {"stepscope", facts.machine.stepscope},
                          {"libtorch", facts.machine.libtorch}};
    Json pairs = Json::array();
    for (const ExperimentJudged& pair : stored.history.pairs())
        pairs.push_back({{"pair", pair.pair},
                         {"log_ratio", number(pair.difference)},
                         {"left_out", pair.discarded},
                         {"rebuild", pair.rebuild},
                         {"same_arm_log_ratio", number(pair.sameArm)},
                         {"low", number(pair.low)},
                         {"high", number(pair.high)}});
    all["every_pair"] = pairs;
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

std::string reportText(const StoredReport& stored, std::int64_t session, ReportFormat format) {
    if (format == ReportFormat::Json) return line(asJson(stored, session));
    const report::Document document = report::experimentReport(stored.history, stored.facts);
    return format == ReportFormat::Html ? report::toHtml(document) : report::toMarkdown(document);
}

Status writeReport(const StoredReport& stored, std::int64_t session, ReportFormat format, const std::string& path) {
    return exportToFile(path, [&](std::ostream& out) -> Status {
        out << reportText(stored, session, format);
        return {};
    });
}

}  // namespace stepscope::cli
