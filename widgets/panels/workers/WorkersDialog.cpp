#include "widgets/panels/workers/WorkersDialog.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "core/analysis/panes/WorkerMap.h"
#include "core/base/Format.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/RowParts.h"
#include "widgets/panels/workers/WorkersMap.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/RowTable.h"

namespace stepscope {
namespace {

constexpr std::int64_t kTableRows = 1000;  // the map has all

}  // namespace

WorkersDialog::WorkersDialog(QWidget* parent) : SessionDialog("Workers", parent) {
    m_phase = new QComboBox;
    m_phase->setAccessibleName("What the heat map shows");
    m_legend = new ToneLabel(Tone::Muted);
    m_map = new WorkersMap;
    m_scroll = new QScrollArea;
    m_scroll->setWidget(m_map);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_table = new QTableWidget;
    m_table->setAccessibleName("Means of each worker");
    styleRows(*m_table);
    m_clocks = sentenceLabel(Tone::Muted);
    m_clocks->setAccessibleName("How well the workers' clocks are known");
    m_forecast = sentenceLabel(Tone::Muted);
    m_forecast->setAccessibleName("Other numbers of workers");
    auto* close = new QPushButton("Close");
    close->setDefault(true);

    auto* head = new QHBoxLayout;
    head->addWidget(m_phase);
    head->addWidget(m_legend, 1);
    auto* foot = new QHBoxLayout;
    foot->addStretch(1);
    foot->addWidget(close);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(space(2));
    layout->addWidget(&sentenceLine());
    layout->addLayout(head);
    layout->addWidget(m_scroll, 1);
    layout->addWidget(m_table, 1);
    layout->addWidget(m_clocks);
    layout->addWidget(m_forecast);
    layout->addLayout(foot);
    resize(760, 420);
    nameForReaders(*m_phase, m_phase->accessibleName());
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(m_phase, &QComboBox::currentIndexChanged, this, &WorkersDialog::showGrid);
}

void WorkersDialog::begin() {
    setView({.session = session(), .map = nullptr, .problem = {}});
    sentenceLine().setText("Reading what they took.");
}

void WorkersDialog::setView(const WorkersView& view) {
    if (view.session != session()) return;
    m_view = view;
    const bool some = view.map && view.map->steps() > 0;
    const QString before = m_phase->currentData().toString();
    {
        const QSignalBlocker quiet(m_phase);
        m_phase->clear();
        m_phase->addItem("whole step", QString());
        m_phase->addItem("work: all but waiting", QString(WorkerMap::kWork));
        if (some)
            for (const auto& phase : view.map->phases()) m_phase->addItem(QString::fromStdString(phase), QString::fromStdString(phase));
        // At first what tells workers apart: the whole step takes all of them equally long.
        const int chosen = m_phase->findData(before);
        m_phase->setCurrentIndex(before.isEmpty() || chosen < 0 ? 1 : chosen);
    }
    for (QWidget* part : std::initializer_list<QWidget*>{m_phase, m_legend, m_scroll, m_table}) part->setVisible(some);
    sentenceLine().setTone(view.problem.isEmpty() ? Tone::Muted : Tone::Error);
    if (!view.problem.isEmpty())
        sentenceLine().setText(view.problem);
    else if (!some)
        sentenceLine().setText(
            "No times of several workers are stored in this session: it was trained by one, or it ended before they were gathered, which is "
            "once in 64 steps.");
    else
        sentenceLine().setText(QString("%1 steps. ").arg(QString::fromStdString(format::count(view.map->steps()))) +
                               QString::fromStdString(view.map->slowest()));
    m_clocks->setText(some ? QString::fromStdString(view.map->clockWords()) : QString());
    m_clocks->setVisible(!m_clocks->text().isEmpty());
    m_forecast->setText(view.forecast);
    m_forecast->setVisible(some && !view.forecast.isEmpty());
    fillTable();
    showGrid();
}

QString WorkersDialog::clocks() const {
    return m_clocks->text();
}

QString WorkersDialog::forecast() const {
    return m_forecast->text();
}

void WorkersDialog::showGrid() {
    m_map->setGrid(m_view.map ? m_view.map->grid(m_phase->currentData().toString().toStdString()) : WorkerGrid{});
    // A few workers take no more room than their rows; of many as much as there is.
    m_scroll->setMaximumHeight(m_map->minimumHeight() + 2 * m_scroll->frameWidth());
    m_legend->setText(m_map->high() > 0
                          ? QString("of a step: light %1 or less, dark %2 or more").arg(workerTime(m_map->low()), workerTime(m_map->high()))
                          : QString("nobody spent time with it"));
}

void WorkersDialog::fillTable() {
    m_table->clear();
    m_table->setRowCount(0);
    if (!m_view.map) return;
    const WorkerMap& map = *m_view.map;
    QStringList heads{"worker", "step", "work"};
    std::vector<std::vector<double>> means{map.means(), map.means(WorkerMap::kWork)};
    for (const auto& phase : map.phases()) {
        heads << QString::fromStdString(phase);
        means.push_back(map.means(phase));
    }
    m_table->setColumnCount(static_cast<int>(heads.size()));
    m_table->setHorizontalHeaderLabels(heads);
    m_table->horizontalHeaderItem(2)->setToolTip("All of a step but waiting for the others");
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->setRowCount(static_cast<int>(std::min(map.workers(), kTableRows)));
    for (int row = 0; row < m_table->rowCount(); ++row)
        for (int column = 0; column < m_table->columnCount(); ++column) {
            auto* item = new QTableWidgetItem(column == 0 ? QString::number(row)
                                                          : workerTime(means[static_cast<std::size_t>(column - 1)][static_cast<std::size_t>(row)]));
            item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            m_table->setItem(row, column, item);
        }
}

}  // namespace stepscope
