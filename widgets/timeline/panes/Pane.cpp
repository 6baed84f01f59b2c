#include "widgets/timeline/panes/Pane.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "core/base/Format.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/style/Metrics.h"
#include "widgets/timeline/TimelineLooks.h"

namespace stepscope {

PaneHead layOutPane(QWidget& pane, const QList<QWidget*>& before, const QList<QWidget*>& after, QWidget* picture) {
    const PaneHead made{new ElidedLabel(Tone::Muted), sentenceLabel(Tone::Muted)};
    auto* line = new QHBoxLayout;
    line->setSpacing(space(2));
    for (QWidget* tool : before) line->addWidget(tool);
    line->addWidget(made.head, 1);
    for (QWidget* tool : after) line->addWidget(tool);
    auto* layout = new QVBoxLayout(&pane);
    layout->setContentsMargins(0, space(1), 0, 0);
    layout->setSpacing(space(1));
    layout->addLayout(line);
    layout->addWidget(made.empty);
    layout->addWidget(picture, 1);
    layout->addStretch(0);
    return made;
}

QComboBox* operationsOrKernels(const QString& accessibleName) {
    auto* choice = new QComboBox;
    choice->addItems({"operations", "kernels"});
    choice->setAccessibleName(accessibleName);
    return choice;
}

QString paneText(const std::string& text) {
    return QString::fromStdString(text);
}

QString paneTime(std::int64_t ns) {
    return timeText(static_cast<double>(ns));
}

QString paneCount(std::int64_t count) {
    return QString::fromStdString(format::count(count));
}

QString panePercent(double share) {
    return share < 0 ? QString("–") : QString("%1\u202F%").arg(100 * share, 0, 'f', share < 0.1 ? 2 : 1);
}

QString paneTip(const QString& text) {
    constexpr qsizetype kMostTip = 700;
    const QString some = text.size() > kMostTip ? text.left(kMostTip) + "…" : text;
    return "<qt>" + some.toHtmlEscaped().replace("::", "::\u200b").replace(',', ",\u200b").replace('\n', "<br>") + "</qt>";
}

QString notRecorded(const PanesView& view) {
    QString text;
    for (const QString& sentence : {view.slowest, view.others})
        if (!sentence.isEmpty()) text += " · " + sentence;
    return text;
}

QString tooManySlices(const RangePanes& panes) {
    return QString(
               "%1 slices begin in this range, more than the %2 that are read one by one: zoom in, or select a shorter range with Shift and drag.")
        .arg(paneCount(panes.slices), paneCount(PanesReader::kMostSlices));
}

}  // namespace stepscope
