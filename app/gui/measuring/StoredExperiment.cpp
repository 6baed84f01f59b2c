#include "app/gui/measuring/StoredExperiment.h"

#include <QDateTime>
#include <algorithm>
#include <limits>

#include "app/gui/measuring/CompareCheck.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/ExperimentQuestion.h"
#include "core/events/Event.h"
#include "sessions/Slices.h"
#include "widgets/panels/sessions/RelativeTime.h"

namespace stepscope {
namespace {

void nameSides(CompareView& view, const RunConfig& a, const RunConfig& b, bool same) {
    if (view.title.isEmpty()) view.title = asText(questionWords(a, b, same));
    if (same) return;
    QStringList ofA, ofB;
    for (const DifferingKey& key : differingKeys(a, b)) {
        ofA << asText(key.key + "=" + key.a);
        ofB << asText(key.key + "=" + key.b);
    }
    view.settingsA = ofA.join(' ');
    view.settingsB = ofB.join(' ');
}

CompareView::Stage stageOf(const ExperimentHistory& history, RunState state) {
    if (state == RunState::Failed) return CompareView::Stage::Failed;
    if (history.newest() && history.newest()->over) return CompareView::Stage::Over;
    if (state == RunState::Interrupted) return CompareView::Stage::CutOff;
    if (ended(state)) return CompareView::Stage::Over;
    return history.blocks().empty() ? CompareView::Stage::Data : history.pairs().empty() ? CompareView::Stage::Pilot : CompareView::Stage::Pairs;
}

}  // namespace

CompareView viewOf(const ExperimentRequest& request) {
    CompareView view;
    view.history = std::make_shared<const ExperimentHistory>();
    view.live = true;
    nameSides(view, request.a, request.b, request.same);
    return view;
}

Result<StoredView> storedView(const std::string& database, std::int64_t session) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto summary = (*reader)->summary(session);
    if (!summary) return summary.error();
    if (summary->kind != SessionKind::Experiment) return makeError(ErrorCode::BadInput, "Session " + std::to_string(session) + " is no experiment.");
    const auto events = (*reader)->events(session, 0, std::numeric_limits<std::int64_t>::max());
    if (!events) return events.error();
    auto history = std::make_shared<ExperimentHistory>();
    for (const Event& event : *events) history->add(event);
    // What it captured says why; where that is damaged the answer stands without it.
    const Status captured = forEachSliceBlock(**reader, session, [&](const SliceBlock& block) {
        history->add(block);
        return Status();
    });
    StoredView stored;
    CompareView& view = stored.view;
    view.stage = stageOf(*history, summary->state);
    view.doing = asText(summary->why);
    view.title = asText(summary->name);
    stored.goesOn = !ended(summary->state);
    view.source = QString("session %1, %2%3%4")
                      .arg(session)
                      .arg(relativeTime(QDateTime::fromMSecsSinceEpoch(summary->startedUnixMs), QDateTime::currentDateTime()),
                           stored.goesOn ? ", another program measures it now" : "", captured ? QString() : ". " + asText(captured.error().sentence));
    if (const auto& began = history->began()) {
        const auto a = configFromJson(began->configA), b = configFromJson(began->configB);
        if (a && b) nameSides(view, *a, *b, began->same);
        view.canUse = b.ok();
        const EarlierList earlier = earlierOf(database, began->question, session);
        view.earlier = earlier.rows;
        view.earlierCount = earlier.count;
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
    request.budgetSeconds = began->budgetSeconds;
    request.delta = began->delta;
    request.seed = began->seed + 1;
    if (const auto& judged = history.newest(); judged && judged->equalTime.seconds > 0) {
        request.lossSeconds = std::clamp(judged->equalTime.seconds, kLeastLossSeconds, kMostLossSeconds);
        request.lossSeeds = std::clamp(judged->equalTime.seeds, kLeastLossSeeds, kMostLossSeeds);
    }
    request.database = database;
    return request;
}

}  // namespace stepscope
