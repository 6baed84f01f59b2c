#include "widgets/panels/operations/OperationsTable.h"

#include <algorithm>

#include "core/base/Format.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

QString cellText(const std::string& text) {
    return QString::fromStdString(text);
}

QString timeText(TimeNs time) {
    return cellText(format::milliseconds(time.milliseconds()));
}

QString roleText(const SummaryRow& row) {
    const QString role = row.role.empty() ? QString("–") : cellText(row.role);
    return row.places > 1 ? QString("%1 +%2").arg(role).arg(row.places - 1) : role;
}

QString layerText(const SummaryRow& row) {
    return row.layer < 0 ? QString("–") : QString::number(row.layer);
}

QString operationFacts(const SummaryRow& row) {
    QStringList lines{cellText(row.name), QString("shortest %1, longest %2").arg(timeText(row.shortest), timeText(row.longest))};
    if (!row.phase.empty()) lines << QString("most of its time in the phase %1").arg(cellText(row.phase));
    if (row.places > 1) lines << QString("in %1 places of the model; most of its time in the one shown").arg(row.places);
    if (row.recomputed > 0) lines << QString("%1 calls computed again in the backward pass").arg(cellText(format::count(row.recomputed)));
    if (row.flops > 0 && row.self.ns > 0)
        lines << QString("computes %1").arg(cellText(format::rate(static_cast<double>(row.flops) / row.self.seconds(), "FLOP/s")));
    if (row.bytes > 0 && row.self.ns > 0)
        lines << QString("moves %1").arg(cellText(format::rate(static_cast<double>(row.bytes) / row.self.seconds(), "B/s")));
    return lines.join('\n');
}

}  // namespace

void OperationsTable::setRows(std::vector<SummaryRow> rows, TimeNs all) {
    beginResetModel();
    m_rows = std::move(rows);
    m_all = all;
    endResetModel();
}

int OperationsTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

double OperationsTable::share(const SummaryRow& row) const {
    return m_all.ns > 0 ? 100 * static_cast<double>(row.self.ns) / static_cast<double>(m_all.ns) : 0;
}

QVariant OperationsTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const SummaryRow& row = at(index.row());
    if (role == Qt::ToolTipRole) return plainTip(operationFacts(row));
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((index.column() != Name && index.column() != Role ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    const bool sorts = role == kSortRole;
    if (!sorts && role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case Name:
            return cellText(row.name);
        case Calls:
            return sorts ? QVariant(static_cast<qlonglong>(row.calls)) : QVariant(cellText(format::count(row.calls)));
        case Self:
            return sorts ? QVariant(static_cast<qlonglong>(row.self.ns)) : QVariant(timeText(row.self));
        case Share:
            return sorts ? QVariant(share(row)) : QVariant(QString("%1 %").arg(share(row), 0, 'f', 1));
        case Total:
            return sorts ? QVariant(static_cast<qlonglong>(row.total.ns)) : QVariant(timeText(row.total));
        case Mean:
            return sorts ? QVariant(static_cast<qlonglong>(row.mean().ns)) : QVariant(timeText(row.mean()));
        case Layer:
            return sorts ? QVariant(row.layer) : QVariant(layerText(row));
        case Role:
            return roleText(row);
        default:
            return {};
    }
}

QVariant OperationsTable::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[Columns] = {"Name", "Self", "Share", "Calls", "Layer", "Role", "Total", "Mean"};
    static const char* const help[Columns] = {"What ran",
                                              "Its own time without what it called, of all threads and all captured steps",
                                              "Its own time of that of all operations",
                                              "How often, in all captured steps; calls by other operations count, too",
                                              "The layer where most of its own time went",
                                              "The part of the model where most of its own time went; + how many more places",
                                              "Its time with what it called",
                                              "Total time of a call"};
    if (orientation != Qt::Horizontal || section < 0 || section >= Columns) return {};
    return role == Qt::DisplayRole ? QVariant(titles[section]) : role == Qt::ToolTipRole ? QVariant(help[section]) : QVariant();
}

void OperationsOrder::setWords(const QString& text) {
    m_words = text.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool OperationsOrder::filterAcceptsRow(int row, const QModelIndex&) const {
    const SummaryRow& one = static_cast<const OperationsTable*>(sourceModel())->at(row);
    const QString text = cellText(one.name + " " + one.role + " " + layerName(one.layer, one.role) + " " + one.phase);
    return std::ranges::all_of(m_words, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

}  // namespace stepscope
