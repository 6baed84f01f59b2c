#include "widgets/panels/compare/CompareFacts.h"

#include <QEvent>
#include <QHeaderView>
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/Format.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

QString factText(double value, const std::function<std::string(double)>& text) {
    return std::isfinite(value) ? QString::fromStdString(text(value)) : QString("unknown");
}

// "60.0–62.1 ms", or with both units where they are not the same: what stands in a narrow column is to be read whole.
std::string between(const std::string& low, const std::string& high) {
    const auto unitAt = [](const std::string& text) { return text.rfind("\u202f"); };
    const auto ofLow = unitAt(low), ofHigh = unitAt(high);
    const bool same = ofLow != std::string::npos && ofHigh != std::string::npos && low.substr(ofLow) == high.substr(ofHigh);
    return (same ? low.substr(0, ofLow) : low) + "–" + high;
}

struct Fact {
    const char *name, *tooltip;
    QString (*text)(const SideFacts&);
};

const Fact kFacts[] = {
    {"mean step", "Mean time of a step: people pay for all of them",
     [](const SideFacts& f) { return factText(f.msPerStep, [](double v) { return format::milliseconds(v); }); }},
    {"median step", "Half of the steps took less: the median of the blocks' medians",
     [](const SideFacts& f) { return factText(f.medianMsPerStep, [](double v) { return format::milliseconds(v); }); }},
    {"p10 to p90", "Mean step of the blocks: a tenth of them took less than the first, a tenth more than the second",
     [](const SideFacts& f) {
         return factText(f.tenthMs, [&](double v) { return between(format::milliseconds(v), format::milliseconds(f.ninetiethMs)); });
     }},
    {"slowest step", "The slowest step of all that counted",
     [](const SideFacts& f) { return factText(f.slowestMs, [](double v) { return format::milliseconds(v); }); }},
    {"speed", "Tokens trained per second, over all steps that counted",
     [](const SideFacts& f) { return factText(f.tokensPerSecond, [](double v) { return format::rate(v, "tok/s"); }); }},
    {"tensor memory", "The most that tensors held at a time, of this side alone; the process holds more: what is kept, the program and its libraries",
     [](const SideFacts& f) { return factText(f.peakBytes, [](double v) { return format::bytes(v); }); }},
    {"faults a step", "Page faults: memory that the system had to hand out anew",
     [](const SideFacts& f) { return factText(f.faultsPerStep, [](double v) { return format::amount(v); }); }},
    {"operations", "Operations a step: calls that hand work to a library or to a kernel, which fusion makes fewer",
     [](const SideFacts& f) { return factText(f.operations, [](double v) { return format::amount(v); }); }},
    {"energy a token", "Of the processors and of the GPUs that A or B runs on, all programs together; unknown where this machine does not tell",
     [](const SideFacts& f) { return factText(f.joulesPerToken, [](double v) { return format::significant(v * 1e3) + " mJ"; }); }},
};
constexpr int kCounted = static_cast<int>(std::size(kFacts)), kEnergyRow = kCounted - 1;

}  // namespace

CompareFacts::CompareFacts(QWidget* parent) : QTableWidget(kCounted + 1, 3, parent) {
    setAccessibleName("Both sides beside time");
    setHorizontalHeaderLabels({"", "A", "B"});
    verticalHeader()->hide();
    horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    verticalHeader()->setMinimumSectionSize(1);
    horizontalHeader()->setSectionsClickable(false);
    horizontalHeader()->setHighlightSections(false);
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setSelectionMode(QAbstractItemView::NoSelection);
    setTabKeyNavigation(false);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFont(tabularFont(font()));
    for (int row = 0; row < rowCount(); ++row) {
        setRowHeight(row, fontMetrics().height() + 3);
        for (int column = 0; column < 3; ++column) {
            auto* item = new QTableWidgetItem;
            item->setTextAlignment((column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
            setItem(row, column, item);
        }
        item(row, 0)->setText(row < kCounted ? kFacts[row].name : "loss");
        item(row, 0)->setToolTip(row < kCounted
                                     ? kFacts[row].tooltip
                                     : "Of B beside A where both had trained as many tokens, on average; soon after the start, so no claim");
    }
    for (int column = 1; column < 3; ++column) horizontalHeaderItem(column)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    setFacts({}, {}, kUnknown);
    tint();
}

void CompareFacts::setFacts(const SideFacts& a, const SideFacts& b, double lossDifference, const QString& whyNoLoss, const QString& whyNoEnergy) {
    const bool any = a.blocks > 0 || b.blocks > 0;
    for (int row = 0; row < kCounted; ++row)
        for (const int side : {0, 1}) item(row, side + 1)->setText(any ? kFacts[row].text(side == 0 ? a : b) : QString("–"));
    for (const int side : {0, 1}) {
        const bool unknown = any && !std::isfinite((side == 0 ? a : b).joulesPerToken);
        item(kEnergyRow, side + 1)->setToolTip(unknown && !whyNoEnergy.isEmpty() ? "Unknown: " + whyNoEnergy : QString());
    }
    item(kCounted, 1)->setText("–");
    item(kCounted, 2)
        ->setText(!any                              ? QString("–")
                  : std::abs(lossDifference) < 5e-5 ? QString("the same")
                  : std::isfinite(lossDifference)   ? QString(lossDifference < 0 ? "\u2212%1" : "+%1").arg(std::abs(lossDifference), 0, 'f', 4)
                                                    : QString("unknown"));
    item(kCounted, 2)->setToolTip(any && !std::isfinite(lossDifference) && !whyNoLoss.isEmpty() ? "Unknown: " + whyNoLoss : QString());
}

QString CompareFacts::cell(const QString& row, int side) const {
    for (int at = 0; at < rowCount(); ++at)
        if (item(at, 0)->text() == row) return item(at, side + 1)->text();
    return {};
}

void CompareFacts::tint() {
    const bool dark = isDark(palette());
    horizontalHeaderItem(1)->setForeground(seriesColour(SeriesRole::A, dark));
    horizontalHeaderItem(2)->setForeground(seriesColour(SeriesRole::B, dark));
    for (int row = 0; row < rowCount(); ++row) item(row, 0)->setForeground(mutedText(palette()));
}

void CompareFacts::changeEvent(QEvent* event) {
    QTableWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && rowCount() > 0 && item(0, 0) != nullptr) tint();
}

QSize CompareFacts::sizeHint() const {
    return {300, horizontalHeader()->sizeHint().height() + verticalHeader()->length() + 2};
}

QSize CompareFacts::minimumSizeHint() const {
    // Every figure whole: what does not fit beside the chart goes below it.
    const int names = sizeHintForColumn(0), figures = fontMetrics().horizontalAdvance("000.0 K tok/s") + space(4);
    return {std::max(240, names + 2 * figures), sizeHint().height()};
}

}  // namespace stepscope
