#include "widgets/panels/compare/WhyPane.h"

#include <QCheckBox>
#include <QEvent>
#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/compare/WaterfallChart.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostPlaceRows = 10;
constexpr int kPlaceColumns = 6;

QString placeMs(double ms) {
    return QString::fromStdString(format::milliseconds(ms));
}
QString namesTip(const std::vector<std::string>& names) {
    QStringList all;
    for (const auto& name : names) all << QString::fromStdString(name);
    return all.isEmpty() ? QString("nothing") : all.join(", ");
}

}  // namespace

WhyPane::WhyPane(QWidget* parent) : QWidget(parent) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(1));
    auto* title = new QLabel("Why");
    title->setFont(headFont(title->font()));
    layout->addWidget(title);
    m_sentence = sentenceLabel(Tone::Normal);
    m_sentence->setAccessibleName("Why, as a sentence");
    layout->addWidget(m_sentence);
    m_chart = new WaterfallChart;
    m_places = new QTableWidget(0, kPlaceColumns);
    m_places->setAccessibleName("Where in the model they differ");
    m_places->setHorizontalHeaderLabels({"Where", "A", "B", "B less A", "of A", "Operations"});
    m_places->horizontalHeaderItem(4)->setToolTip("The difference as a share of A's time there");
    m_places->horizontalHeaderItem(5)->setToolTip("How many operations that compute something a step runs there");
    m_places->verticalHeader()->hide();
    m_places->verticalHeader()->setMinimumSectionSize(1);
    m_places->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_places->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_places->horizontalHeader()->setSectionsClickable(false);
    m_places->horizontalHeader()->setHighlightSections(false);
    for (int column = 0; column < kPlaceColumns; ++column)
        m_places->horizontalHeaderItem(column)->setTextAlignment((column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    m_places->setShowGrid(false);
    m_places->setFrameShape(QFrame::NoFrame);
    m_places->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_places->setSelectionMode(QAbstractItemView::SingleSelection);
    m_places->setSelectionBehavior(QAbstractItemView::SelectRows);
    const auto choose = [this](int row) {
        const auto& all = shownPlaces();
        if (row >= 0 && static_cast<std::size_t>(row) < all.size()) Q_EMIT placeChosen(all[static_cast<std::size_t>(row)]);
    };
    connect(m_places, &QTableWidget::cellClicked, this, choose);
    connect(m_places, &QTableWidget::cellActivated, this, choose);
    m_places->setTabKeyNavigation(false);
    m_places->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_places->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_places->setTextElideMode(Qt::ElideMiddle);
    m_places->setFont(tabularFont(smallFont(m_places->font())));
    m_middle = new QHBoxLayout;
    m_middle->setSpacing(space(4));
    m_middle->addWidget(m_chart, 1, Qt::AlignTop);
    m_layered = new QCheckBox("Layer by layer");
    m_layered->setToolTip("The table tells each layer by itself instead of all of them together");
    auto* right = new QWidget;
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(1));
    column->addWidget(m_places);
    column->addWidget(m_layered, 0, Qt::AlignLeft);
    m_right = right;
    m_middle->addWidget(right, 1, Qt::AlignTop);
    layout->addLayout(m_middle);
    connect(m_layered, &QCheckBox::toggled, this, &WhyPane::fillPlaces);
    setResult({});
}

void WhyPane::setResult(const WaterfallResult& result) {
    setVisible(!result.classes.empty());
    m_sentence->setText(QString::fromStdString(waterfallSentence(result)));
    m_chart->setResult(result);
    m_result = result;
    m_layered->setVisible(!result.layers.empty());
    fillPlaces();
}

const std::vector<PlaceDifference>& WhyPane::shownPlaces() const {
    return m_layered->isChecked() && !m_result.layers.empty() ? m_result.layers : m_result.places;
}

void WhyPane::fillPlaces() {
    const auto& all = shownPlaces();
    m_places->clearSelection();
    const int rows = static_cast<int>(std::min(kMostPlaceRows, all.size()));
    m_places->setRowCount(rows);
    for (int row = 0; row < rows; ++row) {
        const PlaceDifference& one = all[static_cast<std::size_t>(row)];
        const QString cells[kPlaceColumns] = {QString::fromStdString(one.where()),
                                              placeMs(one.a),
                                              placeMs(one.b),
                                              QString::fromStdString(signedMilliseconds(one.difference())),
                                              QString::fromStdString(one.share()),
                                              QString::fromStdString(one.calls())};
        for (int column = 0; column < kPlaceColumns; ++column) {
            auto* item = new QTableWidgetItem(cells[column]);
            item->setTextAlignment((column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
            item->setToolTip(
                QString("%1\nA: %2\nB: %3\nA click shows it in both captures").arg(cells[0], namesTip(one.namesA), namesTip(one.namesB)));
            m_places->setItem(row, column, item);
        }
        m_places->setRowHeight(row, m_places->fontMetrics().height() + 3);
    }
    m_places->setFixedHeight(m_places->horizontalHeader()->sizeHint().height() + m_places->verticalHeader()->length() + 2);
    tint();
}

void WhyPane::setNarrow(bool narrow) {
    m_middle->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    // The table fills what is left of a line of its own.
    m_middle->setAlignment(m_chart, narrow ? Qt::Alignment() : Qt::AlignTop);
    m_middle->setAlignment(m_right, narrow ? Qt::Alignment() : Qt::AlignTop);
}

QString WhyPane::sentence() const {
    return m_sentence->text();
}

void WhyPane::tint() {
    const bool dark = isDark(palette());
    m_places->horizontalHeaderItem(1)->setForeground(seriesColour(SeriesRole::A, dark));
    m_places->horizontalHeaderItem(2)->setForeground(seriesColour(SeriesRole::B, dark));
}

void WhyPane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_places != nullptr) tint();
}

}  // namespace stepscope
