#include "app/gui/wiring/Readings.h"

#include <algorithm>

namespace stepscope {

RunReading readingOf(const RunHistory& shown, RunController::Phase phase, RunState liveState, std::optional<RunState> stored) {
    RunReading reading;
    reading.live = phase == RunController::Phase::Live || phase == RunController::Phase::Stopping;
    reading.starting = phase == RunController::Phase::Starting;
    reading.stopping = phase == RunController::Phase::Stopping;
    reading.hasRun = shown.started();
    if (!shown.started()) return reading;

    const RunNumbers numbers = shown.numbers();
    reading.replay = shown.replay();
    if (!shown.replay())
        reading.state = liveState;
    else if (stored)
        reading.state = *stored;
    else if (shown.state())
        reading.state = shown.state()->state;
    if (shown.preparing()) {
        reading.note = QString::fromStdString(shown.preparing()->what);
        reading.fraction = shown.preparing()->fraction;
    } else if (shown.state()) {
        reading.note = QString::fromStdString(shown.state()->why);
    }
    reading.step = numbers.step;
    reading.steps = numbers.steps;
    reading.tokens = numbers.tokens;
    if (!shown.replay()) reading.secondsLeft = numbers.secondsLeft;
    reading.msPerStep = numbers.stepMsMedian;
    reading.tokensPerSecond = numbers.tokensPerSecond;
    reading.loss = numbers.loss;
    reading.smoothedLoss = numbers.smoothedLoss;
    reading.overSteps = static_cast<int>(numbers.window);
    reading.cpuPct = numbers.cpuPct;
    reading.gpuPct = numbers.gpuPct;
    return reading;
}

std::vector<ScrubMark> scrubMarks(const RunHistory& history, TimeNs end) {
    std::vector<ScrubMark> marks;
    if (end.ns <= 0) return marks;
    constexpr double kPlaces = 2000;  // no bar has more pixels to tell apart
    const auto shareOf = [&](double seconds) { return std::clamp(seconds / end.seconds(), 0.0, 1.0); };
    for (const FoldedMarker& folded : foldMarkers(history.markers(), XAxis::WallTime, shareOf, kPlaces)) {
        using Kind = Marker::Kind;
        const Marker& marker = history.markers()[folded.index];
        const auto shape = marker.kind == Kind::Switch       ? ScrubMark::Shape::Tick
                           : marker.kind == Kind::Checkpoint ? ScrubMark::Shape::Square
                                                             : ScrubMark::Shape::Diamond;
        const std::string detail = history.detailOf(marker);
        QString text = QString::fromStdString(detail.empty() ? marker.label : detail);
        if (folded.count() > 1) text += QString(" … and %1 more").arg(folded.count() - 1);
        marks.push_back({shareOf(marker.place.seconds), shape, text});
    }
    return marks;
}

}  // namespace stepscope
