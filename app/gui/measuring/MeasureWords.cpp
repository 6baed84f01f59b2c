#include "app/gui/measuring/MeasureWords.h"

#include <QStringList>
#include <cmath>

#include "app/gui/wiring/FlipWords.h"
#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

using Figure = FlipStripReading::Figure;
using Verdict = FlipStripReading::Verdict;

QString shown(const std::string& text) {
    return QString::fromStdString(text);
}

// The value that is told of, and the one it stands beside.
const Value& newValue(const Measured& asked) {
    return asked.afterFlip ? asked.from : asked.to;
}
const Value& oldValue(const Measured& asked) {
    return asked.afterFlip ? asked.to : asked.from;
}

QString headingOf(const Measured& asked) {
    return QString("%1: %2 → %3, in turns").arg(asked.title, shown(toString(oldValue(asked))), shown(toString(newValue(asked))));
}

// Of the new value beside the old one.
ExperimentJudged told(const Measured& asked, const ExperimentJudged& judged) {
    return asked.afterFlip ? turnedRound(judged) : judged;
}

bool claims(const ExperimentJudged& judged) {
    return judged.outcome == toString(PairedOutcome::Faster) || judged.outcome == toString(PairedOutcome::Slower);
}

Verdict verdictKindOf(const ExperimentJudged& judged) {
    return judged.outcome == toString(PairedOutcome::Faster)       ? Verdict::Better
           : judged.outcome == toString(PairedOutcome::Slower)     ? Verdict::Worse
           : judged.outcome == toString(PairedOutcome::Equivalent) ? Verdict::Neutral
                                                                   : Verdict::Inconclusive;
}

// For a figure: as short as can be.
QString changeWords(const ExperimentJudged& judged, double delta) {
    if (!claims(judged)) return shown(judged.outcome.empty() ? "inconclusive" : judged.outcome);
    return judged.ratio < 2 ? shown(judgedParts(judged, delta).verdict) : QString("×%1").arg(judged.ratio, 0, 'f', 2);
}

QString timesWords(const MeasuredPair& pair) {
    const QString times = pair.times == 1 ? QString("once") : QString("%1 times").arg(pair.times);
    return pair.decided > 0 && pair.decided < pair.times ? times + QString(", %1 decided").arg(pair.decided) : times;
}

template <class Format>
void addFact(std::vector<Figure>& figures, const char* name, double a, double b, Format text) {
    if (!std::isfinite(a) || !std::isfinite(b)) return;
    figures.push_back({name, text(a) + QString(" → ") + text(b), a == b ? "the same" : QString(), {}, Verdict::Neutral});
}

std::vector<Figure> figuresOf(const Measured& asked, const ExperimentHistory& history, double delta) {
    std::vector<Figure> figures;
    const SideFacts a = history.facts(asked.afterFlip ? Arm::B : Arm::A), b = history.facts(asked.afterFlip ? Arm::A : Arm::B);
    std::optional<ExperimentJudged> newest;
    if (history.newest()) newest = told(asked, *history.newest());
    const auto ms = [](double value) { return shown(format::milliseconds(value)); };
    addFact(figures, "step time", a.msPerStep, b.msPerStep, ms);
    if (!figures.empty() && newest) {
        Figure& time = figures.front();
        time.verdict = verdictKindOf(*newest);
        time.change = changeWords(*newest, delta);
        if (std::isfinite(newest->low) && std::isfinite(newest->high) && newest->low > 0)
            time.spread = QString("×%1 to ×%2").arg(newest->low, 0, 'f', 3).arg(newest->high, 0, 'f', 3);
    }
    // Where both train as many tokens a step it says the same once more.
    if (a.steps > 0 && b.steps > 0 && a.tokens * b.steps != b.tokens * a.steps)
        addFact(figures, "throughput", a.tokensPerSecond, b.tokensPerSecond, [](double value) { return shown(format::rate(value, "tok/s")); });
    // What a stranger's file holds may be any number.
    addFact(figures, "tensor memory", a.peakBytes, b.peakBytes, [](double value) { return shown(format::bytes(value)); });
    if (std::isfinite(a.peakBytes) && std::isfinite(b.peakBytes)) figures.back().hint = kTensorMemoryHint;
    addFact(figures, "page faults", a.faultsPerStep, b.faultsPerStep, [](double value) { return shown(format::count(std::llround(value))); });
    if (newest && std::isfinite(newest->floor))
        figures.push_back({"floor", QString("±%1 %").arg((newest->floor - 1) * 100, 0, 'f', 1), {}, "a value beside itself"});
    return figures;
}

}  // namespace

FlipStripReading askedStrip(const Measured& asked) {
    FlipStripReading strip;
    strip.heading = headingOf(asked);
    strip.note = "takes turns from the next step on; the run goes on with the faster value";
    return strip;
}

FlipStripReading refusedStrip(const Measured& asked, const QString& why, bool mayAgree) {
    FlipStripReading strip;
    strip.heading = headingOf(asked);
    if (mayAgree) {
        strip.note = "the two compute differently, so the loss of this run may move a little while they take turns; it goes on with the faster one";
        strip.action = "Measure all the same";
        strip.actionHint = "Both values train the same weights in turn, and the run goes on with the faster one. No claim is made about the loss.";
    } else {
        strip.note = "not measured: " + why;
    }
    return strip;
}

FlipStripReading measuredStrip(const Measured& asked, const ExperimentHistory& history, std::optional<bool> changed) {
    FlipStripReading strip;
    strip.heading = headingOf(asked);
    const double delta = history.began() ? history.began()->delta : 0.01;
    const auto& newest = history.newest();
    const bool over = newest && newest->over;
    const auto clock = [](double seconds) { return shown(format::duration(TimeNs::fromSeconds(seconds))); };
    const QString atMost = history.began() ? clock(history.began()->budgetSeconds) : QString();
    if (!over) {
        strip.action = "Stop measuring";
        strip.actionHint = "What is known so far is kept, and the run trains on. The faster value stays; where nobody can tell, the old one.";
    }
    if (!newest || newest->pairs == 0) {
        strip.note = over ? shown(newest->why)
                     : history.blocks().empty()
                         ? "takes turns; the first blocks only fix how long a turn is"
                         : QString("takes turns; %1 blocks so far that only fix how long a turn is").arg(history.blocks().size());
        if (!over && !atMost.isEmpty()) strip.note += QString("; at most %1 in all").arg(atMost);
        return strip;
    }
    strip.figures = figuresOf(asked, history, delta);
    const QString said = shown(judgedWords(told(asked, *newest), delta));
    const QString pairs = QString("%1 pair%2 of blocks").arg(newest->pairs).arg(newest->pairs == 1 ? "" : "s");
    const QString left = newest->left > 0 ? QString(", %1 left out").arg(newest->left) : QString();
    if (!over) {
        const bool bounded = std::isfinite(newest->low) && std::isfinite(newest->high);
        const QString more = bounded && std::isfinite(newest->secondsToGo) && newest->secondsToGo > 0 && newest->secondsToGo < 1800
                                 ? QString("; about %1 more would decide it").arg(shown(format::duration(TimeNs::fromSeconds(newest->secondsToGo))))
                                 : QString();
        strip.note = QString("so far %1, %2%3%4").arg(said, pairs, left, more);
        if (!atMost.isEmpty()) strip.note += QString("; %1 of at most %2").arg(clock(newest->seconds), atMost);
        return strip;
    }
    if (newest->outcome != toString(PairedOutcome::Faster)) changed = false;
    QString kept;
    if (changed)
        kept = (*changed ? QString("; %1 is used from here on") : QString("; %1 stays")).arg(shown(toString(*changed ? asked.to : asked.from)));
    QStringList sentences{QString("%1, in %2%3%4.").arg(said, pairs, left, kept)};
    for (const std::string& sentence : {newest->why, machineSentence(history.machineMeanwhile())})
        if (!sentence.empty()) sentences << shown(sentence);
    strip.note = sentences.join(' ');
    return strip;
}

void addMeasuredBefore(FlipStripReading& strip, const SwitchApplied& flip, const MeasuredPair& before) {
    const ExperimentJudged judged = before.to == flip.to ? before.judged : turnedRound(before.judged);
    strip.note = QString("measured before: %1, %2; %3").arg(shown(judgedWords(judged, before.delta)), timesWords(before), strip.note);
}

QString measuredVerdict(const Measured& asked, const ExperimentJudged& judged, double delta) {
    return QString("%1 %2 beside %3, in turns: %4")
        .arg(asked.title, shown(toString(newValue(asked))), shown(toString(oldValue(asked))), shown(judgedWords(told(asked, judged), delta)));
}

QString measuredChip(const Measured& asked, const ExperimentJudged& judged, const Value& byDefault) {
    if (!claims(judged) && judged.outcome != toString(PairedOutcome::Equivalent)) return {};
    return gainChip(oldValue(asked), newValue(asked), claims(judged) ? told(asked, judged).ratio : 1, byDefault);
}

QString measuredSentence(const Measured& asked, const ExperimentJudged& judged, double delta, const QString& where) {
    return QString("Measured in turns here, %1 → %2: %3, in %4 pairs of blocks. %5")
        .arg(shown(toString(oldValue(asked))), shown(toString(newValue(asked))), shown(judgedWords(told(asked, judged), delta)))
        .arg(judged.pairs)
        .arg(where);
}

}  // namespace stepscope
