// The grid of charts. The bar is in LivePageBar.cpp.
#include <QGridLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QResizeEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include "widgets/charts/LivePage.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

// Where each chart stands, in twenty-fourths of the height. Loss and step time are what is looked at most; at the right what moves them.
struct Place {
    std::unique_ptr<ChartContent> (*make)();
    int row, column, rows;
};
constexpr std::array<Place, LivePage::kCharts> kPlaces{{{makeLossContent, 0, 0, 9},
                                                        {makeLearningRateContent, 0, 1, 6},
                                                        {makeGradientNormContent, 6, 1, 6},
                                                        {makeStepTimeContent, 9, 0, 9},
                                                        {makeThroughputContent, 12, 1, 6},
                                                        {makeUtilisationContent, 18, 0, 6},
                                                        {makeMemoryContent, 18, 1, 6}}};
constexpr int kRows = 24;
constexpr std::array<int, 2> kColumnShares{3, 2};
// Narrower than this two columns have no room for their numbers: all charts stand below each other, the most looked at first.
constexpr int kTwoColumns = 488;
constexpr std::array<std::size_t, LivePage::kCharts> kOneColumn{0, 3, 4, 1, 2, 5, 6};
constexpr int kRowHeight = 18;  // at least, of the twenty-four; a page with less room is scrolled
constexpr int kSingleHeight = 150;

// Scrolled by its bar and by the page's keys: arrows belong to the charts, and so does the wheel.
class ChartScroll : public QScrollArea {
public:
    using QScrollArea::QScrollArea;

protected:
    void keyPressEvent(QKeyEvent* event) override { event->ignore(); }
};

}  // namespace

void LivePage::buildGrid() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(1));
    column->addWidget(m_bar);
    auto* sheet = new QWidget;
    m_grid = new QGridLayout(sheet);
    m_grid->setSpacing(1);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_scroll = new ChartScroll(this);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setAccessibleName(tr("Charts"));
    m_scroll->setWidget(sheet);
    connect(m_scroll->verticalScrollBar(), &QScrollBar::valueChanged, this, &LivePage::hurry);
    m_split = new QSplitter(Qt::Vertical, this);  // below the charts, the table of runs that are laid over each other
    m_split->setChildrenCollapsible(false);
    m_split->addWidget(m_scroll);
    column->addWidget(m_split, 1);

    for (std::size_t i = 0; i < kCharts; ++i) {
        m_charts[i] = new ChartView(kPlaces[i].make(), m_range, sheet);
        m_charts[i]->setFeed(nullptr, &m_planned);
        connect(m_charts[i], &ChartView::touched, this, [this, i] {
            m_next = i;  // the chart under the hand answers first
            hurry();
        });
        connect(m_charts[i], &ChartView::selected, this, [this](double from, double to) {
            if (m_overlay) return m_range->setSelection(std::nullopt);
            if (!m_history) return;
            const XAxis axis = m_range->axis();
            select(m_history->firstRowAt(axis, from), m_history->firstRowAt(axis, std::nextafter(to, std::numeric_limits<double>::infinity())));
        });
        connectOverlay(*m_charts[i]);
        connect(m_charts[i], &ChartView::enlargeWanted, this, [this, i] { enlarge(m_enlarged ? std::nullopt : std::optional(i)); });
        connect(m_charts[i], &ChartView::flipsWanted, this, &LivePage::showFlips);
        connect(m_charts[i], &ChartView::menuWanted, this, [this, i](QPoint at) { menuOf(*m_charts[i])->exec(at); });
    }
    for (std::size_t i = 1; i < kCharts; ++i) setTabOrder(m_charts[kOneColumn[i - 1]], m_charts[kOneColumn[i]]);
    arrange();
}

void LivePage::arrange() {
    const bool two = m_twoColumns = width() >= kTwoColumns;
    for (ChartView* chart : m_charts) m_grid->removeWidget(chart);
    for (int row = 0; row < std::max(kRows, m_grid->rowCount()); ++row) {
        m_grid->setRowStretch(row, 0);
        m_grid->setRowMinimumHeight(row, 0);
    }
    for (int column = 0; column < 2; ++column)
        m_grid->setColumnStretch(column, two && !m_enlarged ? kColumnShares[static_cast<std::size_t>(column)] : 0);
    if (m_enlarged) {
        m_grid->addWidget(m_charts[*m_enlarged], 0, 0);
    } else if (two) {
        for (int row = 0; row < kRows; ++row) {
            m_grid->setRowStretch(row, 1);
            m_grid->setRowMinimumHeight(row, kRowHeight - m_grid->verticalSpacing());
        }
        for (std::size_t i = 0; i < kCharts; ++i) m_grid->addWidget(m_charts[i], kPlaces[i].row, kPlaces[i].column, kPlaces[i].rows, 1);
    } else {
        for (std::size_t i = 0; i < kCharts; ++i) {
            m_grid->setRowStretch(static_cast<int>(i), 1);
            m_grid->setRowMinimumHeight(static_cast<int>(i), kSingleHeight);
            m_grid->addWidget(m_charts[kOneColumn[i]], static_cast<int>(i), 0);
        }
    }
    for (std::size_t i = 0; i < kCharts; ++i) m_charts[i]->setVisible(!m_enlarged || *m_enlarged == i);
}

void LivePage::enlarge(std::optional<std::size_t> chart) {
    if (chart == m_enlarged) return;
    const std::optional<std::size_t> before = std::exchange(m_enlarged, chart);
    arrange();
    if (const auto focus = chart ? chart : before) m_charts[*focus]->setFocus();
    hurry();
}

void LivePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitBar();
    if (m_twoColumns != (width() >= kTwoColumns)) arrange();
    fitHeads();
    hurry();
}

void LivePage::fitHeads() {
    // One row of head where every chart has room for it, else two everywhere: plots in a row stay level.
    constexpr int kWhole = kColumnShares[0] + kColumnShares[1];
    bool oneRow = width() >= kTwoColumns;
    for (std::size_t i = 0; i < kCharts; ++i)
        oneRow = oneRow && m_charts[i]->headWidth() * kWhole < width() * kColumnShares[static_cast<std::size_t>(kPlaces[i].column)];
    for (ChartView* chart : m_charts) chart->setHeadRows(oneRow ? 1 : 2);
}

}  // namespace stepscope
