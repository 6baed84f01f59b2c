#include "widgets/charts/overlay/OverlayTable.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QScrollBar>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/panels/LineIcon.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/RowTable.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

constexpr int kFromEdges = 8;  // to the edges of the page

}  // namespace

OverlayTable::OverlayTable(const QString& name, QWidget* parent) : QFrame(parent) {
    setObjectName(name);
    setAccessibleName(name);
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setFont(smallFont(parent->font()));

    m_head = new QWidget(this);
    m_head->setCursor(Qt::SizeAllCursor);
    m_head->installEventFilter(this);
    m_title = new QLabel(m_head);
    m_title->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_title->setFont(headFont(font()));
    m_title->setMinimumWidth(40);
    const auto button = [&](const QString& text, const QString& tip) {
        auto* made = new QToolButton(m_head);
        made->setText(text);
        made->setToolTip(tip);
        made->setAccessibleName(tip);
        made->setAutoRaise(true);
        made->setFocusPolicy(Qt::TabFocus);
        made->setCursor(Qt::ArrowCursor);
        return made;
    };
    auto* copy = button(tr("Copy"), tr("Copy this table as text"));
    auto* shut = button({}, tr("Close (Esc)"));
    shut->setIcon(lineIcon(QStringLiteral("close")));
    connect(copy, &QToolButton::clicked, this, &OverlayTable::copy);
    connect(shut, &QToolButton::clicked, this, &OverlayTable::close);
    auto* row = new QHBoxLayout(m_head);
    row->setContentsMargins(space(2), space(1), space(1), space(1));
    row->addWidget(m_title, 1);
    row->addWidget(copy);
    row->addWidget(shut);

    m_table = new QTableWidget(this);
    m_table->setAccessibleName(name);
    m_table->setFrameShape(QFrame::NoFrame);
    styleRows(*m_table);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    connect(m_table, &QTableWidget::cellClicked, this, [this](int at, int column) {
        if (column == m_actions && hasAction(at)) return Q_EMIT actionRequested(at);
        Q_EMIT rowActivated(at);
    });
    connect(m_table, &QTableWidget::itemActivated, this, [this](QTableWidgetItem* item) { Q_EMIT rowActivated(item->row()); });

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(1, 1, 1, 1);
    column->setSpacing(0);
    column->addWidget(m_head);
    column->addWidget(m_table, 1);
    m_table->installEventFilter(this);  // a letter would search the rows
    parent->installEventFilter(this);
    hide();
}

void OverlayTable::setTitle(const QString& title) {
    m_title->setText(title);
    m_title->setToolTip(title);
}

void OverlayTable::setColumns(const QStringList& columns) {
    m_table->setColumnCount(static_cast<int>(columns.size()));
    m_table->setHorizontalHeaderLabels(columns);
    if (auto* first = m_table->horizontalHeaderItem(0)) first->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void OverlayTable::setActions(int column, const QString& hint) {
    m_actions = column;
    m_actionHint = hint;
    for (int words = column; words < m_table->columnCount(); ++words)
        if (auto* head = m_table->horizontalHeaderItem(words)) head->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

bool OverlayTable::hasAction(int row) const {
    const QTableWidgetItem* item = m_actions < 0 ? nullptr : m_table->item(row, m_actions);
    return item != nullptr && !item->text().isEmpty();
}

// In place: the row that a person has chosen stays chosen while numbers behind it change.
void OverlayTable::setRows(const std::vector<QStringList>& rows) {
    bool changed = m_table->rowCount() != static_cast<int>(rows.size());
    m_table->setRowCount(static_cast<int>(rows.size()));
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) changed = write(row, rows[static_cast<std::size_t>(row)]) || changed;
    if (changed && isVisible()) fit();
}

void OverlayTable::addRow(const QStringList& row) {
    const int at = m_table->rowCount();
    m_table->insertRow(at);
    write(at, row);
    if (isVisible()) fit();
}

bool OverlayTable::write(int row, const QStringList& cells) {
    bool changed = false;
    for (int column = 0; column < static_cast<int>(cells.size()); ++column) {
        QTableWidgetItem* item = m_table->item(row, column);
        if (item != nullptr && item->text() == cells[column]) continue;
        if (item == nullptr) m_table->setItem(row, column, item = new QTableWidgetItem);
        item->setText(cells[column]);
        item->setToolTip(plainTip(cells[column]));
        if (column == m_actions) {
            QFont link = m_table->font();
            link.setUnderline(true);
            item->setFont(link);
            if (!cells[column].isEmpty()) item->setToolTip(m_actionHint);
        }
        const bool words = column == 0 || (m_actions >= 0 && column >= m_actions);
        item->setTextAlignment((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        changed = true;
    }
    return changed;
}

void OverlayTable::open() {
    show();
    raise();
    fit();
    m_table->setFocus();
}

void OverlayTable::close() {
    if (!isVisible()) return;
    const bool focused = isAncestorOf(QApplication::focusWidget());
    hide();
    if (focused) parentWidget()->setFocus();
    Q_EMIT closed();
}

// As large as the table, as far as the page has room; what is larger can be scrolled.
void OverlayTable::fit() {
    m_table->resizeColumnsToContents();
    const QSize page = parentWidget()->size() - QSize(2 * kFromEdges, 2 * kFromEdges);
    int wide = 4, high = m_head->sizeHint().height() + m_table->horizontalHeader()->sizeHint().height() + 4;
    for (int column = 0; column < m_table->columnCount(); ++column) wide += m_table->columnWidth(column);
    for (int row = 0; row < m_table->rowCount(); ++row) high += m_table->rowHeight(row);
    if (high > page.height()) wide += m_table->verticalScrollBar()->sizeHint().width();
    if (wide > page.width()) high += m_table->horizontalScrollBar()->sizeHint().height();
    resize(QSize(std::max(wide, m_head->sizeHint().width() + 4), high).boundedTo(page));
    QPoint at = m_moved ? pos() : QPoint(parentWidget()->width() - width() - kFromEdges, kFromEdges * 5);
    at.setX(std::clamp(at.x(), 0, std::max(0, parentWidget()->width() - width())));
    at.setY(std::clamp(at.y(), 0, std::max(0, parentWidget()->height() - height())));
    move(at);
}

int OverlayTable::rows() const {
    return m_table->rowCount();
}

QString OverlayTable::text() const {
    QStringList lines{m_title->text()}, head;
    for (int column = 0; column < m_table->columnCount(); ++column)
        if (column != m_actions) head += m_table->horizontalHeaderItem(column)->text();
    lines += head.join('\t');
    for (int row = 0; row < m_table->rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < m_table->columnCount(); ++column)
            if (column != m_actions) cells += m_table->item(row, column) != nullptr ? m_table->item(row, column)->text() : QString();
        lines += cells.join('\t');
    }
    return lines.join('\n') + '\n';
}

void OverlayTable::copy() const {
    QApplication::clipboard()->setText(text());
}

void OverlayTable::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return close();
    if (event->matches(QKeySequence::Copy)) return copy();
    QFrame::keyPressEvent(event);
}

bool OverlayTable::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_table && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_M && key->modifiers() == Qt::NoModifier && hasAction(m_table->currentRow())) {
            Q_EMIT actionRequested(m_table->currentRow());
            return true;
        }
    }
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible()) fit();
    if (watched == m_head) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        if (event->type() == QEvent::MouseButtonPress) m_grabbed = mouse->pos();
        if (event->type() == QEvent::MouseMove && (mouse->buttons() & Qt::LeftButton) != 0) {
            m_moved = true;
            move(pos() + mouse->pos() - m_grabbed);
            fit();
        }
    }
    return QFrame::eventFilter(watched, event);
}

}  // namespace stepscope
