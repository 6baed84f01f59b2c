#include "widgets/panels/overlay/RunsTable.h"

#include <QContextMenuEvent>
#include <QHeaderView>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "core/analysis/overlay/RunsOverlay.h"
#include "core/base/Format.h"
#include "widgets/style/RowTable.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

constexpr int kNumberRole = Qt::UserRole, kSessionRole = Qt::UserRole + 1, kColourRole = Qt::UserRole + 2;

// By its number where it has one; what is not known stands last, whichever way it is sorted.
class Cell : public QTableWidgetItem {
public:
    bool operator<(const QTableWidgetItem& other) const override {
        const QVariant mine = data(kNumberRole), theirs = other.data(kNumberRole);
        if (!mine.isValid() || !theirs.isValid()) return QString::localeAwareCompare(text(), other.text()) < 0;
        const double a = mine.toDouble(), b = theirs.toDouble();
        const bool descending = tableWidget() != nullptr && tableWidget()->horizontalHeader()->sortIndicatorOrder() == Qt::DescendingOrder;
        if (std::isfinite(a) != std::isfinite(b)) return std::isfinite(a) != descending;
        return a < b;
    }
};

struct Figure {
    QString title;
    double number = kUnknown;
    QString text;
};

QString orUnknown(double number, const std::string& text) {
    return std::isfinite(number) ? words(text) : QStringLiteral("–");
}

std::vector<Figure> figuresOf(const OverlaidRun& run, const RunsOverlay& overlay) {
    const RunFigures& of = run.figures;
    const double tokens = overlay.common(XAxis::Tokens), seconds = overlay.common(XAxis::WallTime);
    const double atTokens = lossUpTo(run, XAxis::Tokens, tokens), atTime = lossUpTo(run, XAxis::WallTime, seconds);
    const auto loss = [](double value) { return orUnknown(value, format::significant(value, 5)); };
    return {
        {"steps made", static_cast<double>(of.steps), words(format::count(of.steps))},
        {"median step", of.msMedian, orUnknown(of.msMedian, format::milliseconds(of.msMedian))},
        {"tokens/s", of.tokensPerSecond, orUnknown(of.tokensPerSecond, format::rate(of.tokensPerSecond, "tok/s"))},
        {"loss, last 20", of.lossLast, loss(of.lossLast)},
        {"validation", of.validationLoss, loss(of.validationLoss)},
        {"loss at equal tokens", atTokens, loss(atTokens)},
        {"loss at equal time", atTime, loss(atTime)},
        {"memory", of.peakBytes, orUnknown(of.peakBytes, format::bytes(of.peakBytes))},
        {"flips", static_cast<double>(of.flips), QString::number(of.flips)},
    };
}

QString helpOf(const QString& title, const RunsOverlay& overlay) {
    if (title == "median step") return "Median time of a step, without the first 3 and those that something else disturbed";
    if (title == "loss, last 20") return "Mean of the loss of the last 20 steps; the page Sessions has that of the very last";
    if (const double tokens = overlay.common(XAxis::Tokens); title == "loss at equal tokens" && std::isfinite(tokens))
        return QString("Mean of the 20 steps up to %1 tokens, the most that every one of them that tells its tokens has trained")
            .arg(words(format::count(std::llround(tokens))));
    if (const double seconds = overlay.common(XAxis::WallTime); title == "loss at equal time" && std::isfinite(seconds))
        return QString("Mean of the 20 steps up to %1 after the beginning, the longest that every one of them that tells its times went on")
            .arg(words(format::duration(TimeNs::fromSeconds(seconds))));
    if (title == "memory") return "The most that tensors held during a step; of runs that do not know, what the process held";
    return {};
}

QIcon swatch(const QColor& colour, Qt::PenStyle dash, const QColor& ground) {
    QPixmap drawn(20, 12);
    drawn.fill(ground);
    QPainter painter(&drawn);
    painter.setPen(QPen(colour, 3, dash, Qt::FlatCap));
    painter.drawLine(0, 6, 20, 6);
    return drawn;
}

}  // namespace

RunsTable::RunsTable(QWidget* parent) : QTableWidget(parent) {
    setAccessibleName("Runs laid over each other");
    styleRows(*this);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setAlternatingRowColors(true);
    setTextElideMode(Qt::ElideMiddle);
    setIconSize({20, 12});
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(horizontalHeader(), &QWidget::customContextMenuRequested, this,
            [this](const QPoint& at) { columnsMenu()->exec(horizontalHeader()->mapToGlobal(at)); });
    connect(this, &QTableWidget::itemChanged, this, [this](QTableWidgetItem* item) {
        if (!m_filling && item->column() == 0) Q_EMIT hideWanted(item->data(kSessionRole).toLongLong(), item->checkState() != Qt::Checked);
    });
    connect(this, &QTableWidget::itemSelectionChanged, this, [this] {
        if (!m_filling) Q_EMIT chosen(selectedItems().isEmpty() ? 0 : session(currentRow()));
    });
    connect(this, &QTableWidget::cellDoubleClicked, this, [this](int row, int column) {
        if (column > 0) Q_EMIT replayRequested(session(row));
    });
}

std::int64_t RunsTable::session(int row) const {
    return row >= 0 && row < rowCount() ? item(row, 0)->data(kSessionRole).toLongLong() : 0;
}

int RunsTable::rowOf(std::int64_t wanted) const {
    for (int row = 0; row < rowCount(); ++row)
        if (session(row) == wanted) return row;
    return -1;
}

void RunsTable::show(const RunsOverlay& overlay) {
    const std::int64_t kept = selectedItems().isEmpty() ? 0 : session(currentRow());
    m_filling = true;
    setSortingEnabled(false);
    QStringList titles{"session", "name"};
    for (const DifferingKeys& key : overlay.keys()) titles << words(key.key);
    const int figures = static_cast<int>(titles.size());
    const bool first = rowCount() == 0;
    std::vector<const OverlaidSlot*> read;
    for (const OverlaidSlot& slot : overlay.slots())
        if (slot.run != nullptr) read.push_back(&slot);
    for (const Figure& figure : read.empty() ? std::vector<Figure>{} : figuresOf(*read[0]->run, overlay)) titles << figure.title;
    setRowCount(static_cast<int>(read.size()));
    const bool others = titles.join('\n') != m_keys;
    if (others) {
        m_keys = titles.join('\n');
        setColumnCount(static_cast<int>(titles.size()));
        setHorizontalHeaderLabels(titles);
    }
    for (int column = 0; column < columnCount(); ++column) {
        horizontalHeaderItem(column)->setToolTip(column < figures ? QString() : helpOf(titles[column], overlay));
        horizontalHeaderItem(column)->setTextAlignment((column < figures ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    for (int row = 0; row < rowCount(); ++row) {
        const OverlaidSlot& slot = *read[static_cast<std::size_t>(row)];
        const OverlayLine* line = overlay.lineOf(slot.session);
        const auto set = [&](int column, const QString& text, double number, bool isNumber) {
            auto* cell = item(row, column);
            if (cell == nullptr) setItem(row, column, cell = new Cell);
            cell->setText(text);
            cell->setToolTip(plainTip(text));
            cell->setData(kNumberRole, isNumber ? QVariant(number) : QVariant());
            cell->setTextAlignment((column >= figures ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
            return cell;
        };
        QTableWidgetItem* head = set(0, QString::number(slot.session), static_cast<double>(slot.session), true);
        head->setData(kSessionRole, static_cast<qlonglong>(slot.session));
        head->setData(kColourRole, static_cast<int>(line != nullptr ? line->colour : slot.colour));
        head->setFlags(head->flags() | Qt::ItemIsUserCheckable);
        head->setCheckState(slot.hidden ? Qt::Unchecked : Qt::Checked);
        head->setToolTip("Whether its line is shown (H)");
        set(1, slot.run->info ? words(slot.run->info->name) : QString(), 0, false);
        int column = 2;
        for (const DifferingKeys& key : overlay.keys()) {
            const QString value = words(overlay.valueOf(slot.session, key.key));
            bool isNumber = false;
            const double number = value.toDouble(&isNumber);
            set(column++, value.isEmpty() ? QString("not stored") : value, number, isNumber);
        }
        for (const Figure& figure : figuresOf(*slot.run, overlay)) set(column++, figure.text, figure.number, true);
    }
    paintSwatches();
    setSortingEnabled(true);
    if (first) sortByColumn(0, Qt::AscendingOrder);
    if (others || first) {
        resizeColumnsToContents();
        constexpr int kWidest = 180;
        for (int i = 0; i < columnCount(); ++i) setColumnWidth(i, std::min(columnWidth(i), kWidest));
    }
    showColumns();
    for (int row = 0; row < rowCount(); ++row)
        if (kept != 0 && session(row) == kept) selectRow(row);
    m_filling = false;
}

void RunsTable::paintSwatches() {
    const bool before = std::exchange(m_filling, true);
    const bool dark = isDark(palette());
    for (int row = 0; row < rowCount(); ++row) {
        const auto colour = static_cast<std::size_t>(item(row, 0)->data(kColourRole).toInt());
        item(row, 0)->setIcon(swatch(overlayColour(colour, dark), overlayDash(colour), palette().color(QPalette::Base)));
    }
    m_filling = before;
}

int RunsTable::heightFor(std::size_t runs) const {
    const int row = verticalHeader()->defaultSectionSize();
    return row + 8 + static_cast<int>(runs) * row + horizontalScrollBar()->sizeHint().height();
}

QStringList RunsTable::shownColumns() const {
    QStringList titles;
    for (int column = 0; column < columnCount(); ++column)
        if (!isColumnHidden(column)) titles << horizontalHeaderItem(column)->text();
    return titles;
}

void RunsTable::showColumns() {
    for (int column = 1; column < columnCount(); ++column) setColumnHidden(column, m_left.contains(horizontalHeaderItem(column)->text()));
}

// The first stays: it is the legend.
std::unique_ptr<QMenu> RunsTable::columnsMenu() {
    auto menu = std::make_unique<QMenu>(this);
    for (int column = 1; column < columnCount(); ++column) {
        const QString title = horizontalHeaderItem(column)->text();
        QAction* action = menu->addAction(title);
        action->setCheckable(true);
        action->setChecked(!m_left.contains(title));
        connect(action, &QAction::toggled, this, [this, title](bool on) {
            if (on)
                m_left.remove(title);
            else
                m_left.insert(title);
            showColumns();
        });
    }
    return menu;
}

void RunsTable::toggle(int row) {
    if (row < 0 || row >= rowCount()) return;
    item(row, 0)->setCheckState(item(row, 0)->checkState() == Qt::Checked ? Qt::Unchecked : Qt::Checked);
}

void RunsTable::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_H && event->modifiers() == Qt::NoModifier) return toggle(currentRow());
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        if (const std::int64_t at = session(currentRow()); at != 0) Q_EMIT replayRequested(at);
        return;
    }
    if (event->key() == Qt::Key_Escape) return event->ignore();
    QTableWidget::keyPressEvent(event);
}

void RunsTable::contextMenuEvent(QContextMenuEvent* event) {
    const int row = event->reason() == QContextMenuEvent::Mouse ? rowAt(viewport()->mapFromGlobal(event->globalPos()).y()) : currentRow();
    const std::int64_t at = session(row);
    if (at == 0) return;
    QMenu menu(this);
    menu.addAction(item(row, 0)->checkState() == Qt::Checked ? "Hide its line (H)" : "Show its line (H)", this,
                   [this, at] { toggle(rowOf(at)); });  // rows may be read and sorted anew while the menu is open
    menu.addAction("Replay", this, [this, at] { Q_EMIT replayRequested(at); });
    menu.exec(event->globalPos());
}

void RunsTable::changeEvent(QEvent* event) {
    QTableWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) paintSwatches();
}

}  // namespace stepscope
