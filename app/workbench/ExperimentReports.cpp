#include "app/workbench/ExperimentReports.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <limits>
#include <map>
#include <ostream>

#include "app/workbench/ExperimentQuestion.h"
#include "core/analysis/JudgedSentence.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Presets.h"
#include "core/report/Html.h"
#include "core/report/Markdown.h"
#include "sessions/Experiments.h"
#include "sessions/exporters/ExportFile.h"

namespace stepscope {
namespace {

std::string localTime(std::int64_t unixMs) {
    if (unixMs <= 0) return "";
    const std::time_t seconds = static_cast<std::time_t>(unixMs / 1000);
    std::tm broken{};
    if (localtime_r(&seconds, &broken) == nullptr) return "";
    return fmt::format("{:%Y-%m-%d %H:%M}", broken);
}

// What was stored is a stranger's: a configuration that does not parse has no keys to show.
std::optional<RunConfig> parsed(const std::string& json) {
    auto config = configFromJson(json);
    if (!config) return std::nullopt;
    return std::move(*config);
}

}  // namespace

std::string shellWord(const std::string& word) {
    static const std::string kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string repeatLine(const Workbench& workbench, const ExperimentBegan& began, const RunConfig& a, const RunConfig& b, const std::string& from) {
    std::string line = "stepscope-cli ab";
    const auto add = [&](const std::string& word) { line += " " + shellWord(word); };
    RunConfig base;
    if (const auto preset = presetConfig(a.preset)) {
        base = *preset;
        add("--preset"), add(a.preset);
    }
    if (auto complete = workbench.complete(base)) base = std::move(*complete);
    std::map<std::string, std::string> usual;
    for (const auto& [key, value] : listConfig(base)) usual[key] = value;
    std::map<std::string, std::string> ofB;
    for (const auto& [key, value] : listConfig(b)) ofB[key] = value;
    std::string sideA, sideB;
    for (const auto& [key, value] : listConfig(a)) {
        if (key == "preset") continue;
        const auto other = ofB.find(key);
        if (other != ofB.end() && other->second != value) {
            sideA += " " + shellWord(key + "=" + value);
            sideB += " " + shellWord(key + "=" + other->second);
        } else if (const auto known = usual.find(key); known == usual.end() || known->second != value) {
            add("--set"), add(key + "=" + value);
        }
    }
    if (began.same) line += " --aa";
    if (!sideA.empty()) line += " --a" + sideA + " --b" + sideB;
    if (!from.empty()) add("--from"), add(from);
    return line + fmt::format(" --budget {:g} --delta {:g} --seed {}", began.budgetSeconds, began.delta * 100, began.seed);
}

report::ExperimentFacts reportFacts(const Workbench& workbench, const ExperimentBegan& began, const SessionInfo& info) {
    report::ExperimentFacts facts;
    facts.name = info.name;
    facts.started = localTime(info.startedUnixMs);
    facts.parameters = info.parameters;
    facts.trainTokens = info.trainTokens;
    if (info.machine) {
        facts.machine = *info.machine;
        facts.machineKnown = true;
    }
    const auto a = parsed(began.configA), b = parsed(began.configB);
    if (!a || !b) return facts;
    facts.preset = a->preset;
    for (const DifferingKey& key : differingKeys(*a, *b)) facts.keys.push_back({key.key, key.a, key.b});
    // Within a run the State came from its training, not from a file.
    facts.repeat = repeatLine(workbench, began, *a, *b, info.kind == SessionKind::Experiment ? info.resumedFrom : "");
    return facts;
}

Status exportReport(const StoredReport& stored, const std::string& path) {
    const std::string ending = std::filesystem::path(path).extension().string();
    const bool html = ending == ".html" || ending == ".htm";
    if (!html && ending != ".md" && ending != ".markdown")
        return makeError(ErrorCode::BadInput, fmt::format("A report is .html or .md; \"{}\" ends in neither. Name the file so.", path));
    return exportToFile(path, [&](std::ostream& out) -> Status {
        const report::Document document = report::experimentReport(stored.history, stored.facts);
        out << (html ? report::toHtml(document) : report::toMarkdown(document));
        return {};
    });
}

Result<StoredReport> storedReport(const Workbench& workbench, const std::string& database, std::int64_t session) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    auto info = (*reader)->info(session);
    if (!info) return info.error();
    auto events = (*reader)->events(session, 0, std::numeric_limits<std::int64_t>::max());
    if (!events) return events.error();
    StoredReport stored;
    for (const Event& event : *events) stored.history.add(event);
    if (!stored.history.began())
        return makeError(ErrorCode::BadInput, fmt::format("Session {} holds no experiment; `ab` or the page Compare makes one.", session));
    stored.facts = reportFacts(workbench, *stored.history.began(), *info);
    auto earlier = earlierAnswers(database, stored.history.began()->question, session);
    if (!earlier) return earlier.error();
    for (const EarlierAnswer& one : *earlier)
        stored.facts.earlier.push_back(
            fmt::format("Session {}, {}: {}", one.session, localTime(one.startedUnixMs), judgedWords(one.judged, one.delta)));
    return stored;
}

}  // namespace stepscope
