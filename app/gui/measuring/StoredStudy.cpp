#include "app/gui/measuring/StoredStudy.h"

#include <QDateTime>
#include <QFile>
#include <algorithm>
#include <utility>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/experiments/ExperimentReports.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "sessions/SessionStore.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/sessions/RelativeTime.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostEarlierRows = 10;

}  // namespace

Result<RunConfig> studySettings(const StudyHistory& history, const SwitchCatalogue& catalogue) {
    const auto& began = history.began();
    if (!began) return makeError(ErrorCode::NotFound, "Nothing is known of its settings.");
    auto config = configFromJson(began->config);
    if (!config) return config;
    auto here = storedConfig(std::move(*config), "This session");
    if (!here) return here;
    const auto apply = [&](const std::string& settings) -> Status {
        if (settings.empty()) return {};
        auto read = parseLadder("- " + settings, "This session", "");
        if (!read) return read.error();
        for (const auto& [key, value] : read->rungs.front().settings)
            if (auto done = setKey(*here, catalogue, key, value); !done) return done;
        return {};
    };
    if (began->kind != "ladder") {
        const StudyRow* last = history.recommended();
        if (last == nullptr) return here;
        if (auto done = apply(last->settings); !done) return done.error();
        return here;
    }
    for (const StudyRow& row : history.rows()) {
        const bool part = row.role == study::kBottom || (row.role == study::kRung && (row.state == study::kMeasured || row.state == study::kWaiting));
        if (!part) continue;
        if (auto done = apply(row.settings); !done) return done.error();
    }
    return here;
}

EarlierStudyRows earlierRows(const std::string& database, const std::string& question, std::int64_t besides) {
    EarlierStudyRows found;
    if (question.empty() || !QFile::exists(asText(database))) return found;
    const auto studies = earlierResults(database, question, besides);
    if (!studies) return found;
    found.count = studies->size();
    for (std::size_t i = 0; i < std::min(kMostEarlierRows, studies->size()); ++i) {
        const EarlierResult& one = (*studies)[i];
        found.rows.push_back(
            {one.session, relativeTime(QDateTime::fromMSecsSinceEpoch(one.startedUnixMs), QDateTime::currentDateTime()), asText(one.words)});
    }
    return found;
}

QString askedBefore(const EarlierStudyRows& earlier) {
    if (earlier.rows.empty()) return {};
    return QString(" Asked %1 before here, in session %2: %3.")
        .arg(earlier.count == 1 ? QString("once") : QString("%1 times").arg(earlier.count) + QString(", the last time"))
        .arg(earlier.rows.front().session)
        .arg(earlier.rows.front().words);
}

Result<LadderView> storedStudy(const std::string& database, std::int64_t session) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto summary = (*reader)->summary(session);
    if (!summary) return summary.error();
    auto history = std::make_shared<StudyHistory>();
    const auto events = (*reader)->measurements(session);
    if (!events) return events.error();
    std::vector<StudyRow> told;
    for (const Event& event : *events) {
        history->add(event);
        if (const auto* row = std::get_if<StudyRow>(&event)) told.push_back(*row);
    }
    const auto samples = (*reader)->samples(session, kMostSamplesMeanwhile);
    if (!samples) return samples.error();
    for (const DeviceSample& sample : *samples) history->add(sample);
    LadderView stored;
    stored.goesOn = !ended(summary->state);
    stored.title = asText(summary->name);
    stored.source = QString("session %1%2").arg(session).arg(stored.goesOn ? ", another program measures it now" : "");
    stored.doing = summary->state == RunState::Finished || stored.goesOn
                       ? QString()
                       : QString("%1%2").arg(toString(summary->state), summary->why.empty() ? QString() : ": " + asText(summary->why));
    stored.resumable = summary->kind == SessionKind::Ladder && !stored.goesOn && history->began() &&
                       (summary->state != RunState::Finished || waitsForBudget(*history));
    if (history->began()) {
        const EarlierStudyRows earlier = earlierRows(database, history->began()->question, session);
        stored.earlier = earlier.rows;
        stored.earlierCount = earlier.count;
    }
    stored.canUse = studyUsable(*history) && !stored.goesOn;
    stored.history = std::move(history);
    stored.told = std::make_shared<const std::vector<StudyRow>>(std::move(told));
    return stored;
}

}  // namespace stepscope
