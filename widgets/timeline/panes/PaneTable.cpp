#include "widgets/timeline/panes/PaneTable.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLayout>
#include <QLineEdit>
#include <QPainter>
#include <QTableView>
#include <QToolButton>
#include <algorithm>

#include "core/base/Check.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/RowTable.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

const QString kUnknownText = QStringLiteral("–");
constexpr int kSwatchRoom = 14;  // before the text

// Bars and swatches; everything else as tables draw it.
class PaneCells : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const QSize plain = QStyledItemDelegate::sizeHint(option, index);
        const auto* order = static_cast<const PaneOrder*>(index.model());
        const PaneCell& cell = static_cast<const PaneRows*>(order->sourceModel())->cell(order->mapToSource(index));
        return cell.light.isValid() ? plain + QSize(kSwatchRoom, 0) : plain;
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const auto* order = static_cast<const PaneOrder*>(index.model());
        const PaneCell& cell = static_cast<const PaneRows*>(order->sourceModel())->cell(order->mapToSource(index));
        const bool dark = isDark(option.palette);
        QStyleOptionViewItem rest = option;
        if (cell.light.isValid()) {
            initStyleOption(&rest, index);
            if ((option.state & QStyle::State_Selected) != 0) painter->fillRect(option.rect, option.palette.brush(QPalette::Highlight));
            painter->fillRect(QRect(option.rect.left() + 4, option.rect.center().y() - 4, 9, 9), dark ? cell.dark : cell.light);
            rest.rect.adjust(kSwatchRoom, 0, 0, 0);
        }
        QStyledItemDelegate::paint(painter, rest, index);
        if (cell.bar.empty()) return;
        const QRect all = option.rect.adjusted(4, 4, -4, -4);
        painter->fillRect(all, option.palette.color(QPalette::AlternateBase));
        double left = 0;
        for (const BarPart& part : cell.bar) {
            const int from = all.left() + static_cast<int>(left * all.width());
            left = std::min(1.0, left + std::max(0.0, part.share));
            const int to = all.left() + static_cast<int>(left * all.width());
            painter->fillRect(QRect(from, all.top(), to - from, all.height()), part.colour(dark));
        }
    }
};

}  // namespace

void PaneRows::setRows(std::vector<PaneColumn> columns, std::vector<std::vector<PaneCell>> rows) {
    for (const auto& row : rows) SS_CHECK(row.size() == columns.size());
    beginResetModel();
    m_columns = std::move(columns);
    m_rows = std::move(rows);
    endResetModel();
}

const PaneCell& PaneRows::cell(const QModelIndex& index) const {
    return m_rows.at(static_cast<std::size_t>(index.row())).at(static_cast<std::size_t>(index.column()));
}

QVariant PaneRows::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
    const PaneCell& one = cell(index);
    switch (role) {
        case Qt::DisplayRole:
            return one.text;
        case kSortRole:
            return one.value.isValid() ? one.value : QVariant(one.text);
        case Qt::ToolTipRole:
            if (!one.tip.isEmpty()) return paneTip(one.tip);
            // Of a column that may be too narrow for them: the whole name.
            return m_columns[static_cast<std::size_t>(index.column())].wide > 0 && one.text != kUnknownText ? QVariant(paneTip(one.text))
                                                                                                            : QVariant();
        case Qt::TextAlignmentRole:
            return static_cast<int>((m_columns[static_cast<std::size_t>(index.column())].words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        default:
            return {};
    }
}

QVariant PaneRows::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const PaneColumn& column = m_columns[static_cast<std::size_t>(section)];
    return role == Qt::DisplayRole ? QVariant(column.title) : role == Qt::ToolTipRole ? QVariant(column.tip) : QVariant();
}

void PaneOrder::setWords(const QString& text) {
    m_words = text.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool PaneOrder::filterAcceptsRow(int row, const QModelIndex&) const {
    if (m_words.isEmpty()) return true;
    const auto* rows = static_cast<const PaneRows*>(sourceModel());
    QString text;
    for (int column = 0; column < rows->columnCount(); ++column)
        if (rows->columns()[static_cast<std::size_t>(column)].words) text += rows->index(row, column).data().toString() + ' ';
    return std::ranges::all_of(m_words, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

PaneTable::PaneTable(const QString& name, int sorted, bool filtered, QWidget* parent) : QWidget(parent), m_sorted(sorted) {
    m_rows = new PaneRows(this);
    m_order = new PaneOrder(this);
    m_order->setSourceModel(m_rows);
    m_order->setSortRole(PaneRows::kSortRole);
    m_table = new QTableView;
    m_table->setModel(m_order);
    m_table->setAccessibleName(name);
    m_table->setItemDelegate(new PaneCells(m_table));
    m_table->setSortingEnabled(true);
    styleRows(*m_table, 5);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setTextElideMode(Qt::ElideMiddle);  // what tells kernels apart stands at the end of their names
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->horizontalHeader()->setMinimumSectionSize(24);
    m_table->setMinimumHeight(44);
    m_copy = new QToolButton;
    m_copy->setText("Copy CSV");
    m_copy->setAccessibleName("Copy the rows as CSV");
    m_copy->setToolTip("Copies the rows in sight as CSV, times in milliseconds");
    m_copy->setAutoRaise(true);
    QList<QWidget*> tools;
    if (filtered) {
        m_filter = new QLineEdit;
        m_filter->setPlaceholderText("Filter");
        m_filter->setClearButtonEnabled(true);
        m_filter->setAccessibleName("Filter " + name);
        m_filter->setToolTip("Rows that hold all these words, in their name, layer or part of the model");
        m_filter->setMaximumWidth(fontMetrics().averageCharWidth() * 26);
        tools << m_filter;
        connect(m_filter, &QLineEdit::textChanged, m_order, &PaneOrder::setWords);
    }
    tools << m_copy;
    const auto [head, empty] = layOutPane(*this, {}, tools, m_table);
    layout()->setContentsMargins(0, 0, 0, 0);  // a pane's own, which it lies in, are enough
    m_head = head;
    m_empty = empty;
    connect(m_copy, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(asCsv()); });
    const auto choose = [this](const QModelIndex& index) { Q_EMIT rowChosen(m_order->mapToSource(index).row()); };
    connect(m_table, &QTableView::clicked, this, choose);
    connect(m_table, &QTableView::activated, this, choose);
    setRows({}, {});
}

void PaneTable::setRows(std::vector<PaneColumn> columns, std::vector<std::vector<PaneCell>> rows) {
    const bool some = !rows.empty();
    m_rows->setRows(std::move(columns), std::move(rows));
    for (QWidget* part : {static_cast<QWidget*>(m_table), static_cast<QWidget*>(m_copy), static_cast<QWidget*>(m_filter)})
        if (part != nullptr) part->setVisible(some);
    m_empty->setVisible(!some);
    m_head->setVisible(some);
    if (!some) return;
    const bool first = !std::exchange(m_filled, true);
    if (first) m_table->sortByColumn(m_sorted, Qt::DescendingOrder);
    m_widths.resize(static_cast<std::size_t>(m_rows->columnCount()), -1);
    for (int column = 0; column < m_rows->columnCount(); ++column) {
        int& given = m_widths[static_cast<std::size_t>(column)];
        const int letters = m_rows->columns()[static_cast<std::size_t>(column)].wide, before = m_table->columnWidth(column);
        // What a person chose stays; others grow with what comes, and never shrink under the pointer.
        if (given >= 0 && (letters > 0 || before != given)) continue;
        if (letters > 0)
            m_table->setColumnWidth(column, fontMetrics().averageCharWidth() * letters);
        else
            m_table->resizeColumnToContents(column);
        if (given > m_table->columnWidth(column)) m_table->setColumnWidth(column, given);
        given = m_table->columnWidth(column);
    }
}

void PaneTable::setSentence(const QString& sentence, const QString& more) {
    m_head->setText(sentence);
    m_head->setMore(more);
    m_empty->setText(sentence);
}

QString PaneTable::sentence() const {
    return m_empty->text();
}

void PaneTable::selectKey(const QString& text) {
    m_table->clearSelection();
    for (int row = 0; row < m_order->rowCount(); ++row) {
        if (text.isEmpty() || m_order->index(row, 0).data().toString() != text) continue;
        m_table->selectRow(row);
        m_table->scrollTo(m_order->index(row, 0));
        return;
    }
}

QString PaneTable::asCsv() const {
    QStringList lines, cells;
    const auto& columns = m_rows->columns();
    for (const PaneColumn& column : columns)
        if (!column.title.isEmpty()) cells << csvCell(column.unit.isEmpty() ? column.title : QString("%1 (%2)").arg(column.title, column.unit));
    lines << cells.join(',');
    for (int row = 0; row < m_order->rowCount(); ++row) {
        cells.clear();
        for (int column = 0; column < m_order->columnCount(); ++column) {
            if (columns[static_cast<std::size_t>(column)].title.isEmpty()) continue;
            const QModelIndex place = m_order->index(row, column);
            if (place.data().toString() == kUnknownText) {  // what it is sorted by is no value
                cells << QString();
                continue;
            }
            const QVariant value = place.data(PaneRows::kSortRole);
            cells << csvCell(value.typeId() == QMetaType::Double ? QString::number(value.toDouble(), 'g', 12) : value.toString());
        }
        lines << cells.join(',');
    }
    return lines.join('\n') + '\n';
}

}  // namespace stepscope
