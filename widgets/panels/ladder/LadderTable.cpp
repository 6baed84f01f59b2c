#include "widgets/panels/ladder/LadderTable.h"

#include <QHeaderView>
#include <algorithm>
#include <cmath>

#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

struct LadderColumn {
    const char *ladder, *search, *ladderTip, *searchTip;
};
const LadderColumn kLadderColumns[] = {
    {"row", "settings", "What this row adds to the row before it, or leaves out of the top", "What was tried in place of the present settings"},
    {"step", "step", "Mean time of a step", ""},
    {"speed", "speed", "Tokens trained per second", ""},
    {"× below", "× present",
     "Times as fast per token as the row before it, with its interval: ×1.20 is 20 % faster. Of what is left out: the top beside the top without it",
     "Times as fast per token as the present settings: beside what was best before within the same rounds, times what that was found to be within "
     "its own"},
    {"× bottom", "rounds", "Times as fast as the first row: the product of all rows so far, of the last row measured", "How many rounds it raced"},
    {"memory", "memory", "The most bytes of tensors at a time, in a step", "The most bytes of tensors at a time, in a step"},
    {"operations", "operations", "Operations a step: calls that hand work to a library or to a kernel, which fusion makes fewer", ""},
    {"loss", "loss", "Loss less that of the row before it, after as many tokens, soon after the start: below 0 is better", ""},
    {"reported", "", "What the authors of this ladder report, on other hardware; nothing of it was measured here", ""},
    {"what to know", "what came of it", "Why it was not measured, or what to know of it", "Why it left the race, or what to know of it"},
};
constexpr int kWidestReason = 900;
constexpr int kTimesColumn = 3;  // "× below", "× present"
constexpr int kLadderColumnCount = static_cast<int>(std::size(kLadderColumns));

QString ladderFigure(double value, const std::string& text) {
    return std::isfinite(value) ? QString::fromStdString(text) : QString();
}

// Of settings that race beside the present ones, which themselves have none. anew: see StudyHistory::isMeasuredAnew().
QString racedText(const StudyRow& row, bool anew) {
    if (anew) return timesText(std::isfinite(row.total) ? row.total : row.ratio, kUnknown, kUnknown, kBeforeAnew);
    if (std::isfinite(row.total)) return timesText(row.total, row.totalLow, row.totalHigh, "too few rounds");
    // Searches of earlier versions know no more than this.
    const QString times = timesText(row.ratio, row.low, row.high, "too few rounds");
    return times.isEmpty() ? times : times + " of the best before";
}

QString ladderStateText(const StudyRow& row, bool over) {
    if (const std::string why = whyWords(row); !why.empty()) return QString::fromStdString(why);
    if (over && row.state == study::kRunning) return "not decided";
    if (over && row.state == study::kWaiting) return "not measured";
    if (row.state == study::kRunning) return row.role == study::kCandidate ? "racing" : "being measured";
    if (row.state == study::kWaiting) return "waits";
    if (row.state == study::kChosen) return row.role == study::kFinal ? "recommended" : "the fastest of the race";
    return {};
}

}  // namespace

QString timesText(double ratio, double low, double high, const QString& unbounded) {
    if (!std::isfinite(ratio)) return {};
    const int digits = ratio < 10 ? 2 : 1;
    const QString times = QString("×%1").arg(ratio, 0, 'f', digits);
    if (!(low > 0 && std::isfinite(high))) return times + ", " + unbounded;
    return times + QString(" [%1, %2]").arg(low, 0, 'f', digits).arg(high, 0, 'f', digits);
}

LadderTable::LadderTable(QWidget* parent) : QTableWidget(0, kLadderColumnCount, parent) {
    setAccessibleName("Rows");
    verticalHeader()->hide();
    verticalHeader()->setMinimumSectionSize(1);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsClickable(false);
    horizontalHeader()->setStretchLastSection(true);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setTabKeyNavigation(false);
    setShowGrid(false);
    setWordWrap(false);
    setFont(tabularFont(font()));
}

void LadderTable::setHistory(const StudyHistory& history, bool over) {
    const bool search = history.began() && history.began()->kind != "ladder";
    for (int column = 0; column < kLadderColumnCount; ++column) {
        auto* head = new QTableWidgetItem(search ? kLadderColumns[column].search : kLadderColumns[column].ladder);
        head->setToolTip(search ? kLadderColumns[column].searchTip : kLadderColumns[column].ladderTip);
        setHorizontalHeaderItem(column, head);
    }
    // The reasons of a search are what it is about; a small window shows them without scrolling. Times of different moments compare nothing.
    for (const int column : {1, 2, 6, 7, 8}) setColumnHidden(column, search);
    std::vector<const StudyRow*> rows;
    for (const StudyRow& row : history.rows()) {
        // Values that were not chosen have their reason in the row of the settings that raced, or say it here.
        if (search && row.role == study::kCandidate && (row.state == study::kSkipped || row.state == study::kWaiting)) continue;
        if (row.role != study::kValue) rows.push_back(&row);
    }
    const std::vector<StudyRow> rejected = history.rejectedValues();
    for (const StudyRow& row : rejected) rows.push_back(&row);
    // What is recommended stands first, then who raced; reasons last.
    if (search)
        std::ranges::stable_sort(rows, {}, [](const StudyRow* row) {
            return row->role == study::kFinal ? 0 : row->role == study::kCandidate ? 1 : 2;
        });
    const int before = rowCount();
    setRowCount(static_cast<int>(rows.size()));
    for (int at = 0; at < rowCount(); ++at) {
        const StudyRow& row = *rows[static_cast<std::size_t>(at)];
        const bool apart = row.state == study::kSkipped || row.state == study::kFailed;
        const QString name = QString::fromStdString(row.role == study::kValue   ? "not " + row.settings
                                                    : row.role == study::kFinal ? row.name + ", measured anew"
                                                                                : row.name);
        const auto machine = history.machineMeanwhile(row);
        const QString meanwhile = machine ? QString::fromStdString(machineSentence(*machine)) : QString();
        const QString cells[] = {
            name,
            ladderFigure(row.msPerStep, format::milliseconds(row.msPerStep)),
            ladderFigure(row.tokensPerSecond, format::rate(row.tokensPerSecond, "tok/s")),
            apart                           ? QString("not measured")
            : row.role == study::kCandidate ? racedText(row, history.isMeasuredAnew(row))
                                            : timesText(row.ratio, row.low, row.high),
            search ? (row.pairs > 0 ? QString::number(row.pairs) : QString()) : timesText(row.total, row.totalLow, row.totalHigh),
            ladderFigure(row.peakBytes, format::bytes(row.peakBytes)),
            ladderFigure(row.operations, format::amount(row.operations)),
            std::isfinite(row.loss) ? QString::fromStdString(format::change(row.loss, 4)) : QString(),
            QString::fromStdString(row.reported),
            ladderStateText(row, over)};
        for (int column = 0; column < kLadderColumnCount; ++column) {
            auto* cell = item(at, column);
            if (cell == nullptr) setItem(at, column, cell = new QTableWidgetItem);
            const bool figure = column > 0 && column < kLadderColumnCount - 1 && column != kTimesColumn && column != 4;
            cell->setTextAlignment((figure ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
            if (cell->text() != cells[column]) cell->setText(cells[column]);
            // Rich text by our own hand alone: what is stored may be a stranger's.
            QString tip = column == 0 || column == kLadderColumnCount - 1 ? cells[column] : QString();
            // Beside the figure that it may have moved, and in what there is to know.
            if (!meanwhile.isEmpty() && (column == kTimesColumn || column == kLadderColumnCount - 1)) tip += (tip.isEmpty() ? "" : " ") + meanwhile;
            cell->setToolTip(tip.isEmpty() ? QString() : "<p>" + tip.toHtmlEscaped() + "</p>");
            QFont text = font();
            text.setBold(row.state == study::kChosen || row.role == study::kTop);
            cell->setFont(text);
        }
        setRowHeight(at, fontMetrics().height() + 5);
    }
    if (rowCount() == before && rowCount() > 0 && columnWidth(0) > 0 && before > 0) {
        for (int column = 1; column < kLadderColumnCount - 1; ++column)
            setColumnWidth(column, std::max(columnWidth(column), sizeHintForColumn(column) + space(2)));
        fitReasons();
        return;
    }
    for (int column = 0; column < kLadderColumnCount - 1; ++column) resizeColumnToContents(column);
    setColumnWidth(0, std::min(columnWidth(0), 260));
    fitReasons();
}

// The reasons fill what is left of the width; where that is too little they are as long as they are, and the table scrolls.
void LadderTable::fitReasons() {
    const int last = kLadderColumnCount - 1;
    int left = viewport()->width();
    for (int column = 0; column < last; ++column)
        if (!isColumnHidden(column)) left -= columnWidth(column);
    const int wanted = std::min(sizeHintForColumn(last) + space(2), kWidestReason);
    horizontalHeader()->setStretchLastSection(wanted <= left);
    if (wanted > left) setColumnWidth(last, wanted);
}

void LadderTable::resizeEvent(QResizeEvent* event) {
    QTableWidget::resizeEvent(event);
    fitReasons();
}

QString LadderTable::cell(const QString& row, const QString& column) const {
    for (int at = 0; at < rowCount(); ++at)
        for (int across = 0; across < columnCount(); ++across)
            if (item(at, 0)->text() == row && horizontalHeaderItem(across)->text() == column) return item(at, across)->text();
    return {};
}

}  // namespace stepscope
