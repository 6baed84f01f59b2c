#include "widgets/panels/query/QueryTable.h"

#include <QGuiApplication>
#include <QPalette>
#include <algorithm>
#include <numeric>

#include "core/analysis/query/QueryText.h"
#include "core/base/Format.h"
#include "core/base/Utf8.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/panes/Pane.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestQueryCell = 300;          // bytes of a text in a cell
constexpr qsizetype kMostCopied = qsizetype{16} << 20;  // characters
constexpr int kQueryDigits = 12;
constexpr std::size_t kRowsAligned = 1000;  // so many rows say how many decimals a column has

// Behind the point; -1: it is written with an exponent, or is no number.
int decimalsOf(const QString& digits) {
    if (digits.contains('e') || digits.contains('n')) return -1;
    const qsizetype point = digits.indexOf('.');
    return point < 0 ? 0 : static_cast<int>(digits.size() - point - 1);
}

int commonDecimals(const QueryResult& result, std::size_t column) {
    int most = 0;
    for (std::size_t row = 0; row < std::min(result.rows.size(), kRowsAligned); ++row)
        if (const QueryValue& value = result.rows[row][column]; std::holds_alternative<double>(value))
            most = std::max(most, decimalsOf(queryCell(value)));
    return most;
}

// Cut between two characters.
std::string_view shortened(const std::string& text) {
    std::size_t end = std::min(text.size(), kLongestQueryCell);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return std::string_view(text).substr(0, end);
}

QString wholeCell(const QueryValue& value) {
    return isNullValue(value) ? QString() : QString::fromStdString(printable(queryText(value)));
}

}  // namespace

QString queryCell(const QueryValue& value) {
    if (isNullValue(value)) return QStringLiteral("NULL");
    if (const auto* text = std::get_if<std::string>(&value)) {
        const std::string_view some = shortened(*text);
        return QString::fromStdString(printable(some)) + (some.size() < text->size() ? QStringLiteral("…") : QString());
    }
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return QString::fromStdString(format::count(*whole));
    const QString digits = QString::fromStdString(queryText(value));
    return digits.size() <= kQueryDigits ? digits : QString::number(std::get<double>(value), 'g', 7);
}

void QueryTable::setResult(std::shared_ptr<const QueryResult> result) {
    beginResetModel();
    m_result = std::move(result);
    m_order.resize(m_result ? m_result->rows.size() : 0);
    std::iota(m_order.begin(), m_order.end(), 0U);
    m_numbers.clear();
    m_decimals.clear();
    for (std::size_t column = 0; column < static_cast<std::size_t>(columnCount()); ++column) {
        m_numbers.push_back(holdsNumbers(*m_result, column));
        m_decimals.push_back(m_numbers.back() ? commonDecimals(*m_result, column) : 0);
    }
    endResetModel();
}

const QueryValue& QueryTable::at(int row, int column) const {
    return m_result->rows.at(m_order.at(static_cast<std::size_t>(row))).at(static_cast<std::size_t>(column));
}

// Points stand below each other: never fewer decimals than the number has alone.
QString QueryTable::shownCell(int row, int column) const {
    const QueryValue& value = at(row, column);
    QString alone = queryCell(value);
    if (!std::holds_alternative<double>(value)) return alone;
    const int own = decimalsOf(alone), common = m_decimals[static_cast<std::size_t>(column)];
    return own < 0 || own >= common ? alone : QString::number(std::get<double>(value), 'f', common);
}

int QueryTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_order.size());
}

int QueryTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_result ? 0 : static_cast<int>(m_result->columns.size());
}

QVariant QueryTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((m_numbers[static_cast<std::size_t>(index.column())] ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    const QueryValue& value = at(index.row(), index.column());
    switch (role) {
        case Qt::DisplayRole:
            return shownCell(index.row(), index.column());
        case Qt::ToolTipRole: {
            // Only where the cell does not say all.
            const QString whole = wholeCell(value);
            return whole.isEmpty() || whole == queryCell(value) ? QVariant() : QVariant(paneTip(whole));
        }
        case Qt::ForegroundRole:
            return isNullValue(value) ? QVariant(mutedText(QGuiApplication::palette())) : QVariant();
        default:
            return {};
    }
}

QVariant QueryTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const QueryValue title(m_result->columns[static_cast<std::size_t>(section)]);
    if (role == Qt::DisplayRole) return queryCell(title);
    if (role == Qt::ToolTipRole) return paneTip(wholeCell(title));
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((m_numbers[static_cast<std::size_t>(section)] ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

void QueryTable::sort(int column, Qt::SortOrder order) {
    if (!m_result || column >= columnCount()) return;
    Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const std::vector<std::uint32_t> before = m_order;
    std::iota(m_order.begin(), m_order.end(), 0U);
    if (column >= 0) {
        const auto value = [&](std::uint32_t row) -> const QueryValue& { return m_result->rows[row][static_cast<std::size_t>(column)]; };
        if (order == Qt::AscendingOrder)
            std::ranges::stable_sort(m_order, [&](std::uint32_t a, std::uint32_t b) { return queryLess(value(a), value(b)); });
        else
            std::ranges::stable_sort(m_order, [&](std::uint32_t a, std::uint32_t b) { return queryLess(value(b), value(a)); });
    }
    // What is selected stays so where it goes.
    if (const QModelIndexList old = persistentIndexList(); !old.isEmpty()) {
        std::vector<int> places(m_order.size());
        for (std::size_t place = 0; place < m_order.size(); ++place) places[m_order[place]] = static_cast<int>(place);
        QModelIndexList now;
        for (const QModelIndex& index : old) now << createIndex(places[before[static_cast<std::size_t>(index.row())]], index.column());
        changePersistentIndexList(old, now);
    }
    Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

QString QueryTable::asText(const QItemSelection& selection, bool* cut) const {
    if (cut != nullptr) *cut = false;
    if (!m_result) return {};
    std::vector<bool> rows(m_order.size(), selection.isEmpty()), columns(static_cast<std::size_t>(columnCount()), selection.isEmpty());
    for (const QItemSelectionRange& range : selection) {
        for (int row = range.top(); row <= range.bottom(); ++row) rows[static_cast<std::size_t>(row)] = true;
        for (int column = range.left(); column <= range.right(); ++column) columns[static_cast<std::size_t>(column)] = true;
    }
    if (std::ranges::count(rows, true) == 1 && std::ranges::count(columns, true) == 1 && !selection.isEmpty())
        return wholeCell(at(selection.front().top(), selection.front().left()));
    QString text;
    const auto addLine = [&](auto cell) {
        QStringList cells;
        for (std::size_t column = 0; column < columns.size(); ++column)
            if (columns[column]) cells << cell(column);
        text += cells.join('\t') + '\n';
    };
    addLine([&](std::size_t column) { return wholeCell(QueryValue(m_result->columns[column])); });
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!rows[row]) continue;
        if (text.size() >= kMostCopied) {
            if (cut != nullptr) *cut = true;
            break;
        }
        addLine([&](std::size_t column) { return wholeCell(at(static_cast<int>(row), static_cast<int>(column))); });
    }
    return text;
}

}  // namespace stepscope
