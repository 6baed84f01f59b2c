#include "app/workbench/reports/ReportJson.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/experiments/ExperimentReports.h"
#include "core/events/ConfigKeys.h"

namespace stepscope::json {
namespace {

Json settings(const RunConfig& a, const RunConfig& b, bool ofA) {
    Json all = Json::object();
    for (const auto& key : differingKeys(a, b)) all[key.key] = ofA ? key.a : key.b;
    return all;
}

Json factsOf(const Json& settings, const SideFacts& facts) {
    return {{"settings", settings},
            {"blocks", facts.blocks},
            {"steps", facts.steps},
            {"ms_per_step", number(facts.msPerStep)},
            {"ms_per_step_median", number(facts.medianMsPerStep)},
            {"ms_per_step_p10_of_blocks", number(facts.tenthMs)},
            {"ms_per_step_p90_of_blocks", number(facts.ninetiethMs)},
            {"ms_slowest_step", number(facts.slowestMs)},
            {"tokens_per_s", number(facts.tokensPerSecond)},
            {"peak_bytes", number(facts.peakBytes)},
            {"page_faults_per_step", number(facts.faultsPerStep)},
            {"operations_per_step", number(facts.operations)},
            {"joules_per_token", number(facts.joulesPerToken)}};
}

Json equalTime(const EqualTimeLoss& loss) {
    if (loss.seconds <= 0) return nullptr;
    return {{"seconds", number(loss.seconds)},       {"seeds", loss.seeds},     {"a", number(loss.a)},       {"b", number(loss.b)},
            {"difference", number(loss.difference)}, {"low", number(loss.low)}, {"high", number(loss.high)}, {"steps_a", number(loss.stepsA)},
            {"steps_b", number(loss.stepsB)}};
}

Json whyJson(const WaterfallResult& why) {
    if (why.classes.empty()) return nullptr;
    Json classes = Json::array(), places = Json::array(), layers = Json::array();
    for (const auto& one : why.classes)
        classes.push_back({{"class", toString(one.kind)},
                           {"a_ms", number(one.a)},
                           {"b_ms", number(one.b)},
                           {"difference_ms", number(one.difference())},
                           {"low_ms", number(one.low)},
                           {"high_ms", number(one.high)}});
    const auto addPlace = [](Json& into, const PlaceDifference& one) {
        into.push_back({{"phase", one.phase},
                        {"role", one.role},
                        {"a_ms", number(one.a)},
                        {"b_ms", number(one.b)},
                        {"difference_ms", number(one.difference())},
                        {"difference_share", number(one.a > 0 ? one.difference() / one.a : kUnknown)},
                        {"a_calls", number(one.callsA)},
                        {"b_calls", number(one.callsB)},
                        {"a_operations", one.namesA},
                        {"b_operations", one.namesB}});
        if (one.layer >= 0) into.back()["layer"] = one.layer;
    };
    for (const auto& one : why.places) addPlace(places, one);
    for (const auto& one : why.layers) addPlace(layers, one);
    return {{"a_ms", number(why.measuredA)},
            {"b_ms", number(why.measuredB)},
            {"a_captured_ms", number(why.capturedA)},
            {"b_captured_ms", number(why.capturedB)},
            {"a_steps", why.stepsA},
            {"b_steps", why.stepsB},
            {"ns_per_record", number(why.nsARecord)},
            {"scale", number(why.scale)},
            {"a_scale", number(why.scaleA)},
            {"b_scale", number(why.scaleB)},
            {"unexplained_ms", number(why.unexplained)},
            {"apart_ms", number(why.apart)},
            {"unexplained_open_ms", number(why.open)},
            {"classes", classes},
            {"places", places},
            {"layers", layers}};
}

Json settingsJson(const std::string& words) {
    Json all = Json::object();
    std::istringstream in(words);
    std::string word;
    while (in >> word) {
        const auto equals = word.find('=');
        if (equals != std::string::npos) all[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return all;
}

Json rowJson(const StudyHistory& history, const StudyRow& row) {
    const auto machine = history.machineMeanwhile(row);
    // What won was chosen for being fast in the race: of it only what was measured anew has an interval.
    const bool anew = history.isMeasuredAnew(row);
    const double low = anew ? kUnknown : row.low, high = anew ? kUnknown : row.high;
    const double totalLow = anew ? kUnknown : row.totalLow, totalHigh = anew ? kUnknown : row.totalHigh;
    return {{"row", row.row},
            {"role", row.role},
            {"state", row.state},
            {"name", row.name},
            {"settings", settingsJson(row.settings)},
            {"reported", row.reported},
            {"why", whyWords(row)},
            {"verdict", row.outcome},
            {"ratio", number(row.ratio)},
            {"low", bound(low, high, low)},
            {"high", bound(low, high, high)},
            {"total", number(row.total)},
            {"total_low", bound(totalLow, totalHigh, totalLow)},
            {"total_high", bound(totalLow, totalHigh, totalHigh)},
            {"ms_per_step", number(row.msPerStep)},
            {"tokens_per_s", number(row.tokensPerSecond)},
            {"peak_bytes", number(row.peakBytes)},
            {"operations_per_step", number(row.operations)},
            {"loss_difference", number(row.loss)},
            {"floor", std::isfinite(row.floor) ? number(row.floor - 1) : Json(nullptr)},
            {"floor_ratio", number(row.floor)},
            {"pairs", row.pairs},
            {"seconds", number(row.seconds)},
            // Of an earlier session of the same ladder that this one goes on with; null: measured in this one, or not at all.
            {"measured_in", row.keptSession > 0 ? Json(row.keptSession) : Json(nullptr)},
            {"measured_by", row.keptVersions.empty() ? Json(nullptr) : Json(row.keptVersions)},
            {"machine_meanwhile", machine ? machineMeanwhileOf(*machine) : Json(nullptr)}};
}

// How the intervals of a study's experiments are made.
std::string methodOf(const StudyBegan& began) {
    return began.kind == "ladder"
               ? fmt::format("Each is {}; all of them hold together.", intervalMethod(began.finalLook))
               : fmt::format("Of the fresh experiment of what won beside the present settings: {}.", intervalMethod(began.finalLook));
}

Json arithmeticJson(const StudyRow& row) {
    const Arithmetic arithmetic = arithmeticOf(row);
    return arithmetic == Arithmetic::Unknown ? Json(nullptr) : Json(arithmetic == Arithmetic::Same ? "same" : "other");
}

Json tuneJson(const StudyHistory& history, std::int64_t session) {
    const StudyBegan& began = *history.began();
    const StudyRow none, *last = history.find(study::kFinal);
    if (last == nullptr) last = &none;
    Json rejected = Json::array(), rows = Json::array();
    for (const StudyRow& row : history.rows()) {
        if (row.role == study::kValue) {
            const Json setting = settingsJson(row.settings);
            for (const auto& [key, value] : setting.items()) rejected.push_back({{"key", key}, {"value", value}, {"why", row.why}});
        } else {
            rows.push_back(rowJson(history, row));
        }
    }
    return {{"recommended", recommendedBy(history)},
            {"ratio", number(last->ratio)},
            {"low", bound(last->low, last->high, last->low)},
            {"high", bound(last->low, last->high, last->high)},
            {"rejected", rejected},
            {"seconds", number(history.seconds())},
            {"verdict", last->outcome},
            {"why", last->why},
            {"state", last->state},
            {"loss_difference_at_equal_tokens", number(last->loss)},
            {"arithmetic", arithmeticJson(*last)},
            {"method", methodOf(began)},
            {"rows", rows},
            {"budget", began.budgetSeconds},
            {"delta", began.delta},
            {"alpha", began.alpha},
            {"seed", began.seed},
            {"session", session > 0 ? Json(session) : Json(nullptr)}};
}

Json machineJson(const report::ReportFacts& facts) {
    if (!facts.machineKnown) return nullptr;
    const Machine& machine = facts.machine;
    Json gpus = Json::array();
    for (const Gpu& gpu : machine.gpus)
        gpus.push_back(
            {{"name", gpu.name}, {"memory_bytes", gpu.memory.count}, {"compute", fmt::format("{}.{}", gpu.computeMajor, gpu.computeMinor)}});
    return {{"cpu", machine.cpu},
            {"cores", machine.cores},
            {"gpus", gpus},
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
                         {"same_arm_turned", pair.sameArmTurned},
                         {"low", number(pair.low)},
                         {"high", number(pair.high)}});
    return pairs;
}

// What was fixed before the first pair and every interval rests on; null where the pilot did not end.
Json pilotJson(const std::vector<ExperimentJudged>& judged, double alpha) {
    if (judged.empty() || !std::isfinite(judged.back().pilotVariance)) return nullptr;
    const ExperimentJudged& newest = judged.back();
    return {{"alpha", number(alpha)},     {"variance", number(newest.pilotVariance)},   {"mad", number(newest.pilotMad)},
            {"pairs", newest.pilotPairs}, {"others_limit", number(newest.othersLimit)}, {"pairs_a_rebuild", newest.pairsARebuild}};
}

Json studyAsJson(const StoredReport& stored, std::int64_t session) {
    const report::StudyFacts& facts = stored.studyFacts;
    Json all = ofStudy(*stored.study, session);
    all["name"] = facts.name;
    all["started"] = facts.started;
    all["preset"] = facts.preset;
    all["machine"] = machineJson(facts);
    Json pairs = Json::object();  // by the number of the row
    for (const StudyRow& row : stored.study->rows())
        if (const auto& judged = stored.study->pairsOf(row); !judged.empty()) pairs[std::to_string(row.row)] = pairsJson(judged);
    all["every_pair"] = pairs;
    all["earlier"] = facts.earlier;
    all["repeat"] = facts.repeat;
    // What that line calls ladder.yaml; of a search and of a ladder that is built in there is none.
    all["ladder_file"] = facts.ladderFile.empty() ? Json(nullptr) : Json(facts.ladderFile);
    return all;
}

}  // namespace

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json bound(double low, double high, double which) {
    return low > 0 && std::isfinite(high) ? number(which) : Json(nullptr);
}

std::string text(const Json& json) {
    const std::string dumped = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string safe;
    safe.reserve(dumped.size());
    const auto byte = [&](std::size_t at) { return at < dumped.size() ? static_cast<unsigned char>(dumped[at]) : 0U; };
    for (std::size_t i = 0; i < dumped.size(); ++i) {
        // All of these stand within quotes, where an escape means the same character.
        if (byte(i) == 0x7f) {
            safe += "\\u007f";
        } else if (byte(i) == 0xc2 && byte(i + 1) < 0xa0) {
            safe += fmt::format("\\u{:04x}", byte(++i));
        } else if (byte(i) == 0xe2 && ((byte(i + 1) == 0x80 && byte(i + 2) >= 0xaa && byte(i + 2) <= 0xae) ||
                                       (byte(i + 1) == 0x81 && byte(i + 2) >= 0xa6 && byte(i + 2) <= 0xa9))) {
            safe += fmt::format("\\u{:04x}", 0x2000U | (byte(i + 1) & 0x3f) << 6 | (byte(i + 2) & 0x3f));
            i += 2;
        } else {
            safe += dumped[i];
        }
    }
    return safe;
}

std::string line(const Json& json) {
    return text(json) + "\n";
}

Json memoryJson(const std::vector<MemoryOwner>& kinds) {
    Json all = Json::object();
    for (const MemoryOwner& one : kinds) all[one.kind] = one.bytes;
    return all;
}

Json machineMeanwhileOf(const MachineMeanwhile& machine) {
    return {{"gpu_mhz_low", number(machine.gpuMhzLow)},
            {"gpu_mhz_high", number(machine.gpuMhzHigh)},
            {"cpu_mhz_low", number(machine.cpuMhzLow)},
            {"cpu_mhz_high", number(machine.cpuMhzHigh)},
            {"throttled_pct", number(machine.throttledPct)},
            {"gpu_others_pct", number(machine.gpuOthersPct)},
            {"gpu_others_busy_pct", number(machine.gpuOthersBusyPct)}};
}

Json sideOf(const RunConfig& a, const RunConfig& b, Arm arm, const SideFacts& facts) {
    return factsOf(settings(a, b, arm == Arm::A), facts);
}

Json answerOf(const ExperimentHistory& history) {
    const ExperimentBegan began = history.began().value_or(ExperimentBegan{});
    const ExperimentJudged judged = history.newest().value_or(ExperimentJudged{.outcome = "inconclusive"});
    const auto [sideA, sideB] = sidesOf(began);
    std::string why = judged.why;
    if (!began.comparison.empty()) why += (why.empty() ? "" : " ") + began.comparison;
    return {{"verdict", judged.outcome},
            {"why", why},
            {"reason", judged.reason},
            {"ratio", number(judged.ratio)},
            {"low", bound(judged.low, judged.high, judged.low)},
            {"high", bound(judged.low, judged.high, judged.high)},
            {"pairs", judged.pairs},
            {"discarded", judged.left},
            {"rebuilds", judged.rebuilds},
            {"floor", std::isfinite(judged.floor) ? number(judged.floor - 1) : Json(nullptr)},
            {"floor_ratio", number(judged.floor)},
            {"delta", began.delta},
            {"seconds", number(judged.seconds)},
            {"seconds_to_go", number(judged.secondsToGo)},
            {"seed", began.seed},
            {"method", intervalMethod(began.finalLook)},
            {"loss_difference_at_equal_tokens", number(history.lossDifference())},
            {"loss_at_equal_time", equalTime(judged.equalTime)},
            {"machine_meanwhile", machineMeanwhileOf(history.machineMeanwhile())},
            {"waterfall", whyJson(history.why())},
            {"memory_at_peak", {{"a", memoryJson(history.memoryAtPeak(Arm::A))}, {"b", memoryJson(history.memoryAtPeak(Arm::B))}}},
            {"a", sideOf(sideA, sideB, Arm::A, history.facts(Arm::A))},
            {"b", sideOf(sideA, sideB, Arm::B, history.facts(Arm::B))}};
}

void tellSettings(Json& answer, const std::vector<std::pair<std::string, std::string>>& settings) {
    for (const auto& [key, value] : settings)
        for (const char* side : {"a", "b"}) answer[side]["settings"][key] = value;
}

// What a search recommends: keys that differ from the present settings; none where it found nothing, or nothing that held when it was measured anew.
Json recommendedBy(const StudyHistory& history) {
    const StudyRow* last = history.recommended();
    return last == nullptr ? Json::object() : settingsJson(last->settings);
}

Json ofStudy(const StudyHistory& history, std::int64_t session) {
    const auto& began = history.began();
    if (!began) return nullptr;
    if (began->kind != "ladder") return tuneJson(history, session);
    Json rows = Json::array();
    for (const StudyRow& row : history.rows()) rows.push_back(rowJson(history, row));
    const StudyRow* top = history.find(study::kTop);
    // With one rung that can be measured, the top is that rung.
    if (top == nullptr)
        for (const StudyRow& row : history.rows())
            if (row.role == study::kRung && row.state == study::kMeasured) top = &row;
    return {{"ladder", began->title},
            {"ratio", number(top != nullptr ? top->ratio : kUnknown)},
            {"low", top != nullptr ? bound(top->low, top->high, top->low) : Json(nullptr)},
            {"high", top != nullptr ? bound(top->low, top->high, top->high) : Json(nullptr)},
            {"rows", rows},
            {"method", methodOf(*began)},
            {"unit", began->unit},
            {"alpha", began->alpha},
            {"delta", began->delta},
            {"budget", began->budgetSeconds},
            {"seconds", number(history.measuredSeconds())},
            {"seed", began->seed},
            {"session", session > 0 ? Json(session) : Json(nullptr)}};
}

Json earlierOf(const std::vector<EarlierStudy>& earlier) {
    Json all = Json::array();
    for (const EarlierStudy& one : earlier) {
        Json study = ofStudy(one.history, one.session);
        all.push_back({{"session", one.session},
                       {"result", studyHeadline(one.history)},
                       {"recommended", one.history.began()->kind == "ladder" ? Json(nullptr) : study["recommended"]},
                       {"ratio", study["ratio"]},
                       {"low", study["low"]},
                       {"high", study["high"]}});
    }
    return all;
}

Json ofReport(const StoredReport& stored, std::int64_t session) {
    if (stored.study) return studyAsJson(stored, session);
    const report::ExperimentFacts& facts = stored.facts;
    Json all = stored.history.began() ? answerOf(stored.history) : Json(nullptr);
    tellSettings(all, facts.settings);
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
    all["pilot"] = pilotJson(stored.history.pairs(), stored.history.began() ? stored.history.began()->alpha : kUnknown);
    all["every_pair"] = pairsJson(stored.history.pairs());
    all["foretold_ratio"] = number(facts.foretold);
    all["earlier"] = facts.earlier;
    all["repeat"] = facts.repeat;
    return all;
}

}  // namespace stepscope::json
