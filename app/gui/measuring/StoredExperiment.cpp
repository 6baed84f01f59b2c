#include "app/gui/measuring/StoredExperiment.h"

#include <QDateTime>
#include <algorithm>
#include <utility>

#include "app/gui/measuring/CompareCheck.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/experiments/ExperimentReports.h"
#include "core/analysis/JudgedSentence.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "sessions/Samples.h"
#include "sessions/Slices.h"
#include "widgets/panels/sessions/RelativeTime.h"

namespace stepscope {
namespace {

// Beside those that differ; a preset's name is no setting.
int sameKeys(const RunConfig& a, const RunConfig& b) {
    const auto ofA = listConfig(a), ofB = listConfig(b);
    return static_cast<int>(
        std::ranges::count_if(ofA, [&](const auto& setting) { return setting.first != "preset" && std::ranges::find(ofB, setting) != ofB.end(); }));
}

void nameSides(CompareView& view, const RunConfig& a, const RunConfig& b, bool same) {
    if (view.title.isEmpty()) view.title = asText(questionWords(a, b, same));
    if (a.preset == b.preset) view.preset = asText(a.preset);
    if (same) return;
    QStringList ofA, ofB;
    for (const DifferingKey& key : differingKeys(a, b)) {
        ofA << asText(key.key + "=" + key.a);
        ofB << asText(key.key + "=" + key.b);
    }
    view.settingsA = ofA.join(' ');
    view.settingsB = ofB.join(' ');
    view.sameKeys = sameKeys(a, b);
}

// within: of a run or a ladder, which may go on or fail for reasons of its own.
CompareView::Stage stageOf(const ExperimentHistory& history, RunState state, bool within) {
    if (state == RunState::Failed && !within) return CompareView::Stage::Failed;
    if (history.newest() && history.newest()->over) return CompareView::Stage::Over;
    if (within && ended(state)) return CompareView::Stage::CutOff;
    if (state == RunState::Interrupted) return CompareView::Stage::CutOff;
    if (ended(state)) return CompareView::Stage::Over;
    return history.blocks().empty() ? CompareView::Stage::Data : history.pairs().empty() ? CompareView::Stage::Pilot : CompareView::Stage::Pairs;
}

// "2 of 3: amp=off beside amp=bf16, faster by 12 %", of each experiment that a session holds.
QStringList linesOf(const std::vector<ChosenExperiment::Entry>& all) {
    QStringList lines;
    for (const auto& [began, newest] : all) {
        const auto a = configFromJson(began.configA), b = configFromJson(began.configB);
        QString line = QString("%1 of %2: %3")
                           .arg(lines.size() + 1)
                           .arg(all.size())
                           .arg(a && b ? asText(questionWords(*a, *b, began.same)) : QString("settings of another version"));
        lines << line + ", " + (newest ? asText(judgedWords(*newest, began.delta)) : QString("no pair was made"));
    }
    return lines;
}

}  // namespace

void tellForetold(CompareView& view, const std::string& database, const std::string& question, std::int64_t before) {
    Foretold foretold = foretoldOf(database, question, before);
    view.foretold = foretold.ratio;
    view.foretoldBasis = std::move(foretold.basis);
}

CompareView viewOf(const ExperimentRequest& request) {
    CompareView view;
    view.history = std::make_shared<const ExperimentHistory>();
    view.live = true;
    nameSides(view, request.a, request.b, request.same);
    return view;
}

void tellMemory(CompareView& view, const Workbench& workbench) {
    const auto& began = view.history->began();
    if (!began) return;
    const auto [a, b] = sidesOf(*began);
    const auto of = [&](const RunConfig& config, Arm arm) {
        SideMemory memory{.parts = {}, .measured = view.history->facts(arm).peakBytes};
        double named = 0;
        for (const MemoryOwner& kind : view.history->memoryAtPeak(arm)) {
            memory.parts.push_back({QString::fromStdString(kind.kind), static_cast<double>(kind.bytes)});
            named += static_cast<double>(kind.bytes);
        }
        // What a Program keeps ready from step to step was taken before anybody looked. Where that is most of it, as in a planned step, the
        // prediction knows more.
        memory.seen = named > 0 && !(memory.measured > 2 * named);
        if (memory.seen && memory.measured > 1.01 * named) memory.parts.push_back({"kept from step to step", memory.measured - named});
        if (memory.seen) return memory;
        memory.parts.clear();
        const auto complete = workbench.complete(config);
        if (!complete) return memory;
        const Workbench::Estimate needed = workbench.estimate(*complete);
        for (const auto& [kind, bytes] :
             {std::pair("weights", needed.weights), std::pair("moments", needed.moments), std::pair("gradients", needed.gradients),
              std::pair("activations", needed.activations), std::pair("logits", needed.logits)})
            if (bytes.count > 0) memory.parts.push_back({kind, static_cast<double>(bytes.count)});
        return memory;
    };
    view.memoryA = of(a, Arm::A);
    view.memoryB = of(b, Arm::B);
}

Result<StoredView> storedView(const std::string& database, std::int64_t session, std::int64_t number) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto summary = (*reader)->summary(session);
    if (!summary) return summary.error();
    const bool within = summary->kind != SessionKind::Experiment;
    const auto events = (*reader)->measurements(session);
    if (!events) return events.error();
    ChosenExperiment chosen = chosenExperiment(*events, number);
    if (within && chosen.all.empty())
        return makeError(ErrorCode::NotFound,
                         "Session " + std::to_string(session) +
                             " holds no measurement: while a run goes on, \"Measure properly\" in the menu of a switch makes one.");
    if (number != 0 && chosen.number == 0)
        return makeError(ErrorCode::NotFound,
                         "Session " + std::to_string(session) + " holds no measurement of the number " + std::to_string(number) + ".");
    auto history = std::make_shared<ExperimentHistory>(std::move(chosen.history));
    const auto samples = (*reader)->samples(session, kMostSamplesMeanwhile);
    if (!samples) return samples.error();
    for (const DeviceSample& sample : *samples) history->add(sample);
    // What it captured says why; where that is damaged the answer stands without it. What a run captured is of its own steps.
    const auto take = [&](const auto& block) {
        history->add(block);
        return Status();
    };
    Status captured;
    if (!within && chosen.all.size() <= 1) captured = forEachSliceBlock(**reader, session, take);
    if (captured && !within && chosen.all.size() <= 1) captured = forEachAllocationBlock(**reader, session, take);
    StoredView stored;
    CompareView& view = stored.view;
    view.stage = stageOf(*history, summary->state, within);
    view.doing = within ? QString() : asText(summary->why);
    view.title = within ? QString() : asText(summary->name);  // what was asked, of a session that is about more
    view.number = static_cast<int>(chosen.number);
    if (chosen.all.size() > 1) view.which = linesOf(chosen.all);
    stored.goesOn = !ended(summary->state);
    view.source = QString("session %1%2, %3%4%5")
                      .arg(session)
                      .arg(within ? " “" + asText(summary->name) + "”" : QString())
                      .arg(relativeTime(QDateTime::fromMSecsSinceEpoch(summary->startedUnixMs), QDateTime::currentDateTime()),
                           stored.goesOn && !within ? ", another program measures it now" : "",
                           captured ? QString() : ". " + asText(captured.error().sentence));
    if (const auto& began = history->began()) {
        const auto a = configFromJson(began->configA), b = configFromJson(began->configB);
        if (a && b) nameSides(view, *a, *b, began->same);
        view.canUse = b.ok();
        const auto info = (*reader)->info(session);
        const bool machine = info && info->machine;
        if (machine) view.whyNoEnergy = asText(info->machine->whyNoProcessorEnergy);
        const EarlierList earlier = earlierOf(database, began->question, session, machine ? turnedQuestion(*began, *info->machine) : "");
        view.earlier = earlier.rows;
        view.earlierCount = earlier.count;
        tellForetold(view, database, began->question, summary->startedUnixMs);
    }
    view.history = std::move(history);
    return stored;
}

Result<ExperimentRequest> requestAgain(const ExperimentHistory& history, const std::string& database) {
    const auto& began = history.began();
    if (!began) return makeError(ErrorCode::NotFound, "It ended before it was known what is asked.");
    ExperimentRequest request;
    for (const bool ofA : {true, false}) {
        auto config = configFromJson(ofA ? began->configA : began->configB);
        if (!config) return config.error();
        auto here = storedConfig(std::move(*config), std::string("Side ") + (ofA ? "A" : "B") + " of this experiment");
        if (!here) return here.error();
        (ofA ? request.a : request.b) = std::move(*here);
    }
    request.same = began->same;
    request.budgetSeconds = std::clamp(history.secondsToAskAgain(), kShortestBudget, kLongestBudget);
    request.delta = began->delta;
    request.seed = began->seed + 1;
    request.from = began->from;
    request.init = began->init;
    if (!began->captures) request.whyWindows = 0;
    if (began->lossSeconds > 0) {
        request.lossSeconds = std::clamp(began->lossSeconds, kLeastLossSeconds, kMostLossSeconds);
        request.lossSeeds = std::clamp(began->lossSeeds, kLeastLossSeeds, kMostLossSeeds);
    } else if (const auto& judged = history.newest(); judged && judged->equalTime.seconds > 0) {  // of an earlier version
        request.lossSeconds = std::clamp(judged->equalTime.seconds, kLeastLossSeconds, kMostLossSeconds);
        request.lossSeeds = std::clamp(judged->equalTime.seeds, kLeastLossSeeds, kMostLossSeeds);
    }
    request.database = database;
    return request;
}

}  // namespace stepscope
