#include "app/workbench/experiments/ExperimentReports.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <ostream>
#include <sstream>

#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/reports/DocumentFile.h"
#include "app/workbench/reports/ReportJson.h"
#include "core/analysis/JudgedSentence.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "core/experiment/Ladder.h"
#include "sessions/Samples.h"
#include "sessions/Slices.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/findings/Experiments.h"
#include "sessions/findings/Studies.h"

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

// What the configuration's preset comes to on this machine, key by key; of an unknown preset, what nothing comes to.
std::map<std::string, std::string> usualOf(const Workbench& workbench, const RunConfig& config) {
    RunConfig base;
    if (auto preset = presetConfig(config.preset)) base = std::move(*preset);
    if (auto complete = workbench.complete(base)) base = std::move(*complete);
    std::map<std::string, std::string> usual;
    for (const auto& [key, value] : listConfig(base)) usual[key] = value;
    return usual;
}

// Of the ladders that are built in the one with this text; empty: it is somebody's own.
std::string builtInNameOf(const std::string& source) {
    for (const std::string& name : builtInLadders())
        if (const auto ladder = loadLadder(name); ladder && ladder->source == source) return name;
    return "";
}

}  // namespace

void fillFacts(report::ReportFacts& facts, const SessionInfo& info) {
    facts.name = info.name;
    facts.started = localTime(info.startedUnixMs);
    facts.parameters = info.parameters;
    if (!info.machine) return;
    facts.machine = *info.machine;
    facts.machineKnown = true;
}

std::vector<std::pair<std::string, std::string>> changedSettings(const Workbench& workbench, const RunConfig& config) {
    const auto usual = usualOf(workbench, config);
    std::vector<std::pair<std::string, std::string>> changed;
    for (const auto& [key, value] : listConfig(config))
        if (const auto known = usual.find(key); key != "preset" && (known == usual.end() || known->second != value)) changed.emplace_back(key, value);
    return changed;
}

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
    const auto usual = usualOf(workbench, a);
    if (presetConfig(a.preset)) add("--preset"), add(a.preset);
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
    if (!began.init.empty() && began.init != a.init) add("--init"), add(began.init);
    if (!began.captures) add("--no-why");
    if (began.lossSeconds > 0) line += fmt::format(" --loss-after {:g} --loss-seeds {}", began.lossSeconds, began.lossSeeds);
    return line + fmt::format(" --budget {:g} --delta {:g} --seed {}", began.budgetSeconds, began.delta * 100, began.seed);
}

report::ExperimentFacts reportFacts(const Workbench& workbench, const ExperimentBegan& began, const SessionInfo& info) {
    report::ExperimentFacts facts;
    fillFacts(facts, info);
    facts.trainTokens = info.trainTokens;
    const auto a = parsed(began.configA), b = parsed(began.configB);
    if (!a || !b) return facts;
    facts.preset = a->preset;
    if (began.same) facts.settings = changedSettings(workbench, *a);
    for (const DifferingKey& key : differingKeys(*a, *b)) facts.keys.push_back({key.key, key.a, key.b});
    // Within a run the State came from its training, not from a file. Experiments of earlier versions named their checkpoint with their session
    // alone.
    const std::string from = began.from.empty() && info.kind == SessionKind::Experiment ? info.resumedFrom : began.from;
    facts.repeat = repeatLine(workbench, began, *a, *b, from);
    return facts;
}

std::string studyRepeatLine(const Workbench& workbench, const StudyBegan& began) {
    const auto config = parsed(began.config);
    if (!config) return "";
    const bool ladder = began.kind == "ladder";
    std::string line = std::string("stepscope-cli ") + (ladder ? "ladder" : "tune");
    const auto add = [&](const std::string& word) { line += " " + shellWord(word); };
    if (ladder) {
        const std::string name = builtInNameOf(began.source);
        add(name.empty() ? "ladder.yaml" : name);
    }
    if (presetConfig(config->preset)) add("--preset"), add(config->preset);
    for (const auto& [key, value] : changedSettings(workbench, *config)) add("--set"), add(key + "=" + value);
    if (ladder && !began.leaveOneOut) line += " --no-leave-one-out";
    if (ladder && began.pairs) line += " --pairs";
    if (!ladder && !began.source.empty()) {  // its own options, as words
        std::istringstream words(began.source);
        for (std::string word; words >> word;) add(word);
    }
    if (began.budgetSeconds > 0) line += fmt::format(" --budget {:g}", ladder ? began.budgetSeconds : began.budgetSeconds / 60);
    return line + fmt::format(" --delta {:g} --seed {}", began.delta * 100, began.seed);
}

void fillForetold(report::ExperimentFacts& facts, const std::optional<StoredPrediction>& foretold) {
    if (!foretold) return;
    facts.foretold = foretold->ratio;
    facts.foretoldBasis = foretold->basis;
}

Foretold foretoldOf(const std::string& database, const std::string& question, std::int64_t before) {
    const auto found = predictionOf(database, question, before);
    if (!found || !*found) return {};
    return {(*found)->ratio, (*found)->basis};
}

Result<std::vector<std::string>> foretoldLines(const std::string& database, std::size_t most) {
    const auto measured = measuredPredictions(database, most);
    if (!measured) return measured.error();
    std::vector<std::string> lines;
    for (const auto& [foretold, answer] : *measured)
        lines.push_back(fmt::format("{}: predicted ×{:.2f}, measured ×{:.2f} ({}), session {}", foretold.setting, foretold.ratio, answer.judged.ratio,
                                    judgedWords(answer.judged, answer.delta), answer.session));
    return lines;
}

report::StudyFacts studyFacts(const Workbench& workbench, const StudyBegan& began, const SessionInfo& info) {
    report::StudyFacts facts;
    fillFacts(facts, info);
    if (const auto config = parsed(began.config)) facts.preset = config->preset;
    facts.repeat = studyRepeatLine(workbench, began);
    if (began.kind == "ladder" && builtInNameOf(began.source).empty()) facts.ladderFile = began.source;
    return facts;
}

Result<std::vector<EarlierResult>> earlierResults(const std::string& database, const std::string& question, std::int64_t besides) {
    const auto studies = earlierStudies(database, question, besides);
    if (!studies) return studies.error();
    std::vector<EarlierResult> all;
    for (const EarlierStudy& one : *studies) all.push_back({one.session, one.startedUnixMs, studyHeadline(one.history)});
    return all;
}

void fillEarlier(report::StudyFacts& facts, const std::vector<EarlierStudy>& earlier) {
    for (const EarlierStudy& one : earlier) {
        const std::string when = localTime(one.startedUnixMs);
        facts.earlier.push_back(fmt::format("Session {}{}{}: {}.", one.session, when.empty() ? "" : ", ", when, studyHeadline(one.history)));
    }
}

report::Document documentOf(const StoredReport& stored) {
    return stored.study ? report::studyReport(*stored.study, stored.studyFacts) : report::experimentReport(stored.history, stored.facts);
}

Status exportReport(const StoredReport& stored, const std::string& path) {
    if (namesHtml(path) || namesMarkdown(path)) return exportDocument(documentOf(stored), path);
    if (std::filesystem::path(path).extension() != ".json")
        return makeError(ErrorCode::BadInput, fmt::format("A report is .html, .md or .json; \"{}\" ends in none of them. Name the file so.", path));
    return exportToFile(path, [&](std::ostream& out) -> Status {
        out << json::line(json::ofReport(stored, stored.session));
        return {};
    });
}

Result<StoredReport> storedReport(const Workbench& workbench, const std::string& database, std::int64_t session, std::int64_t experiment) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    auto info = (*reader)->info(session);
    if (!info) return info.error();
    auto events = (*reader)->measurements(session);
    if (!events) return events.error();
    StoredReport stored;
    stored.session = session;
    if (experiment == 0 && (info->kind == SessionKind::Ladder || info->kind == SessionKind::Tune)) {
        StudyHistory study;
        for (const Event& event : *events) study.add(event);
        if (!study.began()) return makeError(ErrorCode::BadInput, fmt::format("Session {} ended before it was known what it asks.", session));
        const auto samples = (*reader)->samples(session, kMostSamplesMeanwhile);
        if (!samples) return samples.error();
        for (const DeviceSample& sample : *samples) study.add(sample);
        stored.studyFacts = studyFacts(workbench, *study.began(), *info);
        auto asked = earlierStudies(database, study.began()->question, session);
        if (!asked) return asked.error();
        fillEarlier(stored.studyFacts, *asked);
        stored.study = std::move(study);
        return stored;
    }
    ChosenExperiment chosen = chosenExperiment(*events, experiment);
    const auto count = static_cast<std::int64_t>(chosen.all.size());
    if (count == 0)
        return makeError(ErrorCode::BadInput,
                         fmt::format("Session {} holds no experiment, ladder or search; `ab`, `ladder` and `tune` make one.", session));
    if (!chosen.history.began())
        return makeError(ErrorCode::BadInput,
                         fmt::format("Session {} holds {} experiment{}, so there is none with the number {}; give one from 1 to {}.", session, count,
                                     count == 1 ? "" : "s", experiment, count));
    stored.history = std::move(chosen.history);
    const auto samples = (*reader)->samples(session, kMostSamplesMeanwhile);
    if (!samples) return samples.error();
    for (const DeviceSample& sample : *samples) stored.history.add(sample);
    // What was captured is not told apart by experiment: it is of the only one.
    if (info->kind == SessionKind::Experiment && count == 1) {
        const auto take = [&](const auto& block) {
            stored.history.add(block);
            return Status();
        };
        if (auto captured = forEachSliceBlock(**reader, session, take); !captured) return captured.error();
        if (auto captured = forEachAllocationBlock(**reader, session, take); !captured) return captured.error();
    }
    stored.facts = reportFacts(workbench, *stored.history.began(), *info);
    stored.facts.session = session;
    stored.facts.number = chosen.number;
    stored.facts.of = count;
    const auto foretold = predictionOf(database, stored.history.began()->question, info->startedUnixMs);
    if (!foretold) return foretold.error();
    fillForetold(stored.facts, *foretold);
    auto earlier = earlierAnswers(database, stored.history.began()->question, session,
                                  info->machine ? turnedQuestion(*stored.history.began(), *info->machine) : "");
    if (!earlier) return earlier.error();
    for (const EarlierAnswer& one : *earlier) {
        if (one.startedUnixMs >= info->startedUnixMs) continue;  // asked again since
        stored.facts.earlier.push_back(fmt::format("Session {}, {}: {}", one.session, localTime(one.startedUnixMs), earlierWords(one)));
    }
    return stored;
}

}  // namespace stepscope
