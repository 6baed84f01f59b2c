#include "widgets/timeline/panes/LayersPane.h"

#include <QComboBox>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/charts/KeepInSight.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {
namespace {

constexpr int kLeastCell = 58, kWidestCell = 132;
constexpr int kMostHeadLines = 4;

QString layerTitle(std::int32_t layer) {
    return layer < 0 ? QString("outside") : QString("layer %1").arg(layer);
}

}  // namespace

HeatMap::HeatMap(QWidget* parent) : QWidget(parent) {
    setFont(smallFont(font()));
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName("Heat map of layers and parts of the model");
    describe();
    offerPicture(*this, "layers", [this] { return asCsv(); });
}

void HeatMap::setGrid(LayerGrid grid, std::int64_t steps) {
    m_grid = std::move(grid);
    m_steps = steps;
    m_most = 0;
    for (const auto& row : m_grid.cells)
        for (const LayerCell& cell : row) m_most = std::max(m_most, cell.time);
    if (m_row >= static_cast<int>(m_grid.layers.size()) || m_column >= static_cast<int>(m_grid.roles.size())) m_row = m_column = -1;
    describe();
    setMinimumSize(nameWide() + static_cast<int>(m_grid.roles.size()) * kLeastCell,
                   headHighAt(kLeastCell) + static_cast<int>(m_grid.layers.size()) * rowHigh());
    update();
}

QString HeatMap::asCsv() const {
    CsvText csv({"Layer", "Part of the model", "Time (ms)", "Calls"});
    for (std::size_t row = 0; row < m_grid.layers.size(); ++row)
        for (std::size_t column = 0; column < m_grid.roles.size(); ++column)
            if (const LayerCell& cell = m_grid.cells[row][column]; cell.calls > 0)
                csv.row({layerTitle(m_grid.layers[row]), paneText(m_grid.roles[column]), csvMilliseconds(cell.time), QString::number(cell.calls)});
    return csv.text();
}

QSize HeatMap::sizeHint() const {
    return minimumSize();
}

int HeatMap::nameWide() const {
    return fontMetrics().horizontalAdvance("layer 000") + 10;
}

double HeatMap::cellWide() const {
    if (m_grid.roles.empty()) return kLeastCell;
    return std::clamp<double>(static_cast<double>(width() - nameWide()) / static_cast<double>(m_grid.roles.size()), kLeastCell, kWidestCell);
}

QStringList HeatMap::headingIn(const std::string& role, double wide) const {
    QString name = role.empty() ? QString("no part") : paneText(role);
    const int most = static_cast<int>(wide) - 3;
    QStringList lines;
    for (const QString& word : name.replace("/", "/ ").split(' ', Qt::SkipEmptyParts)) {
        const bool first = lines.isEmpty();
        const QString longer = first ? word : lines.back() + (lines.back().endsWith('/') ? "" : " ") + word;
        if (first || (lines.size() < kMostHeadLines && fontMetrics().horizontalAdvance(longer) > most))
            lines << word;
        else
            lines.back() = longer;
    }
    for (QString& line : lines) line = fontMetrics().elidedText(line, Qt::ElideRight, most);
    return lines;
}

QStringList HeatMap::heading(int column) const {
    return headingIn(m_grid.roles.at(static_cast<std::size_t>(column)), cellWide());
}

int HeatMap::headHighAt(double wide) const {
    qsizetype most = 1;
    for (const std::string& role : m_grid.roles) most = std::max(most, headingIn(role, wide).size());
    return static_cast<int>(most) * fontMetrics().height() + 4;
}

int HeatMap::headHigh() const {
    return headHighAt(cellWide());
}

void HeatMap::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const bool dark = isDark(palette());
    const QColor ground = palette().color(QPalette::Base), full = seriesColour(SeriesRole::B, dark);
    painter.fillRect(rect(), ground);
    const double wide = cellWide();
    painter.setPen(mutedText(palette()));
    const int head = headHigh();
    for (std::size_t column = 0; column < m_grid.roles.size(); ++column) {
        const QRectF where(nameWide() + static_cast<double>(column) * wide, 0, wide - 1, head - 2);
        painter.drawText(where, Qt::AlignHCenter | Qt::AlignBottom, heading(static_cast<int>(column)).join('\n'));
    }
    for (std::size_t row = 0; row < m_grid.layers.size(); ++row) {
        const double top = head + static_cast<double>(row) * rowHigh();
        painter.setPen(mutedText(palette()));
        painter.drawText(QRectF(0, top, nameWide() - 6, rowHigh() - 1), Qt::AlignRight | Qt::AlignVCenter, layerTitle(m_grid.layers[row]));
        for (std::size_t column = 0; column < m_grid.roles.size(); ++column) {
            const LayerCell& cell = m_grid.cells[row][column];
            const QRectF where(nameWide() + static_cast<double>(column) * wide, top, wide - 1, rowHigh() - 1);
            if (cell.calls == 0) {
                painter.fillRect(where, palette().color(QPalette::AlternateBase));
                continue;
            }
            // The root, so that what takes a tenth is told from what takes nothing.
            const double share = m_most > 0 ? std::sqrt(static_cast<double>(cell.time) / static_cast<double>(m_most)) : 0;
            const QColor colour = faint(full, ground, 0.06 + 0.94 * share);
            painter.fillRect(where, colour);
            const QColor black(0x151515), white(0xfafafa);
            painter.setPen(contrast(colour, black) >= contrast(colour, white) ? black : white);
            painter.drawText(where, Qt::AlignCenter, paneTime(cell.time));
        }
    }
    if (!hasFocus()) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(accentColour(dark), 2));
    if (m_row >= 0)
        painter.drawRect(cellRect(m_row, m_column).adjusted(1, 1, -1, -1));
    else
        painter.drawRect(rect().adjusted(1, 1, -2, -2));
}

QRectF HeatMap::cellRect(int row, int column) const {
    const double wide = cellWide();
    return {nameWide() + column * wide, static_cast<double>(headHigh() + row * rowHigh()), wide - 1, static_cast<double>(rowHigh() - 1)};
}

// The cell that the keys are at, else what there is to go through.
void HeatMap::describe() {
    if (m_row >= 0)
        setAccessibleDescription(cellFacts(m_row, m_column).replace('\n', ", "));
    else if (m_grid.layers.empty())
        setAccessibleDescription("Nothing has a place in the model.");
    else
        setAccessibleDescription(
            QString("%1 rows, %2 parts of the model. The arrow keys go from cell to cell.").arg(m_grid.layers.size()).arg(m_grid.roles.size()));
}

void HeatMap::keyPressEvent(QKeyEvent* event) {
    const int rows = static_cast<int>(m_grid.layers.size()), columns = static_cast<int>(m_grid.roles.size());
    int down = 0, right = 0;
    switch (event->key()) {
        case Qt::Key_Up:
            down = -1;
            break;
        case Qt::Key_Down:
            down = 1;
            break;
        case Qt::Key_Left:
            right = -1;
            break;
        case Qt::Key_Right:
            right = 1;
            break;
        case Qt::Key_Home:
            right = -columns;
            break;
        case Qt::Key_End:
            right = columns;
            break;
        default:
            return QWidget::keyPressEvent(event);
    }
    if (rows == 0 || columns == 0) return QWidget::keyPressEvent(event);
    const bool first = m_row < 0;
    m_row = first ? 0 : std::clamp(m_row + down, 0, rows - 1);
    m_column = first ? 0 : std::clamp(m_column + right, 0, columns - 1);
    describe();
    keepInSight(*this, cellRect(m_row, m_column).toAlignedRect());
    update();
}

QString HeatMap::cellFacts(int row, int column) const {
    const LayerCell& cell = m_grid.cells.at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(column));
    const std::string& role = m_grid.roles[static_cast<std::size_t>(column)];
    QString text =
        QString("%1, %2\n%3, %4 of what has a place in the model\n%5 calls")
            .arg(layerTitle(m_grid.layers[static_cast<std::size_t>(row)]), role.empty() ? QString("no part") : paneText(role), paneTime(cell.time),
                 panePercent(static_cast<double>(cell.time) / static_cast<double>(std::max<std::int64_t>(1, m_grid.placed.time))),
                 paneCount(cell.calls));
    if (m_steps > 0) text += QString("\n%1 a step").arg(paneTime(cell.time / m_steps));
    return text;
}

bool HeatMap::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int row = (help->pos().y() - headHigh()) / rowHigh();
        const int column = static_cast<int>((help->pos().x() - nameWide()) / cellWide());
        const bool across = help->pos().x() >= nameWide() && column < static_cast<int>(m_grid.roles.size());
        if (across && help->pos().y() < headHigh())
            QToolTip::showText(help->globalPos(), paneTip(paneText(m_grid.roles[static_cast<std::size_t>(column)])), this);
        else if (across && row < static_cast<int>(m_grid.layers.size()))
            QToolTip::showText(help->globalPos(), paneTip(cellFacts(row, column)), this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

LayersPane::LayersPane(QWidget* parent) : Pane(parent) {
    m_map = new HeatMap;
    m_scroll = new QScrollArea;
    m_scroll->setWidget(m_map);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setMinimumHeight(44);
    m_phase = new QComboBox;
    m_phase->setAccessibleName("Phase of the heat map");
    m_phase->setMinimumContentsLength(10);
    m_where = operationsOrKernels("What the heat map adds up");
    const auto [head, empty] = layOutPane(*this, {m_phase, m_where}, {}, m_scroll);
    m_head = head;
    m_empty = empty;
    connect(m_phase, &QComboBox::currentIndexChanged, this, &LayersPane::showGrid);
    connect(m_where, &QComboBox::currentIndexChanged, this, [this] {
        m_chosen = true;
        showGrid();
    });
    showGrid();
}

void LayersPane::setView(const PanesView& view) {
    m_panes = view.panes;
    m_range = view.range;
    const QString before = m_phase->currentIndex() > 0 ? m_phase->currentText() : QString();
    const QSignalBlocker quiet(m_phase), quietToo(m_where);
    m_phase->clear();
    m_phase->addItem("all phases");
    if (m_panes)
        for (const auto& phase : m_panes->layers.phases()) m_phase->addItem(paneText(phase));
    m_phase->setCurrentIndex(std::max(0, m_phase->findText(before)));
    if (m_panes && !m_panes->devices) {  // what was chosen for a capture of a GPU says nothing of one without
        m_where->setCurrentIndex(0);
        m_chosen = false;
    } else if (m_panes && !m_chosen && m_panes->layers.hasKernels()) {
        m_where->setCurrentIndex(m_panes->layers.grid(true).layers.empty() ? 0 : 1);
        m_chosen = true;
    }
    showGrid();
}

void LayersPane::showGrid() {
    LayerGrid grid;
    const bool kernels = m_where->currentIndex() == 1;
    if (m_panes) grid = m_panes->layers.grid(kernels, m_phase->currentIndex() > 0 ? m_phase->currentText().toStdString() : std::string());
    const bool some = !grid.layers.empty();
    m_phase->setVisible(m_panes && m_phase->count() > 1);
    m_where->setVisible(m_panes && m_panes->devices);
    m_scroll->setVisible(some);
    m_head->setVisible(some);
    m_empty->setVisible(!some && m_panes);
    if (m_panes) {
        if (m_panes->folded)
            m_empty->setText(tooManySlices(*m_panes));
        else if (grid.elsewhere.calls > 0)
            m_empty->setText(QString("No layers: %1 %2 begin in %3, and none says which layer or part of the model it belongs to. Runs of Stepscope "
                                     "record that; traces of other programs have it where they were exported from here.")
                                 .arg(paneCount(grid.elsewhere.calls), kernels ? "kernels" : "calls of operations", m_range));
        else
            m_empty->setText(QString("No %1 in %2. “Fit” shows all that was captured.").arg(kernels ? "kernel" : "operation", m_range));
        QString text = QString("%1 · %2 have a place in the model").arg(m_range, paneTime(grid.placed.time));
        if (grid.elsewhere.time > 0) text += QString(", %1 have none").arg(paneTime(grid.elsewhere.time));
        m_head->setText(text);
        m_head->setMore(kernels ? "Time of kernels, by the layer and part of the model of what launched them."
                                : "Own time of operations on all threads. “outside”: of no layer, as the embedding and the loss.");
    } else {
        m_empty->clear();
    }
    m_map->setGrid(std::move(grid), m_panes && !m_panes->cutsSteps() ? m_panes->totals.steps : 0);
}

QString LayersPane::asText() const {
    const LayerGrid& grid = m_map->grid();
    if (grid.layers.empty()) return m_empty->text();
    QString text = m_head->text() + '\n';
    for (std::size_t row = 0; row < grid.layers.size(); ++row)
        for (std::size_t column = 0; column < grid.roles.size(); ++column)
            if (grid.cells[row][column].calls > 0)
                text +=
                    QString("%1\t%2\t%3\n").arg(layerTitle(grid.layers[row]), paneText(grid.roles[column]), paneTime(grid.cells[row][column].time));
    return text;
}

}  // namespace stepscope
