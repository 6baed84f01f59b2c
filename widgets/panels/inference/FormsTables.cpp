#include "widgets/panels/inference/FormsTables.h"

#include <QHeaderView>
#include <QScrollBar>
#include <cmath>

#include "widgets/style/Metrics.h"
#include "widgets/style/RowTable.h"

namespace stepscope {
namespace {

const char* kNotMeasured = "not measured";

struct InferenceColumn {
    const char *title, *tooltip, *widest;
};
constexpr int kFormColumn = 0, kWeightsColumn = 1, kPromptColumn = 2, kTextColumn = 3, kBandwidthColumn = 4, kPerplexityColumn = 5;
const InferenceColumn kInferenceColumns[] = {
    {"form", "How the matrices are held while text is written; the checkpoint stays as it is", "int8-dynamic"},
    {"weights", "Memory of the weights in this form", "888.8 MB"},
    {"prompt", "Tokens of prompts read a second, with half the width of the 95 % interval; below it, beside float32",
     "faster by 88.8 % [88.8 %, 88.8 %]"},
    {"text", "Tokens of texts written a second, with half the width of the 95 % interval; below it, beside float32",
     "faster by 88.8 % [88.8 %, 88.8 %]"},
    {"bandwidth",
     "Bytes of weights, keys and values that are read a second of text, as a share of those of a large copy here; more than all of it where the "
     "processor's caches hold them. Known once Diagnose has measured this machine.",
     "bandwidth"},
    {"perplexity", "On the held-out text, and how much more that is than in float32, with the 95 % interval; below it, what that interval says",
     "88.888, +8.88 % [+8.88 %, +8.88 %]"},
};
constexpr int kInferenceColumnCount = static_cast<int>(std::size(kInferenceColumns));
const char* kPrunedTitles[] = {"pruned", "perplexity", "beside none", "after fine-tuning", "smaller", "faster"};
const char* kPrunedWidest[] = {"88 % of each matrix",
                               "not measured",
                               "+8.88 % [+8.88 %, +8.88 %]: no difference of more than 1 %",
                               "29.888, +8.88 % [+8.88 %, +8.88 %]: no difference of more than 1 %",
                               "smaller",
                               "faster"};
constexpr int kPrunedColumns = static_cast<int>(std::size(kPrunedTitles));

// As tall as its rows, with room for the bar that scrolls it sideways.
void fixHeight(QTableWidget& table, int rowHeight) {
    int height = table.horizontalHeader()->sizeHint().height() + 2 * table.frameWidth() + table.horizontalScrollBar()->sizeHint().height();
    for (int row = 0; row < table.rowCount(); ++row) {
        table.setRowHeight(row, rowHeight);
        height += rowHeight;
    }
    table.setFixedHeight(height);
}

void setInferenceCell(QTableWidget& table, int row, int column, const QString& text, bool figure, const QString& tip = {}) {
    QTableWidgetItem* cell = table.item(row, column);
    if (cell == nullptr) table.setItem(row, column, cell = new QTableWidgetItem);
    cell->setTextAlignment((figure ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (cell->text() != text) cell->setText(text);
    // Rich text by our own hand alone.
    cell->setToolTip(tip.isEmpty() ? QString() : "<p>" + tip.toHtmlEscaped() + "</p>");
}

QString twoLines(const QString& above, const QString& below) {
    return (above.isEmpty() ? QString(kNotMeasured) : above) + '\n' + below;
}

void styleInferenceTable(QTableWidget& table, const char* name) {
    styleRows(table);
    table.setAccessibleName(name);
    table.setSelectionMode(QAbstractItemView::SingleSelection);
    table.setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table.horizontalHeader()->setSectionsClickable(false);
    table.horizontalHeader()->setStretchLastSection(true);
    table.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void addInferenceColumn(QTableWidget& table, int column, const char* title, const char* widest, const char* tip) {
    auto* head = new QTableWidgetItem(title);
    if (tip != nullptr) head->setToolTip(QString("<p>%1</p>").arg(tip));
    table.setHorizontalHeaderItem(column, head);
    table.setColumnWidth(column, table.fontMetrics().horizontalAdvance(widest) + space(2));
}

}  // namespace

FormsTable::FormsTable(QWidget* parent) : QTableWidget(0, kInferenceColumnCount, parent) {
    styleInferenceTable(*this, "Forms of the weights");
    for (int column = 0; column < kInferenceColumnCount; ++column) {
        const InferenceColumn& one = kInferenceColumns[column];
        addInferenceColumn(*this, column, one.title, one.widest, one.tooltip);
    }
}

void FormsTable::setRows(const std::vector<InferenceRow>& rows) {
    setRowCount(static_cast<int>(rows.size()));
    for (int at = 0; at < rowCount(); ++at) {
        const InferenceRow& row = rows[static_cast<std::size_t>(at)];
        setInferenceCell(*this, at, kFormColumn, row.form, false, row.what);
        setInferenceCell(*this, at, kWeightsColumn, row.weights, true);
        setInferenceCell(*this, at, kPromptColumn, twoLines(row.prompt, row.promptVerdict), false, row.why);
        setInferenceCell(*this, at, kTextColumn, twoLines(row.text, row.textVerdict), false, row.why);
        setInferenceCell(*this, at, kBandwidthColumn, row.bandwidth, true);
        setInferenceCell(*this, at, kPerplexityColumn,
                         twoLines(row.quality.isEmpty() ? row.perplexity : row.perplexity + ", " + row.quality, row.qualityVerdict), false);
    }
    fixHeight(*this, 2 * fontMetrics().lineSpacing() + space(2));
}

QString FormsTable::cell(const QString& form, const QString& column) const {
    for (int row = 0; row < rowCount(); ++row)
        for (int at = 0; at < columnCount(); ++at)
            if (item(row, kFormColumn)->text() == form && horizontalHeaderItem(at)->text() == column) return item(row, at)->text();
    return {};
}

PrunedTable::PrunedTable(QWidget* parent) : QTableWidget(0, kPrunedColumns, parent) {
    styleInferenceTable(*this, "What pruning costs");
    for (int column = 0; column < kPrunedColumns; ++column) addInferenceColumn(*this, column, kPrunedTitles[column], kPrunedWidest[column], nullptr);
}

void PrunedTable::setPoints(const std::vector<PrunedPoint>& points) {
    setRowCount(static_cast<int>(points.size()));
    for (int at = 0; at < rowCount(); ++at) {
        const PrunedPoint& point = points[static_cast<std::size_t>(at)];
        setInferenceCell(*this, at, 0, point.name, true);
        setInferenceCell(*this, at, 1, std::isfinite(point.change) ? point.perplexity : QString(kNotMeasured), true);
        setInferenceCell(*this, at, 2, point.quality, false, point.quality);
        setInferenceCell(*this, at, 3, point.tuned.isEmpty() ? QString(kNotMeasured) : point.tuned, false, point.tuned);
        // No kernel leaves zeros out.
        setInferenceCell(*this, at, 4, "no", false);
        setInferenceCell(*this, at, 5, "no", false);
    }
    fixHeight(*this, fontMetrics().height() + space(1));
}

int PrunedTable::chosen() const {
    const auto selected = selectionModel()->selectedRows();
    return selected.isEmpty() ? -1 : selected.front().row();
}

QString PrunedTable::cell(int row, const QString& column) const {
    for (int at = 0; at < columnCount(); ++at)
        if (horizontalHeaderItem(at)->text() == column) return item(row, at)->text();
    return {};
}

}  // namespace stepscope
