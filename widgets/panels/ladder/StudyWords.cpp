// What the page Ladder says of a ladder or a search in words: its answer, what is to be known beside it, whether there is something to use.
#include <cmath>

#include "core/analysis/PairedVerdict.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/ladder/LadderTable.h"

namespace stepscope {

QString studyAnswer(const StudyHistory& history, bool over) {
    if (!history.began()) return {};
    if (history.began()->kind != "ladder") {
        const StudyRow* last = history.find(study::kFinal);
        if (last == nullptr) return {};
        if (last->settings.empty() && last->outcome == toString(PairedOutcome::Inconclusive)) return QString::fromStdString(last->why);
        if (last->settings.empty() || last->state == study::kRejected) return "The present settings are the fastest that were found.";
        const QString settings = QString::fromStdString(last->settings);
        if (last->state == study::kFailed) return "What won the race could not be measured anew: " + QString::fromStdString(last->why);
        const QString times = timesText(last->ratio, last->low, last->high);
        if (last->state == study::kWaiting || (over && last->state == study::kRunning))
            return settings + " won the race, and it was ended before that was measured anew: nothing is recommended";
        if (last->state == study::kRunning) return QString("%1 won the race and is measured anew: %2").arg(settings, times.isEmpty() ? "…" : times);
        return QString("Recommended%1: %2, %3 as fast as the present settings")
            .arg(history.recommendedUnconfirmed() ? QString(", not confirmed") : QString(), settings, times);
    }
    const StudyRow* top = history.find(study::kTop);
    if (top != nullptr && std::isfinite(top->ratio))
        return QString("The top is %1 as fast as the bottom").arg(timesText(top->ratio, top->low, top->high));
    const StudyRow* newest = nullptr;
    for (const StudyRow& row : history.rows())
        if (row.role == study::kRung && row.state == study::kMeasured && std::isfinite(row.total)) newest = &row;
    return newest == nullptr ? QString()
                             : QString("So far, up to %1: %2")
                                   .arg(QString::fromStdString(newest->name), timesText(newest->total, newest->totalLow, newest->totalHigh));
}

QString studyBeside(const StudyHistory& history) {
    const StudyRow* last = history.recommended();
    if (last == nullptr) return {};
    QString words = QString::fromStdString(searchLossSentence(history));
    // What is open about it comes first.
    if (history.recommendedUnconfirmed()) return QString::fromStdString(whyWords(*last)) + " " + words;
    if (const Arithmetic arithmetic = arithmeticOf(*last); arithmetic != Arithmetic::Unknown)
        words += QString(" ") + (arithmetic == Arithmetic::Same ? kSameArithmetic : kOtherArithmetic);
    return words;
}

bool studyUsable(const StudyHistory& history) {
    if (!history.began()) return false;
    if (history.began()->kind == "ladder") return history.saysAnything();
    const StudyRow* last = history.find(study::kFinal);
    const bool none = last != nullptr && last->settings.empty() && last->outcome == toString(PairedOutcome::Inconclusive);
    return history.recommended() != nullptr || (last != nullptr && !none && (last->settings.empty() || last->state == study::kRejected));
}

}  // namespace stepscope
