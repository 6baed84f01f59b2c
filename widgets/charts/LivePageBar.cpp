// The bar over the charts, and what of it is remembered.
#include <QButtonGroup>
#include <QComboBox>
#include <QDataStream>
#include <QHBoxLayout>
#include <QIODevice>
#include <QLabel>
#include <QSlider>
#include <QStandardItemModel>
#include <QToolButton>

#include "widgets/charts/LivePage.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

constexpr quint8 kLayoutVersion = 2;

// Steps on either side.
constexpr std::array<int, 19> kSmoothing{0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000};
constexpr int kUsualSmoothing = 6;
static_assert(kSmoothing[kUsualSmoothing] == static_cast<int>(CentredSmoothing::kHalf));

constexpr int kWholeBar = 640;  // narrower: icons instead of words

QToolButton* makeButton(QWidget* parent, const QString& text, const QString& icon, const QString& tip, bool checkable) {
    auto* button = new QToolButton(parent);
    button->setText(text);
    if (!icon.isEmpty()) button->setIcon(lineIcon(icon));
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
    row->setSpacing(2);

    m_axis = new QComboBox(m_bar);
    m_axis->addItems({tr("steps"), tr("tokens"), tr("wall time"), tr("energy"), tr("learning rate")});
    m_axis->setToolTip(tr("What all charts have along x"));
    m_axis->setAccessibleName(tr("x axis"));
    m_axis->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_axis->setMinimumContentsLength(6);
    connect(m_axis, &QComboBox::currentIndexChanged, this, [this](int index) {
        const auto selected = m_selected;
        m_range->setAxis(static_cast<XAxis>(index), {});
        updateExtent();
        if (selected) select(selected->begin, selected->end);
        hurry();
    });
    m_logX = makeButton(m_bar, tr("log x"), {}, tr("Logarithmic x axis on all charts"), true);
    connect(m_logX, &QToolButton::toggled, this, [this](bool on) {
        m_range->setLogarithmic(on);
        hurry();
    });
    m_logY = makeButton(m_bar, tr("log y"), {}, tr("Logarithmic y axis for loss, learning rate, step time and throughput (L: of one chart)"), true);
    connect(m_logY, &QToolButton::toggled, this, [this](bool on) {
        for (ChartView* chart : m_charts) chart->setLogarithmicY(on);
        hurry();
    });

    m_tools = new QButtonGroup(this);
    const auto addTool = [&](ChartView::Tool tool, const QString& text, const QString& icon, const QString& tip) {
        QToolButton* button = makeButton(m_bar, text, icon, tip, true);
        button->setToolButtonStyle(Qt::ToolButtonIconOnly);
        m_tools->addButton(button, static_cast<int>(tool));
        return button;
    };
    QToolButton* move = addTool(ChartView::Tool::Move, tr("Move"), QStringLiteral("move"), tr("Dragging moves along the run"));
    QToolButton* box = addTool(ChartView::Tool::Box, tr("Box"), QStringLiteral("box"),
                               tr("Dragging opens a box, and the chart shows what is in it (or hold Shift)"));
    QToolButton* range = addTool(ChartView::Tool::Select, tr("Range"), QStringLiteral("range"),
                                 tr("Dragging selects a range of steps and shows their statistics (or hold Ctrl; keys [ and ] at the cursor)"));
    move->setChecked(true);
    connect(m_tools, &QButtonGroup::idToggled, this, [this](int tool, bool on) {
        if (!on) return;
        for (ChartView* chart : m_charts) chart->setTool(static_cast<ChartView::Tool>(tool));
    });

    m_smoothingLabel = new QLabel(tr("smoothing"), m_bar);
    m_smoothing = new QSlider(Qt::Horizontal, m_bar);
    m_smoothing->setRange(0, static_cast<int>(kSmoothing.size()) - 1);
    m_smoothing->setPageStep(3);
    m_smoothing->setFixedWidth(72);
    m_smoothing->setAccessibleName(tr("Smoothing of the loss"));
    m_smoothingLabel->setBuddy(m_smoothing);
    connect(m_smoothing, &QSlider::valueChanged, this, &LivePage::setSmoothing);
    m_smoothing->setValue(kUsualSmoothing);

    m_flipsButton = makeButton(m_bar, tr("Flips"), QStringLiteral("flag"), tr("All switches flipped in this session, and what each did"), false);
    m_flipsButton->setEnabled(false);
    connect(m_flipsButton, &QToolButton::clicked, this, &LivePage::showFlips);
    m_fit = makeButton(m_bar, tr("Fit"), QStringLiteral("fit"), tr("Show the whole run (F, or double click on a chart)"), false);
    m_follow = makeButton(m_bar, tr("Follow"), QStringLiteral("to-end"), tr("Back to the live edge: you have zoomed or moved away from it"), false);
    for (QToolButton* button : {m_fit, m_follow}) connect(button, &QToolButton::clicked, this, &LivePage::fit);
    m_follow->setAutoRaise(false);
    // It keeps its place while hidden, so that nothing in the bar jumps.
    QSizePolicy policy = m_follow->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_follow->setSizePolicy(policy);
    m_follow->hide();
    connect(m_range, &ViewRange::followingChanged, m_follow, &QWidget::setHidden);

    m_axisLabel = new QLabel(tr("x axis"), m_bar);
    m_axisLabel->setBuddy(m_axis);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_axisLabel, m_axis, m_logX, m_logY}) row->addWidget(widget);
    row->addSpacing(space(1));
    for (QWidget* widget : std::initializer_list<QWidget*>{move, box, range}) row->addWidget(widget);
    row->addSpacing(space(1));
    row->addWidget(m_smoothingLabel);
    row->addWidget(m_smoothing);
    row->addStretch(1);
    for (QWidget* widget : {m_flipsButton, m_follow, m_fit}) row->addWidget(widget);
    m_bar->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    styleBar();
    offerRates(false);
}

void LivePage::fitBar() {
    const bool whole = width() >= kWholeBar;
    for (QWidget* label : {m_axisLabel, m_smoothingLabel}) label->setVisible(whole);
    for (QToolButton* button : {m_flipsButton, m_fit, m_follow}) button->setToolButtonStyle(whole ? Qt::ToolButtonTextOnly : Qt::ToolButtonIconOnly);
    m_smoothing->setFixedWidth(whole ? 84 : 48);
}

void LivePage::setSmoothing(int position) {
    const int half = kSmoothing[static_cast<std::size_t>(position)];
    const QString words = half == 0 ? tr("The bold loss line: off") : tr("The bold loss line: each step with the %1 before and after it").arg(half);
    m_smoothing->setToolTip(words);
    m_smoothing->setAccessibleDescription(words);
    m_smoothingLabel->setToolTip(words);
    for (ChartView* chart : m_charts)
        if (chart != nullptr) chart->setSmoothing(static_cast<std::size_t>(half));  // none yet while the bar is built
    hurry();
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

// Of a machine that tells it: most virtual ones do not.
void LivePage::offerEnergy() {
    constexpr int kEnergy = static_cast<int>(XAxis::Energy);
    constexpr std::size_t kSoon = 4;  // samples: the first may tell of no power yet
    const bool single = !m_overlay && m_history && m_history->started();
    const bool known = single && m_history->knowsEnergy();
    QString why;
    if (m_overlay)
        why = tr("Not while runs are laid over each other");
    else if (!single)
        why = tr("Known once a run has told what the processors or a GPU use");
    else if (!known) {
        const auto& machine = m_history->info()->machine;
        why = machine && !machine->whyNoProcessorEnergy.empty()
                  ? tr("The processors' power is not known: %1").arg(QString::fromStdString(machine->whyNoProcessorEnergy))
                  : tr("No sample of this session tells what the processors or a GPU use");
    }
    QStandardItem* item = static_cast<QStandardItemModel*>(m_axis->model())->item(kEnergy);
    if (item->isEnabled() != known) item->setEnabled(known);
    if (item->toolTip() != why) item->setToolTip(why);
    const bool mayCome = single && training() && m_history->device().place.size() < kSoon;
    if (m_axis->currentIndex() == kEnergy && !known && !mayCome) m_axis->setCurrentIndex(static_cast<int>(XAxis::Step));
}

void LivePage::styleBar() {
    for (auto* widget : m_bar->findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) widget->setFont(smallFont(font()));
}

QByteArray LivePage::saveLayout() const {
    QByteArray layout;
    QDataStream out(&layout, QIODevice::WriteOnly);
    // Energy and the learning rate are along x where one run has them: no person's habit.
    const bool habit = m_axis->currentIndex() < static_cast<int>(XAxis::Energy);
    out << kLayoutVersion << static_cast<qint32>(habit ? m_axis->currentIndex() : static_cast<int>(XAxis::Step)) << (m_logX->isChecked() && habit)
        << m_logY->isChecked() << static_cast<qint32>(m_smoothing->value());
    return layout;
}

void LivePage::restoreLayout(const QByteArray& layout) {
    QDataStream in(layout);
    quint8 version = 0;
    qint32 axis = 0, smoothing = kUsualSmoothing;
    bool logX = false, logY = false;
    in >> version >> axis >> logX >> logY;
    if (version >= 2) in >> smoothing;  // version 1 knew of none
    if (in.status() != QDataStream::Ok || version < 1 || version > kLayoutVersion || axis < 0 || axis >= static_cast<qint32>(XAxis::Energy)) return;
    m_axis->setCurrentIndex(axis);
    m_logX->setChecked(logX);
    m_logY->setChecked(logY);
    m_smoothing->setValue(smoothing);
}

}  // namespace stepscope
