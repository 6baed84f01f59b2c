#include "app/gui/wiring/EndWords.h"

#include <cmath>

#include "core/base/Format.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

QString lossText(double loss) {
    return QString::number(loss, 'f', 3);
}

const char* headingOf(RunState state) {
    switch (state) {
        case RunState::Finished:
            return "Finished";
        case RunState::Failed:
            return "Failed";
        default:
            return "Stopped";
    }
}

}  // namespace

RunEnd endOf(const RunHistory& history, const RunSummary& summary, const QStringList& flips) {
    RunEnd all;
    FlipStripReading& end = all.strip;
    if (history.rows() == 0) return all;
    const RunNumbers numbers = history.numbers();
    const std::int64_t first = history.info() ? history.info()->firstStep : 0;
    all.took = words(format::duration(numbers.elapsed));
    end.heading = QString("%1: %2 steps in %3").arg(headingOf(summary.state), words(format::count(numbers.step - first)), all.took);
    const auto add = [&](const char* name, const QString& value, const QString& more) {
        end.figures.push_back({name, value, {}, more, FlipStripReading::Verdict::Neutral});
    };
    if (std::isfinite(summary.lossLast))
        add("loss", lossText(summary.lossLast), std::isfinite(summary.lossFirst) ? "from " + lossText(summary.lossFirst) : QString());
    if (std::isfinite(summary.validationLoss)) add("validation", lossText(summary.validationLoss), "the last one");
    if (std::isfinite(summary.msPerStepMedian)) add("step time", words(format::milliseconds(summary.msPerStepMedian)), "median");
    if (std::isfinite(summary.tokensPerSecond)) add("throughput", words(format::rate(summary.tokensPerSecond, "tok/s")), "at the median step");
    if (summary.peakMemoryBytes > 0)
        add("peak memory", words(format::bytes({summary.peakMemoryBytes})),
            summary.peakAllocatedBytes > 0 ? "tensors " + words(format::bytes({summary.peakAllocatedBytes})) : QString());
    end.note = flips.isEmpty() ? QString("no switch was flipped") : flips.join("; ");
    return all;
}

QString sentenceOf(const RunEnd& all) {
    const FlipStripReading& end = all.strip;
    if (end.heading.isEmpty()) return {};
    // How it ended and after which step stands in the line before.
    QStringList parts;
    for (const auto& figure : end.figures) parts << figure.name + ' ' + figure.medians;
    return "In " + all.took + (parts.isEmpty() ? QString() : ": ") + parts.join(", ") + ". " + end.note.left(1).toUpper() + end.note.mid(1) + '.';
}

}  // namespace stepscope
