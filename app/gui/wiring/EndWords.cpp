#include "app/gui/wiring/EndWords.h"

#include <algorithm>
#include <cmath>

#include "app/gui/wiring/FlipWords.h"
#include "core/analysis/flips/FlipsOfRun.h"
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

QStringList verdictsOf(const RunHistory& history, const std::vector<TurnsVerdict>& turns,
                       const std::function<QString(const std::string& id)>& titleOf) {
    QStringList verdicts;
    auto told = turns.begin();
    const auto tellTurns = [&](std::size_t flips) {
        for (; told != turns.end() && told->flips <= flips; ++told) verdicts << told->sentence;
    };
    const std::vector<RunFlip> flips = flipsOf(history);
    for (auto begin = flips.begin(); begin != flips.end();) {
        const auto end = std::find_if(begin, flips.end(), [&](const RunFlip& flip) { return flip.first != begin->first; });
        FlipReading together;
        together.effect = begin->effect;
        std::size_t asked = 0;
        QString newest;
        for (auto flip = begin; flip != end; ++flip) {
            const std::size_t number = history.markers()[flip->marker].flip;
            if (asked == 0) tellTurns(number);
            if (history.isFlipChosenByTurns(number)) continue;
            const SwitchApplied& made = history.flips()[number].flip;
            joinFlip(together.flips, made);
            newest = QString("%1 at step %2").arg(titleOf(made.id), words(format::count(made.step + 1)));
            ++asked;
        }
        QStringList titles;
        for (const SwitchApplied& flip : together.flips) titles << titleOf(flip.id);
        if (!together.flips.empty())
            verdicts << verdictOf(together, titles);
        else if (asked > 0)
            verdicts << newest + ": back where it was within a few steps";
        begin = end;
    }
    tellTurns(history.flips().size());
    return verdicts;
}

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
    if (summary.peakMemoryBytes > 0) {
        add("peak process memory", words(format::bytes({summary.peakMemoryBytes})),
            summary.peakAllocatedBytes > 0 ? "tensors " + words(format::bytes({summary.peakAllocatedBytes})) + " at most" : QString());
        end.figures.back().hint =
            "The most that the process held in this machine's memory: tensors, unless they are on a GPU, what is kept to be used again, the program "
            "and "
            "its libraries. The chart Memory shows it over time.";
    }
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
