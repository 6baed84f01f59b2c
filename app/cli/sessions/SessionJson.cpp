#include "app/cli/sessions/SessionJson.h"

#include "core/events/Event.h"

namespace stepscope::cli {
namespace {

const char* word(LogLevel level) {
    return level == LogLevel::Error ? "error" : level == LogLevel::Warning ? "warning" : "info";
}

// What the sentence beside it says, as data; null where there is nothing of the kind.
Json reason(const auto& event) {
    if (!event.code && event.subject.kind == Subject::Kind::None) return nullptr;
    return {
        {"code", event.code ? Json(toString(*event.code)) : Json(nullptr)}, {"about", toString(event.subject.kind)}, {"subject", event.subject.name}};
}

void collect(SessionPoints& points, const Event& event) {
    std::visit(Visitor{
                   [](const SessionStarted&) {},
                   [&](const StepDone& e) {
                       points.steps += 1;
                       points.waitedMs += TimeNs{e.phaseNs[static_cast<std::size_t>(Phase::Waiting)]}.milliseconds();
                   },
                   [&](const ValidationDone& e) {
                       points.validation.push_back({{"step", e.step}, {"t_ns", e.at.ns}, {"loss", nineDigits(e.loss)}});
                   },
                   [&](const SwitchApplied& e) {
                       points.switches.push_back(
                           {{"step", e.step}, {"t_ns", e.at.ns}, {"id", e.id}, {"from", toJson(e.from)}, {"to", toJson(e.to)}, {"note", e.note}});
                   },
                   [&](const SwitchRefused& e) {
                       points.refused.push_back(
                           {{"step", e.step}, {"t_ns", e.at.ns}, {"id", e.id}, {"value", toJson(e.value)}, {"why", e.why}, {"reason", reason(e)}});
                   },
                   [&](const DeviceSample& e) { points.measured(e); },
                   [&](const LogLine& e) {
                       points.log.push_back({{"step", e.step}, {"t_ns", e.at.ns}, {"level", word(e.level)}, {"text", e.text}, {"reason", reason(e)}});
                   },
                   [](const StateChanged&) {},
                   [&](const CheckpointSaved& e) {
                       points.checkpoints.push_back({{"step", e.step}, {"t_ns", e.at.ns}, {"path", e.path}});
                   },
                   [](const TextGenerated&) {},
                   [](const Preparing&) {},
                   [](const RecorderWaited&) {},
                   [&](const CaptureDone& e) {
                       points.captures.push_back({{"step", e.step},
                                                  {"t_ns", e.at.ns},
                                                  {"first_step", e.firstStep},
                                                  {"steps", e.steps},
                                                  {"operations_per_step", number(e.operations)}});
                   },
                   [&](const ExperimentBegan& e) {
                       ++points.experiments;
                       points.measured(e);
                   },
                   [&](const BlockDone& e) { points.measured(e); },
                   [&](const ExperimentJudged& e) { points.measured(e); },
                   [&](const StudyBegan& e) { points.study.add(e); },
                   [&](const StudyRow& e) { points.study.add(e); },
               },
               event);
}

}  // namespace

Json toJson(const SessionSummary& s) {
    return {{"id", s.id},
            {"kind", toString(s.kind)},
            {"name", s.name},
            {"state", toString(s.state)},
            {"steps", s.steps},
            {"numbered", s.numbered ? Json{s.numbered->first, s.numbered->second} : Json(nullptr)},
            {"started", isoTime(s.startedUnixMs)},
            {"ended", isoTime(s.endedUnixMs)},
            {"loss_last", nineDigits(s.lossLast)},
            {"val_loss", nineDigits(s.validationLossLast)},
            {"ms_per_step_median", number(s.msPerStepMedian)},
            {"tokens_per_s", number(s.tokensPerSecond)},
            {"tags", s.tags},
            {"notes", s.notes},
            {"why", s.why}};
}

Json toJson(const Machine& m) {
    Json gpus = Json::array();
    for (const auto& gpu : m.gpus)
        gpus.push_back({{"name", gpu.name},
                        {"memory_bytes", gpu.memory.count},
                        {"compute", std::to_string(gpu.computeMajor) + "." + std::to_string(gpu.computeMinor)}});
    return {{"cpu", m.cpu},
            {"cores", m.cores},
            {"memory_bytes", m.memory.count},
            {"instructions", m.instructions},
            {"system", m.system},
            {"stepscope", m.stepscope},
            {"libtorch", m.libtorch},
            {"gpus", gpus},
            {"driver", m.driver},
            {"why_no_cuda", m.whyNoCuda},
            {"host", m.host.empty() ? Json(nullptr) : Json(m.host)},
            {"why_no_processor_energy", m.whyNoProcessorEnergy}};
}

Result<SessionPoints> readPoints(SessionReader& reader, std::int64_t session) {
    SessionPoints points;
    for (std::int64_t from = 0;;) {
        const auto events = reader.events(session, from, kEventsAtOnce);
        if (!events) return events.error();
        if (events->empty()) return points;
        for (const auto& event : *events) collect(points, event);
        from += static_cast<std::int64_t>(events->size());
    }
}

}  // namespace stepscope::cli
