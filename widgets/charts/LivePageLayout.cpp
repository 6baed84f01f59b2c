// See LivePage.h: the bar, the grid of charts, and what of both is remembered.
#include <QComboBox>
#include <QDataStream>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QIODevice>
#include <QLabel>
#include <QResizeEvent>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/charts/ChartView.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/ViewRange.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

constexpr quint8 kLayoutVersion = 1;

// Where each chart stands. The loss is what is looked at most; beside it what moves it.
struct Place {
    std::unique_ptr<ChartContent> (*make)();
    int row, column, rows;
};
constexpr std::array<Place, LivePage::kCharts> kPlaces{{{makeLossContent, 0, 0, 2},
                                                        {makeLearningRateContent, 0, 1, 1},
                                                        {makeGradientNormContent, 1, 1, 1},
                                                        {makeStepTimeContent, 2, 0, 1},
                                                        {makeThroughputContent, 2, 1, 1},
                                                        {makeUtilisationContent, 3, 0, 1},
                                                        {makeMemoryContent, 3, 1, 1}}};
constexpr std::array<int, 2> kColumnShares{3, 2};

QToolButton* makeButton(QWidget* parent, const QString& text, const QString& tip, bool checkable) {
    auto* button = new QToolButton(parent);
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(text);
    button->setAccessibleDescription(tip);
    button->setCheckable(checkable);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

}  // namespace

void LivePage::buildBar() {
    m_bar = new QWidget(this);
    auto* row = new QHBoxLayout(m_bar);
    row->setContentsMargins(space(2), space(1), space(2), 0);
    row->setSpacing(space(1));

    m_axis = new QComboBox(m_bar);
    m_axis->addItems({tr("steps"), tr("tokens"), tr("wall time"), tr("learning rate")});
    m_axis->setToolTip(tr("What all charts have along x"));
    m_axis->setAccessibleName(tr("x axis"));
    connect(m_axis, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_range->setAxis(static_cast<XAxis>(index), {});
        updateExtent();
        hurry();
    });
    m_logX = makeButton(m_bar, tr("log x"), tr("Logarithmic x axis on all charts"), true);
    connect(m_logX, &QToolButton::toggled, this, [this](bool on) {
        m_range->setLogarithmic(on);
        hurry();
    });
    m_logY = makeButton(m_bar, tr("log y"), tr("Logarithmic y axis for loss and learning rate"), true);
    connect(m_logY, &QToolButton::toggled, this, [this](bool on) {
        for (ChartView* chart : m_charts) chart->setLogarithmicY(on);
        hurry();
    });
    m_fit = makeButton(m_bar, tr("Fit"), tr("Show the whole run (F, or double click on a chart)"), false);
    m_follow = makeButton(m_bar, tr("Follow"), tr("Back to the live edge: you have zoomed or moved away from it"), false);
    for (QToolButton* button : {m_fit, m_follow}) {
        connect(button, &QToolButton::clicked, this, [this] {
            m_range->fit();
            hurry();
        });
    }
    m_follow->setAutoRaise(false);
    // It keeps its place while hidden, so that nothing in the bar jumps.
    QSizePolicy policy = m_follow->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_follow->setSizePolicy(policy);
    m_follow->hide();
    connect(m_range, &ViewRange::followingChanged, m_follow, &QWidget::setHidden);

    auto* label = new QLabel(tr("x axis"), m_bar);
    label->setBuddy(m_axis);
    row->addWidget(label);
    row->addWidget(m_axis);
    row->addSpacing(space(1));
    row->addWidget(m_logX);
    row->addWidget(m_logY);
    row->addStretch(1);
    row->addWidget(m_follow);
    row->addWidget(m_fit);
    styleBar();
    offerRates(false);
}

// Loss against the rate on a logarithmic axis is how a range test is read; any other schedule comes back to the same rate.
void LivePage::offerRates(bool rangeTest) {
    constexpr int kRates = static_cast<int>(XAxis::LearningRate);
    QStandardItem* item = static_cast<QStandardItemModel*>(m_axis->model())->item(kRates);
    item->setEnabled(rangeTest);
    item->setToolTip(rangeTest ? QString() : tr("Only for a learning-rate range test: any other schedule passes a rate more than once"));
    const bool shown = m_axis->currentIndex() == kRates;
    if (rangeTest == shown) return;
    m_axis->setCurrentIndex(rangeTest ? kRates : static_cast<int>(XAxis::Step));
    m_logX->setChecked(rangeTest);
}

void LivePage::styleBar() {
    for (auto* widget : m_bar->findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) widget->setFont(smallFont(font()));
}

void LivePage::buildGrid() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(1));
    column->addWidget(m_bar);
    auto* grid = new QGridLayout;
    grid->setSpacing(1);
    column->addLayout(grid, 1);

    for (std::size_t i = 0; i < kCharts; ++i) {
        m_charts[i] = new ChartView(kPlaces[i].make(), m_range, this);
        m_charts[i]->setFeed(nullptr, &m_planned);
        connect(m_charts[i], &ChartView::touched, this, [this, i] {
            m_next = i;  // the chart under the hand answers first
            hurry();
        });
        grid->addWidget(m_charts[i], kPlaces[i].row, kPlaces[i].column, kPlaces[i].rows, 1);
    }
    for (std::size_t column = 0; column < kColumnShares.size(); ++column) grid->setColumnStretch(static_cast<int>(column), kColumnShares[column]);
    for (int row = 0; row < grid->rowCount(); ++row) grid->setRowStretch(row, 1);
}

void LivePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    // One row of head where every chart has room for it, else two everywhere: plots in a row stay level.
    constexpr int kWhole = kColumnShares[0] + kColumnShares[1];
    bool oneRow = true;
    for (std::size_t i = 0; i < kCharts; ++i)
        oneRow = oneRow && m_charts[i]->headWidth() * kWhole < width() * kColumnShares[static_cast<std::size_t>(kPlaces[i].column)];
    for (ChartView* chart : m_charts) chart->setHeadRows(oneRow ? 1 : 2);
    hurry();
}

QByteArray LivePage::saveLayout() const {
    QByteArray layout;
    QDataStream out(&layout, QIODevice::WriteOnly);
    const bool rates = m_axis->currentIndex() == static_cast<int>(XAxis::LearningRate);  // of one run, not a person's habit
    out << kLayoutVersion << static_cast<qint32>(rates ? static_cast<int>(XAxis::Step) : m_axis->currentIndex()) << (m_logX->isChecked() && !rates)
        << m_logY->isChecked();
    return layout;
}

void LivePage::restoreLayout(const QByteArray& layout) {
    QDataStream in(layout);
    quint8 version = 0;
    qint32 axis = 0;
    bool logX = false, logY = false;
    in >> version >> axis >> logX >> logY;
    if (in.status() != QDataStream::Ok || version != kLayoutVersion || axis < 0 || axis >= static_cast<qint32>(XAxis::LearningRate)) return;
    m_axis->setCurrentIndex(axis);
    m_logX->setChecked(logX);
    m_logY->setChecked(logY);
}

}  // namespace stepscope
