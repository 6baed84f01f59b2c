#include "app/gui/wiring/FlipWords.h"

#include <QDateTime>
#include <QLocale>
#include <QRegularExpression>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

using Figure = FlipStripReading::Figure;
using StripVerdict = FlipStripReading::Verdict;

QString percentOf(double ratio) {
    const double percent = (ratio - 1) * 100;
    if (std::abs(percent) < 0.5) return "±0 %";
    if (ratio >= 2) return QString("×%1").arg(ratio, 0, 'f', ratio < 10 ? 1 : 0);
    return QString("%1%2 %").arg(percent < 0 ? QString(QChar(0x2212)) : QString("+")).arg(std::abs(percent), 0, 'f', 0);
}

// "64.0 ms", as long as the last number's unit is another one; else the unit stands once, behind the last.
QString withoutUnit(const QString& text, const QString& last) {
    const QString unit = last.mid(last.lastIndexOf(QRegularExpression("[0-9]")) + 1);
    return !unit.isEmpty() && text.endsWith(unit) ? text.left(text.size() - unit.size()) : text;
}

QString pair(const QString& before, const QString& after) {
    return withoutUnit(before, after) + " → " + after;
}

// Each test of a change is wrong in one of twenty flips that do nothing, so that one of them has a verdict and the others are figures. What does not
// vary needs no test, and says for itself what it is.
enum class Says { Verdict, Figure };

// Until enough steps are there the right side is open; the figure has its height already, so that the charts move only once.
template <class Format>
Figure figure(const char* name, const Change& change, bool lessIsBetter, bool measured, Says says, Format text) {
    Figure made;
    made.name = name;
    if (!measured) {
        made.medians = text(change.before.median) + " → …";
        const QString last = text(change.before.high);
        made.spread = QString("%1–%2 → …").arg(withoutUnit(text(change.before.low), last), last);
        return made;
    }
    made.medians = pair(text(change.before.median), text(change.after.median));
    // A number without a unit has that of the next one: each is held against its neighbour, so that 439 ms to 1.16 s stays that.
    const QString first = text(change.before.low), second = text(change.before.high), third = text(change.after.low), last = text(change.after.high);
    made.spread = QString("%1–%2 → %3–%4").arg(withoutUnit(first, second), withoutUnit(second, third), withoutUnit(third, last), last);
    const bool less = change.ratio() < 1;
    if (says == Says::Figure && !change.exact) {
        made.change = std::isfinite(change.ratio()) ? percentOf(change.ratio()) : QString();
        if (change.before.median == change.after.median) made.change = "the same";
        return made;
    }
    made.verdict = !change.conclusive() ? StripVerdict::Inconclusive : less == lessIsBetter ? StripVerdict::Better : StripVerdict::Worse;
    made.change = made.verdict == StripVerdict::Inconclusive ? QString("inconclusive") : percentOf(change.ratio());
    // Nothing moved at all: that is a result, not a doubt.
    if (change.before.median == change.after.median) {
        made.verdict = StripVerdict::Neutral;
        made.change = "the same";
    }
    return made;
}

QString milliseconds(double ms) {
    return words(format::milliseconds(ms));
}
QString bytes(double count) {
    return words(format::bytes(count));
}

// Times of two different machines say nothing of a switch.
Figure timeFigure(const char* name, const FlipEffect& effect, const Change& change, bool lessIsBetter, bool measured, Says says,
                  QString (*text)(double)) {
    Figure made = figure(name, change, lessIsBetter, measured, says, text);
    if (!measured || effect.machineChange.empty()) return made;
    made.verdict = says == Says::Verdict ? StripVerdict::Inconclusive : StripVerdict::Neutral;
    made.change = "the machine changed";
    return made;
}

QString tokenRate(double perSecond) {
    return words(format::rate(perSecond, "tok/s"));
}

QString gainOf(double ratio) {
    if (std::abs(ratio - 1) < 0.005) return "no gain";
    if (ratio < 1) return QString("%1%2 %").arg(QChar(0x2212)).arg((1 - ratio) * 100, 0, 'f', 0);
    return QString("×%1").arg(ratio, 0, 'f', ratio < 10 ? 2 : 0);
}

}  // namespace

QString sinceOf(const SwitchApplied& flip) {
    return QString("from step %1 on").arg(words(format::count(flip.step + 1)));
}

FlipStripReading stripOf(const FlipReading& reading, const QStringList& titles) {
    const FlipEffect& effect = reading.effect;
    const SwitchApplied& newest = reading.flips.back();
    FlipStripReading strip;
    const bool several = reading.flips.size() > 1;
    strip.heading =
        several ? titles.join(" + ") : QString("%1: %2 → %3").arg(titles.front(), words(toString(newest.from)), words(toString(newest.to)));
    const QString place = sinceOf(newest) + (several ? ", flipped too near each other to be told apart" : "");
    if (effect.stepsBefore < FlipEffect::kFewest) {
        strip.note =
            place + QString("; not compared: only %1 steady steps before it, %2 are needed").arg(effect.stepsBefore).arg(FlipEffect::kFewest);
        return strip;
    }
    const bool measured = effect.measured() && (reading.complete || reading.over);
    if (!measured && reading.over) {
        strip.note =
            place + QString("; not measured: the run ended %1 steady steps after it, %2 are needed").arg(effect.stepsAfter).arg(FlipEffect::kFewest);
        return strip;
    }
    strip.note =
        place + (measured ? QString("; medians of %1 steps before and %2 after, quartiles below").arg(effect.stepsBefore).arg(effect.stepsAfter)
                          : QString("; measuring: %1 of %2 steps after it").arg(effect.stepsAfter).arg(FlipEffect::kSteps));
    const bool ofThroughput = measured && effect.ofThroughput();
    const Change& told = effect.told();
    if (measured && !told.conclusive())
        strip.note = place + (ofThroughput ? "; throughput inconclusive: " : "; step time inconclusive: ") + words(effect.doubt(told));
    if (measured && !effect.machineChange.empty()) strip.note = place + "; times are not compared: " + words(effect.machineChange);
    const auto count = [](double value) { return words(format::count(std::llround(value))); };
    strip.figures.push_back(timeFigure("step time", effect, effect.ms, true, measured, ofThroughput ? Says::Figure : Says::Verdict, milliseconds));
    strip.figures.push_back(
        timeFigure("throughput", effect, effect.tokensPerSecond, false, measured, ofThroughput ? Says::Verdict : Says::Figure, tokenRate));
    // The step time in other words: where that claims nothing, neither does this.
    if (measured && !ofThroughput && effect.machineChange.empty() && strip.figures[0].verdict == StripVerdict::Inconclusive)
        strip.figures[1].change.clear();
    strip.figures.push_back(figure("tensor memory", effect.memory, true, measured, Says::Figure, bytes));
    strip.figures.back().hint = kTensorMemoryHint;
    strip.figures.push_back(figure("page faults", effect.pageFaults, true, measured, Says::Figure, count));
    if (std::isfinite(effect.operations.before.median))
        strip.figures.push_back(figure("operations", effect.operations, true, measured, Says::Figure, count));
    return strip;
}

QString gainChip(const Value& fromValue, const Value& toValue, double ratio, const Value& byDefault) {
    const std::string usual = toString(byDefault), from = toString(fromValue), to = toString(toValue);
    if (to == usual) return words(from) + ' ' + gainOf(1 / ratio);
    const QString gain = words(to) + ' ' + gainOf(ratio);
    return from == usual ? gain : gain + " vs " + words(from);
}

QString chipOf(const SwitchApplied& flip, const FlipEffect& effect, const Value& byDefault) {
    const double gain = effect.tokensPerSecond.ratio();
    if (flip.from == flip.to || !effect.claimed() || !std::isfinite(gain)) return {};  // the card has it
    return gainChip(flip.from, flip.to, gain, byDefault);
}

QString sentenceOf(const SwitchApplied& flip, const FlipEffect& effect, const QString& where) {
    const Change& told = effect.told();
    const QString verdict = !effect.machineChange.empty()             ? "the machine changed: " + words(effect.machineChange)
                            : told.conclusive()                       ? percentOf(told.ratio())
                            : told.before.median == told.after.median ? QString("the same")
                                                                      : "inconclusive: " + words(effect.doubt(told));
    const auto medians = [](const Change& change, QString (*text)(double)) { return pair(text(change.before.median), text(change.after.median)); };
    QString speed = medians(effect.ms, milliseconds) + " a step";
    if (effect.ofThroughput()) speed += ", " + medians(effect.tokensPerSecond, tokenRate);
    return QString("Measured here, %1 → %2: %3 (%4), %5 of memory. %6")
        .arg(words(toString(flip.from)), words(toString(flip.to)), speed, verdict, medians(effect.memory, bytes), where);
}

QString verdictOf(const FlipReading& reading, const QStringList& titles) {
    const FlipEffect& effect = reading.effect;
    const SwitchApplied& newest = reading.flips.back();
    const QString what = reading.flips.size() > 1
                             ? titles.join(" + ")
                             : QString("%1 %2 → %3").arg(titles.front(), words(toString(newest.from)), words(toString(newest.to)));
    const QString verdict =
        !effect.measured()              ? QString("not measured")
        : !effect.machineChange.empty() ? QString("the machine changed")
        : effect.claimed() ? (effect.ofThroughput() ? "throughput " + percentOf(effect.told().ratio()) : percentOf(effect.told().ratio()) + " a step")
                           : "inconclusive (" + words(effect.doubt(effect.told())) + ')';
    return QString("%1 at step %2: %3").arg(what, words(format::count(newest.step + 1)), verdict);  // the first step that it holds for
}

QString placeOf(const MeasuredFlip& measured) {
    return placeOf(measured.sessionName, sinceOf(measured.flip), measured.startedUnixMs);
}

QString placeOf(const std::string& session, const QString& place, std::int64_t startedUnixMs) {
    return QString("Session “%1”, %2, %3.")
        .arg(words(session), place, QLocale(QLocale::English).toString(QDateTime::fromMSecsSinceEpoch(startedUnixMs).date(), "d MMM yyyy"));
}

}  // namespace stepscope
